# SPDX-License-Identifier: Apache-2.0
"""Very many streams of changes at once: memory of each, and how late a change reaches its readers, next to slow readers.

usage: bench-streams.py PROGRAM [--streams N] [--circles N] [--rate N] [--seconds N] [--slow N]

The streams are spread over the circles, and a change goes to all streams of its circle. Its time begins before the write is
sent, so it has the commit in it, and ends when the reader has the bytes. Slow readers ask for many changes and take nothing, or
less than the server asks for: they have to be ended, with memory bounded. Last, a server that may open few files is asked for
more streams than that. The client shares the processors with the server.
"""

import argparse
import json
import os
import re
import resource
import select
import socket
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Faults"))
from running import HOST, call, make_key, memory, start  # noqa: E402

DUE = "2026-03-03T09:00:00Z"
# Of the circle that slow readers ask for: more than the buffers between take.
LONG, LINES = "long", 1000
NAME = re.compile(rb'"id":"w(\d+)"')


def prepare(port, key, circles, changes):
    for circle in [LONG, *(f"c{number}" for number in range(circles))]:
        call(port, "PUT", f"/v1/circles/{circle}", key, '{"name":"C","timeZone":"Europe/Berlin"}')
    for first in range(0, changes, LINES):
        lines = "".join(
            f'{{"op":"put","collection":"tasks","id":"l{number % 2000}","value":{{"title":"{number}","dueAt":"{DUE}"}}}}\n'
            for number in range(first, first + LINES))
        call(port, "POST", f"/v1/circles/{LONG}/batch", key, lines, "application/x-ndjson")


