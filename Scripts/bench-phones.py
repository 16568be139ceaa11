# SPDX-License-Identifier: Apache-2.0
"""Times what phones do: 5,000 events brought at once, 100,000 taken along page by page, and questions without news.

    python3 -B Scripts/bench-phones.py .build-release/release/kalends [--events 100000] [--items 2000] [--polls 2000]

Prints a line for each figure, and ends with 1 when one of them misses its mark.
"""

import argparse
import http.client
import json
import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Faults"))
from running import HOST, call, make_key, path_of, start

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--events", type=int, default=100_000)
parser.add_argument("--items", type=int, default=2_000, help="of the circle that the phone carries")
parser.add_argument("--polls", type=int, default=2_000)
options = parser.parse_args()

MOST = 5_000
missed = []


class Phone:
    """A device of a user, over one connection that stays."""

    def __init__(self, port, key, user, name):
        made = self.ask(port, "POST", "/sync/devices/register", {"deviceId": name},
                        {"Authorization": f"Bearer {key}", "Kalends-User": user})
        self.port, self.headers = port, {"Authorization": f"Device {made['deviceToken']}"}
        self.line = http.client.HTTPConnection(HOST, port, timeout=600)

    @staticmethod
    def ask(port, method, path, body, headers):
        line = http.client.HTTPConnection(HOST, port, timeout=600)
        line.request(method, path, json.dumps(body), {"Content-Type": "application/json", **headers})
        answer = line.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {answer.status} {text[:500]!r}")
        return json.loads(text)

    def get(self, path):
        self.line.request("GET", path, headers=self.headers)
        answer = self.line.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"GET {path}: {answer.status} {text[:500]!r}")
        return text

    def send(self, events):
        body = json.dumps({"events": events}).encode()
        began = time.perf_counter()
        self.line.request("POST", "/sync/apple/events/upsert", body,
                          {"Content-Type": "application/json", **self.headers})
        answer = self.line.getresponse()
        report = json.loads(answer.read())
        taken = time.perf_counter() - began
        if answer.status != 200 or report["rejected"]:
            raise SystemExit(f"upsert: {answer.status} {str(report)[:500]}")
        return taken, report


def event(number, round=0):
    day = f"2026-{1 + number // 28 % 12:02}-{1 + number % 28:02}"
    return {"externalId": f"5D2C7B1E-{number:012}", "externalCalendarId": "C1", "title": f"Meeting {number} {round}",
            "date": day, "startTime": f"{8 + number % 10:02}:00", "endTime": f"{9 + number % 10:02}:00",
            "timeZone": "America/Los_Angeles", "location": "Room 4", "description": "Agenda:\n- last week\n- next week",
            "lastSyncedAt": 1768880522609}


def told(what, figure, unit, mark, isGood):
    print(f"{what:<48} {figure:>12,.2f} {unit}   {mark}{'' if isGood else '   MISSED'}", flush=True)
    if not isGood:
        missed.append(what)


def all_changes(phone, path="/sync/events/changes"):
    """Reads all that changed, page by page; the events, the seconds, and where the next reading begins."""
    since, count, began = 0, 0, time.perf_counter()
    while True:
        text = phone.get(f"{path}?since={since}&limit=2000")
        # The tail has the counters; the events themselves are not parsed within the time.
        tail = text[text.rindex(b"]"):]
        since = int(tail.split(b'"nextSince":')[1].split(b",")[0])
        count += text.count(b'"createdAt":')
        if b'"hasMore":false' in tail:
            return count, time.perf_counter() - began, since


def polls(ask):
    """Milliseconds of a question, in the middle and at the slow end."""
    times = []
    for _ in range(options.polls):
        began = time.perf_counter()
        ask()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times), statistics.quantiles(times, n=100)[98]


with tempfile.TemporaryDirectory() as folder:
    server, port = start(options.program, folder)
    try:
        key = make_key(options.program, folder)
        phone = Phone(port, key, "ann", "bench")
        times = []
        for first in range(0, options.events, MOST):
            times.append(phone.send([event(number) for number in range(first, min(first + MOST, options.events))])[0])
        told(f"upsert of {MOST:,} new events, slowest", max(times), "s", "at most 1 s", max(times) <= 1)
        again, _ = phone.send([event(number) for number in range(MOST)])
        told(f"upsert of {MOST:,} events as they are", again, "s", "at most 1 s", again <= 1)
        other, report = phone.send([event(number, 1) for number in range(MOST)])
        told(f"upsert of {MOST:,} changed events", other, "s", "at most 1 s", other <= 1)
        if report["updated"] != min(MOST, options.events):
            raise SystemExit(f"{report['updated']} events were changed")

        count, taken, since = all_changes(phone)
        if count != options.events:
            raise SystemExit(f"{count} events of {options.events} came")
        told(f"changes of {count:,} events, paged", count / taken, "events/s", "at least 50,000", count / taken >= 50_000)

        call(port, "PUT", "/v1/circles/c", key, json.dumps({"name": "Family", "timeZone": "America/Los_Angeles"}))
        call(port, "PUT", "/v1/circles/c/members/ann", key, json.dumps({"displayName": "Ann", "role": "owner"}))
        call(port, "PUT", "/v1/circles/c/patients/mom", key, json.dumps({"displayName": "Mom"}))
        today = time.strftime("%Y-%m-%d", time.gmtime())
        for number in range(options.items):
            call(port, "PUT", f"/v1/circles/c/appointments/a{number}", key, json.dumps(
                {"patientId": "mom", "provider": f"Dr. {number}", "startAt": f"{today}T{number % 24:02}:00:00Z"}))
        feed = path_of(call(port, "POST", "/v1/circles/c/feeds", key, json.dumps({"userId": "ann"})))
        call(port, "POST", "/v1/circles/c/connections", key, json.dumps({"provider": "apple", "userId": "ann"}))
        began = time.perf_counter()
        text = phone.get(f"/sync/events/changes?since={since}&limit=2000")
        print(f"{'first items of a connection, ' + format(options.items, ',') + ' of them':<48} "
              f"{time.perf_counter() - began:>12,.2f} s")
        while b'"hasMore":true' in text:
            since = json.loads(text)["nextSince"]
            text = phone.get(f"/sync/events/changes?since={since}&limit=2000")
        since = json.loads(text)["nextSince"]
        phone.get(f"/sync/events/changes?since={since}")

        # A cold look-up: the first question of a feed after its circle has changed.
        cold, line = [], http.client.HTTPConnection(HOST, port, timeout=600)
        for number in range(20):
            call(port, "PUT", "/v1/circles/c/appointments/a0", key, json.dumps(
                {"patientId": "mom", "provider": f"Dr. {number}", "startAt": f"{today}T10:00:00Z"}))
            began = time.perf_counter()
            line.request("GET", feed)
            line.getresponse().read()
            cold.append((time.perf_counter() - began) * 1000)
        # What changed for the feed changed for the phone too, which takes it first.
        text = phone.get(f"/sync/events/changes?since={since}")
        since = json.loads(text)["nextSince"]
        phone.get(f"/sync/events/changes?since={since}")
        middle, slow = polls(lambda: phone.get(f"/sync/events/changes?since={since}"))
        print(f"{'cold look-up of a feed, middle':<48} {statistics.median(cold):>12,.2f} ms")
        told("a phone's question without news, middle", middle, "ms", "at most a feed's cold look-up",
             middle <= statistics.median(cold))
        print(f"{'a phone question without news, slowest hundredth':<48} {slow:>12,.2f} ms")
    finally:
        server.terminate()
        server.wait()
sys.exit(1 if missed else 0)
