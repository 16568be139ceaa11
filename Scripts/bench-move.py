# SPDX-License-Identifier: Apache-2.0
"""A million feeds are moved from SQLite to PostgreSQL and back; between the two moves a server on PostgreSQL starts, makes
each feed once, and is polled.

    python3 Scripts/bench-move.py PROGRAM BENCH [--count 1000000] [--folder FOLDER]
"""

import argparse
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Tests" / "Faults"))
from cluster import PROGRAMS, Cluster  # noqa: E402
from running import memory  # noqa: E402
from server import Server  # noqa: E402

specification = importlib.util.spec_from_file_location("million", HERE / "bench-million.py")
million = importlib.util.module_from_spec(specification)
specification.loader.exec_module(million)


def move(program, source, target, files):
    """How many seconds a move took, and the most memory that it had, in MiB."""
    since = time.monotonic()
    process = subprocess.Popen([program, "move", "--from", source, "--to", target, "--files", files])
    most = 0
    while process.poll() is None:
        try:
            most = max(most, memory(process.pid))
        except (OSError, TypeError):
            pass
        time.sleep(0.1)
    if process.returncode != 0:
        raise SystemExit(f"kalends move ended with {process.returncode}")
    return time.monotonic() - since, most


def started(server):
    server.start()
    return server.wait(600)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("bench")
    options.add_argument("--count", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=int, default=5)
    options.add_argument("--folder", help="where the SQLite database goes and stays, to be used again")
    given = options.parse_args()
    if not PROGRAMS:
        raise SystemExit("There is no PostgreSQL here (Debian: apt-get install postgresql).")
    os.environ["KALENDS"] = given.program
    with tempfile.TemporaryDirectory(prefix="kalends-move-") as temporary:
        home = Path(given.folder or temporary) / str(given.count)
        source = home / "k.sqlite"
        if not (home / "paths").exists():
            home.mkdir(parents=True)
            subprocess.run([given.bench, "feeds", "--count", str(given.count), "--database", source,
                            "--paths", home / "paths"], check=True)
        print(f"{given.count} feeds: {os.path.getsize(source) >> 20} MiB of SQLite database", flush=True)
        place = Path(temporary) / "server"
        place.mkdir()
        shutil.copy2(f"{source}.key", place / "k.key")
        cluster, server = Cluster(), None
        try:
            seconds, most = move(given.program, str(source), cluster.address, str(place / "k"))
            size = int(cluster.ask("SELECT pg_database_size('kalends')")) >> 20
            print(f"moved to PostgreSQL in {seconds:.0f} s with {most} MiB at most; {size} MiB there", flush=True)
            server = Server(place, place, {"KALENDS_FILES": str(place / "k"), "KALENDS_SERVERS": "several"})
            server.database = cluster.address
            print(f"start: {started(server):.2f} s; {memory(server.process.pid)} MiB resident", flush=True)
            paths = (home / "paths").read_text().split()
            rate = million.warm(server.port, paths, place / "polls")
            print(f"each made once, {rate:.0f} a second; {memory(server.process.pid)} MiB resident", flush=True)
            lua = place / "polls.lua"
            lua.write_text(million.LUA)
            found = [million.polls(server.process, server.port, str(place / "polls"), lua, given.seconds)
                     for _ in range(given.rounds)]
            print(f"unchanged polls of random feeds: {max(rate for rate, _ in found):.0f} a second at best of "
                  f"{given.rounds}, {min(cost for _, cost in found):.1f} microseconds of processor time each; "
                  f"{memory(server.process.pid)} MiB resident", flush=True)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            print(f"start after kill -9: {started(server):.2f} s", flush=True)
            server.stop()
            seconds, most = move(given.program, cluster.address, str(place / "back.sqlite"), str(place / "k"))
            print(f"moved back to SQLite in {seconds:.0f} s with {most} MiB at most; "
                  f"{os.path.getsize(place / 'back.sqlite') >> 20} MiB", flush=True)
        finally:
            if server:
                server.stop()
            cluster.close()


if __name__ == "__main__":
    main()
