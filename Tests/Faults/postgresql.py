# SPDX-License-Identifier: Apache-2.0
"""A server on PostgreSQL under full load, while the database crashes, ends its sessions or is paused, and the server is
killed. Nothing acknowledged may be lost, nothing counted twice; writes are refused with 503 meanwhile, and taken again within
seconds of the database's return.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/postgresql.py [--rounds 20]
"""

import argparse
import os
import random
import signal
import time
from pathlib import Path

from cluster import PROGRAMS, Cluster
from load import Load
from report import check_bracket, check_written, run, skip
from server import Server, Violation

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=20)
parser.add_argument("--seconds", type=float, default=5, help="how soon writes are taken again")
options = parser.parse_args()

TITLE = f"{options.rounds} rounds of faults of PostgreSQL under load:"


def crash(cluster, server, chance):
    cluster.crash()
    time.sleep(chance.uniform(0, 1.5))
    cluster.start()


def end_sessions(cluster, server, chance):
    for _ in range(chance.randrange(1, 6)):
        cluster.ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = 'kalends' AND pid <> pg_backend_pid()")
        time.sleep(chance.uniform(0, 0.3))


def stand_still(cluster, server, chance):
    sessions = cluster.sessions()
    for session in sessions:
        os.kill(session, signal.SIGSTOP)
    time.sleep(chance.uniform(0.5, 2))
    for session in sessions:
        os.kill(session, signal.SIGCONT)


def kill_server(cluster, server, chance):
    server.kill()
    server.start()
    server.wait()


FAULTS = [crash, end_sessions, stand_still, kill_server]


def taken_again(server, number):
    """Seconds until a write is taken; every refusal before has to be one that says to come again."""
    began = time.monotonic()
    while True:
        try:
            status = server.put_task("still", f"after-{number}")
        except OSError:
            status = None
        if status in (200, 201):
            return time.monotonic() - began
        if status not in (503, None):
            raise Violation(f"a write was answered {status}")
        if time.monotonic() - began > 30:
            raise Violation("no write was taken for 30 s")
        time.sleep(0.01)


def rounds(folder):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    cluster = Cluster()
    server = Server(folder, folder, environment={"KALENDS_FILES": str(Path(folder) / "k")})
    server.database = cluster.address
    try:
        server.start()
        server.wait()
        load = Load(server, server.fill(), circle="written")
        before = [0, 0, 0]
        for number in range(1, options.rounds + 1):
            fault = FAULTS[(number - 1) % len(FAULTS)]
            load.start()
            time.sleep(chance.uniform(0.3, 1.5))
            fault(cluster, server, chance)
            seconds = taken_again(server, number)
            time.sleep(chance.uniform(0.1, 0.5))
            load.stop()
            sums = check_bracket(server, load)
            written = check_written(server, load)
            complete, recorded, sent = (now - then for now, then in zip(sums, before))
            before = sums
            yield (
                number, fault.__name__.replace("_", " "), complete, recorded, sent, written, load.refused_writes,
                f"{seconds:.2f}")
            if seconds > options.seconds:
                raise Violation(f"no write was taken for {seconds:.2f} s after the fault")
        numbers = cluster.ask("SELECT count(*), max(sequence) FROM changes")
        if len(set(numbers.split("|"))) != 1:
            raise Violation(f"changes are not numbered without a gap: {numbers}")
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
        [("round", 5), ("fault", 12), ("complete", 9), ("recorded", 9), ("sent", 9), ("written", 8), ("refused", 8),
         ("again s", 8)], rounds)
