# SPDX-License-Identifier: Apache-2.0
"""Times imports and batches against reading only: a file as an exporter writes it, previewed, committed, imported again.

    python3 -B Scripts/bench-import.py .build-release/release/kalends [--events 15000] [--lines 100000] [--mebibytes 50]
"""

import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Faults"))
from running import HOST, call, make_key, start

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--events", type=int, default=15_000)
parser.add_argument("--lines", type=int, default=100_000)
parser.add_argument("--mebibytes", type=int, default=50, help="of the large file, 0 for none")
options = parser.parse_args()

ZONES = ["America/New_York", "Europe/Berlin", "Asia/Tokyo", "Australia/Sydney", "America/Sao_Paulo"]
WORDS = "team review lunch call dentist school plan budget visit Müller 会議 project gym train flight birthday".split()
NOTES = ("Agenda:\\n- last week\\, next week\\n- open questions\\n\\nJoin: https://meet.example/abc-defg-hij\\n"
         "Dial in: +1 555 0100\\; PIN 1234")
RULES = ["FREQ=WEEKLY;BYDAY=MO,WE", "FREQ=MONTHLY;BYDAY=2TU;COUNT=24", "FREQ=DAILY;COUNT=10", "FREQ=YEARLY"]


def folded(line):
    """Folded at 75 bytes, never within a character (RFC 5545 section 3.1)."""
    data, parts, width = line.encode(), [], 75
    while len(data) > width:
        cut = width
        while data[cut] & 0xC0 == 0x80:
            cut -= 1
        parts.append(data[:cut])
        data, width = data[cut:], 74
    return b"\r\n ".join([*parts, data]) + b"\r\n"


def event(chance, number):
    zone = chance.choice(ZONES)
    begin = datetime(2023, 1, 1) + timedelta(minutes=15 * chance.randrange(4 * 35_000))
    end = begin + timedelta(minutes=chance.choice([15, 30, 60, 90]))
    lines = ["BEGIN:VEVENT"]
    if number % 7 == 0:
        lines += [f"DTSTART;VALUE=DATE:{begin:%Y%m%d}", f"DTEND;VALUE=DATE:{begin + timedelta(days=1):%Y%m%d}"]
    elif number % 3 == 0:
        lines += [f"DTSTART:{begin:%Y%m%dT%H%M%S}Z", f"DTEND:{end:%Y%m%dT%H%M%S}Z"]
    else:
        lines += [f"DTSTART;TZID={zone}:{begin:%Y%m%dT%H%M%S}", f"DTEND;TZID={zone}:{end:%Y%m%dT%H%M%S}"]
    if number % 12 == 1:
        lines.append(f"RRULE:{chance.choice(RULES)}")
    lines += [
        "DTSTAMP:20260301T120000Z", f"UID:{chance.getrandbits(128):032x}@calendar.example", "CREATED:20230101T080000Z",
        "LAST-MODIFIED:20260228T171500Z", f"SEQUENCE:{number % 3}", "STATUS:CONFIRMED", "TRANSP:OPAQUE",
        f"SUMMARY:{' '.join(chance.choices(WORDS, k=4)).capitalize()} {number}"]
    if number % 2:
        lines.append(f"LOCATION:Room {number % 40}\\, Main Street {number % 300}\\, Springfield")
    if number % 3:
        lines.append(f"DESCRIPTION:{NOTES}")
    if number % 4 == 0:
        lines += [
            "ORGANIZER;CN=Ann:mailto:ann@calendar.example",
            "ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;CN=Ben:mailto:ben@calendar.example"]
    if number % 2 == 0:
        lines += ["BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:Reminder", "TRIGGER:-PT30M", "END:VALARM"]
    lines.append("END:VEVENT")
    return b"".join(folded(line) for line in lines)


def calendar(count=None, size=None):
    chance = random.Random(5545)
    text = bytearray(b"BEGIN:VCALENDAR\r\nPRODID:-//Example//Exporter 1.0//EN\r\nVERSION:2.0\r\nCALSCALE:GREGORIAN\r\n")
    number = 0
    while number < count if size is None else len(text) < size:
        number += 1
        text += event(chance, number)
    return bytes(text + b"END:VCALENDAR\r\n"), number


