# SPDX-License-Identifier: Apache-2.0
"""Small requests that make the server do very much: each attacker strikes again and again next to an ordinary reader and an
ordinary writer, who must not notice, and a server that is told to stop in the middle of a strike has to stop.

    KALENDS=.build-release/release/kalends python3 -B Tests/Faults/bombs.py [--seconds 20] [--only phone_conflicts] [--factor 1]

The bounds are those of a release build on a machine of its own; `--factor` multiplies the times. An attacker is a class with
`prepare`, before anybody is measured, and `strike`, one blow that may take long; add it to `ATTACKERS`. Those that use
forms and pages are in `bomb_forms.py`, those that use the CalDAV door in `bomb_reports.py`.
"""

import argparse
import asyncio
import datetime
import http.client
import json
import multiprocessing
import os
import re
import signal
import threading
import time
from pathlib import Path

from attackers import SERIES, Attacker, make_series, must
from bomb_forms import DrippingForms, FarNumbers, LongConflicts
from bomb_reports import (
    CostlyFilters, ExpandedLinks, IdleReaders, LargeReports, ManyAlarms, ManyReports, RepeatedProperties, WrittenZones)
from connections import HOSTS, Provider
from ports import free_port
from report import run
from server import Server, Violation, seconds_to_stop

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=20)
parser.add_argument("--only", help="the names of some attackers, with commas between")
parser.add_argument("--factor", type=float, default=1, help="how much longer everything may take, in a debug build")
options = parser.parse_args() if __name__ == "__main__" else parser.parse_args([])

# Milliseconds, MiB and seconds.
READER_P99, LONGEST_CHANGE, LONGEST_TRANSACTION, GROWTH, STOP = 100, 500, 250, 256, 20
# Credentials that were never used, each for one read while the attack goes on.
FRESH_KEYS = 12
forked = multiprocessing.get_context("fork")


def memory(server, name):
    """Resident memory in MiB: `VmRSS` now, `VmHWM` the most that it ever was."""
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+)", text)[1]) >> 10


def fault_of_conflicts(server, path):
    """Of each series there is one conflict, whatever was deleted of it."""
    count = must(server, "GET", path)["counts"]["conflicts"]
    return None if count == SERIES else f"{count} conflicts of {SERIES} series are open"


class PhoneConflicts(Attacker):
    """A viewer's phone deletes six hundred days of each of thirty daily series, and every time other ones."""

    DAYS, DELETED = 1000, 640

    def prepare(self, server):
        make_series(server, self.DAYS)
        made = must(server, "POST", "/v1/circles/series/connections", {"provider": "apple"}, user="vic")
        self.path = f"/v1/connections/{made['id']}"
        made = must(server, "POST", "/sync/devices/register", {"deviceId": "phone"}, user="vic")
        self.token = f"Device {made['deviceToken']}"
        events = must(server, "GET", "/sync/events/changes", token=self.token)["events"]
        if len(events) != SERIES:
            raise Violation(f"a phone has {len(events)} of {SERIES} series")
        names = ("id", "title", "date", "startTime", "endTime", "timeZone", "allDay", "recurrence")
        self.events = [
            {name: event[name] for name in names} | {"externalId": f"x{number}"} for number, event in enumerate(events)]
        must(server, "POST", "/sync/apple/events/upsert", {"events": self.events}, token=self.token)

    def strike(self, server, number):
        first = datetime.date.fromisoformat(self.events[0]["date"]) + datetime.timedelta(days=1 + number * 37 % 300)
        days = [f"{first + datetime.timedelta(days=day)}T09:00:00Z" for day in range(self.DELETED)]
        deleted = [event | {"recurrence": event["recurrence"] | {"exdates": days}} for event in self.events]
        headers = {"Authorization": self.token, "Content-Type": "application/json"}
        status, _, text = server.request(
            "POST", "/sync/apple/events/upsert", json.dumps({"events": deleted}).encode(), headers, timeout=600)
        return None if status == 200 else f"{status}: {text[:200]}"

    def fault(self, server):
        return fault_of_conflicts(server, self.path)


