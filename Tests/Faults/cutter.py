# SPDX-License-Identifier: Apache-2.0
"""What lies between clients and servers, and cuts each connection after so many bytes as chance gives it."""

import asyncio
import multiprocessing
import random
import signal

from ports import free_port

forked = multiprocessing.get_context("fork")

RESET, ENDED, STALLED = "reset", "ended", "stalled"


class Cutter:
    """A process that forwards TCP connections to servers, a random one for each, until it is time to cut them."""

    def __init__(self, seed, upstreams):
        """`upstreams`: hosts and ports."""
        self.host, self.port = "127.0.0.1", free_port()
        self._chance, self._upstreams = random.Random(seed), upstreams
        self._cuts = forked.RawValue("q", 0)
        self._process = forked.Process(target=self._run, daemon=True)
        self._process.start()

    @property
    def cuts(self):
        """How many connections it has cut."""
        return self._cuts.value

    def close(self):
        self._process.kill()
        self._process.join()

    def _run(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        asyncio.run(self._serve())

    async def _serve(self):
        server = await asyncio.start_server(self._connected, self.host, self.port, backlog=512)
        async with server:
            await server.serve_forever()

    def _bytes(self):
        """How many bytes of an answer pass: a part of its head, some events, or many."""
        return self._chance.choice([
            self._chance.randrange(1, 400), self._chance.randrange(300, 3_000), self._chance.randrange(300, 3_000),
            self._chance.randrange(3_000, 40_000)])

    async def _connected(self, reader, writer):
        try:
            there = await asyncio.open_connection(*self._chance.choice(self._upstreams))
        except OSError:
            return writer.transport.abort()
        way = self._chance.choice([RESET, RESET, ENDED, STALLED])
        # Now and then the request does not arrive as a whole either.
        asked = self._chance.randrange(1, 120) if self._chance.random() < 0.05 else 1 << 40
        ways = [asyncio.create_task(self._forward(reader, there[1], asked)),
                asyncio.create_task(self._forward(there[0], writer, self._bytes()))]
        done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        is_cut = any(not one.exception() and one.result() for one in done)
        self._cuts.value += is_cut
        if is_cut and way == STALLED:
            # As in a network that takes no packets for a while: nothing comes, and nobody hears of it.
            await asyncio.sleep(self._chance.uniform(0.1, 1))
        for one in ways:
            one.cancel()
        there[1].transport.abort()
        if is_cut and way == ENDED:
            writer.close()
        else:
            writer.transport.abort()

    @staticmethod
    async def _forward(reader, writer, most):
        """Returns whether it came to the byte after which nothing passes."""
        try:
            while data := await reader.read(1 << 16):
                writer.write(data[:most])
                most -= len(data)
                if most <= 0:
                    await writer.drain()
                    return True
        except OSError:
            pass
        return False
