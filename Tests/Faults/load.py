# SPDX-License-Identifier: Apache-2.0
"""Readers that poll feeds over kept connections, and a writer: processes of their own that note what they sent and
what was answered in memory that outlives every fault."""

import multiprocessing
import os
import signal
import socket
import time

# Forked, so that readers start in milliseconds and share the counters.
forked = multiprocessing.get_context("fork")


class Load:
    """Readers on feeds and, with `circle`, a writer of tasks in it.

    `together`: how many polls a reader sends before it waits for their answers. `imports`: the name of circles, one for
    each round, to which somebody adds one file after the other."""

    def __init__(self, server, feeds, readers=4, circle=None, together=1, imports=None):
        self.server, self.feeds, self.circle, self.imports = server, feeds, circle, imports
        self.readers, self.together = readers, together
        cells = readers * len(feeds)
        # Each cell has one writer: a reader for a feed.
        self._sent, self._complete = forked.RawArray("q", cells), forked.RawArray("q", cells)
        self._refused, self._late = forked.RawArray("q", readers), forked.RawArray("q", readers)
        self._unexpected = forked.RawArray("q", readers)
        self._written, self._attempted = forked.RawValue("q", 0), forked.RawValue("q", 0)
        self._refused_writes = forked.RawValue("q", 0)
        self._imported, self._sent_files = forked.RawValue("q", 0), forked.RawValue("q", 0)
        self._running, self._cut = forked.RawValue("b", 0), forked.RawValue("b", 0)
        self._round = 0
        self._processes = []

    def start(self):
        """Starts everybody; a reader ends with its connection, or with `stop`."""
        self._round += 1
        self._running.value, self._cut.value = 1, 0
        self._written.value = self._attempted.value = 0
        self._imported.value = self._sent_files.value = 0
        self._processes = [forked.Process(target=self._read, args=(number,)) for number in range(self.readers)]
        if self.circle:
            self._processes.append(forked.Process(target=self._write))
        if self.imports:
            self.server.make_circle(self.imported_to)
            self._processes.append(forked.Process(target=self._import))
        for process in self._processes:
            process.start()

    def stop(self, seconds=60):
        """Waits for all answers that are under way."""
        self._running.value = 0
        for process in self._processes:
            process.join(seconds)
            if process.is_alive():
                os.kill(process.pid, signal.SIGKILL)
                process.join()
                raise RuntimeError("a reader waited in vain for its answer")
        self._processes = []

    def cut(self):
        """From here on nothing may be acknowledged any more; see `late`."""
        self._cut.value = 1

    def sent(self, feed):
        return sum(self._sent[feed::len(self.feeds)])

    def complete(self, feed):
        return sum(self._complete[feed::len(self.feeds)])

    def completes(self):
        return [self.complete(feed) for feed in range(len(self.feeds))]

    def note(self, feed):
        """One read by the harness itself, answered completely."""
        self._sent[feed] += 1
        self._complete[feed] += 1

    @property
    def refused(self):
        return sum(self._refused)

    @property
    def late(self):
        return sum(self._late)

    @property
    def unexpected(self):
        return max(self._unexpected)

    @property
    def refused_writes(self):
        return self._refused_writes.value

    @property
    def imported_to(self):
        return f"{self.imports}-{self._round}"

    @property
    def imported(self):
        """How many files the server said it has imported in this round."""
        return self._imported.value

    @property
    def sent_files(self):
        return self._sent_files.value

    @property
    def acknowledged(self):
        """The tasks that the server said it has."""
        return [self._name(number) for number in range(self._written.value)]

    def _name(self, number):
        return f"w-{self._round}-{number}"

    def _read(self, reader):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        tags = {}
        connection = None
        turn = reader
        while self._running.value:
            try:
                connection = connection or Connection(self.server.port)
                is_late = self._cut.value
                asked = []
                for _ in range(self.together):
                    feed = turn % len(self.feeds)
                    # Two of three polls are unchanged ones.
                    asked.append((feed, tags.get(feed) if turn % 3 else None))
                    turn += 1
                    self._sent[reader * len(self.feeds) + feed] += 1
                connection.send([(self.feeds[feed].path, tag) for feed, tag in asked])
                for feed, _ in asked:
                    status, etag, body = connection.receive()
                    if status == 200 and not body.endswith(b"END:VCALENDAR\r\n"):
                        self._unexpected[reader] = 999
                    elif status in (200, 304):
                        self._complete[reader * len(self.feeds) + feed] += 1
                        self._late[reader] += is_late
                        tags[feed] = etag
                    elif status == 503:
                        self._refused[reader] += 1
                        time.sleep(0.005)
                    else:
                        self._unexpected[reader] = status
            except OSError:
                # The fault: whoever waits for an answer never gets it.
                connection = None
                time.sleep(0.01)

    def _write(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        number = 0
        while self._running.value:
            try:
                self._attempted.value = number + 1
                if self.server.put_task(self.circle, self._name(number)) in (200, 201):
                    number += 1
                    self._written.value = number
                else:
                    self._refused_writes.value += 1
            except OSError:
                time.sleep(0.01)
            time.sleep(0.002)


    def _import(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        while self._running.value:
            try:
                # A file whose answer was lost is not sent again: all of it is there, or nothing.
                number = self._sent_files.value
                self._sent_files.value = number + 1
                if self.server.import_file(self.imported_to, number) in (200, 201):
                    self._imported.value = number + 1
            except OSError:
                time.sleep(0.01)


class Connection:
    """One kept HTTP connection; reads an answer to its last byte or fails."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def get(self, path, tag=None):
        self.send([(path, tag)])
        return self.receive()

    def send(self, polls):
        """Sends polls of paths, each with the tag that it has or None."""
        conditions = [(path, f"If-None-Match: {tag}\r\n" if tag else "") for path, tag in polls]
        self.socket.sendall("".join(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/8\r\n{condition}\r\n"
            for path, condition in conditions).encode())

    def receive(self):
        """The next answer: its status, its tag and its body."""
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.split(b"\r\n")
        status = int(lines[0].split()[1])
        fields = dict(line.lower().split(b": ", 1) for line in lines[1:])
        length = 0 if status == 304 else int(fields[b"content-length"])
        while len(self.buffer) < length:
            self._more()
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        etag = next((line[6:] for line in lines if line.lower().startswith(b"etag: ")), b"").decode()
        return status, etag, body

    def _more(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError("closed")
        self.buffer += data
