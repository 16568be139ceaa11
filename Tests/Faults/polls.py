# SPDX-License-Identifier: Apache-2.0
"""Polls of feeds at a steady rate over kept connections, many under way at once in one process, each noted."""

import collections
import random
import selectors
import socket
import time

from history import Read

# After so many seconds without an answer a client gives up.
PATIENCE = 5


class Lane:
    """One connection, with at most one request under way."""

    def __init__(self, address):
        self.socket = socket.create_connection(address, timeout=0.5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.buffer = b""
        self.feed = self.sent = None

    def ask(self, feed, path, tag):
        self.feed, self.sent = feed, time.monotonic()
        condition = f"If-None-Match: {tag}\r\n" if tag else ""
        self.socket.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/8\r\n{condition}\r\n".encode())

    def take(self):
        """Status and tag once the answer is there to its last byte."""
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError("closed")
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = self.buffer[:end].lower()
        status = int(head[9:12])
        length = 0 if status == 304 else int(_field(head, b"content-length") or 0)
        if len(self.buffer) < end + 4 + length:
            return None
        tag = _field(self.buffer[:end], b"etag") or _field(self.buffer[:end], b"ETag")
        self.buffer = self.buffer[end + 4 + length:]
        return status, tag and tag.decode()


def _field(head, name):
    start = head.find(b"\r\n" + name + b": ")
    return head[start + len(name) + 4:].split(b"\r\n", 1)[0] if start >= 0 else None


class Feeds:
    """Which feed is polled next: near one that ends next, or one that never ends."""

    def __init__(self, paths, steady, ending):
        """`ending`: lists of feeds in the order in which they end, each with the place that the end has come to."""
        self.paths, self.steady, self.ending = paths, steady, ending

    def next(self):
        if random.random() < 0.3:
            return random.choice(self.steady)
        feeds, position = random.choice(self.ending)
        return feeds[min(len(feeds) - 1, max(0, position.value + random.randint(-4, 3)))]


def poll(goes_on, target, feeds, rate, count):
    """Polls `target` over `count` connections, `rate` times a second as long as it answers; what was read."""
    reads, tags, chooser = [], {}, selectors.DefaultSelector()
    # Idle lanes, or None where one has to be opened, with the time from which on they may be used.
    idle, busy = collections.deque([(0, None)] * count), set()
    due = looked = time.monotonic()

    def give_up(lane):
        reads.append(Read(lane.feed, lane.sent, None, None, target.number))
        busy.discard(lane)
        chooser.unregister(lane.socket)
        lane.socket.close()
        idle.append((time.monotonic() + 0.05, None))

    while goes_on():
        now = time.monotonic()
        while due <= now and idle and idle[0][0] <= now:
            due = max(due + 1 / rate, now - 0.2)
            lane = idle.popleft()[1]
            try:
                if lane is None:
                    lane = Lane((target.host, target.port))
                    chooser.register(lane.socket, selectors.EVENT_READ, lane)
                feed = feeds.next()
                busy.add(lane)
                lane.ask(feed, feeds.paths[feed], tags.get(feed) if random.random() < 0.7 else None)
            except OSError:
                if lane is None:
                    idle.append((time.monotonic() + 0.1, None))
                else:
                    give_up(lane)
        for key, _ in chooser.select(min(0.02, max(0.0005, due - time.monotonic()))):
            lane = key.data
            try:
                answer = lane.take()
            except OSError:
                if lane in busy:
                    give_up(lane)
                else:
                    # The other side has closed a connection that nothing was asked on.
                    chooser.unregister(lane.socket)
                    lane.socket.close()
                    idle.remove(next(one for one in idle if one[1] is lane))
                    idle.append((0, None))
                continue
            if answer:
                now = time.monotonic()
                status, tag = answer
                reads.append(Read(lane.feed, lane.sent, now, status, target.number))
                if tag:
                    tags[lane.feed] = tag
                busy.discard(lane)
                # Without this a server that refuses gets nothing but reads.
                idle.append((now if status < 500 else now + 0.05, lane))
        if now - looked > 0.5:
            looked = now
            for lane in [lane for lane in busy if now - lane.sent > PATIENCE]:
                give_up(lane)
    for lane in busy:
        reads.append(Read(lane.feed, lane.sent, None, None, target.number))
    return reads
