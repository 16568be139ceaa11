# SPDX-License-Identifier: Apache-2.0
"""Fills the disk under load. Reads go on and are counted, from the journal's reserved room; when that is full too they
are refused, and never given uncounted; once there is space again the server is back within five seconds.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/disk_full.py [--rounds 20]
"""

import argparse
import contextlib
import os
import subprocess
import tempfile
import time
from pathlib import Path

from load import Load
from report import check_bracket, check_written, run, skip
from server import Server, Violation

TITLE = "Rounds of a full disk (tmpfs):"

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=20)
options = parser.parse_args()


@contextlib.contextmanager
def small_disk():
    with tempfile.TemporaryDirectory(prefix="kalends-disk-") as point:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=320m,mode=700", "tmpfs", point], check=True)
        try:
            yield Path(point)
        finally:
            subprocess.run(["umount", "--lazy", point], check=True)


def fill(path):
    """Takes every byte that is left."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"\1" * size)
            except OSError:
                pass


def wait_for(what, condition, seconds):
    """How long it took until something was so."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            raise Violation(f"waited {seconds} s in vain for {what}")
        time.sleep(0.01)
    return time.monotonic() - began


def one(folder, until_refused):
    with small_disk() as disk:
        # A journal of 8,000 places in every other round: full within seconds.
        server = Server(disk, folder, {"KALENDS_ACCESS_JOURNAL_BYTES": str(1 << (18 if until_refused else 22))})
        server.start()
        server.wait()
        try:
            load = Load(server, server.fill(), readers=2, circle="written")
            load.start()
            wait_for("reads", lambda: sum(load.completes()) > 100, 20)
            fill(disk / "filler")
            full_at = sum(load.completes())
            wait_for("a refused write", lambda: load.refused_writes > 0, 20)
            status, document = server.call("PUT", "/v1/circles/written/tasks/none", {"title": "none", "dueAt": "2026-01-01T00:00:00Z"})
            if status not in (503, 507) or document["status"] != status:
                raise Violation(f"a write on the full disk was answered {status}: {document}")
            if server.has_task("written", "none"):
                raise Violation("a refused write is there")
            if until_refused:
                wait_for("a refused read", lambda: load.refused > 0, 60)
                status, fields, _ = server.request("GET", load.feeds[0].path)
                if status != 503 or "retry-after" not in {name.lower() for name in fields}:
                    raise Violation(f"with the journal full a read was answered {status} with {sorted(fields)}")
                if server.request("GET", "/healthz")[0] != 503:
                    raise Violation("/healthz says that reads can be served")
            else:
                if server.request("GET", "/healthz")[0] != 200:
                    raise Violation("/healthz says that reads cannot be served")
                time.sleep(1.5)
                if load.refused:
                    raise Violation("a read was refused while the journal had room")
            meanwhile = sum(load.completes()) - full_at
            if meanwhile < 100:
                raise Violation(f"{meanwhile} reads went on with the disk full")
            refused = load.refused
            os.unlink(disk / "filler")
            freed = time.monotonic()

            def is_back():
                return (server.request("GET", "/healthz")[0] == 200
                        and server.put_task("written", "back") in (200, 201))
            wait_for("the server to be back", is_back, 5)
            back = time.monotonic() - freed
            wait_for("reads", (lambda seen=sum(load.completes()): sum(load.completes()) > seen + 20), 5)
            load.stop()
            sums = check_bracket(server, load)
            if sums[0] != sums[1]:
                raise Violation(f"{sums[0]} reads were answered and {sums[1]} recorded, with nobody cut off")
            written = check_written(server, load)
            server.check_integrity()
            if "BAD" in server.command("doctor"):
                raise Violation("doctor still finds a fault")
            return meanwhile, refused, sums[0], sums[1], sums[2], written, f"{back:.2f}"
        finally:
            server.stop()


def rounds(folder):
    for number in range(1, options.rounds + 1):
        yield (number, *one(folder, until_refused=number % 2 == 1))


if __name__ == "__main__":
    if os.geteuid() != 0:
        skip(TITLE, "only root may mount a tmpfs")
    run(
        TITLE,
        [("round", 5), ("read while full", 15), ("refused", 7), ("complete", 8), ("recorded", 8), ("sent", 8),
         ("written", 7), ("back s", 6)],
        rounds)
