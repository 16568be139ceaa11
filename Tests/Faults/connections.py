# SPDX-License-Identifier: Apache-2.0
"""Many connections at 15 minutes on one server, with a provider that takes 50 ms a request.

    python3 -B Tests/Faults/connections.py KALENDS [--sizes 100,1000,10000] [--window 300] [--items 5]

For each size: connects so many users' calendars over the API, lets the first runs end, spreads the next ones over the
interval as a server's days would have, and measures a window. Then everything is made overdue, as after an outage, and the
time until all ran is taken. Says what a run costs, and whether it costs more where there are more.

The provider is CalDAV on forty addresses of this machine, in a process of its own, whose time is not the server's.
"""

import argparse
import asyncio
import base64
import http.client
import json
import multiprocessing
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from running import call, make_key

HOSTS = [f"127.0.0.{number}" for number in range(11, 51)]
USERS = 10
INTERVAL = 900
TICKS = os.sysconf("SC_CLK_TCK")


# The provider


class Calendar:
    def __init__(self):
        self.events, self.changes = {}, []


class Provider:
    """As much of CalDAV as the engine uses: discovery, listings by token, contents, conditional writes."""

    def __init__(self, slow):
        self.slow, self.calendars, self.requests, self.under_way, self.most = slow, {}, 0, 0, 0

    async def serve(self, port, ready):
        server = await asyncio.start_server(self.connection, "0.0.0.0", port, limit=1 << 22, backlog=4096)
        ready.set()
        async with server:
            await server.serve_forever()

    async def connection(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, path, _ = head[0].split(" ", 2)
                fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
                body = (await reader.readexactly(int(fields.get("content-length", 0)))).decode()
                self.requests += 1
                self.under_way += 1
                self.most = max(self.most, self.under_way)
                if self.slow.value:
                    await asyncio.sleep(self.slow.value)
                status, headers, answer = self.answer(method, path, fields, body)
                self.under_way -= 1
                data = answer.encode()
                lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(data)}", *(f"{n}: {v}" for n, v in headers)]
                writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def answer(self, method, path, fields, body):
        user = base64.b64decode(fields.get("authorization", "Basic Og==")[6:]).decode().partition(":")[0]
        calendar, place = self.calendars.setdefault(user, Calendar()), f"/{user}/cal/"
        if method == "PROPFIND":
            if "current-user-principal" in body:
                return multistatus([(path, f"<D:current-user-principal><D:href>/{user}/</D:href></D:current-user-principal>")])
            if "calendar-home-set" in body:
                return multistatus([(path, f"<C:calendar-home-set><D:href>/{user}/</D:href></C:calendar-home-set>")])
            kind = "<D:resourcetype><D:collection/><C:calendar/></D:resourcetype><D:displayname>Calendar</D:displayname>"
            return multistatus([(place, kind)])
        if method == "REPORT" and "sync-collection" in body:
            token = re.search(r"sync-token>([^<]*)<", body)
            since = int(token[1].rpartition("/")[2]) if token and token[1] else 0
            names = dict.fromkeys(calendar.changes[since:])
            rows = [(place + name, etag(calendar.events[name])) if name in calendar.events else (place + name, None) for name in names]
            return multistatus(rows, f"<D:sync-token>http://x/{len(calendar.changes)}</D:sync-token>")
        if method == "REPORT":
            hrefs = re.findall(r"href>([^<]*)<", body)
            rows = []
            for href in hrefs:
                event = calendar.events.get(href.rpartition("/")[2])
                text = None if event is None else (
                    etag(event) + f"<C:calendar-data>{event[1].replace('&', '&amp;').replace('<', '&lt;')}</C:calendar-data>")
                rows.append((href, text))
            return multistatus(rows)
        name = path.rpartition("/")[2]
        event = calendar.events.get(name)
        if method == "PUT":
            if fields.get("if-none-match") == "*" and event or "if-match" in fields and (
                    not event or fields["if-match"] != f'"{event[0]}"'):
                return 412, [], ""
            calendar.changes.append(name)
            calendar.events[name] = (len(calendar.changes), body)
            return 204 if event else 201, [("ETag", f'"{len(calendar.changes)}"')], ""
        if method == "GET" and event:
            return 200, [("ETag", f'"{event[0]}"'), ("Content-Type", "text/calendar")], event[1]
        if method == "DELETE" and event:
            calendar.changes.append(name)
            del calendar.events[name]
            return 204, [], ""
        return 404, [], ""


def etag(event):
    return f'<D:getetag>"{event[0]}"</D:getetag>'


def multistatus(rows, extra=""):
    text = "".join(
        f"<D:response><D:href>{href}</D:href>" + (
            "<D:status>HTTP/1.1 404 Not Found</D:status>" if inner is None else
            f"<D:propstat><D:prop>{inner}</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>") + "</D:response>"
        for href, inner in rows)
    return 207, [("Content-Type", "application/xml; charset=utf-8")], (
        '<?xml version="1.0" encoding="utf-8"?><D:multistatus xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">'
        f"{text}{extra}</D:multistatus>")


