# SPDX-License-Identifier: Apache-2.0
"""Hostile CalDAV servers that viewers name, next to an ordinary reader, a writer and people with ordinary calendars.

    python3 -B Tests/Faults/providers.py KALENDS [--seconds 30] [--only endless,many] [--slack 1]

Listings that never end with names of 4 kB, answers of 16 MiB eight at a time, 14 MB of small elements at eight and at
thirty, hosts that send a byte now and then, and, with root, names whose servers say nothing. While each of them lasts, the
reader, the writer and `/healthz` are served at once, memory stays bounded, no write is long, and everybody else's calendars
are still kept in step and read by address. A server that is told to stop amid the last of them stops.
"""

import argparse
import asyncio
import base64
import http.client
import json
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import threading
import time

from connections import HOSTS, Provider, Server, multistatus
from names import own_network, serve_calendar, serve_names
from running import HOST, call, make_key, path_of
from server import longest_transaction, seconds_to_stop

# Milliseconds, MiB and seconds.
READER, HEALTH, CHANGE, TRANSACTION, GROWTH, OTHERS, STOP = 100, 250, 500, 250, 256, 10, 20
GOOD = 4
forked = multiprocessing.get_context("fork")
XML = [("Content-Type", "application/xml; charset=utf-8")]
HEAD = b'<?xml version="1.0" encoding="utf-8"?><D:multistatus xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">'


