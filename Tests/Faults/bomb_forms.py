# SPDX-License-Identifier: Apache-2.0
"""Attackers of `bombs.py` that use what forms and pages take and show."""

import base64
import datetime
import json
import re
import socket
import time
import urllib.parse

from attackers import Attacker, make_series, must
from server import Violation


def sign_in(server, user):
    """The cookie of a session."""
    password = "a long enough password of " + user
    must(server, "PUT", f"/v1/users/{user}/password", {"password": password})
    status, headers, text = server.request(
        "POST", "/v1/sessions", json.dumps({"userId": user, "password": password}).encode(),
        {"Content-Type": "application/json"})
    if status != 201:
        raise Violation(f"a sign-in was answered {status}: {text[:200]}")
    fields = {name.lower(): value for name, value in headers.items()}
    return fields["set-cookie"].split(";")[0]


def leave_after(server, request, seconds):
    """Sends a request, and goes away without the answer."""
    with socket.create_connection((server.host, server.port)) as connection:
        connection.sendall(request)
        time.sleep(seconds)


class LongConflicts(Attacker):
    """A viewer's phone makes conflicts of series with long notes; then the viewer looks at their page, and the phone sends
    one event again and again. At last the connection is removed with all of them."""

    COUNT, NOTES = 200, '"' * 64_000

    def prepare(self, server):
        make_series(server, 20, self.COUNT, self.NOTES)
        self.cookie = sign_in(server, "vic")
        self.path = "/v1/connections/" + must(
            server, "POST", "/v1/circles/series/connections", {"provider": "apple"}, user="vic")["id"]
        device = must(server, "POST", "/sync/devices/register", {"deviceId": "phone"}, user="vic")["deviceToken"]
        self.token = f"Device {device}"
        events, since, more = [], 0, True
        while more:
            answer = must(server, "GET", f"/sync/events/changes?since={since}&limit=2000", token=self.token)
            events, since, more = events + answer["events"], answer["nextSince"], answer.get("hasMore")
        names = ("id", "title", "date", "startTime", "endTime", "timeZone", "allDay", "recurrence")
        sent = [
            {name: event[name] for name in names} | {"externalId": f"x{number}"} for number, event in enumerate(events)]
        self.send(server, sent)
        day = datetime.date.fromisoformat(sent[0]["date"]) + datetime.timedelta(days=2)
        self.send(server, [
            event | {"recurrence": event["recurrence"] | {"exdates": [f"{day}T09:00:00Z"]}} for event in sent])
        self.one = {name: value for name, value in sent[0].items() if name != "recurrence"}
        if must(server, "GET", self.path)["counts"]["conflicts"] != self.COUNT:
            raise Violation("not every series has a conflict")

    def send(self, server, events):
        must(server, "POST", "/sync/apple/events/upsert", {"events": events}, token=self.token)

    def strike(self, server, number):
        self.send(server, [self.one])
        status, _, text = server.request(
            "GET", "/app/circles/series/conflicts", headers={"Cookie": self.cookie}, timeout=600)
        return None if status == 200 and len(text) < 5_000_000 else f"{status} with {len(text)} bytes"

    def fault(self, server):
        must(server, "DELETE", self.path, user="vic")


class FarNumbers(Attacker):
    """A form leaves out more than a million events of an import that has two, and its sender goes away."""

    def prepare(self, server):
        server.make_circle("forms")
        self.cookie = sign_in(server, "ann")
        day = time.strftime("%Y%m%d")
        events = "".join(
            f"BEGIN:VEVENT\r\nUID:{name}@x\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:{day}T100000Z\r\nEND:VEVENT\r\n"
            for name in "ab")
        self.file = f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\n{events}END:VCALENDAR\r\n".encode()
        self.left = base64.urlsafe_b64encode(b"\xff" * 190_000).rstrip(b"=").decode()

    def strike(self, server, number):
        status, _, text = server.request(
            "POST", "/v1/circles/forms/imports?mode=preview", self.file,
            {"Authorization": f"Bearer {server.key}", "Kalends-User": "ann", "Content-Type": "text/calendar"})
        if status != 201:
            return f"{status}: {text[:200]}"
        path = f"/app/circles/forms/import/{json.loads(text)['id']}"
        page = server.request("GET", path, headers={"Cookie": self.cookie})[2].decode()
        token = re.search(r'name="token" value="([^"]+)"', page)[1]
        body = urllib.parse.urlencode({"token": token, "left": self.left, "first": 0, "count": 0}).encode()
        for step in ("page", "commit"):
            leave_after(
                server,
                f"POST {path}/{step} HTTP/1.1\r\nHost: x\r\nCookie: {self.cookie}\r\nSec-Fetch-Site: same-origin\r\n"
                "Content-Type: application/x-www-form-urlencoded\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode() + body, 0.3)
        return None


class DrippingForms(Attacker):
    """The header of a form's part arrives one byte at a time; the processor does not have more work with each of them."""

    def prepare(self, server):
        server.make_circle("forms")
        part = b"--b\r\n" + b"\r" * 16_000 + b"\r\n\r\n\r\n"
        self.body = b"".join(b"1\r\n%c\r\n" % byte for byte in part * 6) + b"0\r\n\r\n"
        self.most = 0

    def processor(self, server):
        """Seconds since the server's start."""
        with open(f"/proc/{server.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def strike(self, server, number):
        before = self.processor(server)
        with socket.create_connection((server.host, server.port), timeout=120) as connection:
            connection.sendall(
                f"POST /v1/circles/forms/imports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.key}\r\n"
                "Kalends-User: ann\r\nTransfer-Encoding: chunked\r\n"
                "Content-Type: multipart/form-data; boundary=b\r\n\r\n".encode() + self.body)
            status = connection.recv(12)
        seconds = self.processor(server) - before
        return None if b"400" in status and seconds < 2 else f"{status} after {seconds:.1f} s of a processor"
