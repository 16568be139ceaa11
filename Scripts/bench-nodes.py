# SPDX-License-Identifier: Apache-2.0
"""What one, two and three servers on one PostgreSQL of this machine do, beside one server on SQLite: unchanged polls, full
reads, changes a second in 64 circles and in one, memory per server; changes a second where every commit waits for a standby
that applies it after 3 ms, beside pgbench in the same round; how many feeds a second are made for the first time; how soon
a revocation is answered with one, three and eight servers; how evenly three servers share the work of 3,000 users; and what
a poll, a first read, a change and an import take where the database is at a distance.

    python3 Scripts/bench-nodes.py PROGRAM [--parts rates,standby,first,revocations,shares,distances] [--rounds 3]
        [--seconds 5] [--revocations 300] [--feeds 400] [--servers 1,3,8] [--distances 0,1,3,10] [--before PROGRAM]

Everything shares the machine's processors: the servers, PostgreSQL with its usual durability, and wrk with 32 connections
in all. The set-ups take their turns in each round; the figures are the medians of the rounds. A distance is that of a
process that passes on each byte after a while; it takes a part of a millisecond more by itself, so the round trip is
measured. With --before, first reads and changes beside a standby are also those of another program.
"""

import argparse
import base64
import concurrent.futures
import importlib.util
import json
import os
import random
import re
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Tests", "Faults"))
from cluster import PROGRAMS, Cluster, Replicated  # noqa: E402
from load import Connection  # noqa: E402
from ports import free_port  # noqa: E402
from running import memory  # noqa: E402
from server import Server  # noqa: E402
from wire import Wire  # noqa: E402

specification = importlib.util.spec_from_file_location("million", Path(__file__).parent / "bench-million.py")
million = importlib.util.module_from_spec(specification)
specification.loader.exec_module(million)

CONNECTIONS = 32
WRITERS, CIRCLES = 32, 64
POLLS_EACH = 100
ITEMS_OF_FEED = 30
# How many polls come together where the database is at a distance.
TOGETHER = (1, 32)
# After how many milliseconds a standby applies a commit.
APPLIED_AFTER = 3
USERS = 3_000
IMPORTED = 500

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

    def __init__(self, name, folder, count, kind, distance=None, cluster=None):
        """`distance`: the milliseconds to the database and back. `cluster`: one that others use later."""
        self.name, self.cluster, self.away, self.keeps = name, cluster, None, cluster is not None
        place = Path(folder) / name.replace(" ", "-")
        place.mkdir()
        if kind == "sqlite":
            self.nodes = [Node(place, "server0")]
        else:
            self.cluster = cluster or Cluster()
            key = base64.b64encode(os.urandom(32)).decode()
            self.away = None if distance is None else Away(self.cluster, distance)
            address = (self.away or self.cluster).address
            self.nodes = [Node(place, f"server{number}", address, kind, key) for number in range(count)]

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
        self.learn()

    def learn(self):
        self.tag = Connection(self.nodes[0].port).get(self.path)[1]

    def fill_circles(self, count):
        """Makes so many circles with a feed each; gives the paths of the feeds."""
        node, due = self.nodes[0], time.time()
        lines = "".join(json.dumps({"op": "put", "collection": "tasks", "id": f"task-{number}", "value": {
            "title": f"Give medicine number {number}, with food", "notes": "Call if it is refused.",
            "dueAt": time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(due + number * 5 * 3600))}}) + "\n"
            for number in range(ITEMS_OF_FEED)).encode()
        paths = []
        for number in range(count):
            circle = f"first{number}"
            node.make_circle(circle)
            status, _, text = node.request("POST", f"/v1/circles/{circle}/batch", lines, {
                "Authorization": f"Bearer {node.key}", "Content-Type": "application/x-ndjson"})
            if status != 200:
                raise SystemExit(f"a batch was answered {status}: {text[:300]}")
            paths.append(self.feed(circle, "ann")[1])
        return paths

    def restart(self):
        for node in self.nodes:
            node.stop()
        self.start()

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

    def changes(self, given, folder, circles):
        """Changes a second that writers make in so many circles."""
        lua = Path(folder) / "changes.lua"
        lua.write_text(CHANGES)
        due = time.strftime("%Y-%m-%dT12:00:00Z", time.gmtime())
        return self.load(
            "-s", str(lua), environment={"KEY": self.nodes[0].key, "DUE": due, "CIRCLES": str(circles)},
            connections=WRITERS, seconds=given.seconds)

    def stop(self):
        for node in self.nodes:
            node.stop()
        if self.away:
            self.away.wire.close()
        if self.cluster and not self.keeps:
            self.cluster.close()


