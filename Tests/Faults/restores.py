# SPDX-License-Identifier: Apache-2.0
"""Backups of a server under load are restored elsewhere, in SQLite and in PostgreSQL: each is the database at one commit, with
everything that was acknowledged before the backup was asked for.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/restores.py [--rounds 20] [--large DATABASE]

Two writers store numbered tasks one after the other, and after each its number in a task of its own, so that only a few
states are those of a commit; a third imports files and undoes them. `--large` is an SQLite database that is backed up and restored
once, for the time that it takes.
"""

import argparse
import json
import os
import random
import shutil
import threading
import time
from collections import Counter
from pathlib import Path

from cluster import PROGRAMS, Cluster
from load import Load
from report import run
from server import Server, Violation

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=20)
parser.add_argument("--large", type=Path)
options = parser.parse_args()

TITLE = f"{options.rounds} backups under load, restored elsewhere:"
WRITERS, EVENTS = 2, 400


class Writer(threading.Thread):
    """Stores tasks with rising numbers, and after each its number. A step counts once it is answered, and is begun before."""

    def __init__(self, server, number):
        super().__init__(daemon=True)
        self.server, self.number, self.goes_on, self.begun, self.done, self.fault = server, number, True, 0, 0, None

    def run(self):
        while self.goes_on:
            number, half = divmod(self.begun, 2)
            self.begun += 1
            status = (self.server.put_task("written", f"last{self.number}", title=str(number)) if half else
                      self.server.put_task("written", f"w{self.number}-{number}"))
            if status not in (200, 201):
                self.fault = f"a write was answered {status}"
                return
            self.done = self.begun

    def stop(self):
        self.goes_on = False
        self.join()
        if self.fault:
            raise Violation(self.fault)


class Importer(threading.Thread):
    """Imports a file of many events and undoes it, again and again: a commit has all of a file or nothing."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.goes_on, self.count = server, True, 0

    def run(self):
        headers = {"Authorization": f"Bearer {self.server.key}", "Content-Type": "text/calendar"}
        while self.goes_on:
            self.count += 1
            lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//faults//restores//EN"]
            for event in range(EVENTS):
                lines += ["BEGIN:VEVENT", f"UID:i{self.count}-{event}", "DTSTAMP:20260101T000000Z",
                          f"SUMMARY:Import {self.count}", f"DTSTART:2026{event % 12 + 1:02}01T{event % 24:02}0000Z", "END:VEVENT"]
            body = "\r\n".join([*lines, "END:VCALENDAR", ""]).encode()
            status, _, text = self.server.request(
                "POST", "/v1/circles/imported/imports?mode=commit&limit=1", body, headers)
            if status in (200, 201):
                self.server.call("POST", f"/v1/imports/{json.loads(text)['id']}/undo")

    def stop(self):
        self.goes_on = False
        self.join()


def titles(server):
    """The titles of all tasks of the writers' circle, by their identifiers."""
    found, cursor = {}, ""
    while True:
        page = server.must("GET", f"/v1/circles/written/tasks?limit=1000{cursor}")
        found |= {task["id"]: task["title"] for task in page["items"]}
        if not page.get("nextCursor"):
            return found
        cursor = f"&cursor={page['nextCursor']}"


def check_steps(found, writer, done, begun):
    """The writer's tasks are those of one number of steps; returns that number."""
    numbers = sorted(int(name.split("-")[1]) for name in found if name.startswith(f"w{writer}-"))
    if numbers != list(range(len(numbers))):
        raise Violation(f"writer {writer}'s tasks are not the first ones that it stored: {numbers[:5]}… of {len(numbers)}")
    last = int(found.get(f"last{writer}", -1))
    steps = len(numbers) + last + 1
    if last + 1 not in (len(numbers), len(numbers) - 1):
        raise Violation(f"writer {writer}'s last number is {last} beside {len(numbers)} tasks")
    if not done <= steps <= begun:
        raise Violation(f"writer {writer}: {done} steps were answered before, {steps} are there, {begun} were begun")
    return steps


def check_imports(server):
    status, _, text = server.request(
        "GET", "/v1/circles/imported/export.ics", headers={"Authorization": f"Bearer {server.key}"})
    if status != 200:
        raise Violation(f"an export was answered {status}")
    parts = Counter(line for line in text.decode().splitlines() if line.startswith("SUMMARY:") and "Import " in line)
    if set(parts.values()) - {EVENTS}:
        raise Violation(f"a part of an import is there: {parts}")
    return len(parts)