def provide(port, slow, ready):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(Provider(slow).serve(port, ready))


# The server


class Server:
    def __init__(self, program, folder, provider_port):
        self.program, self.folder, self.process = program, folder, None
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("KALENDS")} | {
            "KALENDS_PRIVATE_CALDAV_HOSTS": ",".join(f"{host}:{provider_port}" for host in HOSTS)}

    def start(self):
        self.log = open(f"{self.folder}/log", "a+")
        self.log.truncate(0)
        self.process = subprocess.Popen(
            [self.program, "serve", "--database", f"{self.folder}/k.sqlite", "--port", "0", "--log-level", "notice"],
            stdout=self.log, stderr=self.log, env=self.environment)
        for _ in range(1200):
            if found := re.search(r"\bserving\b.*\bport=(\d+)", open(self.log.name).read()):
                self.port = int(found[1])
                return
            time.sleep(0.05)
        raise SystemExit("the server does not start: " + open(self.log.name).read()[-2000:])

    def stop(self):
        self.process.terminate()
        self.process.wait(60)

    def metrics(self):
        """The samples of the operator's socket."""
        connection = http.client.HTTPConnection("localhost", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(f"{self.folder}/k.sqlite.sock")
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if not line.startswith("#")}

    def processor(self):
        """Seconds of the processor so far."""
        fields = open(f"/proc/{self.process.pid}/stat").read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self):
        return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{self.process.pid}/status").read())[1]) / 1024

    def runs(self):
        return sum(value for name, value in self.metrics().items() if name.startswith("kalends_sync_runs_total"))


def connect(server, key, number, provider_port):
    circle, host = f"c{number // USERS}", HOSTS[number % len(HOSTS)]
    made = json.loads(call(server.port, "POST", f"/v1/circles/{circle}/connections", key, json.dumps(
        {"provider": "caldav", "userId": f"u{number}"})))
    path = f"/v1/connections/{made['id']}"
    call(server.port, "PUT", f"{path}/account", key, json.dumps(
        {"url": f"http://{host}:{provider_port}/", "username": f"u{number}", "password": "secret"}))
    call(server.port, "PUT", f"{path}/calendar", key, json.dumps(
        {"calendarId": f"http://{host}:{provider_port}/u{number}/cal/"}))


