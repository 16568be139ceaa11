# SPDX-License-Identifier: Apache-2.0
"""A hundred hostile clients of every kind at once, next to an ordinary reader and a writer.

Each client repeats one attack: some need no credential, some a viewer's, some the host application's key. The server's
memory has to stay within 256 MiB, the reader's 99th percentile below 100 ms, no write longer than 250 ms, and both must be
served to the end. With root, the server has a network of its own in which followed calendars are answered by a hostile host,
and some name servers say nothing.
"""

import argparse
import base64
import datetime
import gzip
import http.client
import http.server
import itertools
import json
import multiprocessing
import os
import random
import re
import socket
import sys
import tempfile
import threading
import time

from connections import HOSTS
from names import OUTSIDE, own_network, serve_names
from ports import free_port
from providers import connect, provide
from running import HOST, call, make_key, memory, path_of, start
from server import longest_transaction

MARKS = "\u0301" * 20_000 + "\u0316" * 20_000
# So that each of many feeds has bytes of its own.
COLORS = ("aqua azure beige black blue brown coral cyan gold gray green indigo ivory khaki lavender lime linen magenta maroon "
          "navy olive orange orchid peru pink plum purple red salmon tan").split()
forked = multiprocessing.get_context("fork")


class Target:
    """The server under attack and what is in it."""

    def __init__(self, program, folder, flags):
        self.process, self.port = start(program, folder, *flags)
        self.key = make_key(program, folder)
        self.day = time.strftime("%Y-%m-%d", time.gmtime())
        for circle in ("c", "other"):
            self.must("PUT", f"/v1/circles/{circle}", {"name": "C", "timeZone": "Europe/Berlin"})
            for user, role in (("ann", "owner"), ("vic", "viewer")):
                self.must("PUT", f"/v1/circles/{circle}/members/{user}", {"displayName": user, "role": role})
            self.must("PUT", f"/v1/circles/{circle}/patients/p", {"displayName": "Pat"})
        # As long as notes may be: their list is what slow readers ask for.
        for start_at in range(0, 200, 10):
            lines = "".join(self.task(f"t{i}", "n" * 60_000) for i in range(start_at, start_at + 10))
            call(self.port, "POST", "/v1/circles/other/batch", self.key, lines, "application/x-ndjson")
        lines = "".join(self.task(f"t{i}", "n" * 200) for i in range(200))
        call(self.port, "POST", "/v1/circles/c/batch", self.key, lines, "application/x-ndjson")
        self.feed = path_of(call(self.port, "POST", "/v1/circles/c/feeds", self.key, '{"userId":"ann"}'))
        own = {"userId": "vic", "config": {"includePersonal": True, "includePlanned": True}}
        self.own = path_of(call(self.port, "POST", "/v1/circles/c/feeds", self.key, json.dumps(own)))
        self.large = path_of(call(self.port, "POST", "/v1/circles/other/feeds", self.key, '{"userId":"ann"}'))
        self.must("PUT", "/v1/circles/long", {"name": "L", "timeZone": "UTC"})
        self.must("PUT", "/v1/circles/long/members/vic", {"displayName": "vic", "role": "owner"})
        for start_at in range(0, 60, 10):
            lines = "".join(self.task(f"t{i}", "n" * 60_000) for i in range(start_at, start_at + 10))
            call(self.port, "POST", "/v1/circles/long/batch", self.key, lines, "application/x-ndjson")
        self.long_feeds = [
            path_of(call(self.port, "POST", "/v1/circles/long/feeds", self.key,
                         json.dumps({"userId": "vic", "label": color, "config": {"color": color}})))
            for color in COLORS]
        self.large_id = json.loads(call(self.port, "GET", "/v1/circles/other/feeds", self.key))["items"][0]["id"]

    def task(self, name, notes):
        value = {"title": name, "dueAt": f"{self.day}T10:00:00Z", "notes": notes}
        return json.dumps({"op": "put", "collection": "tasks", "id": name, "value": value}) + "\n"

    def daily(self, number, hour):
        return {"patientId": "p", "provider": f"Dr. {number}", "startAt": f"{self.first}T{hour:02}:00:00Z",
                "recurrence": {"rrule": "FREQ=DAILY"}}

    def must(self, method, path, value):
        return json.loads(call(self.port, method, path, self.key, json.dumps(value)))

    @property
    def peak(self):
        """The maximum resident memory so far, in MiB."""
        text = open(f"/proc/{self.process.pid}/status").read()
        return int(re.search(r"VmHWM:\s+(\d+)", text)[1]) >> 10


