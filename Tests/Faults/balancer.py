# SPDX-License-Identifier: Apache-2.0
"""Debian's haproxy in front of several servers. It sends no request twice, so that what is counted can be held against what
was sent."""

import shutil
import subprocess
import time
from pathlib import Path

from server import Caller, Violation

PROGRAM = shutil.which("haproxy") or shutil.which("/usr/sbin/haproxy")

SETTINGS = """
global
    maxconn 2000
    nbthread 1
defaults
    mode http
    timeout connect 500ms
    timeout client 30s
    timeout server 4s
    timeout http-keep-alive 30s
    # Another server is tried only where none was reached.
    retry-on conn-failure
    retries 2
    option redispatch 1
    default-server check inter 500ms fall 2 rise 1
listen kalends
    bind {host}:{port}
    balance roundrobin
    option httpchk GET /readyz
    http-check expect status 200
"""


class Balancer(Caller):
    """Called as a server is; `number` says that nobody knows which one answered."""

    number = -1

    def __init__(self, folder, nodes, host, port, launcher=()):
        self.host, self.port = host, port
        self.folder = Path(folder) / "balancer"
        self.folder.mkdir()
        lines = "".join(f"    server s{node.number} {node.host}:{node.port}\n" for node in nodes)
        (self.folder / "settings").write_text(SETTINGS.format(host=host, port=port) + lines)
        log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(
            [*launcher, PROGRAM, "-db", "-f", self.folder / "settings"], stdout=log, stderr=log)

    def wait(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                if self.request("GET", "/healthz", timeout=5)[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise Violation(f"the balancer does not answer: {(self.folder / 'log').read_text()[-600:]}")

    def close(self):
        self.process.kill()
        self.process.wait()
