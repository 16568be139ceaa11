# SPDX-License-Identifier: Apache-2.0
"""Clients and other servers that let the server wait: uploads and bodies that drip, previews against a CalDAV server whose
answers drip, phones that send much at once. Beside them an ordinary reader polls, an ordinary writer changes, and other users
ask for lists, which must all be answered, also when the attackers have gone.

    KALENDS=.build-release/release/kalends python3 -B Tests/Faults/shares.py [--seconds 20] [--only uploads] [--factor 1]

The bounds are those of a release build on a machine of its own; `--factor` multiplies the times.
"""

import argparse
import asyncio
import json
import multiprocessing
import re
import signal
import socket
import threading
import time
from pathlib import Path

from connections import HOSTS, Provider
from ports import free_port
from report import run
from server import Server, Violation, seconds_to_stop

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=20)
parser.add_argument("--only", help="the names of some attackers, with commas between")
parser.add_argument("--factor", type=float, default=1, help="how much longer everything may take, in a debug build")
options = parser.parse_args()

# Milliseconds, MiB and seconds.
READER_P99, LONGEST_CHANGE, LONGEST_TRANSACTION, GROWTH, STOP = 100, 500, 250, 256, 20
PHONES, PHONE_BYTES = 8, 12_800_000
forked = multiprocessing.get_context("fork")


def memory(server, name):
    """MiB: `VmRSS` now, `VmHWM` the most that it ever was."""
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+)", text)[1]) >> 10


def drip(server, user, path, kind, length, rate, until, method="POST", isChunked=False):
    """Sends a body at so many bytes a second, and goes away in the middle of it; the first bytes of an early answer."""
    framing = "Transfer-Encoding: chunked" if isChunked else f"Content-Length: {length}"
    with socket.create_connection((server.host, server.port)) as connection:
        connection.sendall(
            f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.key}\r\nKalends-User: {user}\r\n"
            f"Content-Type: {kind}\r\n{framing}\r\n\r\n".encode())
        connection.settimeout(0.2)
        piece = b" " * max(1, int(rate / 5))
        if isChunked:
            piece = f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
        sent = 0
        while time.monotonic() < until and sent + len(piece) < length:
            try:
                connection.sendall(piece)
                sent += len(piece)
                return connection.recv(200).decode(errors="replace")
            except TimeoutError:
                pass
    return None


class Attack:
    """The name of an attack is that of its class."""

    environment = {}

    def prepare(self, server):
        """Makes what the attack needs, as anybody could."""

    def begin(self, server, until):
        """Attacks until then, in threads that are returned; `faults` gets what counts against the server."""

    def __init__(self):
        self.faults = []

    def close(self):
        pass