def answer(target, method, path, body=b"", headers=(), user=None, key=True, timeout=20, kept=None):
    """One request; its status, the answer read and thrown away, or added to a list."""
    connection = http.client.HTTPConnection(HOST, target.port, timeout=timeout)
    fields = dict(headers)
    if key:
        fields["Authorization"] = f"Bearer {target.key}"
    if user:
        fields["Kalends-User"] = user
    fields.setdefault("Content-Type", "application/json")
    try:
        connection.request(method, path, body=body, headers=fields)
        reply = connection.getresponse()
        while part := reply.read(65536):
            if kept is not None:
                kept.append(part)
        return reply.status
    finally:
        connection.close()


def unread(target, request, seconds=3):
    """Sends a request whose answer is never read."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(seconds)
        connection.connect((HOST, target.port))
        connection.sendall(request)
        time.sleep(seconds)


def head(target, method, path, length=0, more=""):
    return (f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {target.key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n").encode()


# MARK: The attacks. Each takes the target and a number of its own, and returns a status or None.

def long_names(target, number):
    return answer(target, "POST", "/v1/sessions", json.dumps({f"a{number}{MARKS}": 0}).encode(), key=False)


def long_cookie(target, number):
    cookie = ("a=" + MARKS[12_000:28_000]).encode()[:30_000]
    return answer(target, "GET", "/v1/circles", headers={"Cookie": cookie}, key=False)


def pipelined_tags(target, number):
    tag = MARKS[16_000:24_000].encode()
    request = b"GET " + target.feed.encode() + b" HTTP/1.1\r\nHost: x\r\nIf-None-Match: \"" + tag + b"\"\r\n\r\n"
    unread(target, request * 30, 2)


def unknown_names(target, number):
    body = json.dumps({f"n{i}": 0 for i in range(80_000)}).encode()[: 1 << 20]
    unread(target, head(target, "PUT", f"/v1/circles/x{number}", len(body)) + body)


def bad_lines(target, number):
    return answer(target, "POST", "/v1/circles/c/batch", b"x\n" * 1_000_000, {"Content-Type": "application/x-ndjson"})


def large_list(target, number):
    unread(target, head(target, "GET", "/v1/circles/other/tasks?limit=1000"))


def large_feed(target, number):
    unread(target, b"GET " + target.large.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n")


def long_feeds(target, number):
    """Many feeds of one person, each with other bytes, of a few mebibytes; nobody reads the answers."""
    path = random.choice(target.long_feeds)
    unread(target, b"GET " + path.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n")


def large_preview(target, number):
    return answer(target, "GET", f"/v1/feeds/{target.large_id}/preview")


def costly_rules(target, number):
    rule = ("FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=" + ",".join(map(str, range(24)))
            + ";BYMINUTE=" + ",".join(map(str, range(60))) + ";BYSECOND=" + ",".join(map(str, range(60)))
            + ";BYSETPOS=-1;COUNT=1000000")
    value = {"patientId": "p", "provider": "Dr", "startAt": "1900-01-01T00:00:00Z", "recurrence": {"rrule": rule}}
    lines = "".join(json.dumps({"op": "put", "collection": "appointments", "id": f"a{number}-{i}", "value": value}) + "\n"
                    for i in range(1000))
    return answer(target, "POST", "/v1/circles/c/batch", lines.encode(), {"Content-Type": "application/x-ndjson"})


def calendar(events):
    return ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\n" + "".join(events) + "END:VCALENDAR\r\n").encode()


def event(uid, more):
    return (f"BEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20260310T090000Z\r\n{more}END:VEVENT\r\n")


def long_description(target, number):
    text = MARKS * 2 + str(random.random())
    lines = "\r\n ".join(text[i:i + 24] for i in range(0, len(text), 24))
    body = calendar([event("same", f"SUMMARY:x\r\nDESCRIPTION:{lines}\r\n")])
    return answer(target, "POST", "/v1/circles/c/imports?mode=commit", body, {"Content-Type": "text/calendar"})


def many_events(target, number):
    body = calendar([event(f"{number}-{random.random()}-{i}", f"SUMMARY:Event {i}\r\n") for i in range(2000)])
    return answer(target, "POST", "/v1/circles/other/imports?mode=commit", body, {"Content-Type": "text/calendar"}, timeout=60)


def held_upload(target, number):
    request = head(target, "POST", "/v1/circles/c/imports?mode=preview", (64 << 20) - 10).replace(
        b"application/json", b"text/calendar")
    unread(target, request + b" " * (1 << 20), 4)


def chunked_spaces(target, number):
    request = (f"POST /v1/circles/c/imports?mode=preview HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {target.key}\r\n"
               "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n").encode()
    unread(target, request + b"1\r\n \r\n" * 20_000, 2)


def many_feeds(target, number):
    return answer(target, "POST", "/v1/circles/c/feeds", json.dumps({"label": f"{random.random()}"}).encode(), user="vic")


def odd_ids(target, number):
    return answer(target, "GET", random.choice(["/v1/circles/%00", "/v1/feeds/%00", "/v1/circles/c/tasks/%00",
                                                "/v1/circles/c/tasks?cursor=%00", "/v1/imports/%00"]))


def guesses(target, number):
    return answer(target, "GET", f"/feeds/{random.getrandbits(256):064x}/x.ics", key=False)


def refreshes(target, number):
    return answer(target, "POST", f"/v1/circles/other/subscriptions/{target.subscription}/refresh", user="ann", timeout=60)


def wrong_events(target, number):
    """Many faults of each of many events, in an answer that nobody reads."""
    names = ("title", "date", "startTime", "endTime", "endDate", "allDay", "location", "externalId", "syncState", "id")
    event = json.dumps({name: 1 for name in names})
    body = ('{"events":[' + ",".join([event] * 5000) + "]}").encode()
    unread(target, head(target, "POST", "/sync/apple/events/upsert", len(body), "Kalends-User: vic\r\n") + body)


def own_events(target, number):
    """Long events of a viewer's own, which their feed shows, in a form that is made from all of them."""
    events = [{"externalId": f"{number}-{random.randrange(40)}-{i}", "title": "x", "date": target.day,
               "description": "n" * 60_000} for i in range(20)]
    answer(target, "POST", "/sync/apple/events/upsert", json.dumps({"events": events}).encode(), user="vic", timeout=60)
    return answer(target, "GET", target.own, headers={"Accept": "application/calendar+json"}, key=False, timeout=60)


