# SPDX-License-Identifier: Apache-2.0
"""Does what is large while somebody else writes every 20 ms, and reports how long they waited at most and how long the
longest transaction was; then kills the server in the middle of commits and undos and looks that each is all or nothing.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/long_writes.py [--events 100000] [--any-time]

The calendars that are followed come from an address that only exists in a network namespace of this harness's own.
"""

import argparse
import datetime
import http.server
import itertools
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

from report import run
from server import Server, Violation

parser = argparse.ArgumentParser()
parser.add_argument("--events", type=int, default=100_000)
parser.add_argument("--followed", type=int, default=200_000)
parser.add_argument("--kills", type=int, default=6)
parser.add_argument("--any-time", action="store_true", help="do not judge times, on a busy machine or of a debug build")
options = parser.parse_args()

# Milliseconds that a transaction may take, and that another writer may wait while other programs run on the machine.
LONGEST_TRANSACTION, LONGEST_WAIT = 250, 500
ADDRESS = "93.184.215.14"
forked = multiprocessing.get_context("fork")


def isolate():
    """Goes on in a namespace with the calendar host's address; False where the system allows none."""
    if os.environ.get("KALENDS_ISOLATED") or not shutil.which("unshare") or not shutil.which("ip"):
        return bool(os.environ.get("KALENDS_ISOLATED"))
    setup = f"ip link set lo up && ip addr add {ADDRESS}/32 dev lo"
    if subprocess.run(["unshare", "-rn", "sh", "-c", setup], capture_output=True).returncode:
        return False
    os.environ["KALENDS_ISOLATED"] = "1"
    os.execvp("unshare", ["unshare", "-rn", "sh", "-c", f'{setup} && exec "$@"', "sh", sys.executable, "-B", *sys.argv])


def calendar(count, name, title="Event"):
    """Events on the days around today, with UIDs that begin with a name."""
    day = time.strftime("%Y%m%d")
    parts = ["BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\n"]
    for number in range(count):
        parts.append(
            f"BEGIN:VEVENT\r\nUID:{name}-{number}@example.com\r\nDTSTAMP:20260101T000000Z\r\n"
            f"DTSTART:{day}T{number % 24:02}{number // 24 % 60:02}00Z\r\nSUMMARY:{title} {number}\r\nEND:VEVENT\r\n")
    return "".join(parts + ["END:VCALENDAR\r\n"]).encode()


