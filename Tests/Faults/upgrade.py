# SPDX-License-Identifier: Apache-2.0
"""Two servers on one PostgreSQL are replaced one after the other by another version of the program, under full load; the
next round leads back. While both versions run, what one ends the other must not answer, and one that is killed comes back.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/upgrade.py BEFORE [--rounds 4]

BEFORE is the program of an earlier version that can work beside this one (docs/nodes.md).
"""

import argparse
import base64
import os
import random
import shutil
import time
from pathlib import Path
from urllib.parse import urlsplit

from cluster import PROGRAMS, Cluster
from load import Load, forked
from report import check_brackets, check_written, run, skip
from server import Server, Violation

parser = argparse.ArgumentParser()
parser.add_argument("before", help="the program of the version before")
parser.add_argument("--rounds", type=int, default=4)
options = parser.parse_args()

TITLE = f"{options.rounds} upgrades and ways back of two servers under load:"
ENDS = 20


def replace(server, program):
    """Stops a server and starts another program in its place; returns how many seconds it did not answer."""
    began = time.monotonic()
    server.stop()
    server.program.unlink()
    shutil.copy2(program, server.program)
    server.start()
    server.wait()
    return time.monotonic() - began


def end_feeds(servers, number):
    """Feeds are made at one server, read at the other, and ended: nobody reads them any more."""
    for place in range(ENDS):
        one, other = servers[place % 2], servers[(place + 1) % 2]
        user = f"u{number}-{place}"
        one.must("PUT", f"/v1/circles/written/members/{user}", {"displayName": "U", "role": "member"})
        feed = one.must("POST", "/v1/circles/written/feeds", {"userId": user})
        path = urlsplit(feed["url"]).path
        for server in servers:
            if server.request("GET", path)[0] != 200:
                raise Violation("a new feed is not read at the other server")
        if place % 4 == 3:
            one.must("DELETE", f"/v1/circles/written/members/{user}")
        else:
            one.must("POST", f"/v1/feeds/{feed['id']}/revoke")
        if (status := other.request("GET", path)[0]) != 410:
            raise Violation(f"an address that ended is answered {status} by the other version")
    return ENDS


def rounds(folder):
    cluster = Cluster()
    servers = []
    programs = [Path(options.before), Path(os.environ.get("KALENDS", ".build-release/release/kalends"))]
    try:
        key = base64.b64encode(random.randbytes(32)).decode()
        for place in range(2):
            home = Path(folder) / f"server{place}"
            home.mkdir()
            shutil.copy2(programs[0], home / "kalends")
            server = Server(home, home, {
                "KALENDS_FILES": str(home / "k"), "KALENDS_SECRET_KEY": key, "KALENDS_SERVERS": "several"})
            server.database = cluster.address
            servers.append(server)
            server.start()
            server.wait()
        feeds = servers[0].fill()
        servers[1].key = servers[0].key
        loads = [Load(servers[0], feeds, readers=2, circle="written"), Load(servers[1], feeds, readers=2)]
        for number in range(1, options.rounds + 1):
            program = programs[number % 2]
            for load in loads:
                load.start()
            time.sleep(1)
            away, ends = [], 0
            for place, server in enumerate(servers):
                away.append(replace(server, program))
                if place == 0:
                    ends += end_feeds(servers, f"{number}-mixed")
                    # One of the version that is being replaced fails, and is started again.
                    servers[1].kill()
                    servers[1].start()
                    servers[1].wait()
                ends += end_feeds(servers, f"{number}-{place}")
            time.sleep(1)
            for load in loads:
                load.stop()
            sums = check_brackets(servers[0], loads)
            written = check_written(servers[0], loads[0])
            direction = "new" if number % 2 else "back"
            yield (number, direction, *sums, written, ends, *(f"{seconds:.2f}" for seconds in away))
        for server in servers:
            server.stop()
        print(servers[0].command("doctor").strip())
    finally:
        for process in forked.active_children():
            process.kill()
        for server in servers:
            server.stop()
        cluster.close()


if __name__ == "__main__":
    if not PROGRAMS:
        skip(TITLE, "there is no PostgreSQL (Debian: apt-get install postgresql)")
    run(
        TITLE,
        [("round", 5), ("to", 5), ("complete", 9), ("counted", 9), ("sent", 9), ("written", 8), ("ends", 6),
         ("first s", 8), ("second s", 8)], rounds)