def planned_events(target, number):
    """As many as fit in one body, and the next time none of them."""
    events = [] if random.random() < 0.3 else [
        {"external_id": f"{i}", "title": f"{random.random()}", "start_at": f"{target.day}T{i % 24:02}:00:00Z",
         "end_at": f"{target.day}T{i % 24:02}:30:00Z"} for i in range(5000)]
    body = {"range_start": f"{target.day}T00:00:00Z", "range_end": f"{target.day}T23:59:59Z", "events": events}
    return answer(target, "POST", "/api/apple_sync/planned_upsert", json.dumps(body).encode(), user="vic", timeout=60)


def undone(target, number):
    """An import that is taken back as soon as it is there."""
    body = calendar([event(f"undone-{number}-{i}", f"SUMMARY:Event {i}\r\n") for i in range(2000)])
    kept = []
    status = answer(target, "POST", "/v1/circles/other/imports?mode=commit&limit=1", body,
                    {"Content-Type": "text/calendar"}, timeout=60, kept=kept)
    if status not in (200, 201):
        return status
    return answer(target, "POST", f"/v1/imports/{json.loads(b''.join(kept))['id']}/undo?limit=1", timeout=60)


def fresh(target, number):
    """A followed calendar that has other UIDs each time."""
    return answer(target, "POST", f"/v1/circles/other/subscriptions/{target.fresh}/refresh", user="ann", timeout=60)


