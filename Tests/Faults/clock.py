# SPDX-License-Identifier: Apache-2.0
"""Lets the server's clock jump under load, by an hour and by ten years each way: nothing is lost, nothing doubled, and no
address that was replaced or revoked opens anything again.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/clock.py
"""

import glob
import os
import time
from pathlib import Path
from urllib.parse import urlsplit

from load import Load
from report import check_bracket, check_written, run, skip
from server import Server, Violation

TITLE = "Jumps of the clock (libfaketime):"
JUMPS = ["+1h", "+0", "-1h", "+0", "+3650d", "+0", "-3650d", "-1h", "+3650d", "+0"]


def end_two(server, name):
    """Paths of two feeds, one of which was replaced and one revoked."""
    paths = []
    for way in ("regenerate", "revoke"):
        user = f"{way}-{name}"
        server.must("PUT", f"/v1/circles/still/members/{user}", {"displayName": "U", "role": "member"})
        feed = server.must("POST", "/v1/circles/still/feeds", {"userId": user})
        paths.append(urlsplit(feed["url"]).path)
        if server.request("GET", paths[-1])[0] != 200:
            raise Violation("a feed is not there")
        server.must("POST", f"/v1/feeds/{feed['id']}/{way}", {})
    return paths


def rounds(folder):
    library = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")[0]
    offset = Path(folder) / "offset"
    offset.write_text("+0")
    # Through a shell, because the library changes the environment of the first program that it is loaded into, where
    # Swift looks for its arguments. A jump of the clock does not count as time that passes.
    server = Server(folder, folder, launcher=[
        "env", f"LD_PRELOAD={library}", f"FAKETIME_TIMESTAMP_FILE={offset}", "FAKETIME_NO_CACHE=1",
        "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1", "bash", "-c", 'exec "$@"', "kalends"])
    try:
        server.start()
        server.wait()
        load = Load(server, server.fill(), readers=3, circle="written")
        load.start()
        time.sleep(1)
        before, ended = 0, end_two(server, "first")
        for number, jump in enumerate(JUMPS):
            staged = offset.with_suffix(".new")
            staged.write_text(jump)
            staged.rename(offset)
            time.sleep(2)
            complete = sum(load.completes())
            if complete - before < 20:
                raise Violation(f"after a jump to {jump} reads stand still")
            seen = load.complete(0)
            told = server.must("GET", f"/v1/feeds/{load.feeds[0].identifier}")
            if told["accessCount"] < seen:
                raise Violation(f"after a jump to {jump} {told['accessCount']} were recorded of {seen}")
            yield jump, told["lastAccessedAt"][:16], complete, "", "", ""
            answers = [server.request("GET", path)[0] for path in ended]
            if set(answers) != {410}:
                raise Violation(f"after a jump to {jump} addresses that had ended were answered {answers}")
            ended += end_two(server, str(number))
            before = complete
        load.stop()
        sums = check_bracket(server, load)
        if sums[0] != sums[1]:
            raise Violation(f"{sums[0]} reads were answered and {sums[1]} recorded, with nobody cut off")
        written = check_written(server, load)
        server.stop()
        server.check_integrity()
        server.launcher = ()
        server.start()
        server.wait()
        # Counts by day that are older than they are kept go at a start; those of ten years ago with them.
        after = sum(server.must("GET", f"/v1/feeds/{feed.identifier}")["accessCount"] for feed in load.feeds)
        if after != sums[1]:
            raise Violation(f"a restart made {after} of {sums[1]} recorded reads")
        yield ("end", "", *sums, written)
    finally:
        server.stop()
        for process in server.processes:
            for left in glob.glob(f"/dev/shm/*faketime*_{process}"):
                os.unlink(left)


if __name__ == "__main__":
    if not glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1"):
        skip(TITLE, "libfaketime is not there (Debian: apt-get install faketime)")
    run(
        TITLE,
        [("clock", 8), ("last access", 16), ("complete", 9), ("recorded", 9), ("sent", 9), ("written", 8)], rounds)
