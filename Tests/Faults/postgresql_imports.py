# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL crashes in the middle of imports, of their undoing and of batches: a file is in the circle as a whole or not at
all, what was acknowledged stays, and the same request again brings everything to its end.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/postgresql_imports.py [--rounds 20] [--events 3000]
"""

import argparse
import json
import random
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from cluster import PROGRAMS, Cluster
from report import run, skip
from server import Server, Violation

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=20)
parser.add_argument("--events", type=int, default=3000)
parser.add_argument("--lines", type=int, default=500)
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
options = parser.parse_args()

TITLE = f"{options.rounds} crashes of PostgreSQL amid imports of {options.events} events and batches of {options.lines} lines:"


def calendar(name):
    day = time.strftime("%Y%m%d")
    events = "".join(
        f"BEGIN:VEVENT\r\nUID:{name}-{number}@example.com\r\nDTSTAMP:20260101T000000Z\r\n"
        f"DTSTART:{day}T{number % 24:02}{number // 24 % 60:02}00Z\r\nSUMMARY:{name} {number}\r\nEND:VEVENT\r\n"
        for number in range(options.events))
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\n{events}END:VCALENDAR\r\n".encode()


def patiently(server, method, path, body=None, kind="application/json", expected=(200, 201, 204)):
    """The document of a request that is sent again as long as the server says so, or nobody answers."""
    deadline = time.monotonic() + 60
    while True:
        try:
            status, _, text = server.request(
                method, path, body, {"Authorization": f"Bearer {server.key}", "Content-Type": kind}, timeout=60)
        except OSError:
            status, text = 503, b""
        if status in expected:
            return json.loads(text) if text else None
        if status != 503 or time.monotonic() > deadline:
            raise Violation(f"{method} was answered {status}: {text[:300]!r}")
        time.sleep(0.05)


class Batches(threading.Thread):
    """Puts batches until it is stopped, and keeps the names of what was acknowledged."""

    def __init__(self, server, circle):
        super().__init__(daemon=True)
        self.server, self.circle, self.kept, self.goes_on = server, circle, [], True
        self.start()

    def run(self):
        day, number = time.strftime("%Y-%m-%dT12:00:00Z", time.gmtime()), 0
        while self.goes_on:
            number += 1
            names = [f"b{number}-{line}" for line in range(options.lines)]
            body = "".join(json.dumps({
                "op": "put", "collection": "tasks", "id": name, "value": {"title": name, "dueAt": day}}) + "\n"
                for name in names).encode()
            try:
                status, _, text = self.server.request("POST", f"/v1/circles/{self.circle}/batch", body, {
                    "Authorization": f"Bearer {self.server.key}", "Content-Type": "application/x-ndjson"})
                if status == 200 and not json.loads(text)["rejected"]:
                    self.kept += names
            except OSError:
                time.sleep(0.02)

    def stop(self):
        self.goes_on = False
        self.join(90)
        if self.is_alive():
            raise Violation("a batch did not come to an end")


def settled(server, path):
    """The state of an import that nobody works on any more."""
    deadline = time.monotonic() + 60
    while (state := patiently(server, "GET", path)["state"]) in ("reading", "committing"):
        if time.monotonic() > deadline:
            raise Violation(f"an import is {state} for 60 s, and nobody works on it")
        time.sleep(0.1)
    return state


def shown(server, path, name):
    """How many events of a file a reader of the feed gets."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            status, _, text = server.request("GET", path)
        except OSError:
            status = 503
        if status == 200:
            return text.count(f"SUMMARY:{name} ".encode())
        if status != 503:
            raise Violation(f"a read was answered {status}")
        time.sleep(0.05)
    raise Violation("no read was answered for 30 s")


def amid(cluster, chance, server, path, longest):
    """Sends a request and lets the database crash while it is at work; the status of its answer, None without one."""
    status = []

    def send():
        try:
            status.append(server.request("POST", path, b"{}", {
                "Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}, timeout=120)[0])
        except OSError:
            status.append(None)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    time.sleep(chance.uniform(0, longest))
    was_over = bool(status)
    cluster.crash()
    time.sleep(chance.uniform(0, 1))
    cluster.start()
    sender.join(130)
    if not status:
        raise Violation("a request was not answered for 130 s")
    return status[0], was_over


def rounds(folder):
    print(f"seed {options.seed}")
    chance = random.Random(options.seed)
    cluster = Cluster()
    server = Server(folder, folder, environment={"KALENDS_FILES": str(Path(folder) / "k")})
    server.database = cluster.address
    longest = 2.0
    try:
        server.start()
        server.wait()
        server.key = server.command("key", "create", "--name", "imports").strip()
        for number in range(1, options.rounds + 1):
            name = f"file{number}"
            circle = f"/v1/circles/{name}"
            patiently(server, "PUT", circle, json.dumps({"name": name, "timeZone": "UTC"}).encode())
            patiently(server, "PUT", f"{circle}/members/ann", b'{"displayName": "Ann", "role": "owner"}')
            feed = patiently(server, "POST", f"{circle}/feeds", b'{"userId": "ann"}')
            path = urlsplit(feed["url"]).path
            report = patiently(server, "POST", f"{circle}/imports?mode=preview", calendar(name), "text/calendar")
            batches = Batches(server, name)
            act, whole = ("commit", options.events) if number % 3 else ("undo", 0)
            if act == "undo":
                began = time.monotonic()
                patiently(server, "POST", f"/v1/imports/{report['id']}/commit", b"{}")
                longest = 1.2 * (time.monotonic() - began)
            status, was_over = amid(cluster, chance, server, f"/v1/imports/{report['id']}/{act}", longest)
            there = shown(server, path, name)
            if there not in (0, options.events):
                raise Violation(f"{there} of {options.events} events are in the circle after {act}")
            if status == 200 and there != whole:
                raise Violation(f"{act} was acknowledged, and {there} events are in the circle")
            batches.stop()
            # The same again, by whoever got no answer; one that was done already is refused as such.
            state = settled(server, f"/v1/imports/{report['id']}")
            if state != {"commit": "committed", "undo": "undone"}[act]:
                patiently(server, "POST", f"/v1/imports/{report['id']}/{act}", b"{}", expected=(200, 409))
            if (after := shown(server, path, name)) != whole:
                raise Violation(f"{after} events are in the circle after {act} was sent again; it was {state}")
            found = set(cluster.ask(f"SELECT id FROM schedule_items WHERE circle_id = '{name}'").split())
            if missing := set(batches.kept) - found:
                raise Violation(f"{len(missing)} lines of batches were acknowledged and are not there")
            when = "after it" if was_over else "amid it"
            yield number, act, when, status or "none", there, state, len(batches.kept)
        gaps = cluster.ask("SELECT count(*), count(DISTINCT sequence), max(sequence) FROM changes")
        if len(set(gaps.split("|"))) != 1:
            raise Violation(f"changes are not numbered without a gap: {gaps}")
        server.stop()
        print(server.command("doctor").strip())
    finally:
        server.stop()
        cluster.close()


if __name__ == "__main__":
    if not PROGRAMS:
        skip(TITLE, "there is no PostgreSQL (Debian: apt-get install postgresql)")
    run(
        TITLE,
        [("round", 5), ("act", 6), ("crash", 8), ("answer", 6), ("events", 6), ("state", 10), ("lines", 6)], rounds)