def reports(target, number):
    notice = {"subscriptionId": f"{number}", "clientState": MARKS[:20], "changeType": "updated"}
    return answer(target, "POST", "/v1/hooks/outlook", json.dumps({"value": [notice] * 1000}).encode(), key=False)


def hostile_calendars(target, number):
    """Runs and previews of calendars whose servers never end, send very much, or send a byte now and then."""
    user, connection = target.hostile[(number + random.randrange(4)) % len(target.hostile)]
    mode = random.choice(["", "?mode=preview"])
    return answer(target, "POST", f"/v1/connections/{connection}/sync{mode}", user=user, timeout=30)


def silent_names(target, number):
    """Accounts at hosts whose name servers say nothing."""
    user, connection = random.choice(target.hostile)
    body = {"url": f"https://silent{random.random()}.example/", "username": user, "password": "secret"}
    return answer(target, "PUT", f"/v1/connections/{connection}/account", json.dumps(body).encode(), user=user, timeout=30)


def phone_days(target, number):
    """A viewer's phone deletes hundreds of days of daily series, or gives days of them long descriptions."""
    first = datetime.date.today() + datetime.timedelta(days=2 + random.randrange(200))
    days = [f"{first + datetime.timedelta(days=day)}T09:00:00Z" for day in range(600)]
    if random.random() < 0.5:
        events = [event | {"recurrence": event["recurrence"] | {"exdates": days}} for event in target.series]
    else:
        events = [event | {"externalInstanceId": day, "date": day[:10], "description": "n" * 30_000}
                  for event in target.series[:1] for day in days[:40]]
    headers = {"Authorization": target.phone, "Content-Type": "application/json"}
    return answer(target, "POST", "/sync/apple/events/upsert", json.dumps({"events": events}).encode(), headers,
                  key=False, timeout=60)


def unread_streams(target, number):
    """A stream of everything that ever changed, which nobody reads."""
    unread(target, head(target, "GET", "/v1/changes?since=0", more="Accept: text/event-stream\r\n"))


def many_streams(target, number):
    """As many streams of a viewer as are let in, and some more, which end at once."""
    request = head(target, "GET", "/v1/circles/c/changes", more="Accept: text/event-stream\r\nKalends-User: vic\r\n")
    opened = [socket.create_connection((HOST, target.port), timeout=5) for _ in range(30)]
    for connection in opened:
        connection.sendall(request)
    time.sleep(0.2)
    for connection in opened:
        connection.close()


def doubled_posts(target, number):
    """The same few keys again and again, some with another body."""
    fields = {"Idempotency-Key": f'"{number}-{random.randrange(8)}"', "Content-Type": "application/json"}
    body = {"url": f"https://app.example/{number}/{random.randrange(2)}", "circles": ["none"]}
    return answer(target, "POST", "/v1/webhooks", json.dumps(body).encode(), fields)


def held_keys(target, number):
    """A request with a key whose body does not come, with a new key each time."""
    more = f"Idempotency-Key: {random.random()}\r\n"
    unread(target, head(target, "POST", "/v1/circles/c/free-busy", 60_000, more) + b"{" + b" " * 30_000)