def percentile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def rates(given, folder):
    """The rates and the memory of all set-ups, one after the other in each round."""
    kinds = [("SQLite", 1, "sqlite"), ("PostgreSQL servers=one", 1, "one"), ("1 of several", 1, "several"),
             ("2 of several", 2, "several"), ("3 of several", 3, "several")]
    found, sizes = {}, {}
    for turn in range(given.rounds):
        for name, count, kind in kinds:
            setup = Setup(name, tempfile.mkdtemp(dir=folder), count, kind)
            try:
                setup.start()
                setup.fill()
                row = [
                    setup.load("-H", f"If-None-Match: {setup.tag}", path=setup.path, seconds=given.seconds),
                    setup.load(path=setup.path, seconds=given.seconds),
                    *(setup.changes(given, folder, circles) for circles in (CIRCLES, 1))]
                found.setdefault(name, []).append(row)
                sizes.setdefault(name, []).append([memory(node.process.pid) for node in setup.nodes])
            finally:
                setup.stop()
    print(f"{'':22}  unchanged/s  whole/s  changes/s  in one circle  MiB per server")
    for name, rows in found.items():
        unchanged, whole, changes, in_one = (statistics.median(column) for column in zip(*rows))
        print(f"{name:22}  {unchanged:11.0f}  {whole:7.0f}  {changes:9.0f}  {in_one:13.0f}  "
              f"{', '.join(str(round(statistics.median(column))) for column in zip(*sizes[name]))}", flush=True)


def transactions(cluster, seconds):
    """How many transactions a second pgbench makes with as many clients as there are writers."""
    words = [cluster.programs / "pgbench", "-h", cluster.home, "-U", "kalends"]
    done = subprocess.run(
        [*words, "-N", "-n", "-c", str(WRITERS), "-j", "2", "-T", str(seconds), "pgbench"], capture_output=True, text=True)
    rate = re.search(r"tps = ([\d.]+)", done.stdout)
    if done.returncode or not rate:
        raise SystemExit(f"pgbench ended with {done.returncode}: {done.stderr}")
    return float(rate[1])


def beside_standby(given, folder):
    """Changes a second where every commit waits for a standby."""
    programs = [("", given.program)] + ([("before: ", given.before)] if given.before else [])
    found = {}
    for turn in range(given.rounds):
        for program_name, program in programs:
            os.environ["KALENDS"] = program
            for count in (1, 2):
                members = [primary := Replicated()]
                try:
                    setup = Setup("standby", tempfile.mkdtemp(dir=folder), count, "several", cluster=primary)
                    setup.start()
                    setup.fill()
                    primary.ask("CREATE DATABASE pgbench", "postgres")
                    primary.run("pgbench", "-h", primary.home, "-U", "kalends", "-i", "-q", "-s", "10", "pgbench")
                    members.append(Replicated(primary, f"recovery_min_apply_delay = '{APPLIED_AFTER}ms'\n"))
                    row = [setup.changes(given, folder, circles) for circles in (CIRCLES, 1)]
                    setup.stop()
                    row.append(transactions(primary, given.seconds))
                    found.setdefault(f"{program_name}{count} of several", []).append(row)
                finally:
                    setup.stop()
                    for member in reversed(members):
                        member.close()
    os.environ["KALENDS"] = given.program
    print(f"{f'a standby after {APPLIED_AFTER} ms':24}  changes/s  in one circle  pgbench -N/s  part of it")
    for name, rows in found.items():
        changes, in_one, other = (statistics.median(column) for column in zip(*rows))
        print(f"{name:24}  {changes:9.0f}  {in_one:13.0f}  {other:12.0f}  {100 * changes / other:8.0f} %", flush=True)


