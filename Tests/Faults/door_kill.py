# SPDX-License-Identifier: Apache-2.0
"""Kills the server while calendar apps of several persons, and somebody at the API, change the same circle and their own
calendars. When all is quiet, every app's copy is what the server lists and gives, the API shows the same, nothing is lost or
there twice, and what the app passwords counted was answered.

    KALENDS=.build-release/release/kalends python3 -B Tests/Faults/door_kill.py [--histories 30] [--seed N]
        [--postgresql] [--servers 3]

Each history is a circle with its persons; a few at a time live in one server. Now and then the server gets a backup
restored that was made some rounds before. With `--postgresql`, the server's database is one, which crashes as often as the
server is killed, or both at once. With `--servers`, several share it: each request goes to any of them, and any of them are
killed.
"""

import argparse
import random
import time
from pathlib import Path

from cluster import PROGRAMS, Cluster
from door_check import check
from door_history import History
from door_servers import Servers
from report import run, skip
from server import Server, Violation

parser = argparse.ArgumentParser()
parser.add_argument("--histories", type=int, default=30)
parser.add_argument("--together", type=int, default=3)
parser.add_argument("--rounds", type=int, default=8)
parser.add_argument("--seed", type=int, default=None)
parser.add_argument("--postgresql", action="store_true", help="on PostgreSQL, which crashes too")
parser.add_argument("--servers", type=int, default=1, help="so many on one PostgreSQL")
options = parser.parse_args()
options.postgresql |= options.servers > 1


def strike(server, cluster, chance):
    """Kills the server, its database, or both."""
    way = chance.choice(["server", "database", "both"]) if cluster else "server"
    if way != "server":
        cluster.crash()
    if way != "database":
        server.kill()
    if way != "server":
        cluster.start()
    return way != "database"


class Backup:
    """The database at a quiet moment, and what was known then."""

    def __init__(self, folder, server, histories):
        self.path = Path(folder) / f"backup-{time.monotonic_ns()}.sqlite"
        # What other servers recorded is in the database before it is copied.
        for history in histories:
            for app in history.apps:
                app.password.check(history.broken)
        server.command("backup", self.path)
        self.states = [one.state() for one in histories]

    def restore(self, server, histories):
        server.stop()
        server.command("restore", self.path)
        server.start()
        server.wait(60)
        for history, state in zip(histories, self.states):
            history.put_back(state)
        self.path.unlink()


def batch(folder, server, cluster, numbers, seed, chance):
    """So many histories at once; kills, requests that lost their answer, and restores."""
    histories = [History(number, seed + number, server) for number in numbers]
    kills, restores, backup = 0, 0, None
    for _ in range(options.rounds):
        for history in histories:
            history.begin()
        is_killed = chance.random() < 0.7
        if is_killed:
            time.sleep(chance.choice([0.05, 0.2, 0.5, 1, 2]) * chance.random())
            needs_start = strike(server, cluster, chance)
            kills += 1
        for history in histories:
            history.finish()
        if is_killed:
            if needs_start:
                server.start()
            server.wait(60)
            for history in histories:
                history.note("killed")
        for history in histories:
            check(history)
        if backup and chance.random() < 0.4:
            backup.restore(server, histories)
            backup, restores = None, restores + 1
            for history in histories:
                check(history)
        elif not backup and chance.random() < 0.3:
            backup = Backup(folder, server, histories)
    if not cluster:
        server.check_integrity()
    return kills, restores, histories


def rounds(folder):
    seed = options.seed if options.seed is not None else random.randrange(1 << 32)
    print(f"seed {seed}")
    cluster = Cluster() if options.postgresql else None
    chance, lost = random.Random(seed), 0
    if options.servers > 1:
        server = Servers(folder, cluster, options.servers, chance)
    else:
        server = Server(folder, folder, {"KALENDS_FILES": str(Path(folder) / "k")} if cluster else None)
        if cluster:
            server.database = cluster.address
    server.start()
    server.wait(60)
    try:
        server.key = server.command("key", "create", "--name", "faults").strip()
        for first in range(0, options.histories, options.together):
            numbers = range(first, min(first + options.together, options.histories))
            began = time.monotonic()
            kills, restores, histories = batch(folder, server, cluster, numbers, seed, chance)
            for history in histories:
                lost += history.unanswered
                yield (history.name, history.number, kills, history.unanswered, restores, f"{time.monotonic() - began:.0f}")
        if lost == 0:
            raise Violation("no kill has met a request: nothing was tried")
    finally:
        server.stop()
        if cluster:
            cluster.close()


if __name__ == "__main__":
    servers = f"{options.servers} servers" if options.servers > 1 else "a server"
    TITLE = f"{options.histories} histories of calendar apps, with {servers} " + (
        "or a PostgreSQL that is killed in the middle of requests:" if options.postgresql else
        "that is killed in the middle of requests:")
    if options.postgresql and not PROGRAMS:
        skip(TITLE, "there is no PostgreSQL (Debian: apt-get install postgresql)")
    run(TITLE, [("history", 10), ("acts", 5), ("kills", 6), ("without an answer", 18), ("restores", 9), ("s", 5)], rounds)