def everybody_busy(target, number):
    """When fifty people are busy in more than a year of daily series and long lists."""
    first = datetime.date.today()
    body = {"userIds": ["ann", "vic"] * 25 if number % 2 else ["vic"] * 50, "from": f"{first}T00:00:00Z",
            "to": f"{first + datetime.timedelta(days=400)}T00:00:00Z"}
    circle = ("other", "series")[number % 2 == 0]
    return answer(target, "POST", f"/v1/circles/{circle}/free-busy", json.dumps(body).encode(), timeout=60)


def feed_busy(target, number):
    """When the readers of the largest feeds are busy."""
    path = random.choice([target.own, target.large]).rpartition(".")[0]
    return answer(target, "GET", f"{path}.ifb?availability=1", key=False, timeout=60)


def many_to_dos(target, number):
    """To-dos that repeat and belong to each other in a ring, as tasks of the circle or kept, with journal entries."""
    def part(name, index, more):
        return (f"BEGIN:{name}\r\nUID:{number}-{index}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20260310T090000Z\r\n"
                f"SUMMARY:{index}\r\nRELATED-TO:{number}-{(index + 1) % 2000}\r\n{more}END:{name}\r\n")
    parts = [part("VTODO", index, "RRULE:FREQ=DAILY\r\nPERCENT-COMPLETE:50\r\n") if index % 4 else
             part("VJOURNAL", index, "DESCRIPTION:" + "n" * 500 + "\r\n") for index in range(2000)]
    path = f"/v1/circles/other/imports?mode=commit&todos={random.choice(['tasks', 'keep'])}"
    return answer(target, "POST", path, calendar(parts), {"Content-Type": "text/calendar"}, timeout=60)


def person_exports(target, number):
    """Everything that is stored about a person of the largest circle, read or not."""
    path = f"/v1/users/{random.choice(['ann', 'vic'])}/export"
    if random.random() < 0.5:
        return unread(target, head(target, "GET", path))
    return answer(target, "GET", path, timeout=60)


def app_days(target, number):
    """A member's calendar app leaves out thousands of days of a series, also of one with a costly rule, or takes them back."""
    address, text = random.choice(target.objects)
    first = datetime.datetime.combine(target.first, datetime.time(9), datetime.timezone.utc)
    days = [first + datetime.timedelta(days=day + 1) for day in range(random.choice([0, 1_900, 20_000]))]
    text = text.replace("END:VEVENT", "".join(f"EXDATE:{day:%Y%m%dT%H%M%SZ}\r\n" for day in days) + "END:VEVENT", 1)
    if random.random() < 0.3:
        rule = random.choice(["FREQ=SECONDLY", "FREQ=DAILY;BYHOUR=9;COUNT=19000"])
        text = re.sub("RRULE:[^\r]*", f"RRULE:{rule}", text, count=1)
    headers = {"Authorization": target.app, "Content-Type": "text/calendar"}
    return answer(target, "PUT", address, text.encode(), headers, key=False, timeout=60)


def large_days(target, number):
    """Days of a series have notes as long as they may be; the series moves, comes back, and is polled."""
    path = f"/v1/circles/days/appointments/s{number % 5}"
    for _ in range(20):
        day = target.first + datetime.timedelta(days=random.randrange(1_000))
        body = json.dumps({"notes": f"{random.random()}" + "n" * 60_000}).encode()
        status = answer(target, "PUT", f"{path}/occurrences/{day:%Y%m%d}T090000Z", body, user="mia")
    answer(target, "GET", target.days, key=False, timeout=60)
    if random.random() < 0.2:
        for hour in (10, 9):
            answer(target, "PUT", path, json.dumps(target.daily(number % 5, hour)).encode(), user="mia", timeout=60)
    return status


def renames(target, number):
    """Another name for the patient of many items with long notes."""
    return answer(target, "PUT", "/v1/circles/days/patients/p", json.dumps({"displayName": f"{random.random()}"}).encode(),
                  user="ann")


