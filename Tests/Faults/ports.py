# SPDX-License-Identifier: Apache-2.0
"""Ports for the servers of the tests."""

import random
import socket


def free_port():
    """Returns a port below the range from which the system chooses: a server needs time until it listens, and a server
    that is started again was away for a moment. Meanwhile the system could give a port of its range to another program,
    which would then seem to be the server."""
    for port in random.sample(range(10_000, 30_000), 200):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no port is free")
