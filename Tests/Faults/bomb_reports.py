# SPDX-License-Identifier: Apache-2.0
"""Attackers of `bombs.py` that ask much of the CalDAV door with the app password of a calendar of their own."""

import base64
import threading

from attackers import Attacker, must
from server import Violation

NAMESPACES = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"'


class CalendarApp(Attacker):
    """Strikes from several connections at once; `body` and `method` are what each sends."""

    method, at_once = "REPORT", 6
    expected = (207,)

    def prepare(self, server):
        server.make_circle("reports")
        made = must(server, "POST", "/v1/app-passwords", {"label": "app"}, user="ann")
        text = base64.b64encode(f"{made['username']}:{made['password']}".encode()).decode()
        self.headers = {"Authorization": f"Basic {text}"}
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