def start(works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    return threads


class Uploads(Attack):
    """Files of 8 MB from two users at 40 kB/s, and of four others at 6 kB/s."""

    def begin(self, server, until):
        def upload(user, rate):
            return lambda: drip(
                server, user, "/v1/circles/c/imports?mode=preview", "text/calendar", 8_000_000, rate, until)

        return start([upload(f"u{number}", 40_000 if number < 2 else 6_000) for number in range(6)])


class Bodies(Attack):
    """Documents, batches and phones' bodies of eight users that drip, with and without a stated length."""

    def begin(self, server, until):
        routes = [
            ("PUT", "/v1/circles/c/tasks/dripping", "application/json", 1_000_000),
            ("POST", "/v1/circles/c/batch", "application/x-ndjson", 20_000_000),
            ("POST", "/sync/apple/events/upsert", "application/json", PHONE_BYTES),
            ("POST", "/v1/circles/c/connections", "application/json", 1_000_000),
        ]
        return start([
            lambda user=f"u{number}", route=route, isChunked=number % 2 == 1: drip(
                server, user, route[1], route[2], route[3], 40_000, until, route[0], isChunked)
            for number in range(8) for route in routes])


class Dripping(Provider):
    """A CalDAV server that, once `slow` is set, answers a byte every second."""

    def __init__(self, drips):
        super().__init__(forked.RawValue("d", 0))
        self.drips = drips

    async def connection(self, reader, writer):
        if not self.drips.value:
            return await super().connection(reader, writer)
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 207 Multi-Status\r\nContent-Type: application/xml\r\nContent-Length: 1000000\r\n\r\n")
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(1)
        except (OSError, asyncio.IncompleteReadError):
            writer.close()


def serve(port, drips, ready):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(Dripping(drips).serve(port, ready))


class Previews(Attack):
    """Previews of four viewers against a CalDAV server that drips; the clients go away again and again."""

    USERS = 4

    def __init__(self):
        super().__init__()
        self.port, self.drips, ready = free_port(), forked.RawValue("b", 0), forked.Event()
        self.environment = {"KALENDS_PRIVATE_CALDAV_HOSTS": ",".join(f"{host}:{self.port}" for host in HOSTS)}
        self.process = forked.Process(target=serve, args=(self.port, self.drips, ready), daemon=True)
        self.process.start()
        ready.wait()

    def prepare(self, server):
        self.paths = []
        for number in range(self.USERS):
            address = f"http://{HOSTS[number]}:{self.port}"
            made = server.must("POST", "/v1/circles/c/connections", {"provider": "caldav", "userId": f"u{number}"})
            path = f"/v1/connections/{made['id']}"
            server.must("PUT", f"{path}/account", {"url": f"{address}/", "username": f"u{number}", "password": "secret"})
            server.must("PUT", f"{path}/calendar", {"calendarId": f"{address}/u{number}/cal/"})
            self.paths.append(path)

    def begin(self, server, until):
        self.drips.value = 1

        def ask(number, path):
            while time.monotonic() < until:
                with socket.create_connection((server.host, server.port)) as connection:
                    body = b'{"url": "http://%s:%d/", "username": "u", "password": "p"}%s' % (
                        HOSTS[number].encode(), self.port, b" " * 500_000)
                    connection.sendall(
                        f"{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.key}\r\nKalends-User: u{number}\r\n"
                        "Content-Type: application/json\r\n"
                        f"Content-Length: {len(body) if path.startswith('PUT') else 0}\r\n\r\n".encode()
                        + (body if path.startswith("PUT") else b""))
                    time.sleep(max(0, min(4, until - time.monotonic())))

        return start([
            lambda number=number, path=path: ask(number, path) for number, own in enumerate(self.paths)
            for path in (f"POST {own}/sync?mode=preview", f"POST {own}/sync?mode=preview", f"PUT {own}/account")])

    def close(self):
        self.process.terminate()


class Phones(Attack):
    """Eight phones send 12.8 MB each at the same time, and each of them gets through."""

    def begin(self, server, until):
        event = {"title": "Event", "date": "2030-03-04", "startTime": "09:00", "endTime": "10:00"}
        events = [event | {"externalId": f"x{number}", "unknown": "n" * 2_400} for number in range(5000)]
        body = json.dumps({"events": events}).encode()
        body += b" " * max(0, PHONE_BYTES - len(body))

        def send(user):
            began = time.monotonic()
            status, _, text = server.request(
                "POST", "/sync/apple/events/upsert", body, {
                    "Authorization": f"Bearer {server.key}", "Kalends-User": user, "Content-Type": "application/json"},
                timeout=60 * options.factor + 60)
            if status != 200:
                self.faults.append(
                    f"a phone was answered {status} after {time.monotonic() - began:.1f} s: {text[:200]}")

        return start([lambda user=f"p{number}": send(user) for number in range(PHONES)])


class Ordinary:
    """A reader, a writer and users who list, in a process of their own."""

    def __init__(self, server, feed):
        self.server, self.feed = server, feed
        self.running, self.results = forked.RawValue("b", 1), forked.Queue()
        self.process = forked.Process(target=self._go)
        self.process.start()

    def _go(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        times = {"reader": [], "writer": [], "lists": []}
        failures = []

        def repeat(name, pause, work):
            while self.running.value:
                began = time.monotonic()
                try:
                    status = work(len(times[name]))
                    if status not in (200, 201):
                        failures.append(f"{name}: {status}")
                except OSError as error:
                    failures.append(f"{name}: {error!r}")
                times[name].append(time.monotonic() - began)
                time.sleep(pause)

        lists = ["/v1/circles/other/tasks?limit=1000", "/v1/circles/other/members", "/v1/circles/other/imports",
                 "/v1/circles/other/tasks", "/v1/circles/other/feeds"]
        server = self.server
        threads = start([
            lambda: repeat("reader", 0.02, lambda turn: server.request("GET", self.feed.path)[0]),
            lambda: repeat("writer", 0.1, lambda turn: server.put_task("written", f"ours-{turn % 10}")),
            lambda: repeat("lists", 0.1, lambda turn: server.call("GET", lists[turn % len(lists)], user="lisa")[0])])
        for thread in threads:
            thread.join()
        self.results.put((times, failures))

    def stop(self):
        self.running.value = 0
        found = self.results.get(timeout=120)
        self.process.join()
        return found


def percentile(times, part):
    return 1000 * sorted(times)[int(part * (len(times) - 1))]


def stop_amid(attack, server):
    """Seconds that a server takes to stop when it gets the signal while it is attacked."""
    # Whoever attacks a server that stops loses the connection.
    threading.excepthook = lambda fault: None if isinstance(fault.exc_value, OSError) else threading.__excepthook__(fault)
    threads = attack.begin(server, time.monotonic() + 5)
    time.sleep(2)
    seconds = seconds_to_stop(server.process)
    for thread in threads:
        thread.join()
    threading.excepthook = threading.__excepthook__
    return seconds


def attacked(attack, folder):
    folder = Path(folder) / type(attack).__name__
    folder.mkdir()
    server = Server(folder, folder, attack.environment)
    server.start()
    server.wait()
    try:
        feed = server.fill(feeds=1)[0]
        server.must("PUT", "/v1/circles/c", {"name": "C", "timeZone": "Europe/Vienna"})
        for number in range(8):
            server.must("PUT", f"/v1/circles/c/members/u{number}", {"displayName": "U", "role": "member"})
        server.make_circle("other")
        server.must("PUT", "/v1/circles/other/members/lisa", {"displayName": "Lisa", "role": "owner"})
        for number in range(60):
            due = time.strftime("%Y-%m-%dT12:00:00Z", time.gmtime())
            server.must("PUT", f"/v1/circles/other/tasks/t{number}", {"title": "T", "dueAt": due, "notes": "n" * 30_000})
        attack.prepare(server)
        before = memory(server, "VmRSS")
        ordinary = Ordinary(server, feed)
        time.sleep(1)
        threads = attack.begin(server, time.monotonic() + options.seconds)
        for thread in threads:
            thread.join()
        # The attackers have gone.
        time.sleep(3)
        times, failures = ordinary.stop()
        growth = memory(server, "VmHWM") - before
        p99, change = percentile(times["reader"], 0.99), 1000 * max(times["writer"])
        longest = server.longest_transaction()
        faults = attack.faults + sorted(set(failures))[:5]
        stop = stop_amid(attack, server)
        if p99 > READER_P99 * options.factor:
            faults.append(f"the reader's 99th percentile was {p99:.0f} ms")
        if change > LONGEST_CHANGE * options.factor:
            faults.append(f"a change took {change:.0f} ms")
        if growth > GROWTH:
            faults.append(f"the server grew by {growth} MiB")
        if longest > LONGEST_TRANSACTION * options.factor:
            faults.append(f"a transaction took {longest:.0f} ms")
        if stop > STOP:
            faults.append(f"the server took {stop:.0f} s to stop")
        row = (type(attack).__name__.lower(), f"{p99:.1f}", f"{change:.0f}", len(times["lists"]),
               f"{1000 * max(times['lists']):.0f}", f"{longest:.0f}", f"{growth} MiB", f"{stop:.1f}")
        return row, faults
    finally:
        attack.close()
        server.stop()


def rounds(folder):
    wanted = options.only.split(",") if options.only else None
    broken = []
    for kind in (Uploads, Bodies, Previews, Phones):
        if wanted and kind.__name__.lower() not in wanted:
            continue
        row, faults = attacked(kind(), folder)
        yield row
        broken += [f"{row[0]}: {fault}" for fault in faults]
    if broken:
        raise Violation("; ".join(broken))


if __name__ == "__main__":
    run("Those who let the server wait, beside others:",
        [("", 10), ("poll p99 ms", 11), ("longest change ms", 17), ("lists", 6), ("longest list ms", 15),
         ("transaction ms", 14), ("growth", 9), ("stop s", 6)],
        rounds)