def source_on(folder, cluster):
    folder.mkdir()
    server = Server(folder, folder, {"KALENDS_FILES": str(folder / "k")} if cluster else None)
    if cluster:
        server.database = cluster.address
    server.start()
    server.wait()
    return server


def drill(folder, source, feeds, load, writers, key, target_cluster, chance):
    """Makes a backup under load, restores it elsewhere, and compares; returns what is shown of it."""
    time.sleep(chance.uniform(0.2, 1.5))
    backup = folder / "backup.sqlite"
    done, before = [writer.done for writer in writers], load.completes()
    source.command("backup", backup)
    begun, sent = [writer.begun for writer in writers], [load.sent(index) for index in range(len(feeds))]
    place = folder / "target"
    place.mkdir()
    server = Server(place, place, {"KALENDS_FILES": str(place / "k")} if target_cluster else None)
    if target_cluster:
        server.database = target_cluster.address
    shutil.copy2(key, place / ("k.key" if target_cluster else "k.sqlite.key"))
    began = time.monotonic()
    server.command("restore", backup)
    seconds = time.monotonic() - began
    server.start()
    try:
        server.wait()
        server.key = source.key
        found = titles(server)
        steps = [check_steps(found, writer.number, *bounds) for writer, *bounds in zip(writers, done, begun)]
        imports = check_imports(server)
        server.command("audit", "verify")
        counted = 0
        for index, feed in enumerate(feeds):
            count = server.counted(feed)
            if not before[index] <= count <= sent[index]:
                raise Violation(f"feed {index}: {before[index]} reads before, {count} counted, {sent[index]} sent")
            counted += count
        server.stop()
        if not target_cluster:
            server.check_integrity()
    finally:
        server.process.kill()
    return os.path.getsize(backup) >> 10, sum(done), sum(steps), sum(begun), imports, counted, f"{seconds:.2f}"


def rounds(folder):
    chance = random.Random()
    number = 0
    for kind in ("SQLite", "PostgreSQL") if PROGRAMS else ("SQLite",):
        home = Path(folder) / kind
        home.mkdir()
        cluster = Cluster() if kind == "PostgreSQL" else None
        source = source_on(home / "source", cluster)
        try:
            feeds = source.fill()
            source.must("PUT", "/v1/circles/imported", {"name": "I", "timeZone": "Europe/Vienna"})
            load = Load(source, feeds, readers=2)
            writers, importer = [Writer(source, writer) for writer in range(WRITERS)], Importer(source)
            load.start()
            for one in [*writers, importer]:
                one.start()
            for turn in range(options.rounds // (2 if PROGRAMS else 1)):
                number += 1
                target = Cluster() if PROGRAMS and turn % 2 else None
                place = home / str(turn)
                place.mkdir()
                try:
                    key = home / "source" / ("k.key" if cluster else "k.sqlite.key")
                    yield (number, f"{kind} to {'PostgreSQL' if target else 'SQLite'}",
                           *drill(place, source, feeds, load, writers, key, target, chance))
                finally:
                    if target:
                        target.close()
                shutil.rmtree(place)
            for one in [*writers, importer]:
                one.stop()
            load.stop()
        finally:
            source.process.kill()
            if cluster:
                cluster.close()
    if options.large:
        print(large(Path(folder)))


def large(folder):
    """How long the backup and the restoring of a large database take."""
    place = folder / "large"
    place.mkdir()
    server = Server(place, place)
    shutil.copy2(options.large, server.database)
    shutil.copy2(f"{options.large}.key", f"{server.database}.key")
    began = time.monotonic()
    server.command("backup", place / "backup.sqlite")
    made = time.monotonic() - began
    size = os.path.getsize(place / "backup.sqlite") / (1 << 30)
    other = Server(folder / "other", place)
    other.database.parent.mkdir()
    began = time.monotonic()
    other.command("restore", place / "backup.sqlite")
    restored = time.monotonic() - began
    return (f"a database of {size:.2f} GiB: backed up in {made:.1f} s, restored in {restored:.1f} s, "
            f"{restored / size:.0f} s a GiB")


if __name__ == "__main__":
    run(TITLE, [("drill", 5), ("from, to", 24), ("KiB", 7), ("steps before", 12), ("restored", 8), ("begun", 7),
                ("imports", 7), ("counted", 8), ("seconds", 7)], rounds)