def opened(port, key, path, number, buffer=None):
    """A connection that has asked for a stream; from networks of their own, as clients are."""
    connection = socket.socket()
    if buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.bind((f"127.0.{1 + number // 200 % 250}.1", 0))
    connection.connect((HOST, port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
    return connection


class Readers:
    """Streams in a thread of their own, and when each received what."""

    def __init__(self, port, key, paths):
        self.poll, self.sockets, self.begun, self.received, self.ended = select.epoll(), {}, set(), [], 0
        self.goes_on = True
        self.refused = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        for number, path in enumerate(paths):
            connection = opened(port, key, path, number)
            connection.setblocking(False)
            self.sockets[connection.fileno()] = connection
            self.poll.register(connection.fileno(), select.EPOLLIN)
            # No more at once than a server takes in a moment.
            while number - len(self.begun) - len(self.refused) > 500:
                time.sleep(0.002)

    def read(self):
        while self.goes_on:
            for number, _ in self.poll.poll(0.2):
                try:
                    data = self.sockets[number].recv(65536)
                except BlockingIOError:
                    continue
                except OSError:
                    data = b""
                now = time.monotonic()
                if not data:
                    self.ended += 1
                    self.poll.unregister(number)
                    continue
                if number not in self.begun and b"\nid: " in data:
                    self.begun.add(number)
                elif number not in self.begun and data.startswith(b"HTTP/1.1") and b" 200 " not in data[:16]:
                    self.refused.append(data[:200])
                for name in NAME.findall(data):
                    self.received.append((int(name), now))

    def stop(self):
        self.goes_on = False
        self.thread.join()
        for connection in self.sockets.values():
            connection.close()


def write(port, key, circles, rate, seconds, title=""):
    """Changes one circle after the other; when each write was sent, and how long it took."""
    sent, took, began = {}, [], time.monotonic()
    for number in range(int(rate * seconds)):
        time.sleep(max(0, began + number / rate - time.monotonic()))
        sent[number] = time.monotonic()
        body = json.dumps({"title": f"{title}{number}", "dueAt": DUE})
        call(port, "PUT", f"/v1/circles/c{number % circles}/tasks/w{number}", key, body)
        took.append(time.monotonic() - sent[number])
    return sent, took


class Slow:
    """Readers that take nothing, or a few bytes a second, of more than the buffers hold."""

    def __init__(self, port, key, count):
        self.since = time.monotonic()
        self.left = [opened(port, key, f"/v1/circles/{LONG}/changes?since=0", number, 4096) for number in range(count)]
        self.takes = set(self.left[::2])
        self.cut = []

    def look(self):
        for connection in list(self.left):
            connection.setblocking(False)
            try:
                ended = connection in self.takes and connection.recv(100) == b""
                # What the system still has of the answer hides the end from who does not read; a byte brings the reset.
                ended |= connection.send(b"\r\n") == 0 or connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0
            except BlockingIOError:
                ended = False
            except OSError:
                ended = True
            if ended:
                self.cut.append(time.monotonic() - self.since)
                self.left.remove(connection)
                connection.close()


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def few_files(program, folder):
    """More streams than a server may open files; returns what is wrong."""
    place = os.path.join(folder, "few")
    os.mkdir(place)
    wrapper = os.path.join(place, "kalends")
    with open(wrapper, "w") as file:
        file.write(f'#!/bin/sh\nulimit -n 300\nexec {os.path.abspath(program)} "$@"\n')
    os.chmod(wrapper, 0o755)
    process, port = start(wrapper, place)
    try:
        key = make_key(program, place)
        prepare(port, key, 1, 0)
        connections, wanted = [], 600
        for number in range(wanted):
            try:
                connections.append(opened(port, key, "/v1/circles/c0/changes", number))
            except OSError:
                # Refused while it was being opened.
                continue
        deadline, begun, waiting = time.monotonic() + 8, 0, list(connections)
        while waiting and time.monotonic() < deadline:
            for connection in list(waiting):
                connection.setblocking(False)
                try:
                    begun += b"\nid: " in connection.recv(4096)
                    waiting.remove(connection)
                except BlockingIOError:
                    pass
                except OSError:
                    waiting.remove(connection)
            time.sleep(0.05)
        for connection in connections:
            connection.close()
        time.sleep(1)
        began = time.monotonic()
        call(port, "PUT", "/v1/circles/c0/tasks/after", key, json.dumps({"title": "after", "dueAt": DUE}))
        seconds = time.monotonic() - began
        print(f"at most 300 files: {begun} of {wanted} streams opened; a write after they closed took {seconds:.2f} s")
        if process.poll() is not None or not 0 < begun < wanted:
            return [f"with few files {begun} streams opened, and the server's status is {process.poll()}"]
        return ["after too many streams for its files the server is slow"] if seconds > 5 else []
    finally:
        process.kill()


def measure(options, folder, process, port):
    faults, key = [], make_key(options.program, folder)
    prepare(port, key, options.circles, options.long)
    everywhere = min(10, options.streams // 10)
    paths = ["/v1/changes"] * everywhere + [
        f"/v1/circles/c{number % options.circles}/changes" for number in range(options.streams - everywhere)]
    time.sleep(2)
    before, began = memory(process.pid), time.monotonic()
    readers = Readers(port, key, paths)
    while len(readers.begun) < len(paths) and not readers.ended and not readers.refused and time.monotonic() - began < 300:
        time.sleep(0.05)
    seconds = time.monotonic() - began
    time.sleep(3)
    open_now, each = len(readers.begun), (memory(process.pid) - before) * 1024 / max(1, len(readers.begun))
    print(f"streams: {open_now} open after {seconds:.1f} s; memory: {each:.1f} KiB each", flush=True)
    if open_now < len(paths):
        raise SystemExit(f"only {open_now} of {len(paths)} streams opened: {readers.refused[:1]}")
    write(port, key, options.circles, options.circles, 1, "first ")
    warm = options.circles * everywhere + options.streams - everywhere
    deadline = time.monotonic() + 60
    while len(readers.received) < warm and time.monotonic() < deadline:
        time.sleep(0.1)
    readers.received.clear()
    settled = memory(process.pid)
    print(f"memory after a change in each: {(settled - before) * 1024 / open_now:.1f} KiB each", flush=True)
    slow = Slow(port, key, options.slow)
    sent, took = {}, []

    def writing():
        found = write(port, key, options.circles, options.rate, options.seconds)
        sent.update(found[0])
        took.extend(found[1])

    writer, peak = threading.Thread(target=writing), settled
    writer.start()
    # A reader that takes too little is cut after 10 s, which the server looks at every 5 s.
    while writer.is_alive() or (slow.left and time.monotonic() - slow.since < 60):
        slow.look()
        peak = max(peak, memory(process.pid))
        time.sleep(1)
    writer.join()
    wanted = sum(paths.count(f"/v1/circles/c{number % options.circles}/changes") + everywhere for number in sent)
    deadline = time.monotonic() + 30
    while len(readers.received) < wanted and time.monotonic() < deadline:
        time.sleep(0.1)
    readers.stop()
    late = [1000 * (at - sent[name]) for name, at in readers.received]
    took = [1000 * one for one in took]
    print(f"changes: {len(sent)} written, {options.rate} a second, p99 {percentile(took, 0.99):.1f} ms; "
          f"{len(late)} of {wanted} received")
    print(f"from commit to receipt: p50 {percentile(late, 0.5):.1f} ms, p99 {percentile(late, 0.99):.1f} ms, "
          f"longest {max(late, default=float('nan')):.1f} ms")
    if slow.cut:
        print(f"slow readers: {len(slow.cut)} of {options.slow} ended after {statistics.median(slow.cut):.1f} s (median), "
              f"{max(slow.cut):.1f} s at most; memory {peak - settled} MiB more")
    if len(late) != wanted or readers.ended:
        faults.append(f"{len(late)} changes came where {wanted} were to come, and {readers.ended} streams ended")
    if slow.left:
        faults.append(f"{len(slow.left)} slow readers were not ended")
    if peak - settled > 64:
        faults.append(f"memory grew by {peak - settled} MiB")
    if process.poll() is not None:
        faults.append("the server died")
    return faults


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("program")
    parser.add_argument("--streams", type=int, default=10_000)
    parser.add_argument("--circles", type=int, default=100)
    parser.add_argument("--rate", type=float, default=10, help="changes a second")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--slow", type=int, default=100)
    parser.add_argument("--long", type=int, default=30_000, help="changes that slow readers ask for")
    options = parser.parse_args()
    needed = options.streams + options.slow + 700
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < needed:
        raise SystemExit(f"{needed} files have to be open here and in the server, and {hard} may be: ulimit -Hn")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    with tempfile.TemporaryDirectory() as folder:
        most = str(2 * options.streams + 1000)
        process, port = start(
            options.program, folder, "--max-connections", most, "--max-connections-per-network", most, "--max-streams", most,
            "--max-streams-per-user", most)
        try:
            faults = measure(options, folder, process, port)
        finally:
            process.kill()
            process.wait()
        faults += few_files(options.program, folder)
    for fault in faults:
        print("FAULT:", fault)
    sys.exit(1 if faults else 0)


main()
