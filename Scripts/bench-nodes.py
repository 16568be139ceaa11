# SPDX-License-Identifier: Apache-2.0
"""What one, two and three servers on one PostgreSQL of this machine do, beside one server on SQLite: unchanged polls, full
reads, changes a second in 64 circles and in one, memory per server, and how soon a revocation is answered with one, three
and eight servers.

    python3 Scripts/bench-nodes.py PROGRAM [--rounds 3] [--seconds 5] [--revocations 300]

Everything shares the machine's processors: the servers, PostgreSQL with its usual durability, and wrk with 32 connections
in all. The set-ups take their turns in each round; the figures are the medians of the rounds.
"""

import argparse
import base64
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Tests", "Faults"))
from cluster import PROGRAMS, Cluster  # noqa: E402
from load import Connection  # noqa: E402
from running import memory  # noqa: E402
from server import Server  # noqa: E402

CONNECTIONS = 32
WRITERS, CIRCLES = 32, 64
POLLS_EACH = 100

CHANGES = """
wrk.method = "PUT"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("KEY")
wrk.headers["Content-Type"] = "application/json"
local name, number, circles = os.getenv("NAME"), 0, tonumber(os.getenv("CIRCLES"))
function request()
    number = number + 1
    local body = '{"title":"' .. name .. ' ' .. number .. '","dueAt":"' .. os.getenv("DUE") .. '"}'
    return wrk.format(nil, "/v1/circles/w" .. math.random(circles) .. "/tasks/" .. name .. "-" .. number % 100, nil, body)
end
"""


class Node(Server):
    """One server of several, or the only one, with a folder of its own."""

    def __init__(self, folder, name, database=None, servers="one", key=None):
        place = Path(folder) / name
        place.mkdir()
        environment = {"KALENDS_FILES": str(place / "k"), "KALENDS_SERVERS": servers, "KALENDS_SECRET_KEY": key}
        super().__init__(place, place, environment if database else None)
        self.database = database or self.database


