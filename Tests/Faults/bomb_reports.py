# SPDX-License-Identifier: Apache-2.0
"""Attackers of `bombs.py` that ask much of the CalDAV door with the app password of a calendar of their own."""

import base64
import multiprocessing
import socket
import threading
import time

from attackers import Attacker, must
from server import Violation

NAMESPACES = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"'


class CalendarApp(Attacker):
    """Strikes from several connections at once; `body` and `method` are what each sends."""

    method, at_once = "REPORT", 6
    expected = (207,)

    def sign_in(self, server, user):
        made = must(server, "POST", "/v1/app-passwords", {"label": "app"}, user=user)
        text = base64.b64encode(f"{made['username']}:{made['password']}".encode()).decode()
        return {"Authorization": f"Basic {text}"}

    def prepare(self, server):
        server.make_circle("reports")
        self.headers = self.sign_in(server, "ann")
        self.calendar = "/dav/calendars/ann/own~bombs/"
        self.send(server, "MKCALENDAR", self.calendar, None, (201,))
        self.fill(server)

    def fill(self, server):
        pass

    def send(self, server, method, path, body, expected):
        kind = "text/calendar" if method == "PUT" else "application/xml"
        status, _, text = server.request(
            method, path, None if body is None else body.encode(), self.headers | {"Content-Type": kind}, timeout=600)
        # Whoever finds no room is asked to come again.
        if status not in (*expected, 503):
            raise Violation(f"{method} of the door was answered {status}: {text[:300]}")
        return status

    def put_large(self, server, count, bytes_of_one):
        for number in range(count):
            lines = "".join(f"X-A{line}:{'y' * 3900}\r\n" for line in range(bytes_of_one // 3910))
            self.send(server, "PUT", f"{self.calendar}{number}.ics", (
                "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bombs//EN\r\nBEGIN:VEVENT\r\n"
                f"UID:{number}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20260101T100000Z\r\nSUMMARY:{number}\r\n{lines}"
                "END:VEVENT\r\nEND:VCALENDAR\r\n"), (201,))

    def strike(self, server, number):
        statuses, faults = [], []

        def one():
            try:
                statuses.append(self.send(server, self.method, self.calendar, self.body, self.expected))
            except (OSError, Violation) as fault:
                faults.append(fault)

        threads = [threading.Thread(target=one) for _ in range(self.at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if faults:
            raise faults[0]
        return None if any(status != 503 for status in statuses) else "all were answered 503"


class LargeReports(CalendarApp):
    """Asks for fifty texts of almost a MiB each."""

    def fill(self, server):
        self.put_large(server, 50, 990_000)
        hrefs = "".join(f"<d:href>{self.calendar}{number}.ics</d:href>" for number in range(50))
        self.body = (
            f"<c:calendar-multiget {NAMESPACES}><d:prop><c:calendar-data/></d:prop>{hrefs}</c:calendar-multiget>")


class CostlyFilters(CalendarApp):
    """Compares every text with as many conditions as a filter may have."""

    def fill(self, server):
        self.put_large(server, 50, 990_000)
        condition = (
            '<c:prop-filter name="X-A1"><c:text-match negate-condition="yes" collation="i;unicode-casemap">zzz'
            "</c:text-match></c:prop-filter>")
        self.body = (
            f"<c:calendar-query {NAMESPACES}><d:prop><d:getetag/></d:prop><c:filter><c:comp-filter name=\"VCALENDAR\">"
            f"<c:comp-filter name=\"VEVENT\">{condition * 198}</c:comp-filter></c:comp-filter></c:filter>"
            "</c:calendar-query>")


class ExpandedLinks(CalendarApp):
    """A property names its own calendar many times, and another one is large."""

    expected = (400,)

    def fill(self, server):
        links = f"<d:href>{self.calendar}</d:href>" * 190
        self.send(server, "PROPPATCH", self.calendar, (
            f'<d:propertyupdate {NAMESPACES} xmlns:q="q"><d:set><d:prop><q:links>{links}</q:links>'
            f"<q:large>{'x' * 45_000}</q:large></d:prop></d:set></d:propertyupdate>"), (207,))
        asked = '<d:property name="large" namespace="q"/>' * 250
        self.body = (
            f'<d:expand-property {NAMESPACES}><d:property name="links" namespace="q">{asked}</d:property>'
            "</d:expand-property>")


class RepeatedProperties(CalendarApp):
    """Sets one property tens of thousands of times, within an element that states a long language."""

    method = "PROPPATCH"
    expected = (207, 400, 507)

    def fill(self, server):
        self.body = (
            f'<d:propertyupdate {NAMESPACES} xml:lang="{"y" * 200_000}"><d:set><d:prop>{"<a/>" * 45_000}</d:prop>'
            "</d:set></d:propertyupdate>")


class Crowd(CalendarApp):
    """Asks from twenty connections at once, while another person's app asks for a little, again and again, and must not
    wait for longer than `longest` seconds."""

    at_once, longest = 20, 3

    def prepare(self, server):
        self.worst = multiprocessing.get_context("fork").RawValue("d", 0)
        super().prepare(server)
        server.must("PUT", "/v1/circles/reports/members/zoe", {"displayName": "Zoe", "role": "viewer"})
        self.other = self.sign_in(server, "zoe")
        mine, self.headers = self.headers, self.other
        self.send(server, "MKCALENDAR", "/dav/calendars/zoe/own~small/", None, (201,))
        self.headers = mine

    def ask_a_little(self, server, until):
        body = (
            f"<c:calendar-query {NAMESPACES}><d:prop><d:getetag/></d:prop><c:filter><c:comp-filter name=\"VCALENDAR\">"
            "<c:comp-filter name=\"VEVENT\"/></c:comp-filter></c:filter></c:calendar-query>").encode()
        while not until.is_set():
            began = time.monotonic()
            status, _, text = server.request(
                "REPORT", "/dav/calendars/zoe/own~small/", body,
                self.other | {"Content-Type": "application/xml", "Depth": "1"}, timeout=600)
            if status != 207:
                raise Violation(f"another person's report was answered {status}: {text[:300]}")
            self.worst.value = max(self.worst.value, time.monotonic() - began)
            time.sleep(0.1)

    def strike(self, server, number):
        done, faults = threading.Event(), []

        def ask():
            try:
                self.ask_a_little(server, done)
            except (OSError, Violation) as fault:
                faults.append(fault)

        thread = threading.Thread(target=ask)
        thread.start()
        try:
            reason = self.blow(server)
        finally:
            done.set()
            thread.join()
        if faults:
            raise faults[0]
        return reason

    def blow(self, server):
        return super().strike(server, 0)

    def fault(self, server):
        worst = self.worst.value
        return f"another person's report took {worst:.1f} s" if worst > self.longest else None


class ManyReports(Crowd):
    """Each compares one long text with as many conditions as a filter may have, and finds nothing."""

    fill = CostlyFilters.fill


class WrittenZones(Crowd):
    """Thousands of lines name a zone that is written with a thousand changes, and each is to be in UTC."""

    def fill(self, server):
        changes = "".join(
            f"BEGIN:STANDARD\r\nDTSTART:{year}0101T000000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0100\r\nEND:STANDARD\r\n"
            for year in range(1000, 2000))
        lines = "X-A;TZID=Own:20260103T120000\r\n" * 15_000
        self.send(server, "PUT", f"{self.calendar}zones.ics", (
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bombs//EN\r\nBEGIN:VTIMEZONE\r\nTZID:Own\r\n"
            f"{changes}END:VTIMEZONE\r\nBEGIN:VEVENT\r\nUID:zones\r\nDTSTAMP:20260101T000000Z\r\n"
            f"DTSTART;TZID=Own:20260103T120000\r\n{lines}END:VEVENT\r\nEND:VCALENDAR\r\n"), (201,))
        self.body = (
            f"<c:calendar-query {NAMESPACES}><d:prop><c:calendar-data><c:expand start=\"20260101T000000Z\""
            " end=\"20260201T000000Z\"/></c:calendar-data></d:prop><c:filter><c:comp-filter name=\"VCALENDAR\">"
            "<c:comp-filter name=\"VEVENT\"/></c:comp-filter></c:filter></c:calendar-query>")


class ManyAlarms(Crowd):
    """Each of thousands of alarms of a rare event is looked for in dozens of spans."""

    def fill(self, server):
        alarms = "".join(
            f"BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:x\r\nTRIGGER:-PT{number}M\r\nEND:VALARM\r\n"
            for number in range(1, 9_000))
        self.send(server, "PUT", f"{self.calendar}alarms.ics", (
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bombs//EN\r\nBEGIN:VEVENT\r\nUID:alarms\r\n"
            "DTSTAMP:20260101T000000Z\r\nDTSTART:20240229T100000Z\r\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29\r\n"
            f"{alarms}END:VEVENT\r\nEND:VCALENDAR\r\n"), (201,))
        spans = "".join(
            f'<c:comp-filter name="VALARM"><c:time-range start="20250101T00{minute}00Z" end="20260301T00{minute}00Z"/>'
            "</c:comp-filter>" for minute in range(10, 60))
        self.body = (
            f"<c:calendar-query {NAMESPACES}><d:prop><d:getetag/></d:prop><c:filter><c:comp-filter name=\"VCALENDAR\">"
            f"<c:comp-filter name=\"VEVENT\">{spans}</c:comp-filter></c:comp-filter></c:filter></c:calendar-query>")


class IdleReaders(Crowd):
    """Asks for fifty large texts, reads nothing of them, and goes."""

    fill = LargeReports.fill

    def blow(self, server):
        head = (
            f"REPORT {self.calendar} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {self.headers['Authorization']}\r\n"
            f"Content-Type: application/xml\r\nContent-Length: {len(self.body)}\r\n\r\n")
        sockets = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(self.at_once)]
        for one in sockets:
            one.sendall((head + self.body).encode())
        time.sleep(3)
        for one in sockets:
            one.close()
