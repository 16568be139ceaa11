# SPDX-License-Identifier: Apache-2.0
"""What lies between a server and its database, and can be cut, stand still, take time, or tell old answers again."""

import asyncio
import multiprocessing
import selectors
import signal
import struct

forked = multiprocessing.get_context("fork")

PASSING, STANDING, CUT = 0, 1, 2
# How the program's question for what other servers ended is known.
QUESTION = b"LEFT JOIN written_circles AS w"


class Wire:
    """A process that forwards TCP connections to a PostgreSQL's socket.

    While it stands, no byte passes and none is lost, as in a network that was parted; while it is cut, connections are reset.
    With `replays`, the question for what ended is answered with the last answer that said "nothing", as a bug of the server's
    would: a reader who joins an answer whose question was sent before."""

    def __init__(self, port, upstream, enter=None, delay=0):
        """`enter`: moves the process to where it listens. `delay`: the seconds that each byte takes, either way."""
        self.port, self.upstream, self._enter, self.delay = port, upstream, enter, delay
        self._mode, self._replays = forked.RawValue("i", PASSING), forked.RawValue("b", 0)
        self._process = forked.Process(target=self._run, daemon=True)
        self._process.start()

    @property
    def mode(self):
        return self._mode.value

    @mode.setter
    def mode(self, value):
        self._mode.value = value

    @property
    def replays(self):
        return bool(self._replays.value)

    @replays.setter
    def replays(self, value):
        self._replays.value = value

    def close(self):
        self._process.kill()
        self._process.join()

    def _run(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if self._enter:
            self._enter()
        # The usual selector waits whole milliseconds.
        loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
        loop.run_until_complete(self._serve())

    async def _serve(self):
        server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        async with server:
            await server.serve_forever()

    async def _connected(self, reader, writer):
        while self.mode == STANDING:
            await asyncio.sleep(0.01)
        if self.mode == CUT:
            return writer.transport.abort()
        try:
            there = await asyncio.open_unix_connection(self.upstream)
        except OSError:
            return writer.transport.abort()
        line = _Line(self, writer, there[1])
        ways = [
            asyncio.create_task(line.forward(reader, line.asked)), asyncio.create_task(line.forward(there[0], line.answered)),
            asyncio.create_task(line.watch())]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        writer.transport.abort()
        there[1].transport.abort()


class _Line:
    """One connection. Its messages are taken apart only where the question has been seen on it."""

    def __init__(self, wire, client, server):
        self.wire, self.client, self.server = wire, client, server
        self.asks = False
        self.question, self.answer = b"", b""
        self.nothing = None

    async def watch(self):
        while self.wire.mode != CUT:
            await asyncio.sleep(0.01)

    async def forward(self, reader, take):
        while data := await reader.read(1 << 16):
            while self.wire.mode == STANDING:
                await asyncio.sleep(0.01)
            if self.wire.delay:
                asyncio.get_running_loop().call_later(self.wire.delay, take, data)
            else:
                take(data)

    def asked(self, data):
        if not self.asks:
            self.asks = QUESTION in data
            self.server.write(data)
            return
        self.question += data
        while (length := _group(self.question, b"S")) is not None:
            group, self.question = self.question[:length], self.question[length:]
            if group[:1] == b"B" and self.wire.replays and self.nothing:
                self.client.write(self.nothing)
            else:
                self.server.write(group)

    def answered(self, data):
        self.client.write(data)
        if not self.asks:
            return
        self.answer += data
        while (length := _group(self.answer, b"Z")) is not None:
            group, self.answer = self.answer[:length], self.answer[length:]
            if _says_nothing(group):
                self.nothing = group


def _messages(data):
    """Kind and end of each whole message."""
    place = 0
    while place + 5 <= len(data):
        end = place + 1 + struct.unpack(">I", data[place + 1:place + 5])[0]
        if end > len(data):
            return
        yield data[place:place + 1], end
        place = end


def _says_nothing(data):
    """Whether it is one row that ends with two columns of null: no message to a standby, and no circle."""
    rows, place = [], 0
    for kind, end in _messages(data):
        if kind == b"D":
            rows.append(data[place:end])
        place = end
    return len(rows) == 1 and rows[0].endswith(b"\xff" * 8)


def _group(data, last):
    """How long the messages are up to one of a kind; None when it is not there yet."""
    return next((end for kind, end in _messages(data) if kind == last), None)
