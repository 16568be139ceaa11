# SPDX-License-Identifier: Apache-2.0
"""Accounts of `bench-door.py` that ask as Apple's calendar programs do, and how many of them one core answers.

Every account asks for the 39 properties of its home's collections every 15 minutes, over a connection of its own. Of 100
such polls, five come after a change: a member of the circle writes an appointment, and the account that asks finds another
token, asks what changed, and reads it.
"""

import datetime
import json
import random
import statistics
import threading
import time

import door_servers as servers

EVERY, CHANGED, MEMBERS, ITEMS, CONNECTIONS = 900, 0.05, 5, 20, 4
APPLE, CALENDAR_SERVER = "http://apple.com/ns/ical/", "http://calendarserver.org/ns/"
# The properties of Apple's poll of a home (OS X 10.11), by namespace.
ASKED = {
    "DAV:": "add-member current-user-privilege-set displayname owner quota-available-bytes quota-used-bytes resource-id "
            "resourcetype supported-report-set sync-token",
    "urn:ietf:params:xml:ns:caldav":
        "calendar-alarm calendar-description calendar-free-busy-set calendar-timezone default-alarm-vevent-date "
        "default-alarm-vevent-datetime schedule-calendar-transp schedule-default-calendar-URL "
        "supported-calendar-component-set supported-calendar-component-sets managed-attachments-server-URL",
    CALENDAR_SERVER: "allowed-sharing-modes getctag invite pre-publish-url publish-url push-transports pushkey source "
                     "subscribed-strip-alarms subscribed-strip-attachments subscribed-strip-todos",
    APPLE: "autoprovisioned calendar-color calendar-order language-code location-code refreshrate",
    "http://me.com/_namespace/": "bulk-requests",
}
HOME = ("<A:propfind xmlns:A='DAV:'><A:prop>" + "".join(
    f"<B:{name} xmlns:B='{space}'/>" for space, names in ASKED.items() for name in names.split())
    + "</A:prop></A:propfind>").encode()
SYNC = ("<A:sync-collection xmlns:A='DAV:'><A:sync-token>{token}</A:sync-token><A:sync-level>1</A:sync-level><A:prop>"
        "<A:getcontenttype/><A:getetag/></A:prop></A:sync-collection>")
MULTIGET = ("<B:calendar-multiget xmlns:A='DAV:' xmlns:B='urn:ietf:params:xml:ns:caldav'><A:prop><B:calendar-data/>"
            "<A:getetag/></A:prop>{hrefs}</B:calendar-multiget>")