def fill(server, key, first, last, items, provider_port):
    def circle(number):
        name = f"/v1/circles/c{number}"
        call(server.port, "PUT", name, key, json.dumps({"name": f"Circle {number}", "timeZone": "Europe/Vienna"}))
        call(server.port, "PUT", f"{name}/patients/p", key, json.dumps({"displayName": "P"}))
        for user in range(number * USERS, (number + 1) * USERS):
            call(server.port, "PUT", f"{name}/members/u{user}", key, json.dumps({"displayName": f"U{user}", "role": "member"}))
        for item in range(items):
            start = time.strftime("%Y-%m-%dT09:00:00Z", time.gmtime(time.time() + (2 + item) * 86400))
            call(server.port, "PUT", f"{name}/appointments/a{item}", key, json.dumps(
                {"patientId": "p", "provider": f"Dr. {item}", "startAt": start}))

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(circle, range(first // USERS, last // USERS)))
        list(pool.map(lambda number: connect(server, key, number, provider_port), range(first, last)))


def reschedule(server, spread):
    """While the server is stopped: when each connection is due next, spread over an interval or all at once."""
    database = sqlite3.connect(f"{server.folder}/k.sqlite")
    now = int(time.time() * 1000)
    ids = [row[0] for row in database.execute("SELECT id FROM connections")]
    database.executemany("UPDATE connections SET next_sync_at = ? WHERE id = ?", [
        (now + random.randrange(INTERVAL * 1000) if spread else now - 1000, name) for name in ids])
    database.commit()
    database.close()


def wait_for(server, runs, seconds):
    end = time.monotonic() + seconds
    while server.runs() < runs:
        if time.monotonic() > end:
            raise SystemExit(f"only {server.runs():.0f} of {runs} runs after {seconds} s")
        time.sleep(0.2)


def wait_for_all(server, seconds):
    """Until every connection ran once."""
    database = sqlite3.connect(f"file:{server.folder}/k.sqlite?mode=ro", uri=True)
    end = time.monotonic() + seconds
    while left := database.execute("SELECT COUNT(*) FROM connections WHERE last_sync_at IS NULL").fetchone()[0]:
        if time.monotonic() > end:
            raise SystemExit(f"{left} connections never ran in {seconds} s")
        time.sleep(0.5)
    database.close()


def measured(server, window):
    start, processor, samples, most = time.monotonic(), server.processor(), server.metrics(), server.memory()
    while time.monotonic() - start < window:
        time.sleep(1)
        most = max(most, server.memory())
    taken, used, now = time.monotonic() - start, server.processor() - processor, server.metrics()

    def grown(name):
        return now.get(name, 0) - samples.get(name, 0)

    prefix = "kalends_sync_lateness_seconds"
    late = {bound: grown(f'{prefix}_bucket{{provider="caldav",le="{bound}"}}') for bound in (1, 5, 15, 60)}
    count = grown(f'{prefix}_count{{provider="caldav"}}')
    return {
        "runs": int(count), "failed": int(sum(grown(name) for name in now if name.startswith("kalends_sync_runs_total")
                                              and "success" not in name)),
        "within": {bound: value / count if count else 1 for bound, value in late.items()},
        "mean": grown(f'{prefix}_sum{{provider="caldav"}}') / count if count else 0,
        "requests": int(grown('kalends_sync_requests_total{provider="caldav"}')),
        "processor": used, "share": used / taken, "memory": most,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kalends")
    parser.add_argument("--sizes", default="100,1000,10000")
    parser.add_argument("--window", type=int, default=300, help="seconds that are measured for each size")
    parser.add_argument("--items", type=int, default=5, help="appointments of a circle, in each of its ten calendars")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds that the provider takes for a request")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    if any(size % USERS for size in sizes) or sizes != sorted(sizes):
        raise SystemExit(f"sizes rise, and are multiples of {USERS}")
    slow, ready, port = multiprocessing.Value("d", 0.0, lock=False), multiprocessing.Event(), 20000 + os.getpid() % 20000
    provider = multiprocessing.Process(target=provide, args=(port, slow, ready), daemon=True)
    provider.start()
    ready.wait(30)
    faults, results = [], []
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.kalends, folder, port)
        server.start()
        try:
            key = make_key(options.kalends, folder)
            time.sleep(2)
            before, start = server.processor(), time.monotonic()
            time.sleep(15)
            idle = (server.processor() - before) / (time.monotonic() - start)
            print(f"without connections: {idle:.2%} of a processor, {server.memory():.0f} MiB", flush=True)
            connected = 0
            for size in sizes:
                begun, slow.value = time.monotonic(), 0.0
                fill(server, key, connected, size, options.items, port)
                wait_for_all(server, 3600)
                connected = size
                slow.value = options.latency
                server.stop()
                reschedule(server, spread=True)
                server.start()
                print(f"{size}: connected and in step after {time.monotonic() - begun:.0f} s", flush=True)
                found = measured(server, options.window)
                found["size"] = size
                # All at once, as after an outage.
                server.stop()
                reschedule(server, spread=False)
                server.start()
                begun, before = time.monotonic(), server.processor()
                wait_for(server, size, 3600)
                found["backlog"] = time.monotonic() - begun
                found["backlogProcessor"] = server.processor() - before
                results.append(found)
                print(
                    f"{size}: {found['runs']} runs in {options.window} s, {found['failed']} failed, "
                    f"{found['requests'] / max(found['runs'], 1):.2f} requests each; late {found['mean']:.2f} s on average, "
                    f"{found['within'][1]:.1%} within 1 s, {found['within'][5]:.1%} within 5 s; "
                    f"{found['share']:.1%} of a processor, {found['memory']:.0f} MiB; "
                    f"a backlog of all: {found['backlog']:.1f} s, {found['backlogProcessor'] / size * 1000:.2f} ms of a processor each",
                    flush=True)
                if found["failed"]:
                    faults.append(f"{size}: {found['failed']} runs failed")
                if found["within"][15] < 1:
                    faults.append(f"{size}: a run began more than 15 s late")
                # Those in turn, with some to spare: 8 with each of forty hosts, 32 in all.
                if found["backlog"] > max(10, 4 * size * options.latency / 32):
                    faults.append(f"{size}: a backlog took {found['backlog']:.0f} s")
        finally:
            server.stop()
            provider.terminate()
    for small, large in zip(results, results[1:]):
        factor = large["size"] / small["size"]
        # What is there without any connection is no growth; half as much again is room for chance.
        used = [max(one["processor"] - idle * options.window, 0.2) for one in (small, large)]
        if used[1] > used[0] * factor * 1.5:
            faults.append(f"the processor: {used[1]:.1f} s for {large['size']}, {used[0]:.1f} s for {small['size']}")
        if large["backlogProcessor"] > max(small["backlogProcessor"], 0.5) * factor * 1.5:
            faults.append(f"the processor in a backlog: {large['backlogProcessor']:.1f} s, {small['backlogProcessor']:.1f} s")
        if large["memory"] - small["memory"] > max(small["memory"], 64) * factor / 2:
            faults.append(f"memory: {large['memory']:.0f} MiB for {large['size']}, {small['memory']:.0f} for {small['size']}")
    if faults:
        raise SystemExit("FAILED: " + "; ".join(faults))
    print("in time, and growth is no worse than linear")


if __name__ == "__main__":
    main()