class Host(Provider):
    """A CalDAV server on which days of every series are deleted, as many as `deleted` says and from another day on each
    time that the number of the strike is another."""

    def __init__(self, deleted, number):
        super().__init__(forked.RawValue("d", 0))
        self.deleted, self.number, self.struck = deleted, number, 0

    def answer(self, method, path, fields, body):
        if method == "REPORT" and "sync-collection" in body and self.number.value != self.struck:
            self.struck = self.number.value
            for calendar in self.calendars.values():
                for name, (_, text) in list(calendar.events.items()):
                    calendar.changes.append(name)
                    calendar.events[name] = (len(calendar.changes), self.without_days(text))
        return super().answer(method, path, fields, body)

    def without_days(self, text):
        # Before the event there is its zone, which has starts and rules too.
        zone, begin, event = re.sub(r"EXDATE[^\r\n]*\r\n(?: [^\r\n]*\r\n)*", "", text).partition("BEGIN:VEVENT")
        found = re.search(r"DTSTART(;TZID=[^:\r\n]*)?:(\d{8})(T\d{6}Z?)\r\n", event)
        if not found or "RRULE" not in event:
            return text
        first = datetime.datetime.strptime(found[2], "%Y%m%d") + datetime.timedelta(days=1 + self.struck * 37 % 300)
        days = ((first + datetime.timedelta(days=day)).strftime("%Y%m%d") + found[3] for day in range(self.deleted.value))
        lines = "".join(f"EXDATE{found[1] or ''}:{day}\r\n" for day in days)
        return zone + begin + event.replace(found[0], found[0] + lines, 1)


def serve(port, deleted, number, ready):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(10)
    asyncio.run(Host(deleted, number).serve(port, ready))


class HostConflicts(Attacker):
    """The CalDAV server that a viewer names deletes three thousand days of each of thirty daily series."""

    DAYS, DELETED = 4000, 3000

    def __init__(self):
        self.port = free_port()
        self.address = f"http://{HOSTS[0]}:{self.port}/"
        self.environment = {"KALENDS_PRIVATE_CALDAV_HOSTS": f"{HOSTS[0]}:{self.port}"}
        self.number, ready = forked.RawValue("q", 0), forked.Event()
        self.process = forked.Process(
            target=serve, args=(self.port, forked.RawValue("q", self.DELETED), self.number, ready), daemon=True)
        self.process.start()
        ready.wait(10)

    def prepare(self, server):
        make_series(server, self.DAYS)
        made = must(server, "POST", "/v1/circles/series/connections", {"provider": "caldav"}, user="vic")
        self.path = f"/v1/connections/{made['id']}"
        must(server, "PUT", f"{self.path}/account",
             {"url": self.address, "username": "vic", "password": "secret"}, user="vic")
        must(server, "PUT", f"{self.path}/calendar", {"calendarId": f"{self.address}vic/cal/"}, user="vic")
        self.run(server)
        if must(server, "GET", self.path)["counts"]["linked"] != SERIES:
            raise Violation("not all series came to the calendar")

    def run(self, server):
        """Has the connection run, and waits for the end of it."""
        status, document = server.call("POST", f"{self.path}/sync", {}, 600, "vic")
        if status != 202:
            return f"{status}: {document}"
        while True:
            record = must(server, "GET", f"/v1/runs/{document['runId']}", user="vic")
            if record["state"] != "running":
                return None if record["status"] == "success" else f"{record['state']}: {record['error']}"
            time.sleep(0.1)

    def strike(self, server, number):
        self.number.value = number + 1
        return self.run(server)

    def fault(self, server):
        return fault_of_conflicts(server, self.path)

    def close(self):
        self.process.kill()
        self.process.join()


ATTACKERS = [
    PhoneConflicts, HostConflicts, LongConflicts, FarNumbers, DrippingForms, LargeReports, CostlyFilters, ExpandedLinks,
    RepeatedProperties, ManyReports, WrittenZones, ManyAlarms, IdleReaders]


