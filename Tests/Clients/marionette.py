# SPDX-License-Identifier: Apache-2.0
"""Asks a running Thunderbird, over the remote control that Mozilla's own tests use."""

import json
import socket

from kalends import Failure


class Marionette:
    """A message is its length, a colon, and `[0, number, command, values]`; an answer `[1, number, error, value]`."""

    def __init__(self, port, seconds=30):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self.stream = self.socket.makefile("rb")
        self.number = 0
        # It greets first.
        self._read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
        self.socket.close()

    def _read(self):
        length = b""
        while (byte := self.stream.read(1)) != b":":
            if not byte:
                raise Failure("Thunderbird's remote control hung up")
            length += byte
        return json.loads(self.stream.read(int(length)))

    def ask(self, command, **values):
        self.number += 1
        data = json.dumps([0, self.number, command, values]).encode()
        self.socket.sendall(str(len(data)).encode() + b":" + data)
        try:
            _, _, error, value = self._read()
        except TimeoutError:
            raise Failure(f"Thunderbird's remote control did not answer {command}") from None
        if error:
            raise Failure(f"Thunderbird's remote control said: {error.get('message')}")
        return value
