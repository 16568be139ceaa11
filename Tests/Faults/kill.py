# SPDX-License-Identifier: Apache-2.0
"""Kills the server at random instants under full load. Nothing acknowledged may be lost, nothing counted twice, the
database must be whole, and the server back within two seconds.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/kill.py [--rounds 50] [--any-start]
"""

import argparse
import random
import time

from load import Connection, Load
from report import check_bracket, check_written, run
from server import Server, Violation

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=50)
parser.add_argument("--any-start", action="store_true", help="do not judge the time of a start, on a busy machine")
options = parser.parse_args()


def first_feed(server, load):
    """Seconds from the start to the first whole feed; it is read as any reader would, and counted."""
    server.wait()
    status, _, body = Connection(server.port).get(load.feeds[0].path)
    if status != 200 or not body.endswith(b"END:VCALENDAR\r\n"):
        raise Violation(f"the first read after the start was answered {status}")
    load.note(0)
    return time.monotonic() - server.began


def rounds(folder):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    server = Server(folder, folder)
    server.start()
    server.wait()
    try:
        load = Load(server, server.fill(), circle="written", together=8)
        slowest = 0.0
        before = [0, 0, 0]
        reads, spent = 0, 0.0
        for number in range(1, options.rounds + 1):
            load.start()
            began = time.monotonic()
            time.sleep(chance.uniform(0.3, 2.0))
            server.kill()
            lasted = time.monotonic() - began
            load.stop()
            server.check_integrity()
            server.start()
            seconds = first_feed(server, load)
            slowest = max(slowest, seconds)
            sums = check_bracket(server, load)
            written = check_written(server, load)
            # Feeds that grew from round to round would have ever fewer reads under way when the server is killed.
            for name in load.acknowledged:
                server.remove_task(load.circle, name)
            if sums[0] == before[0] + 1:
                raise Violation("nothing was read in this round")
            complete, recorded, sent = (now - then for now, then in zip(sums, before))
            before = sums
            reads, spent = reads + complete, spent + lasted
            yield (number, f"{complete / lasted:.0f}", complete, recorded, sent, written, f"{seconds:.2f}")
            if seconds > 2 and not options.any_start:
                raise Violation(f"the start took {seconds:.2f} s")
        print(f"{before[0]:,} complete ≤ {before[1]:,} recorded ≤ {before[2]:,} sent; slowest start {slowest:.2f} s; "
              f"{reads / spent:,.0f} reads a second")
    finally:
        server.stop()


if __name__ == "__main__":
    run(
        f"{options.rounds} rounds of kill -9 under load:",
        [("round", 5), ("reads/s", 8), ("complete", 9), ("recorded", 9), ("sent", 9), ("written", 8), ("start s", 8)],
        rounds)