def shares(given, folder):
    """How much of the work of many users each of three servers has."""
    setup = Setup("shares", tempfile.mkdtemp(dir=folder), 3, "several")
    try:
        setup.start()
        began = time.monotonic()
        while True:
            counts = setup.cluster.ask(
                "SELECT count(*) FROM leases WHERE name LIKE 'shard/%' AND ends_at > 1000 * extract(epoch FROM now()) "
                "GROUP BY holder").split()
            if len(counts) == 3 and sum(map(int, counts)) == 64 and max(map(int, counts)) <= 22:
                break
            if time.monotonic() - began > 60:
                raise SystemExit(f"the shards were not shared out within a minute: {counts}")
            time.sleep(0.2)
        work = setup.cluster.ask(
            f"SELECT count(*) FROM generate_series(1, {USERS}) AS user_number JOIN leases ON name = 'shard/' || "
            "(get_byte(sha256(convert_to('user-' || user_number, 'UTF8')), 0) % 64) GROUP BY holder ORDER BY 1 DESC").split()
        print(f"work of {USERS} users over 3 servers, shared out after {time.monotonic() - began:.1f} s: "
              + ", ".join(f"{100 * int(part) / USERS:.1f} %" for part in work), flush=True)
    finally:
        setup.stop()


def first_reads(given, folder):
    """How many feeds a second are made, each of a circle of its own and for the first time after a start."""
    programs = [("", given.program)] + ([("before: ", given.before)] if given.before else [])
    kinds = [("SQLite", "sqlite"), ("PostgreSQL servers=one", "one"), ("1 of several", "several")]
    found = {}
    for kind_name, kind in kinds:
        setups = []
        try:
            for program_name, program in programs:
                os.environ["KALENDS"] = program
                setup = Setup(program_name + kind_name, tempfile.mkdtemp(dir=folder), 1, kind)
                setups.append(setup)
                setup.start()
                setup.fill()
                setup.paths = setup.fill_circles(given.feeds)
                setup.nodes[0].stop()
            for _ in range(given.rounds):
                for setup in setups:
                    setup.start()
                    # The sessions that read are opened by the first who need them, and not counted.
                    with concurrent.futures.ThreadPoolExecutor(8) as pool:
                        list(pool.map(lambda _: Connection(setup.nodes[0].port).get(setup.path), range(64)))
                    rate = million.warm(setup.nodes[0].port, setup.paths, f"{folder}/tags")
                    found.setdefault(setup.name, []).append(rate)
                    setup.nodes[0].stop()
        finally:
            for setup in setups:
                setup.stop()
    print(f"{given.feeds} feeds, made for the first time, of as many circles with {ITEMS_OF_FEED} items")
    for name, rates in found.items():
        print(f"{name:30}  {statistics.median(rates):7.0f} a second ({min(rates):.0f} to {max(rates):.0f})", flush=True)
    os.environ["KALENDS"] = given.program


class Away:
    """A database at a distance."""

    def __init__(self, cluster, milliseconds):
        self.wire = Wire(free_port(), f"{cluster.home}/.s.PGSQL.5432", delay=milliseconds / 2000)
        self.address = f"host=127.0.0.1 port={self.wire.port} user=kalends dbname=kalends sslmode=disable"

    def round_trip(self):
        """The milliseconds that one takes, of a message that PostgreSQL answers without any work."""
        times = []
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", self.wire.port)) as there:
                began = time.monotonic()
                # Whether it would encrypt, which a socket of its own machine does not.
                there.sendall(struct.pack(">ii", 8, 80877103))
                there.recv(1)
                times.append(1000 * (time.monotonic() - began))
        return statistics.median(times)


