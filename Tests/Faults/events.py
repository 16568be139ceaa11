# SPDX-License-Identifier: Apache-2.0
"""A client of Server-Sent Events (the WHATWG's HTML, section 9.2) over HTTP/1.1, which comes back with the last number that it
received."""

import json
import socket
import threading
import time


class Chunks:
    """The bytes within a chunked body, as they arrive."""

    def __init__(self):
        self._rest, self._left, self.has_ended = b"", 0, False

    def feed(self, data):
        self._rest += data
        found = b""
        while self._rest and not self.has_ended:
            if self._left == 0:
                size, line, rest = self._rest.partition(b"\r\n")
                if not line:
                    break
                self._rest = rest
                if size:
                    length = int(size.split(b";")[0], 16)
                    self._left, self.has_ended = length, length == 0
                continue
            part = self._rest[:self._left]
            found, self._rest, self._left = found + part, self._rest[len(part):], self._left - len(part)
        return found


class Events:
    """Numbers and data of the events in a stream; an event counts once its empty line has come."""

    def __init__(self, last=None):
        """`last`: the number with which the client came."""
        self.last, self.comments = last, 0
        self._rest, self._number, self._data = b"", last, []

    def feed(self, data):
        """The events that end within these bytes; `last` follows also where one has no data."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        found = []
        for line in lines:
            name, _, value = line.rstrip(b"\r").decode().partition(":")
            value = value.removeprefix(" ")
            if not name and not value:
                self.last = self._number
                if self._data:
                    found.append((int(self.last), json.loads("\n".join(self._data))))
                self._data = []
            elif not name:
                self.comments += 1
            elif name == "id":
                self._number = value
            elif name == "data":
                self._data.append(value)
        return found


# What a server or a balancer says that cannot serve now, or has too many streams: those that were cut may not be gone yet.
AGAIN = (429, 502, 503, 504)


class Follower(threading.Thread):
    """Follows an address, over as many connections as it takes, and notes what it received."""

    def __init__(self, way, path, key, chance, user=None, since=None, by_query=False, fault=None):
        """`way`: has a host and a port. `since`: where it begins, or with the next change. `by_query`: says so in the query at
        first. `fault`: what it does wrong on purpose (FAULTS)."""
        super().__init__(daemon=True)
        self.way, self.path, self.user, self.key, self.chance = way, path, user, key, chance
        self.since, self.by_query, self.fault = since, by_query, fault
        self.received, self.connections, self.statuses, self.error, self.has_erred = [], 0, {}, None, False
        self.last, self.began_after = None if since is None or by_query else str(since), since
        self._goes_on, self._held = True, None

    def stop(self):
        self._goes_on = False

    def run(self):
        while self._goes_on and self.error is None:
            try:
                self._read()
            except (OSError, UnicodeError):
                pass
            except Exception as error:
                self.error = f"{type(error).__name__}: {error}"
            time.sleep(self.chance.uniform(0, 0.1))

    def _request(self):
        lines = [f"GET {self.path} HTTP/1.1", "Host: localhost", "Accept: text/event-stream", f"Authorization: Bearer {self.key}"]
        if self.by_query and self.last is None:
            lines[0] = f"GET {self.path}?since={self.since} HTTP/1.1"
        last = self.last
        if last is not None and self.fault == "back" and self.connections > 1 and self.received:
            last, self.has_erred = str(max(0, int(last) - 1)), True
        if last is not None:
            lines.append(f"Last-Event-ID: {last}")
        if self.user:
            lines.append(f"Kalends-User: {self.user}")
        return "\r\n".join(lines + ["", ""]).encode()

    def _read(self):
        self.connections += 1
        with socket.create_connection((self.way.host, self.way.port), timeout=5) as connection:
            connection.sendall(self._request())
            connection.settimeout(0.25)
            head = b""
            while b"\r\n\r\n" not in head:
                if (data := self._some(connection)) is None:
                    return
                head += data
            head, rest = head.split(b"\r\n\r\n", 1)
            status = int(head.split()[1])
            self.statuses[status] = self.statuses.get(status, 0) + 1
            if status in AGAIN:
                return time.sleep(0.1)
            if status != 200:
                raise ValueError(f"{self.path} was answered {status} after {self.last}")
            if b"chunked" not in head.lower():
                raise ValueError(f"{self.path} is not chunked: {head.decode()}")
            chunks, events = Chunks(), Events(self.last)
            while True:
                found = events.feed(chunks.feed(rest))
                self.last = events.last
                if self.began_after is None and self.last is not None:
                    self.began_after = int(self.last) if not found else found[0][0] - 1
                for event in found:
                    self._take(event)
                if chunks.has_ended or (rest := self._some(connection)) is None:
                    return

    def _some(self, connection):
        """What has arrived; None once nothing comes any more."""
        while self._goes_on:
            try:
                return connection.recv(self.chance.choice([1, 7, 200, 4096, 65536])) or None
            except TimeoutError:
                continue
        return None

    def _take(self, event):
        """Notes an event, or does what is wrong on purpose at the third."""
        errs = self.fault in ("drop", "double", "swap") and not self.has_erred and len(self.received) >= 3
        if self._held:
            self.received += [event, self._held]
            self._held, self.has_erred = None, True
        elif errs and self.fault == "swap":
            self._held = event
        else:
            self.received += [event] * (0 if errs and self.fault == "drop" else 2 if errs else 1)
            self.has_erred |= errs


# What a client may do wrong on purpose: it loses an event, takes one twice, takes two in the wrong order, or comes back with the
# number before its last one.
FAULTS = ["drop", "double", "swap", "back"]


def difference(received, expected):
    """A sentence on how these events differ from those that there were; None where they do not."""
    if received == expected:
        return None
    ours, theirs = [number for number, _ in received], [number for number, _ in expected]
    if len(set(ours)) < len(ours):
        return f"came twice: {sorted({number for number in ours if ours.count(number) > 1})[:10]}"
    if missing := sorted(set(theirs) - set(ours)):
        return f"{len(missing)} are missing: {missing[:10]}"
    if more := sorted(set(ours) - set(theirs)):
        return f"{len(more)} are in no list: {more[:10]}"
    if ours != theirs:
        return f"came in another order: {next(pair for pair in zip(ours, theirs) if pair[0] != pair[1])}"
    return f"say something else: {next(pair for pair in zip(received, expected) if pair[0] != pair[1])}"