class Writer:
    """Another client, who puts a task into another circle every 20 ms."""

    def __init__(self, server):
        self.server = server
        self.longest, self.count = forked.RawValue("d", 0), forked.RawValue("q", 0)
        self.running = forked.RawValue("b", 1)
        self.process = forked.Process(target=self._write)
        self.process.start()

    def _write(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        while self.running.value:
            began = time.monotonic()
            try:
                status = self.server.put_task("other", f"t-{self.count.value % 100}", timeout=600)
            except OSError:
                time.sleep(0.02)
                continue
            self.longest.value = max(self.longest.value, time.monotonic() - began)
            self.count.value += 1
            if status not in (200, 201):
                os._exit(9)
            time.sleep(0.02)

    def stop(self):
        self.running.value = 0
        self.process.join(60)
        if self.process.exitcode:
            raise Violation("a write beside the large ones was refused")


class Calendars(http.server.BaseHTTPRequestHandler):
    """Gives every caller a calendar of UIDs that nobody has seen."""
    fetches = 0

    def do_GET(self):
        Calendars.fetches += 1
        body = calendar(options.followed, f"fresh{Calendars.fetches}")
        self.send_response(200)
        self.send_header("Content-Type", "text/calendar")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def send(server, method, path, body=b"", kind="application/json", user=None):
    headers = {"Authorization": f"Bearer {server.key}", "Content-Type": kind}
    if user:
        headers["Kalends-User"] = user
    status, _, text = server.request(method, path, body, headers, timeout=3600)
    if status >= 300:
        raise Violation(f"{method} {path.split('/')[1]}… was answered {status}: {text[:300]}")
    return json.loads(text) if text else None


def bring(server, body, circle="big"):
    return send(server, "POST", f"/v1/circles/{circle}/imports?mode=commit&limit=1", body, "text/calendar")["id"]


def prepare(server, circle):
    zone = {"name": circle, "timeZone": "Europe/Vienna"}
    server.must("PUT", f"/v1/circles/{circle}", zone)
    server.must("PUT", f"/v1/circles/{circle}/members/ann", {"displayName": "Ann", "role": "owner"})
    server.must("PUT", f"/v1/circles/{circle}/patients/mom", {"displayName": "Mom"})


def large(server, follows):
    """The names and the work of each large thing, in an order in which they can be done."""
    made = {}
    file, items = calendar(options.events, "file"), options.events

    def batch():
        day = time.strftime("%Y-%m-%d")
        lines = (
            json.dumps({"op": "put", "collection": "appointments", "id": f"a{number}", "value": {
                "patientId": "mom", "provider": "P", "startAt": f"{day}T12:00:00Z"}}) for number in range(items))
        report = send(server, "POST", "/v1/circles/big/batch", "\n".join(lines).encode(), "application/x-ndjson")
        if report["applied"] != items:
            raise Violation(f"a batch applied {report['applied']} of {items} lines")

    def commit():
        made["import"] = bring(server, file)

    def update():
        made["update"] = bring(server, file.replace(b"SUMMARY:Event", b"SUMMARY:Changed"))

    def follow():
        url = f"http://{ADDRESS}:{made['port']}/calendar.ics"
        made["subscription"] = send(
            server, "POST", "/v1/circles/big/subscriptions", json.dumps({"url": url}).encode())["id"]
        refresh()

    def refresh():
        told = send(server, "POST", f"/v1/circles/big/subscriptions/{made['subscription']}/refresh")
        if told["counts"]["events"] != options.followed:
            raise Violation(f"a followed calendar has {told['counts']} and {told['lastProblem']}")

    def serve():
        host = http.server.ThreadingHTTPServer((ADDRESS, 0), Calendars)
        threading.Thread(target=host.serve_forever, daemon=True).start()
        made["port"] = host.server_port

    put = lambda path, value: lambda: send(server, "PUT", path, json.dumps(value).encode())
    yield f"import {options.events:,}", commit
    yield "change all", update
    yield "undo the change", lambda: send(server, "POST", f"/v1/imports/{made['update']}/undo?limit=1")
    yield "undo", lambda: send(server, "POST", f"/v1/imports/{made['import']}/undo?limit=1")
    yield f"batch of {items:,}", batch
    yield "rename a patient", put("/v1/circles/big/patients/mom", {"displayName": "Mum"})
    yield "another zone", put("/v1/circles/big", {"name": "big", "timeZone": "Europe/London"})
    if follows:
        serve()
        yield f"follow {options.followed:,}", follow
        yield "all with fresh UIDs", refresh
        yield "follow no more", lambda: send(
            server, "DELETE", f"/v1/circles/big/subscriptions/{made['subscription']}")
    yield "import again", commit
    yield "delete the circle", lambda: send(server, "DELETE", "/v1/circles/big")
    yield "make it again", put("/v1/circles/big", {"name": "big", "timeZone": "Europe/Vienna"})


def own(server):
    """The same of what a person has of their own."""
    many, days = max(200, options.events // 20), max(100, options.events // 27)

    def plan(events, start, end):
        body = {"range_start": start, "range_end": end, "events": events}
        return send(server, "POST", "/api/apple_sync/planned_upsert", json.dumps(body).encode(), user="ann")

    def plans():
        for part in range(4):
            report = plan([{
                "external_id": f"plan-{part}-{number}", "title": f"Plan {number}",
                "start_at": f"2030-{part + 1:02}-{number % 28 + 1:02}T09:00:00Z",
                "end_at": f"2030-{part + 1:02}-{number % 28 + 1:02}T10:00:00Z"} for number in range(many)],
                f"2030-{part + 1:02}-01T00:00:00Z", f"2030-{part + 1:02}-28T23:59:59Z")
            if report["upserted"] != many:
                raise Violation(f"of {many} planned events {report['upserted']} were taken")

    def no_plans():
        report = plan([], "2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z")
        if report["deleted"] != 4 * many:
            raise Violation(f"of {4 * many} planned events {report['deleted']} went")

    def events():
        token = send(server, "POST", "/sync/devices/register", b'{"deviceId": "phone"}', user="ann")["deviceToken"]
        for part in range(4):
            body = {"events": [{
                "externalId": f"own-{part}-{number}", "title": f"Own {number}", "date": "2030-03-04",
                "startTime": "09:00", "endTime": "10:00", "recurrence": {"rrule": "FREQ=WEEKLY;COUNT=100"}}
                for number in range(many)]}
            status, _, text = server.request(
                "POST", "/sync/apple/events/upsert", json.dumps(body).encode(),
                {"Authorization": f"Device {token}", "Content-Type": "application/json"}, timeout=600)
            if status != 200 or json.loads(text)["created"] != many:
                raise Violation(f"events of a phone were answered {status}: {text[:300]}")

    office = "/v1/users/ann/office-days"

    def office_days():
        send(server, "PATCH", f"{office}/settings", b'{"enabled": true}')
        first = datetime.date.today() - datetime.timedelta(days=days)
        for number in range(days):
            day = first + datetime.timedelta(days=number)
            send(server, "PUT", f"{office}/days/{day}", b'{"status": "inOffice"}')
            visit = {"startAt": f"{day}T08:00:00Z", "endAt": f"{day}T16:00:00Z"}
            send(server, "PUT", f"{office}/visits/v{number}", json.dumps(visit).encode())

    yield f"plan {4 * many:,}", plans
    yield "plan nothing", no_plans
    yield f"{4 * many:,} events of a phone", events
    yield f"{days:,} office days", office_days
    yield "other office hours", lambda: send(
        server, "PATCH", f"{office}/settings", b'{"officeTitle": "At the office"}')
    yield "clean up office days", lambda: send(server, "POST", f"{office}/cleanup?mode=commit")


def size(server):
    return sum(os.path.getsize(f"{server.database}{end}") for end in ("", "-wal")) >> 20


def shown(server, circle):
    status, _, text = server.request(
        "GET", f"/v1/circles/{circle}/export.ics", None, {"Authorization": f"Bearer {server.key}"}, timeout=600)
    if status != 200:
        raise Violation(f"an export was answered {status}")
    return text.count(b"BEGIN:VEVENT"), text.count(b"SUMMARY:Changed")


def kills(server, chance):
    """Commits and undos that a kill breaks off somewhere; each is there in full, or not at all."""
    count = max(2000, options.events // 5)
    file = calendar(count, "kill")
    changed = file.replace(b"SUMMARY:Event", b"SUMMARY:Changed")
    prepare(server, "killed")
    first = bring(server, file, "killed")
    began = time.monotonic()
    undo = bring(server, changed, "killed")
    lasting = time.monotonic() - began
    for number in range(options.kills):
        is_undo = number % 2 == 1
        if is_undo and shown(server, "killed")[1] == 0:
            undo = bring(server, changed, "killed")

        def work():
            try:
                if is_undo:
                    send(server, "POST", f"/v1/imports/{undo}/undo?limit=1")
                else:
                    bring(server, changed if shown(server, "killed")[1] == 0 else file, "killed")
            except (OSError, Violation):
                pass

        before = shown(server, "killed")
        worker = threading.Thread(target=work)
        worker.start()
        time.sleep(chance.uniform(0.1, 1.1) * lasting)
        server.kill()
        worker.join()
        server.check_integrity()
        server.start()
        server.wait()
        after = shown(server, "killed")
        if after not in ((count, 0), (count, count)):
            raise Violation(f"of {count} events {after} are there after a kill")
        yield (f"kill in {'an undo' if is_undo else 'a commit'}", "", "", "",
               "nothing of it" if after == before else "all of it")
    del first


def rounds(folder):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    follows = bool(os.environ.get("KALENDS_ISOLATED"))
    if not follows:
        print("no namespace can be made here: calendars are not followed")
    server = Server(folder, folder, {"KALENDS_ALLOW_HTTP_IMPORTS": "true"})
    server.start()
    server.wait()
    try:
        server.key = server.command("key", "create", "--name", "faults").strip()
        prepare(server, "big")
        prepare(server, "other")
        writer = Writer(server)
        try:
            for name, work in itertools.chain(own(server), large(server, follows)):
                writer.longest.value = 0
                began = time.monotonic()
                work()
                seconds = time.monotonic() - began
                # What goes on behind the answer belongs to it.
                time.sleep(1)
                longest, waited = server.longest_transaction(), 1000 * writer.longest.value
                yield (name, f"{seconds:.2f}", f"{waited:.0f}", f"{longest:.0f}", f"{size(server)} MiB")
                if not options.any_time and (longest > LONGEST_TRANSACTION or waited > LONGEST_WAIT):
                    raise Violation(f"a transaction took {longest:.0f} ms, and another writer waited {waited:.0f} ms")
        finally:
            writer.stop()
        yield from kills(server, random.Random(seed))
    finally:
        server.stop()


if __name__ == "__main__":
    isolate()
    run(
        "What is large, beside somebody who writes:",
        [("", 22), ("seconds", 8), ("longest wait ms", 15), ("longest transaction ms", 22), ("", 14)], rounds)