def distances(given, folder):
    """What one request takes, with the database at several distances."""
    print(f"{'':9}  {'round trip':>10}  {'  '.join(f'{count} poll' + 's' * (count > 1) for count in TOGETHER)}  "
          f"polls/s: p50 p99  first read  change  import of {IMPORTED}   (ms, and as round trips)")
    for distance in map(int, given.distances.split(",")):
        setup = Setup(f"{distance} ms", tempfile.mkdtemp(dir=folder), 1, "several", distance)
        try:
            setup.start()
            setup.fill()
            paths = setup.fill_circles(50)
            # So that nothing is in memory, and the sessions are there.
            setup.restart()
            setup.learn()
            node, trip = setup.nodes[0], setup.away.round_trip()
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda _: node.call("GET", "/v1/circles/bench"), range(64)))
            figures = []
            for count in TOGETHER:
                connections = [Connection(node.port) for _ in range(count)]
                figures.append(median_time(lambda: poll_together(connections, setup.path, setup.tag), 100))
            figures += steady(node, setup.path, setup.tag)
            connection, rest = Connection(node.port), iter(paths)
            figures.append(median_time(lambda: expect(connection.get(next(rest))[0], 200), len(paths)))
            numbers = iter(range(1000))
            figures.append(median_time(lambda: expect(node.put_task("w1", f"t{next(numbers) % 50}"), 200, 201, 204), 100))
            figures.append(median_time(lambda: imported(node, f"w{next(numbers) % CIRCLES + 1}"), 3))
            print(f"{distance:6} ms  {trip:10.2f}  "
                  + "  ".join(f"{figure:6.2f} ({figure / trip:.1f})" for figure in figures), flush=True)
        finally:
            setup.stop()


def median_time(work, count):
    times = []
    for _ in range(count):
        began = time.monotonic()
        work()
        times.append(1000 * (time.monotonic() - began))
    return statistics.median(times)


def steady(node, path, tag, clients=16, seconds=2):
    """The median and the 99th percentile of what polls take that come at all times."""
    times, over = [], time.monotonic() + seconds

    def one():
        connection = Connection(node.port)
        while (began := time.monotonic()) < over:
            expect(connection.get(path, tag)[0], 304)
            times.append(1000 * (time.monotonic() - began))
            time.sleep(random.random() / 50)

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        for running in [pool.submit(one) for _ in range(clients)]:
            running.result()
    return [percentile(times, 0.5), percentile(times, 0.99)]


def imported(node, circle):
    """Imports a file of many events."""
    events = "".join(
        f"BEGIN:VEVENT\r\nUID:{uuid.uuid4()}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20270101T{number % 24:02}0000Z\r\n"
        f"SUMMARY:Visit {number}\r\nEND:VEVENT\r\n" for number in range(IMPORTED))
    text = f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bench//EN\r\n{events}END:VCALENDAR\r\n"
    status, _, answer = node.request("POST", f"/v1/circles/{circle}/imports?mode=commit", text.encode(), {
        "Authorization": f"Bearer {node.key}", "Content-Type": "text/calendar"})
    expect(status, 200, 201, 202)
    number = json.loads(answer)["id"]
    while (state := node.must("GET", f"/v1/imports/{number}")["state"]) not in ("committed", "failed"):
        time.sleep(0.005)
    if state == "failed":
        raise SystemExit("an import failed")


def poll_together(connections, path, tag):
    """Sends a poll on each connection before any is answered."""
    for connection in connections:
        connection.send([(path, tag)])
    for connection in connections:
        expect(connection.receive()[0], 304)


def expect(status, *wanted):
    if status not in wanted:
        raise SystemExit(f"a request was answered {status}")


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


def all_revocations(given, folder):
    for count in map(int, given.servers.split(",")):
        for polls in (0, 1):
            revocations(given, folder, count, polls)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=int, default=5)
    options.add_argument("--revocations", type=int, default=300)
    options.add_argument("--feeds", type=int, default=400)
    options.add_argument("--servers", default="1,3,8", help="of how many servers revocations are asked")
    options.add_argument("--distances", default="0,1,3,10", help="milliseconds to the database and back")
    options.add_argument("--parts", default="rates,standby,first,revocations,shares,distances")
    options.add_argument("--before")
    given = options.parse_args()
    if not PROGRAMS:
        raise SystemExit("There is no PostgreSQL here (Debian: apt-get install postgresql).")
    os.environ["KALENDS"] = given.program
    with tempfile.TemporaryDirectory(prefix="kalends-nodes-") as folder:
        parts = {"rates": rates, "standby": beside_standby, "first": first_reads, "revocations": all_revocations,
                 "shares": shares, "distances": distances}
        for name in given.parts.split(","):
            if name not in parts:
                raise SystemExit(f"There is no part {name!r}: they are {', '.join(parts)}.")
            parts[name](given, folder)


if __name__ == "__main__":
    main()