class Ordinary:
    """A reader who polls a feed, sometimes with a key that nobody has used before, and a writer, in a process of their own."""

    def __init__(self, server, path, keys):
        self.server, self.path, self.keys = server, path, keys
        self.running, self.results = forked.RawValue("b", 1), forked.Queue()
        self.process = forked.Process(target=self._go)
        self.process.start()

    def _go(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        polls, fresh, changes, failures = [], [], [], []

        def timed(times, who, allowed, ask):
            began = time.monotonic()
            try:
                status = ask()
                if status not in allowed:
                    failures.append(f"{who}: {status}")
            except OSError as error:
                failures.append(f"{who}: {error!r}")
            times.append(1000 * (time.monotonic() - began))

        def read():
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)

            def poll():
                connection.request("GET", self.path)
                reply = connection.getresponse()
                reply.read()
                return reply.status

            while self.running.value:
                timed(polls, "reader", (200, 304), poll)
                time.sleep(0.02)

        def read_with_fresh_keys():
            for key in self.keys:
                if not self.running.value:
                    return
                timed(fresh, "fresh reader", (200,), lambda: self.server.request(
                    "GET", "/v1/circles/still", headers={"Authorization": f"Bearer {key}"}, timeout=120)[0])
                time.sleep(max(0.2, 0.8 * options.seconds / len(self.keys)))

        def write():
            while self.running.value:
                timed(changes, "writer", (200, 201), lambda: self.server.put_task("written", f"t{len(changes) % 50}", 120))
                time.sleep(0.05)

        threads = [threading.Thread(target=work) for work in (read, read_with_fresh_keys, write)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.results.put((polls, fresh, changes, failures))

    def stop(self):
        self.running.value = 0
        found = self.results.get(timeout=600)
        self.process.join()
        return found


def attack(attacker, server, until, results):
    """Strikes until then, in a process that leaves the processor to others; how often, and what counted for nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(19)
    strikes, wasted = 0, []
    while time.monotonic() < until:
        try:
            reason = attacker.strike(server, strikes)
        except (OSError, Violation) as error:
            reason = repr(error)
        strikes += 1
        if reason:
            wasted.append(reason)
            time.sleep(0.2)
    results.put((strikes, wasted))


def percentile(times, part):
    return sorted(times)[int(len(times) * part)] if times else float("nan")


def stop_amid(attacker, server):
    """Seconds that a server takes to stop when it gets the signal in the middle of a strike."""
    def strike():
        try:
            attacker.strike(server, 1_000)
        except (OSError, Violation):
            pass

    thread = threading.Thread(target=strike, daemon=True)
    thread.start()
    time.sleep(0.5)
    seconds = seconds_to_stop(server.process)
    thread.join(10)
    return seconds


def trial(attacker, folder):
    folder.mkdir()
    server = Server(folder, folder, attacker.environment)
    server.start()
    server.wait()
    try:
        feed = server.fill(feeds=1)[0]
        keys = [server.command("key", "create", "--name", f"fresh{number}").strip() for number in range(FRESH_KEYS)]
        attacker.prepare(server)
        before = memory(server, "VmRSS")
        results = forked.Queue()
        ordinary = Ordinary(server, feed.path, keys)
        attacking = forked.Process(
            target=attack, args=(attacker, server, time.monotonic() + options.seconds, results))
        attacking.start()
        strikes, wasted = results.get(timeout=options.seconds + 900)
        attacking.join()
        polls, fresh, changes, failures = ordinary.stop()
        left = attacker.fault(server)
        growth, longest = memory(server, "VmHWM") - before, server.longest_transaction()
        stop = stop_amid(attacker, server)
        server.check_integrity()
    finally:
        if server.process.poll() is None:
            server.kill()
    found = (percentile(polls, 0.99), max(fresh, default=0), max(changes), longest)
    row = (type(attacker).__name__, f"{strikes - len(wasted)}/{strikes}", *(f"{value:.0f}" for value in found),
           f"{growth}", f"{stop:.1f}")
    faults = [
        f"{what} took {value:.0f} ms" for what, value, most in (
            ("the reader's 99th percentile", found[0], READER_P99), ("a read with a fresh key", found[1], LONGEST_CHANGE),
            ("an ordinary change", found[2], LONGEST_CHANGE), ("a transaction", found[3], LONGEST_TRANSACTION))
        if value > most * options.factor]
    if growth > GROWTH:
        faults.append(f"the server took {growth} MiB more")
    if stop > STOP:
        faults.append(f"the server took {stop:.0f} s to stop")
    if strikes == len(wasted):
        faults.append(f"no strike hit: {wasted[:2]}")
    faults += failures[:3] + [left] * bool(left)
    return row, faults


def rounds(folder):
    wanted = options.only.split(",") if options.only else None
    names = {re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in ATTACKERS}
    all_faults = []
    for name, kind in names.items():
        if wanted and name not in wanted:
            continue
        attacker = kind()
        try:
            row, faults = trial(attacker, Path(folder) / name)
        finally:
            attacker.close()
        yield row
        all_faults += [f"{name}: {fault}" for fault in faults]
    if all_faults:
        raise Violation("; ".join(all_faults))


if __name__ == "__main__":
    run("Small requests that make very much work, beside ordinary clients (milliseconds, MiB, seconds):",
        [("", 16), ("strikes", 8), ("reader p99", 10), ("fresh key", 9), ("change", 7), ("transaction", 11),
         ("growth", 7), ("stop", 6)], rounds)