class Hostile(Provider):
    """A server whose accounts' names say how it misbehaves once their calendar is read."""

    def __init__(self, slow):
        super().__init__(slow)
        self.pages = 0

    def answer(self, method, path, fields, body):
        user = base64.b64decode(fields.get("authorization", "Basic Og==")[6:]).decode().partition(":")[0]
        kind = user.rstrip("0123456789")
        if method != "REPORT" or kind in ("good", "names"):
            return super().answer(method, path, fields, body)
        return getattr(self, kind)(f"/{user}/cal/", body)

    def endless(self, place, body):
        """Another page of new names, again and again."""
        self.pages += 1
        name = "n" * 4000
        rows = [(f"{place}{self.pages}-{row}-{name}", '<D:getetag>"1"</D:getetag>') for row in range(1000)]
        rows += [(place, None)]
        status, headers, text = multistatus(rows, f"<D:sync-token>http://x/{self.pages}</D:sync-token>")
        return status, headers, text.replace("404 Not Found", "507 Insufficient Storage")

    def large(self, place, body):
        """Enough events for eight requests at a time, each answered by 16 MiB."""
        if "sync-collection" in body:
            rows = [(f"{place}{number}.ics", '<D:getetag>"1"</D:getetag>') for number in range(400)]
            return multistatus(rows, "<D:sync-token>http://x/1</D:sync-token>")
        return 207, [("X-Parts", "256"), *XML], "n" * (1 << 16)

    def small(self, place, body):
        """As many small elements as 14 MB hold."""
        response = f"<D:response><D:href>{place}x</D:href>{'<D:a>x</D:a>' * 100}</D:response>" * 50
        return 207, [("X-Parts", str(14_000_000 // len(response))), *XML], response

    many = small

    def dripping(self, place, body):
        """A byte a second."""
        return 207, [("X-Parts", "1000000"), *XML], " "

    async def connection(self, reader, writer):
        await super().connection(reader, Parts(writer))


class Parts:
    """A writer that sends the body of an answer with `X-Parts` as often as that says, in little memory."""

    def __init__(self, writer):
        self.writer, self.left, self.part, self.end = writer, 0, b"", b""

    def write(self, data):
        head, _, body = data.partition(b"\r\n\r\n")
        count = re.search(rb"\r\nX-Parts: (\d+)", head)
        if not count:
            return self.writer.write(data)
        self.left, self.part = int(count[1]), body
        comments = not body.startswith(b"<")
        begin, self.end = HEAD + b"<!--" * comments, b"-->" * comments + b"</D:multistatus>"
        length = len(begin) + self.left * len(body) + len(self.end)
        self.writer.write(re.sub(rb"Content-Length: \d+", b"Content-Length: %d" % length, head) + b"\r\n\r\n" + begin)

    async def drain(self):
        await self.writer.drain()
        while self.left:
            self.left -= 1
            self.writer.write(self.part)
            await self.writer.drain()
            if len(self.part) == 1:
                await asyncio.sleep(1)
        self.writer.write(self.end)
        self.end = b""
        await self.writer.drain()

    def close(self):
        self.writer.close()


def provide(port, ready):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(19)
    asyncio.run(Hostile(forked.RawValue("d", 0)).serve(port, ready))


def ask(port, method, path, key, value=None, user=None, timeout=120):
    connection = http.client.HTTPConnection(HOST, port, timeout=timeout)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    if user:
        headers["Kalends-User"] = user
    try:
        connection.request(method, path, None if value is None else json.dumps(value), headers)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text.startswith(b"{") else None
    finally:
        connection.close()


def fill(server, key):
    for circle in ("ours", "theirs"):
        call(server.port, "PUT", f"/v1/circles/{circle}", key, json.dumps({"name": circle, "timeZone": "Europe/Vienna"}))
        call(server.port, "PUT", f"/v1/circles/{circle}/patients/p", key, json.dumps({"displayName": "P"}))
        call(server.port, "PUT", f"/v1/circles/{circle}/members/ann", key, json.dumps({"displayName": "Ann", "role": "owner"}))
        # Large enough that a run needs a good part of the memory for runs.
        lines = "".join(json.dumps({"op": "put", "collection": "appointments", "id": f"a{number}", "value": {
            "patientId": "p", "provider": f"Dr. {number}",
            "startAt": time.strftime("%Y-%m-%dT09:00:00Z", time.gmtime(time.time() + (number % 300) * 86400))}}) + "\n"
            for number in range(1500 if circle == "theirs" else 40))
        call(server.port, "POST", f"/v1/circles/{circle}/batch", key, lines, "application/x-ndjson")
    return path_of(call(server.port, "POST", "/v1/circles/ours/feeds", key, '{"userId":"ann"}'))


def connect(server, key, user, circle, role, host, port):
    call(server.port, "PUT", f"/v1/circles/{circle}/members/{user}", key, json.dumps({"displayName": user, "role": role}))
    status, made = ask(server.port, "POST", f"/v1/circles/{circle}/connections", key, {"provider": "caldav"}, user)
    path = f"/v1/connections/{made['id']}"
    for part, value in (("account", {"url": f"http://{host}:{port}/", "username": user, "password": "secret"}),
                        ("calendar", {"calendarId": f"http://{host}:{port}/{user}/cal/"})):
        status, document = ask(server.port, "PUT", f"{path}/{part}", key, value, user)
        if status != 200:
            raise SystemExit(f"{user} could not connect: {status} {document}")
    return made["id"]


def measure(port, key, feed, until, results):
    """A reader, a prober of `/healthz` and a writer; the times of each and what failed."""
    times, failures = {"reader": [], "health": [], "change": []}, []

    def repeat(name, pause, request):
        while time.monotonic() < until.value:
            before = time.monotonic()
            try:
                status = request()
                if status not in (200, 201, 304):
                    failures.append(f"{name}: {status}")
            except (OSError, http.client.HTTPException) as error:
                failures.append(f"{name}: {error!r}")
            times[name].append(1000 * (time.monotonic() - before))
            time.sleep(pause)

    kept = http.client.HTTPConnection(HOST, port, timeout=60)

    def poll():
        kept.request("GET", feed, headers={"If-None-Match": "*"})
        answer = kept.getresponse()
        answer.read()
        return answer.status

    def change():
        value = {"title": f"{time.time()}", "dueAt": "2030-01-01T10:00:00Z"}
        return ask(port, "PUT", "/v1/circles/ours/tasks/t", key, value)[0]

    threads = [threading.Thread(target=repeat, args=work) for work in (
        ("reader", 0.02, poll), ("health", 0.1, lambda: ask(port, "GET", "/healthz", key)[0]), ("change", 0.1, change))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put((times, failures))


def attack(port, key, user, connection, until, statuses):
    """Asks for runs and previews, or names other hosts, whatever the answers are."""
    seen = {}
    turn = 0
    while time.monotonic() < until.value:
        turn += 1
        method, path, value = "POST", f"/v1/connections/{connection}/sync" + ("?mode=preview" if turn % 2 else ""), None
        if user.startswith("names"):
            value = {"url": f"https://silent{turn}.{user}.example/", "username": user, "password": "secret"}
            method, path = "PUT", f"/v1/connections/{connection}/account"
        try:
            status, document = ask(port, method, path, key, value, user, timeout=30)
            status = f"{status} {(document or {}).get('code', '')}".strip()
        except (OSError, http.client.HTTPException):
            status = "no answer in 30 s"
        seen[status] = seen.get(status, 0) + 1
        time.sleep(0.2)
    for status, count in seen.items():
        statuses[status] = statuses.get(status, 0) + count


def in_step(server, key, user, connection):
    """Seconds from a person's wish to the end of a successful run; a word if there was none."""
    began = time.monotonic()
    status, document = ask(server.port, "POST", f"/v1/connections/{connection}/sync", key, user=user)
    if status != 202:
        return f"{status} {document}"
    while time.monotonic() - began < 60:
        _, run = ask(server.port, "GET", f"/v1/runs/{document['runId']}", key, user=user)
        if run["status"] == "success":
            return time.monotonic() - began
        if run["state"] in ("done", "failed"):
            return f"{run['state']}: {run.get('error')}"
        time.sleep(0.05)
    return "no end after 60 s"


def by_address(server, key):
    """Seconds that a calendar at an address with a name takes to be read; a word if it was not."""
    began = time.monotonic()
    status, document = ask(
        server.port, "POST", "/v1/circles/ours/imports?mode=preview", key, {"url": "http://good.example/a.ics"}, "ann")
    return time.monotonic() - began if status in (200, 201) else f"by address: {status} {document}"


def start_attack(server, key, hostile, until, statuses):
    threads = [threading.Thread(target=attack, args=(server.port, key, user, connection, until, statuses))
               for user, connection in hostile.items()]
    for thread in threads:
        thread.start()
    return threads


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--seconds", type=int, default=30, help="how long each attack lasts")
    options.add_argument("--only", help="the names of some attacks, with commas between")
    options.add_argument("--slack", type=float, default=1, help="what times are divided by, for a debug build or a busy machine")
    given = options.parse_args()
    network = own_network()
    attackers = {"endless": 4, "large": 4, "small": 8, "many": 30, "dripping": 24} | ({"names": 30} if network else {})
    if given.only:
        attackers = {name: count for name, count in attackers.items() if name in given.only.split(",")}
    port, faults = 20000 + os.getpid() % 20000, []
    readies = [forked.Event() for _ in range(2)]
    # The good hosts are not to wait for the processor of the hostile ones, so they have a process of their own.
    for number, ready in enumerate(readies):
        forked.Process(target=provide, args=(port + number, ready), daemon=True).start()
        ready.wait(30)
    if network:
        serve_names()
        serve_calendar()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(given.program, folder, port)
        server.environment["KALENDS_ALLOW_HTTP_IMPORTS"] = "true"
        server.environment["KALENDS_PRIVATE_CALDAV_HOSTS"] += "," + ",".join(f"{host}:{port + 1}" for host in HOSTS)
        server.start()
        try:
            key = make_key(given.program, folder)
            feed = fill(server, key)
            good = {f"good{n}": connect(server, key, f"good{n}", "ours", "member", HOSTS[n], port + 1) for n in range(GOOD)}
            for user, connection in good.items():
                if isinstance(found := in_step(server, key, user, connection), str):
                    raise SystemExit(f"{user} is not in step before anything: {found}")
            base = server.memory()
            print(f"before: {base:.0f} MiB", flush=True)
            hostile = {}
            for name, count in attackers.items():
                for user, connection in hostile.items():
                    ask(server.port, "DELETE", f"/v1/connections/{connection}?events=keep", key, user=user)
                hostile = {f"{name}{n}": connect(
                    server, key, f"{name}{n}", "theirs", "viewer", HOSTS[8 + n % 32], port) for n in range(count)}
                until, results, statuses = forked.RawValue("d", time.monotonic() + given.seconds), forked.Queue(), {}
                ordinary = forked.Process(target=measure, args=(server.port, key, feed, until, results))
                ordinary.start()
                threads = start_attack(server, key, hostile, until, statuses)
                time.sleep(min(5, given.seconds / 3))
                waits = []
                while time.monotonic() < until.value:
                    for user, connection in good.items():
                        waits.append(in_step(server, key, user, connection))
                    if network:
                        waits.append(by_address(server, key))
                    time.sleep(0.5)
                for thread in threads:
                    thread.join()
                times, failures = results.get(timeout=120)
                ordinary.join()
                grown = server.memory() - base
                longest = {what: max(found) / given.slack for what, found in times.items()}
                reader = sorted(times["reader"])[int(len(times["reader"]) * 0.99)] / given.slack
                late = [wait for wait in waits if isinstance(wait, str) or wait / given.slack > OTHERS]
                longest["transaction"] = longest_transaction(f"{folder}/k.sqlite") / given.slack
                slowest = max((wait for wait in waits if not isinstance(wait, str)), default=float("nan"))
                print(f"{name} × {count}: reader p99 {reader:.0f} ms, longest {longest['reader']:.0f} ms; healthz {longest['health']:.0f} "
                      f"ms; change {longest['change']:.0f} ms; transaction {longest['transaction']:.0f} ms; {grown:+.0f} MiB; "
                      f"{len(waits)} other runs and imports, longest {slowest:.1f} s")
                print("    " + ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items())), flush=True)
                for bound, found, what in ((READER, reader, "reader's p99"), (HEALTH, longest["health"], "/healthz"),
                                           (CHANGE, longest["change"], "a change"),
                                           (TRANSACTION, longest["transaction"], "a write transaction")):
                    if found > bound:
                        faults.append(f"{name}: {what} took {found:.0f} ms, more than {bound}")
                if grown > GROWTH:
                    faults.append(f"{name}: memory grew by {grown:.0f} MiB, more than {GROWTH}")
                if late:
                    faults.append(f"{name}: other people's runs were late or failed: {late[:3]}")
                if failures:
                    faults.append(f"{name}: {len(failures)} ordinary requests failed: {sorted(set(failures))[:3]}")
                if server.process.poll() is not None:
                    raise SystemExit(f"FAULT: {name}: the server ended with {server.process.returncode}")
            threads = start_attack(server, key, hostile, forked.RawValue("d", time.monotonic() + 3), {})
            time.sleep(1)
            stop = seconds_to_stop(server.process)
            print(f"stopped amid that in {stop:.1f} s")
            if stop > STOP:
                faults.append(f"the server took {stop:.0f} s to stop, more than {STOP}")
            for thread in threads:
                thread.join()
        finally:
            server.process.kill()
    for fault in faults:
        print("FAULT:", fault)
    print("kept." if not faults else "not kept.")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
