# SPDX-License-Identifier: Apache-2.0
"""Counts the program's own instructions for an unchanged poll, a full read, and an event that is read from a file.

    python3 -B Scripts/bench-instructions.py .build-release/release/kalends

`perf` counts where the machine has counters, else Valgrind's cachegrind, which does not need any, but cannot run the server:
it crashes when the program's first thread is given up, as libdispatch does. Each count is the difference of a long run and
a short one, so that the start and the end of the program are not in it. The polls come one after the other over one
connection, with `accessDurability=process`.
"""

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Faults"))
from running import HOST, call, make_key, path_of, start

ROUNDS = 3
EVENT = "\r\n".join([
    "BEGIN:VEVENT", "DTSTART;TZID=Europe/Berlin:20260{0}{1:02}T{2:02}0000", "DTEND;TZID=Europe/Berlin:20260{0}{1:02}T{2:02}3000",
    "DTSTAMP:20260301T120000Z", "UID:{3:032x}@calendar.example", "CREATED:20230101T080000Z",
    "LAST-MODIFIED:20260228T171500Z", "SEQUENCE:1", "STATUS:CONFIRMED", "TRANSP:OPAQUE", "SUMMARY:Team lunch {3}",
    "LOCATION:Room {2}\\, Main Street {1}\\, Springfield", "DESCRIPTION:Agenda:\\n- last week\\, next week", "END:VEVENT", ""])


class Counter:
    """What counts: a wrapper around a program, and how its number is read."""

    def __init__(self, folder, program):
        self.folder = folder
        # Valgrind gives up at debugging information of compilers that are newer than it.
        self.program = f"{folder}/plain"
        if perf_counts():
            self.name, self.program = "perf", program
        elif shutil.which("valgrind") and shutil.which("objcopy"):
            subprocess.run(["objcopy", "--strip-debug", program, self.program], check=True)
            self.name = "cachegrind"
        else:
            self.name = None

    def words(self, file):
        if self.name == "perf":
            return ["perf", "stat", "-x", ",", "-e", "instructions:u", "-o", file, self.program]
        return ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", f"--log-file={file}",
                self.program]

    def count(self, file):
        text = Path(file).read_text()
        found = re.search(r"^(\d+),[^,]*,instructions|I\s+refs:\s+([\d,]+)", text, re.M)
        if not found:
            sys.exit(f"{self.name} gives no count: {text[-500:]}")
        return int((found[1] or found[2]).replace(",", ""))


def perf_counts():
    if not shutil.which("perf"):
        return False
    done = subprocess.run(["perf", "stat", "-x", ",", "-e", "instructions:u", "true"], capture_output=True, text=True)
    return re.search(r"^\d+,", done.stderr, re.M) is not None


def parsed(counter, count):
    """Instructions of `kalends parse` for a file of so many events."""
    file, number = f"{counter.folder}/events.ics", f"{counter.folder}/count"
    events = "".join(EVENT.format(1 + i % 9, 1 + i % 28, i % 24, i) for i in range(count))
    Path(file).write_text(f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//a//b//EN\r\n{events}END:VCALENDAR\r\n", newline="")
    done = subprocess.run([*counter.words(number), "parse", "--json", file], capture_output=True, text=True)
    if done.stdout.count("Team lunch") != count:
        sys.exit(f"{count} events were not read: {done.stderr[-500:]}")
    return counter.count(number)


def served(counter, polls, is_whole):
    """Instructions of a server from its start to its end, with so many reads of a feed of 200 events in between."""
    with tempfile.TemporaryDirectory() as folder:
        number = f"{folder}/count"
        wrapper = Path(folder, "wrapper")
        wrapper.write_text("#!/bin/sh\nexec " + " ".join(counter.words(number)) + ' "$@"\n')
        wrapper.chmod(0o755)
        process, port = start(str(wrapper), folder, "--access-durability", "process")
        try:
            read(port, filled(port, make_key(counter.program, folder)), polls, is_whole)
        finally:
            # The server is the child of `perf`, which ends with it.
            server = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0]
            os.kill(int(server), signal.SIGTERM)
            process.wait()
        return counter.count(number)


def filled(port, key):
    """The path of a feed of 200 events."""
    call(port, "PUT", "/v1/circles/c", key, '{"name": "Bench", "timeZone": "Europe/Berlin"}')
    call(port, "PUT", "/v1/circles/c/members/ann", key, '{"displayName": "Ann", "role": "owner"}')
    today = time.strftime("%Y-%m-%d", time.gmtime())
    lines = "".join(json.dumps({"op": "put", "collection": "tasks", "id": f"t{i}", "value": {
        "title": f"Give medicine {i}", "dueAt": f"{today}T{i % 24:02}:{i % 60:02}:00Z"}}) + "\n" for i in range(200))
    call(port, "POST", "/v1/circles/c/batch", key, lines, "application/x-ndjson")
    path = path_of(call(port, "POST", "/v1/circles/c/feeds", key, '{"userId": "ann"}'))
    # Past the second of the last change, so that the validators stay as they are.
    time.sleep(1.1)
    return path


def read(port, path, polls, is_whole):
    line, headers = http.client.HTTPConnection(HOST, port, timeout=600), {}
    for _ in range(polls):
        line.request("GET", path, headers=headers)
        answer = line.getresponse()
        answer.read()
        if answer.status != (304 if headers else 200):
            sys.exit(f"a poll is answered with {answer.status}")
        if not is_whole:
            headers = {"If-None-Match": answer.getheader("ETag")}


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        counter = Counter(folder, program)
        if counter.name is None:
            print("instructions: skipped, because the machine has no counters for perf, and valgrind or objcopy is missing")
            return
        works = [("an event read, and printed as JSON", lambda count: parsed(counter, count), 1_000, 6_000)]
        if counter.name == "perf":
            works += [
                ("an unchanged poll", lambda count: served(counter, count, False), 1_000, 11_000),
                ("a full read of 200 events", lambda count: served(counter, count, True), 1_000, 6_000)]
        else:
            print("instructions of polls: skipped, because the machine has no counters for perf")
        for name, work, few, many in works:
            for _ in range(ROUNDS):
                print(f"{name}: {(work(many) - work(few)) // (many - few)} instructions ({counter.name})", flush=True)


main()