def make(port, key, count, seconds):
    """Makes accounts in circles of five for so long; returns each circle's names and passwords."""
    circles, end = [], time.monotonic() + seconds
    day = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    lines = "".join(json.dumps({"op": "put", "collection": "appointments", "id": f"a{number}", "value": {
        "patientId": "oma", "provider": f"Dr. {number}", "startAt": f"{day + datetime.timedelta(days=number):%Y-%m-%dT%H:00:00Z}",
        "durationMinutes": 30}}) + "\n" for number in range(ITEMS))

    def worker():
        connection = servers.Connection(port)
        connection.fields = f"Host: {servers.HOST}:{port}\r\nAuthorization: Bearer {key}\r\n"

        def send(method, path, value, kind="application/json"):
            body = value if isinstance(value, str) else json.dumps(value)
            return connection.send(method, path, body.encode(), kind=kind)

        def act(number):
            if time.monotonic() > end:
                return
            path = f"/v1/circles/c{number}"
            send("PUT", path, {"name": "Rossi family", "timeZone": "Europe/Rome"}).must(200, 201)
            send("PUT", f"{path}/patients/oma", {"displayName": "Oma"}).must(200, 201)
            names = [f"u{number}-{member}" for member in range(MEMBERS)]
            for name in names:
                send("PUT", f"{path}/members/{name}", {"displayName": name, "role": "owner"}).must(200, 201)
            send("POST", f"{path}/batch", lines, "application/x-ndjson").must(200)
            made = [send("POST", "/v1/app-passwords", {"userId": name, "label": "Mac"}).must(201).body for name in names]
            circles.append((f"c{number}", [(name, json.loads(body)["password"]) for name, body in zip(names, made)]))

        return act

    servers.each(range(count // MEMBERS), worker, 8)
    return circles


class Polls:
    """What accounts ask, and how long each poll took, in seconds."""

    def __init__(self, port, circles):
        self.port, self.circles, self.times, self.requests = port, circles, [], 0
        self.locks = [threading.Lock() for _ in circles]

    def home(self, connection, user):
        self.requests += 1
        return connection.send("PROPFIND", f"/dav/calendars/{user}/", HOME, Depth="1", Brief="t").must(207)

    def poll(self, dice):
        index = dice.randrange(len(self.circles))
        circle, members = self.circles[index]
        user, password = dice.choice(members)
        begun = time.perf_counter()
        connection = servers.Connection(self.port, user, password)
        self.home(connection, user)
        connection.close()
        self.times.append(time.perf_counter() - begun)
        if dice.random() < CHANGED:
            with self.locks[index]:
                self.change(circle, user, password, dice)

    def change(self, circle, user, password, dice):
        """A write, and what a program asks that finds another token afterwards."""
        connection = servers.Connection(self.port, user, password)
        path = f"/dav/calendars/{user}/{circle}/"
        answer = connection.send("PROPFIND", path, HOME, Depth="0").must(207)
        token, name = answer.token(), f"{path}a{dice.randrange(ITEMS)}.ics"
        text = connection.send("GET", name).must(200).body
        place = text.index(b"DTSTART")
        start = text.index(b"T", text.index(b":", place)) + 3
        text = text[:start] + f"{dice.randrange(60):02}".encode() + text[start + 2:]
        connection.send("PUT", name, text).must(200, 201, 204)
        changed = connection.send("REPORT", path, SYNC.format(token=token).encode(), Depth="1").must(207)
        hrefs = "".join(f"<A:href>{href}</A:href>" for href in changed.hrefs() if href.endswith(".ics"))
        connection.send("REPORT", path, MULTIGET.format(hrefs=hrefs or f"<A:href>{name}</A:href>").encode(), Depth="1").must(207)
        self.requests += 5
        connection.close()


def run(options, process, port, key):
    begun = time.monotonic()
    circles = make(port, key, options.accounts, options.setup)
    accounts = len(circles) * MEMBERS
    print(f"accounts: {accounts} in {len(circles)} circles of {ITEMS}, made in {time.monotonic() - begun:.0f} s", flush=True)

    def worker(polls, seconds, rate=None):
        """Polls without a pause, or at so many a second over all connections."""
        end = time.monotonic() + seconds

        def work(number):
            dice, due = random.Random(number), time.monotonic()
            while (now := time.monotonic()) < end:
                if rate:
                    due += dice.expovariate(rate / CONNECTIONS)
                    time.sleep(max(0, due - now))
                polls.poll(dice)

        servers.each(range(CONNECTIONS), lambda: work, count=CONNECTIONS)

    # Without a pause: what a poll costs, with its share of changes.
    worker(Polls(port, circles), max(1, options.seconds))
    polls, before, begun = Polls(port, circles), servers.processor(process.pid), time.monotonic()
    worker(polls, 8 * options.seconds)
    used, took, count = servers.processor(process.pid) - before, time.monotonic() - begun, len(polls.times)
    cost = used / count
    print(f"accounts, without a pause: {count / took:.0f} polls a second, {polls.requests / count:.2f} requests and "
          f"{cost * 1000:.3f} ms of processor time each")
    share = options.accounts / EVERY * cost
    print(f"accounts of one core: {EVERY / cost:.0f}; {options.accounts} take {share * 100:.1f} % of it")
    # At the pace of all accounts.
    polls, rate, before = Polls(port, circles), options.accounts / EVERY, servers.processor(process.pid)
    begun = time.monotonic()
    worker(polls, 8 * options.seconds, rate)
    used, took, times = servers.processor(process.pid) - before, time.monotonic() - begun, sorted(polls.times)
    print(f"accounts at their pace: {len(times) / took:.0f} polls a second, p50 {statistics.median(times) * 1000:.2f} ms, "
          f"p99 {times[len(times) * 99 // 100] * 1000:.2f} ms, {used / took * 100:.1f} % of one core")