class Peak:
    """The maximum resident memory of the server while something runs, in MiB."""

    def __init__(self, pid):
        self.pid = pid

    def __enter__(self):
        # Forgets the peak so far.
        with open(f"/proc/{self.pid}/clear_refs", "w") as file:
            file.write("5")
        self.before = self.read("VmRSS")
        return self

    def __exit__(self, *_):
        self.most = self.read("VmHWM")

    def read(self, name):
        with open(f"/proc/{self.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(name)) >> 10


def row(name, seconds, count, unit, peak=None, base=None):
    memory = f"{peak.before:>5} → {peak.most:>5} MiB" if peak else ""
    ratio = f"{seconds / base:>6.1f} × parse" if base else ""
    print(f"  {name:<34}{seconds:>8.2f} s {count / seconds:>12,.0f} {unit}/s  {memory:<18}{ratio}", flush=True)


def timed(work):
    began = time.monotonic()
    value = work()
    return time.monotonic() - began, value


def lines(count):
    """The lines of a batch, in pieces of 500: made before the clock runs, because whoever makes them takes the processor too."""
    return [b"".join(
        json.dumps({
            "op": "put", "collection": "tasks", "id": f"t{number}",
            "value": {"title": f"Task {number}", "dueAt": f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}T09:00:00Z"}
        }).encode() + b"\n" for number in range(first, min(first + 500, count))) for first in range(0, count, 500)]


def batch(port, key, pieces, count):
    connection = http.client.HTTPConnection(HOST, port, timeout=600)
    connection.request(
        "POST", "/v1/circles/b/batch", body=iter(pieces), encode_chunked=True,
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/x-ndjson", "Transfer-Encoding": "chunked"})
    answer = json.loads(connection.getresponse().read())
    assert answer["applied"] == count and not answer["rejected"], str(answer)[:300]


def main():
    with tempfile.TemporaryDirectory() as folder:
        process, port = start(options.program, folder)
        try:
            key = make_key(options.program, folder)
            for circle in "abcd":
                call(port, "PUT", f"/v1/circles/{circle}", key, '{"name": "Bench", "timeZone": "Europe/Vienna"}',
                     "application/json")
            measure(process.pid, port, key, folder)
        finally:
            process.terminate()
            process.wait()


def measure(pid, port, key, folder):
    print(f"A batch of {options.lines:,} lines in one call:")
    pieces = lines(options.lines)
    with Peak(pid) as peak:
        seconds, _ = timed(lambda: batch(port, key, pieces, options.lines))
    row("new tasks", seconds, options.lines, "lines", peak)
    text, count = calendar(count=options.events)
    file = os.path.join(folder, "events.ics")
    with open(file, "wb") as output:
        output.write(text)

    def parse():
        return timed(lambda: subprocess.run(
            [options.program, "parse", "--json", file], stdout=subprocess.DEVNULL, check=False))[0]

    def post(circle, mode, body=text):
        path = f"/v1/circles/{circle}/imports?mode={mode}"
        with Peak(pid) as peak:
            seconds, answer = timed(lambda: json.loads(call(port, "POST", path, key, body, "text/calendar")))
        return seconds, answer, peak

    print(f"A file of {count:,} events, {len(text) / 1e6:.1f} MB:")
    base = min(parse() for _ in range(3))
    row("kalends parse --json, best of 3", base, count, "events")
    seconds, preview, peak = post("a", "preview")
    assert preview["counts"]["created"] == count, preview["counts"]
    row("preview", seconds, count, "events", peak, base)
    with Peak(pid) as peak:
        seconds, done = timed(
            lambda: json.loads(call(port, "POST", f"/v1/imports/{preview['id']}/commit", key, "{}")))
    assert done["counts"]["created"] == count, done["counts"]
    row("commit of the preview", seconds, count, "events", peak, base)
    seconds, done, peak = post("d", "commit")
    assert done["counts"]["created"] == count, done["counts"]
    row("mode=commit in one call", seconds, count, "events", peak, base)
    seconds, again, peak = post("d", "commit")
    assert again["counts"]["unchanged"] == count, again["counts"]
    row("the same file again", seconds, count, "events", peak, base)
    with Peak(pid) as peak:
        seconds, page = timed(lambda: call(port, "GET", f"/v1/imports/{done['id']}?limit=100", key))
    row("a page of its report", seconds, 1, "pages", peak)
    with Peak(pid) as peak:
        seconds, undone = timed(lambda: json.loads(call(port, "POST", f"/v1/imports/{done['id']}/undo", key, "{}")))
    assert undone["state"] == "undone" and not undone["kept"], str(undone)[:300]
    row("undo", seconds, count, "events", peak, base)
    if options.mebibytes:
        large, number = calendar(size=options.mebibytes << 20)
        print(f"A file of {number:,} events, {len(large) / 1e6:.1f} MB:")
        seconds, report, peak = post("c", "preview", large)
        assert report["counts"]["events"] == number, report["counts"]
        row("preview", seconds, number, "events", peak)
        with Peak(pid) as peak:
            seconds, _ = timed(lambda: call(port, "POST", f"/v1/imports/{report['id']}/commit", key, "{}"))
        row("commit of the preview", seconds, number, "events", peak)


main()