ATTACKS = [long_names, long_cookie, pipelined_tags, unknown_names, bad_lines, large_list, large_feed, long_feeds, large_preview,
           costly_rules, long_description, many_events, held_upload, chunked_spaces, many_feeds, odd_ids, guesses,
           wrong_events, own_events, planned_events, undone, reports, hostile_calendars, phone_days,
           unread_streams, many_streams, doubled_posts, held_keys, everybody_busy, feed_busy, many_to_dos,
           person_exports, app_days, large_days, renames]


def attack(target, attacks, numbers, until, statuses):
    """A few clients, each with its attack, in a process that leaves the processor to others."""
    os.nice(19)

    def go(number):
        mine, seen = attacks[number % len(attacks)], {}
        while time.monotonic() < until:
            try:
                status = mine(target, number)
            except (OSError, http.client.HTTPException):
                status = "cut"
            seen[status] = seen.get(status, 0) + 1
            if status in ("cut", 429, 503):
                time.sleep(0.2)
        statuses.put((mine.__name__, seen))

    threads = [threading.Thread(target=go, args=(number,)) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def read_and_write(target, until, results):
    """An ordinary reader that polls, whole and conditional, and a writer; gives the times of both and their failures."""
    times, writes, failures = [], [], []

    def poll():
        connection = http.client.HTTPConnection(HOST, target.port, timeout=30)
        for turn in itertools.count():
            if time.monotonic() > until:
                return
            before = time.monotonic()
            try:
                connection.request("GET", target.feed, headers={"If-None-Match": "*"} if turn % 5 else {})
                reply = connection.getresponse()
                reply.read()
                if reply.status not in (200, 304):
                    failures.append(f"reader: {reply.status}")
            except (OSError, http.client.HTTPException) as error:
                failures.append(f"reader: {error!r}")
                connection.close()
            times.append(time.monotonic() - before)
            time.sleep(0.02)

    def write():
        for turn in itertools.count():
            if time.monotonic() > until:
                return
            before = time.monotonic()
            body = json.dumps({"title": f"{turn}", "dueAt": f"{target.day}T10:00:00Z"}).encode()
            try:
                status = answer(target, "PUT", "/v1/circles/c/tasks/ours", body, timeout=30)
                if status not in (200, 201):
                    failures.append(f"writer: {status}")
            except (OSError, http.client.HTTPException) as error:
                failures.append(f"writer: {error!r}")
            writes.append(time.monotonic() - before)
            time.sleep(0.1)

    threads = [threading.Thread(target=poll), threading.Thread(target=write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put((times, writes, failures))


class Followed(http.server.BaseHTTPRequestHandler):
    """A calendar that is small on the way and large when unpacked."""

    packed = b""

    def do_GET(self):
        packed = self.packed
        if "fresh" in self.path:
            packed = gzip.compress(calendar([event(f"{random.random()}", "SUMMARY:x\r\n") for _ in range(5000)]), 1)
        self.send_response(200)
        self.send_header("Content-Type", "text/calendar")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(packed)))
        self.end_headers()
        self.wfile.write(packed)

    def log_message(self, *_):
        pass


def follow(target):
    """Lets the circle follow the hostile calendar."""
    text = calendar([event("u", "SUMMARY:x\r\n" + "X-FILL:" + "n" * 60 + "\r\n" * 1)]
                    + [event(f"f{i}", "SUMMARY:" + "n" * 500 + "\r\n") for i in range(100_000)])
    Followed.packed = gzip.compress(text[: 60 << 20])
    host = http.server.ThreadingHTTPServer((OUTSIDE, 80), Followed)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    target.subscription, target.fresh = (
        target.must("POST", "/v1/circles/other/subscriptions", {"url": f"http://{OUTSIDE}/{name}.ics"})["id"]
        for name in ("c", "fresh"))


def hang(target):
    """Has receivers of webhooks hear of every change, who take the connection and never say a word."""
    listener = socket.create_server((OUTSIDE, 443), backlog=1024)
    target.silent = []
    threading.Thread(target=lambda: [target.silent.append(listener.accept()) for _ in itertools.count()], daemon=True).start()
    for number in range(64):
        target.must("POST", "/v1/webhooks", {"url": f"https://{OUTSIDE}/{number}", "circles": [("c", "other")[number % 2]]})


def name_hosts(target, port):
    """Has viewers connect calendars at hosts that misbehave, and one of them a phone that carries daily series."""
    kinds = ("endless", "large", "small", "dripping")
    target.hostile = [(user, connect(target, target.key, user, "other", "viewer", HOSTS[8 + n], port))
                      for n, user in enumerate(f"{kind}{n}" for n in range(2) for kind in kinds)]
    target.must("PUT", "/v1/circles/series", {"name": "S", "timeZone": "Europe/Berlin"})
    target.must("PUT", "/v1/circles/series/members/vic", {"displayName": "vic", "role": "viewer"})
    target.must("PUT", "/v1/circles/series/patients/p", {"displayName": "Pat"})
    day = datetime.date.today() + datetime.timedelta(days=1)
    for number in range(5):
        target.must("PUT", f"/v1/circles/series/appointments/s{number}", {
            "patientId": "p", "provider": f"Dr. {number}", "startAt": f"{day}T09:00:00Z", "endAt": f"{day}T09:30:00Z",
            "recurrence": {"rrule": "FREQ=DAILY;COUNT=1000"}})
    kept = []

    def ask(method, path, value=None, headers=()):
        kept.clear()
        body = b"" if value is None else json.dumps(value).encode()
        status = answer(target, method, path, body, headers, key=not headers, user=None if headers else "vic", kept=kept)
        if status >= 300:
            raise SystemExit(f"{method} {path} was answered {status}: {b''.join(kept)[:300]}")
        return json.loads(b"".join(kept))

    ask("POST", "/v1/circles/series/connections", {"provider": "apple"})
    target.phone = f"Device {ask('POST', '/sync/devices/register', {'deviceId': 'phone'})['deviceToken']}"
    names = ("id", "title", "date", "startTime", "endTime", "timeZone", "allDay", "recurrence")
    events = ask("GET", "/sync/events/changes", headers={"Authorization": target.phone})["events"]
    target.series = [{name: event[name] for name in names} | {"externalId": f"x{number}"}
                     for number, event in enumerate(events)]
    ask("POST", "/sync/apple/events/upsert", {"events": target.series}, {"Authorization": target.phone})


def fill_days(target):
    """Makes a circle of daily series and of items with long notes, and the calendar app of one of its members."""
    target.first = datetime.date.today() + datetime.timedelta(days=1)
    target.must("PUT", "/v1/circles/days", {"name": "D", "timeZone": "UTC"})
    for user, role in (("ann", "owner"), ("mia", "member")):
        target.must("PUT", f"/v1/circles/days/members/{user}", {"displayName": user, "role": role})
    target.must("PUT", "/v1/circles/days/patients/p", {"displayName": "Pat"})
    for number in range(5):
        target.must("PUT", f"/v1/circles/days/appointments/s{number}", target.daily(number, 9))
    for number in range(100):
        target.must("PUT", f"/v1/circles/days/shifts/n{number}", {
            "patientId": "p", "startAt": f"{target.first}T09:00:00Z", "endAt": f"{target.first}T10:00:00Z",
            "notes": "n" * 60_000})
    target.days = path_of(call(target.port, "POST", "/v1/circles/days/feeds", target.key, '{"userId":"mia"}'))
    kept = []
    answer(target, "POST", "/v1/app-passwords", b'{"label":"x"}', user="mia", kept=kept)
    made = json.loads(b"".join(kept))
    target.app = "Basic " + base64.b64encode(f"mia:{made['password']}".encode()).decode()
    headers, kept = {"Authorization": target.app, "Depth": "1"}, []
    answer(target, "PROPFIND", "/dav/calendars/mia/days/", b"", headers, key=False, kept=kept)
    target.objects = []
    for address in re.findall(r">([^<>]+\.ics)<", b"".join(kept).decode()):
        text = []
        answer(target, "GET", address, headers={"Authorization": target.app}, key=False, kept=text)
        if "RRULE" in (text := b"".join(text).decode()):
            target.objects.append((address, text))
    if len(target.objects) != 5:
        raise SystemExit(f"The app sees {len(target.objects)} of 5 series.")


def percentile(times, part):
    return 1000 * sorted(times)[int(len(times) * part)] if times else float("nan")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--clients", type=int, default=100)
    options.add_argument("--seconds", type=int, default=60)
    options.add_argument("--only", help="the names of some attacks, with commas between")
    given = options.parse_args()
    network = own_network()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        if network:
            os.environ["KALENDS_ALLOW_HTTP_IMPORTS"] = "true"
        port, ready = free_port(), forked.Event()
        forked.Process(target=provide, args=(port, ready), daemon=True).start()
        ready.wait(30)
        os.environ["KALENDS_PRIVATE_CALDAV_HOSTS"] = ",".join(f"{host}:{port}" for host in HOSTS)
        target = Target(given.program, folder, [])
        try:
            name_hosts(target, port)
            fill_days(target)
            attacks = list(ATTACKS)
            if network:
                follow(target)
                hang(target)
                serve_names()
                attacks += [refreshes, fresh, silent_names]
            if given.only:
                attacks = [a for a in attacks if a.__name__ in given.only.split(",")]
            print(f"memory before: {memory(target.process.pid)} MiB, {target.peak} MiB at most", flush=True)
            until = time.monotonic() + given.seconds
            statuses, results = forked.Queue(), forked.Queue()
            ordinary = forked.Process(target=read_and_write, args=(target, until, results))
            ordinary.start()
            groups = [list(range(first, given.clients, 5)) for first in range(5)]
            clients = [forked.Process(target=attack, args=(target, attacks, group, until, statuses)) for group in groups]
            for process in clients:
                process.start()
            total = {}
            for _ in range(given.clients):
                name, seen = statuses.get(timeout=given.seconds + 120)
                for status, count in seen.items():
                    total.setdefault(name, {})
                    total[name][status] = total[name].get(status, 0) + count
            times, writes, failures = results.get(timeout=60)
            for process in [ordinary, *clients]:
                process.join()
            for name, seen in sorted(total.items()):
                words = ", ".join(f"{count} × {'sent' if status is None else status}" for status, count in seen.items())
                print(f"{name:>18}: {words}")
            peak = target.peak
            print(f"reader: {len(times)} polls, p50 {percentile(times, 0.5):.1f} ms, p99 {percentile(times, 0.99):.1f} ms, "
                  f"longest {1000 * max(times):.0f} ms")
            print(f"writer: {len(writes)} changes, p50 {percentile(writes, 0.5):.1f} ms, p99 {percentile(writes, 0.99):.1f} ms, "
                  f"longest {1000 * max(writes):.0f} ms")
            longest = longest_transaction(f"{folder}/k.sqlite")
            print(f"memory: {peak} MiB at most; longest write transaction {longest:.0f} ms")
            if percentile(times, 0.99) > 100:
                faults.append("the reader's 99th percentile is above 100 ms")
            if longest > 250:
                faults.append("a write transaction took more than 250 ms")
            if peak > 256:
                faults.append("the server took more than 256 MiB")
            if failures:
                faults.append(f"{len(failures)} ordinary requests failed: {sorted(set(failures))[:5]}")
            if any(500 in seen for seen in total.values()):
                faults.append("an attack was answered 500")
            if target.process.poll() is not None:
                faults.append(f"the server ended with {target.process.returncode}")
        finally:
            target.process.kill()
    for fault in faults:
        print("FAULT:", fault)
    print("kept." if not faults else "not kept.")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