class Setup:
    """So many servers on one database, with a feed of 200 events."""

    def __init__(self, name, folder, count, kind):
        self.name, self.cluster = name, None
        place = Path(folder) / name.replace(" ", "-")
        place.mkdir()
        if kind == "sqlite":
            self.nodes = [Node(place, "server0")]
        else:
            self.cluster = Cluster()
            key = base64.b64encode(os.urandom(32)).decode()
            self.nodes = [Node(place, f"server{number}", self.cluster.address, kind, key) for number in range(count)]

    def start(self):
        for node in self.nodes:
            node.start()
            node.wait(60)

    def fill(self):
        first = self.nodes[0]
        first.key = first.command("key", "create", "--name", "bench").strip()
        for node in self.nodes:
            node.key = first.key
        first.must("PUT", "/v1/circles/bench", {"name": "Bench", "timeZone": "Europe/Berlin"})
        first.must("PUT", "/v1/circles/bench/members/ann", {"displayName": "Ann", "role": "owner"})
        day = time.strftime("%Y-%m-%d", time.gmtime())
        lines = "".join(json.dumps({"op": "put", "collection": "tasks", "id": f"task-{number}", "value": {
            "title": f"Give medicine number {number}, with food", "dueAt": f"{day}T{number % 24:02}:{number % 60:02}:00Z",
            "notes": "Call if it is refused."}}) + "\n" for number in range(200))
        status, _, text = first.request("POST", "/v1/circles/bench/batch", lines.encode(), {
            "Authorization": f"Bearer {first.key}", "Content-Type": "application/x-ndjson"})
        if status != 200:
            raise SystemExit(f"a batch was answered {status}: {text[:300]}")
        # Changes go to circles of their own, so that a full read stays the same.
        for number in range(CIRCLES):
            first.must("PUT", f"/v1/circles/w{number + 1}", {"name": "W", "timeZone": "Europe/Berlin"})
        self.path = self.feed("bench", "ann")[1]
        time.sleep(1.1)
        self.tag = Connection(first.port).get(self.path)[1]

    def feed(self, circle, user):
        made = self.nodes[0].must("POST", f"/v1/circles/{circle}/feeds", {"userId": user})
        return made["id"], urlsplit(made["url"]).path

    def load(self, *words, path="", environment=None, connections=CONNECTIONS, seconds=5):
        """Requests a second of all servers together, each with its part of the connections."""
        count = len(self.nodes)
        each = [connections // count + (number < connections % count) for number in range(count)]
        running = [subprocess.Popen(
            ["wrk", "-t1", f"-c{count}", f"-d{seconds}s", "--latency", *words, f"http://127.0.0.1:{node.port}{path}"],
            stdout=subprocess.PIPE, text=True, env=dict(os.environ, **(environment or {}), NAME=f"n{node.port}"))
            for node, count in zip(self.nodes, each)]
        rate = 0
        for process in running:
            text = process.communicate()[0]
            if process.returncode or "Non-2xx" in text or "Socket errors" in text:
                raise SystemExit(text)
            rate += float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
        return rate

    def stop(self):
        for node in self.nodes:
            node.stop()
        if self.cluster:
            self.cluster.close()


def percentile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def rates(given, folder):
    """The rates and the memory of all set-ups, one after the other in each round."""
    kinds = [("SQLite", 1, "sqlite"), ("PostgreSQL servers=one", 1, "one"), ("1 of several", 1, "several"),
             ("2 of several", 2, "several"), ("3 of several", 3, "several")]
    lua = Path(folder) / "changes.lua"
    lua.write_text(CHANGES)
    found, sizes = {}, {}
    for turn in range(given.rounds):
        for name, count, kind in kinds:
            setup = Setup(name, tempfile.mkdtemp(dir=folder), count, kind)
            try:
                setup.start()
                setup.fill()
                due = time.strftime("%Y-%m-%dT12:00:00Z", time.gmtime())
                row = [
                    setup.load("-H", f"If-None-Match: {setup.tag}", path=setup.path, seconds=given.seconds),
                    setup.load(path=setup.path, seconds=given.seconds),
                    *(setup.load(
                        "-s", str(lua), environment={"KEY": setup.nodes[0].key, "DUE": due, "CIRCLES": str(circles)},
                        connections=WRITERS, seconds=given.seconds) for circles in (CIRCLES, 1))]
                found.setdefault(name, []).append(row)
                sizes.setdefault(name, []).append([memory(node.process.pid) for node in setup.nodes])
            finally:
                setup.stop()
    print(f"{'':22}  unchanged/s  whole/s  changes/s  in one circle  MiB per server")
    for name, rows in found.items():
        unchanged, whole, changes, in_one = (statistics.median(column) for column in zip(*rows))
        print(f"{name:22}  {unchanged:11.0f}  {whole:7.0f}  {changes:9.0f}  {in_one:13.0f}  "
              f"{', '.join(str(round(statistics.median(column))) for column in zip(*sizes[name]))}", flush=True)


def poll(port, path, tag, is_over):
    """Unchanged polls at a steady pace."""
    connection = Connection(port)
    while not is_over.is_set():
        if connection.get(path, tag)[0] not in (200, 304):
            raise SystemExit("a poll was refused")
        time.sleep(1 / POLLS_EACH)


def revocations(given, folder, count, polls):
    """How long revocations take until they are answered, each asked of the next server, one after the other."""
    setup = Setup(f"{count} servers", tempfile.mkdtemp(dir=folder), count, "several")
    try:
        setup.start()
        setup.fill()
        feeds = []
        for number in range(given.revocations):
            user = f"u{number}"
            setup.nodes[0].must("PUT", f"/v1/circles/bench/members/{user}", {"displayName": "U", "role": "member"})
            feeds.append(setup.feed("bench", user))
        over = threading.Event()
        readers = [threading.Thread(target=poll, args=(node.port, setup.path, setup.tag, over)) for node in setup.nodes
                   for _ in range(polls)]
        for reader in readers:
            reader.start()
        times = []
        for number, (feed, path) in enumerate(feeds):
            node, other = setup.nodes[number % count], setup.nodes[(number + 1) % count]
            if Connection(other.port).get(path)[0] != 200:
                raise SystemExit("a feed is not there")
            began = time.monotonic()
            node.must("POST", f"/v1/feeds/{feed}/revoke", {})
            times.append(time.monotonic() - began)
            if (status := Connection(other.port).get(path)[0]) != 410:
                raise SystemExit(f"a revoked feed was answered {status} by another server")
            time.sleep(0.005)
        over.set()
        for reader in readers:
            reader.join()
        print(f"revocation, {count} servers, {polls * POLLS_EACH * count} polls a second beside: {len(times)} answered in "
              f"{1000 * percentile(times, 0.5):.1f} ms (p50), {1000 * percentile(times, 0.99):.1f} ms (p99), "
              f"{1000 * max(times):.1f} ms at most; another server answered 410 to each next poll; memory of a server "
              f"{max(memory(node.process.pid) for node in setup.nodes)} MiB at most", flush=True)
    finally:
        setup.stop()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=int, default=5)
    options.add_argument("--revocations", type=int, default=300)
    given = options.parse_args()
    if not PROGRAMS:
        raise SystemExit("There is no PostgreSQL here (Debian: apt-get install postgresql).")
    os.environ["KALENDS"] = given.program
    with tempfile.TemporaryDirectory(prefix="kalends-nodes-") as folder:
        rates(given, folder)
        for count in (1, 3, 8):
            for polls in (0, 1):
                revocations(given, folder, count, polls)


if __name__ == "__main__":
    main()
