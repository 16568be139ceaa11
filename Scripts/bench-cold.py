# SPDX-License-Identifier: Apache-2.0
"""Reads that memory cannot answer: the first poll of each feed after a start, and of each feed that a change touches.

usage: bench-cold.py PROGRAM BENCH [--before PROGRAM] [--rounds N] [--circles N]

The peer is an unchanged poll of the same feeds, which memory answers, or with --before an earlier program, each in turn
with its own copy of the database, made by BENCH of the earlier program. Feeds are asked for by HEAD, which makes them and counts nothing, over eight connections.
A rendering of a whole circle is measured by bench-render.sh.
"""

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Tests" / "Faults"))
from running import call, make_key, start  # noqa: E402

specification = importlib.util.spec_from_file_location("million", HERE / "bench-million.py")
million = importlib.util.module_from_spec(specification)
specification.loader.exec_module(million)

# Feeds of a circle of its own each four, and one circle with very many feeds.
FEEDS_EACH, ITEMS_EACH, FEEDS_OF_ONE, ITEMS_OF_ONE = 4, 30, 1000, 200


def lines(count):
    base = time.time()
    return "".join(
        json.dumps({"op": "put", "collection": "tasks", "id": f"t{i}", "value": {
            "title": f"Give medicine number {i}, with food", "notes": "Call if it is refused.",
            "dueAt": time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(base + i * 3600 * 5))}}) + "\n"
        for i in range(count))


def database(given, folder, feeds, each, items):
    """A database with so many feeds, of circles with so many items; gives the feeds' paths and a key."""
    os.mkdir(folder)
    subprocess.run(
        [given.bench, "feeds", "--count", str(feeds), "--per-circle", str(each), "--database", f"{folder}/k.sqlite",
         "--paths", f"{folder}/paths"], check=True)
    # An earlier program does not know what a later one makes of the database.
    maker = given.before or given.program
    key = make_key(maker, folder)
    server, port = start(maker, folder)
    for circle in range(feeds // each):
        call(port, "POST", f"/v1/circles/circle-{circle}/batch", key, lines(items), "application/x-ndjson")
    server.terminate()
    server.wait()
    return open(f"{folder}/paths").read().split(), key


class Timed:
    """Feeds a second and the server's processor time for each, of several rounds."""

    def __init__(self):
        self.rates, self.costs = [], []

    def take(self, process, port, paths, output):
        before = million.processor(process.pid)
        self.rates.append(million.warm(port, paths, output))
        self.costs.append((million.processor(process.pid) - before) / len(paths))

    def shown(self):
        return f"{statistics.median(self.rates):.0f} a second, {statistics.median(self.costs):.0f} µs each"


def first_polls(given, folder, program, paths, found, again):
    process, port = start(program, folder)
    found.take(process, port, paths, f"{folder}/tags")
    if again is not None:
        again.take(process, port, paths, f"{folder}/tags")
    process.kill()
    process.wait()


def change(given, server, key, paths, folder, number, found, again):
    process, port = server
    item = json.dumps({"title": f"Changed {number}", "dueAt": time.strftime("%Y-%m-%dT12:00:00Z", time.gmtime())})
    call(port, "PUT", "/v1/circles/circle-0/tasks/t5", key, item)
    found.take(process, port, paths, f"{folder}/tags")
    if again is not None:
        again.take(process, port, paths, f"{folder}/tags")


def compared(name, ours, peer, theirs):
    ratios = sorted(one / other for one, other in zip(ours.rates, theirs.rates))
    print(f"{name}: {ours.shown()}; {peer}: {theirs.shown()}; ratio {statistics.median(ratios):.3f} "
          f"({ratios[0]:.3f} to {ratios[-1]:.3f})", flush=True)
    for rates in zip(ours.rates, theirs.rates):
        print(f"  {name}, round: {rates[0]:.0f} and {rates[1]:.0f} a second")


def main():
    options = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    options.add_argument("program")
    options.add_argument("bench")
    options.add_argument("--before")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--circles", type=int, default=1000)
    given = options.parse_args()
    peer = "the program before" if given.before else "unchanged polls"
    with tempfile.TemporaryDirectory() as folder:
        paths, _ = database(given, f"{folder}/many", given.circles * FEEDS_EACH, FEEDS_EACH, ITEMS_EACH)
        ours, theirs = Timed(), Timed()
        if given.before:
            shutil.copytree(f"{folder}/many", f"{folder}/many-before")
        for _ in range(given.rounds):
            first_polls(given, f"{folder}/many", given.program, paths, ours, None if given.before else theirs)
            if given.before:
                first_polls(given, f"{folder}/many-before", given.before, paths, theirs, None)
        compared("first polls after a start", ours, peer, theirs)

        paths, key = database(given, f"{folder}/one", FEEDS_OF_ONE, FEEDS_OF_ONE, ITEMS_OF_ONE)
        ours, theirs = Timed(), Timed()
        servers = []
        try:
            homes = [(given.program, f"{folder}/one")]
            if given.before:
                homes.append((given.before, shutil.copytree(f"{folder}/one", f"{folder}/one-before")))
            for program, home in homes:
                server = start(program, home)
                servers.append(server)
                million.warm(server[1], paths, f"{home}/tags")
            for number in range(2 * given.rounds):
                change(given, servers[0], key, paths, folder, number, ours, None if given.before else theirs)
                if given.before:
                    change(given, servers[1], key, paths, folder, number, theirs, None)
            compared(f"polls of {FEEDS_OF_ONE} feeds after a change", ours, peer, theirs)
        finally:
            for process, _ in servers:
                process.kill()
                process.wait()


if __name__ == "__main__":
    main()
