# SPDX-License-Identifier: Apache-2.0
"""A move to PostgreSQL and back is killed at random instants, and PostgreSQL crashes amid it: no server uses the target before
the end, the same command continues, and afterwards every row is there with its values.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/move.py [--rounds 5] [--events 40000]
"""

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

from cluster import PROGRAMS, Cluster
from report import run, skip
from server import Server, Violation

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--events", type=int, default=40_000)
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
options = parser.parse_args()

TITLE = f"{options.rounds} moves of {options.events:,} events to PostgreSQL and back, killed again and again:"
UNFINISHED = "A move into this database was interrupted"
# The version that a database has while a copy into it is not finished.
MARK = 1_000_000_000
# After so many kills a move is left to end; else a machine that became slow would never see its end.
KILLS = 8


def calendar():
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//faults//move//EN"]
    for number in range(options.events):
        lines += ["BEGIN:VEVENT", f"UID:e{number}", "DTSTAMP:20260101T000000Z", f"SUMMARY:Event \u00e4 {number}",
                  f"DTSTART:2026{number % 12 + 1:02}{number % 28 + 1:02}T{number % 24:02}0000Z", "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""]).encode()


def fill(server):
    server.start()
    server.wait()
    server.fill()
    headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "text/calendar"}
    status, _, text = server.request(
        "POST", "/v1/circles/still/imports?mode=commit&limit=1", calendar(), headers, timeout=300)
    if status not in (200, 201):
        raise Violation(f"an import was answered {status}: {text[:300]}")
    server.stop()


def rows(path):
    """All rows of an SQLite database, by table."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        tables = [name for name, in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
        return {table: sorted(connection.execute(f"SELECT * FROM {table}"), key=repr) for table in tables}
    finally:
        connection.close()


def kept(table, rows):
    """What a move keeps of a table: accesses are counted in another journal from then on."""
    return [row for row in rows if row[0] != "accessJournal"] if table == "settings" else rows


class Mover:
    def __init__(self, program, chance):
        self.program, self.chance = program, chance
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("KALENDS")}

    def call(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True, env=self.environment)

    def move(self, source, target, files, ask=None, seconds=None, crash=None):
        """Moves with interruptions, in the first so many seconds of a call; how many there were, after how many of them the
        target was refused as unfinished, and how many rows the last call found.

        `ask`: asks the target's database one value. `crash`: ends the target's database instead of the program, now and then."""
        kills, refused, found = 0, 0, 0
        while True:
            process = subprocess.Popen(
                [self.program, "move", "--from", source, "--to", target, "--files", files], stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, env=self.environment)
            if seconds and kills < KILLS:
                try:
                    process.wait(self.chance.uniform(0, seconds))
                except subprocess.TimeoutExpired:
                    if crash and self.chance.random() < 0.3:
                        crash()
                    else:
                        process.kill()
            said, _ = process.communicate()
            if process.returncode == 0:
                for line in said.splitlines():
                    if "of other data" in line:
                        raise Violation(f"a move was not continued: {line}")
                    if "rows were there" in line:
                        found = int(line.split(": ")[1].split()[0])
                return kills, refused, found
            kills += 1
            state = self.state(ask)
            if state == "complete":
                # It was killed behind its end.
                return kills, refused, found
            if state == "begun":
                done = self.call("feed", "list", "--database", target, "--files", files)
                if UNFINISHED not in done.stdout + done.stderr:
                    raise Violation(f"a copy that is not finished is used: {done.stdout}{done.stderr}")
                refused += 1

    def state(self, ask):
        """What an interrupted move left: nothing that counts, a part, or everything."""
        try:
            if ask(f"SELECT count(*) FROM schema_migrations WHERE version = {MARK}") != "0":
                return "begun"
            return "complete" if ask("SELECT count(*) FROM settings WHERE name = 'installation'") != "0" else "empty"
        except (Violation, sqlite3.Error):
            return "empty"


def asked(path, statement):
    """One value of an SQLite database, which is not created if it does not exist."""
    connection = sqlite3.connect(f"file:{path}?mode=rw", uri=True)
    try:
        return str(connection.execute(statement).fetchone()[0])
    finally:
        connection.close()


def untouched(mover, server, place):
    """How many seconds a move there and one back take when nothing happens."""
    place.mkdir()
    shutil.copy2(f"{server.database}.key", place / "k.key")
    cluster = Cluster()
    try:
        began = time.monotonic()
        mover.move(str(server.database), cluster.address, str(place / "k"))
        there = time.monotonic()
        mover.move(cluster.address, str(place / "back.sqlite"), str(place / "k"))
        return there - began, time.monotonic() - there
    finally:
        cluster.close()


def rounds(folder):
    print(f"seed {options.seed}")
    chance = random.Random(options.seed)
    server = Server(folder, folder)
    fill(server)
    expected = rows(server.database)
    mover = Mover(server.program, chance)
    lasts = untouched(mover, server, Path(folder) / "untouched")
    for number in range(options.rounds):
        place = Path(folder) / str(number)
        place.mkdir()
        shutil.copy2(f"{server.database}.key", place / "k.key")
        cluster = Cluster()

        def crash():
            cluster.crash()
            cluster.start()

        try:
            there = mover.move(str(server.database), cluster.address, str(place / "k"), cluster.ask, lasts[0], crash)
            target = str(place / "back.sqlite")
            back = mover.move(cluster.address, target, str(place / "k"), lambda sql: asked(target, sql), lasts[1])
        finally:
            cluster.close()
        found = rows(place / "back.sqlite")
        for table in expected:
            # Which server had the database, and up to where its journal was counted, is forgotten on purpose.
            if table != "servers" and found[table] != kept(table, expected[table]):
                raise Violation(f"the table {table} is not what it was: {len(expected[table])} rows, {len(found[table])} now")
        yield (number + 1, sum(map(len, found.values())), *there, *back)
        shutil.rmtree(place)


if __name__ == "__main__":
    if not PROGRAMS:
        skip(TITLE, "there is no PostgreSQL (Debian: apt-get install postgresql)")
    run(TITLE, [("round", 5), ("rows", 8), ("there: kills", 12), ("refused", 8), ("rows found", 10), ("back: kills", 12),
                ("refused", 8), ("rows found", 10)], rounds)
