# SPDX-License-Identifier: Apache-2.0
"""Grows every text that a stranger can send, over every route of the OpenAPI document: twice as much may take at most
2.2 times as long.

    KALENDS=.build/debug/kalends python3 -B Tests/API/growth.py [--short] [--only WORD]

Routes, parameters and fields are taken from the document, so that a new one is tried without a word here. Each text is
sent in shapes that have been slow somewhere: runs of combining marks, long numbers, brackets, separators, escapes. A
text is grown until it is as long as the server takes, or takes long; only what takes long is measured against its half.
"""

import argparse
import asyncio
import html
import http.client
import itertools
import json
import re
import sys
import tempfile
import threading
import time
from urllib.parse import quote, urlencode
from urllib.request import urlopen

from seeded import Violation, seeded

from connections import HOSTS, Provider, multistatus  # noqa: E402
from ports import free_port  # noqa: E402

RATIO = 2.2
# Seconds below which a request is no stall, however it grows up to the largest that is taken.
SMALL = 0.15
# A text is not grown further once it takes so long.
PATIENCE = 20.0

MARKS = "\u0301\u0316"


def repeated(unit):
    return lambda size: unit * max(1, size // len(unit.encode()))


# Texts of about so many bytes in UTF-8.
SHAPES = {
    "letters": repeated("a"),
    "marks in blocks": lambda size: "a" + MARKS[0] * (size // 4) + MARKS[1] * (size // 4),
    "marks in turn": lambda size: "a" + MARKS * (size // 4),
    "marks that decompose": lambda size: "a" + "\u0f73" * (size // 3),
    "marks of each word": repeated("a" + MARKS * 14 + " "),
    "marks around what is hidden": repeated(MARKS * 14 + "\u2062"),
    "digits": repeated("1"),
    "zeros after a point": lambda size: "0." + "0" * size + "1",
    "brackets": repeated("["),
    "braces and parentheses": repeated("({"),
    "commas": repeated(","),
    "semicolons": repeated("a=;"),
    "quotes": repeated('"'),
    "spaces": repeated(" "),
    "percent escapes": repeated("%41"),
    "backslashes": repeated("\\"),
    "families": repeated("👩\u200d"),
    "flags": repeated("🇦"),
    "syllables": repeated("\u1100"),
    "slashes": repeated("/"),
    "dots and colons": repeated(".:"),
    "tags": repeated("<a &"),
}

# Documents in place of a field's value, as they stand in JSON.
DOCUMENTS = {
    "a number": lambda size: "1" * size,
    "a fraction": lambda size: "0." + "0" * size + "1",
    "an exponent": lambda size: "1e" + "9" * size,
    "numbers": lambda size: "[" + "1," * (size // 2) + "1]",
    "names": lambda size: "{" + ",".join(f'"{name}":0' for name in range(size // 8)) + "}",
    "nesting": lambda size: "[" * size,
    "texts": lambda size: "[" + '"\u0301\u0316",' * (size // 7) + "1]",
    "escapes": lambda size: '"' + "\\u0301\\u0316" * (size // 12) + '"',
}

# Bodies that nobody gets to send here, and why.
UNREACHED = {
    "POST /v1/conflicts/{id}/resolve": "there is no conflict",
}

HEADERS = [
    "Cookie", "Authorization", "If-None-Match", "If-Match", "If-Modified-Since", "Accept", "Accept-Encoding",
    "X-Forwarded-For", "Content-Type", "User-Agent", "Prefer", "Origin", "Kalends-User", "Host", "X-Unknown",
]
# What makes a header's value be looked into.
BEGINNINGS = {"Cookie": "kalends_session=", "Authorization": "Bearer ", "If-None-Match": '"', "Accept": "text/"}

EVENT = """BEGIN:VCALENDAR\r
VERSION:2.0\r
PRODID:-//Somebody//Something//EN\r
%(calendar)sBEGIN:VEVENT\r
UID:%(uid)s\r
DTSTAMP:20260101T000000Z\r
DTSTART:20260302T093000Z\r
SUMMARY:%(summary)s\r
%(event)sEND:VEVENT\r
END:VCALENDAR\r
"""
# Where a file may hold a text; `{}` is the text.
PLACES = {
    "calendar": ["X-WR-CALNAME:{}\r\n", "X-WR-TIMEZONE:{}\r\n", "PRODID:{}\r\n", "{}:x\r\n", "BEGIN:{}\r\nEND:X\r\n"],
    "event": [
        "DESCRIPTION:{}\r\n", "LOCATION:{}\r\n", "CATEGORIES:{}\r\n", "URL:{}\r\n", "X-OTHER:{}\r\n", "RRULE:{}\r\n",
        "X-OTHER;X-PARAMETER={}:x\r\n", "DESCRIPTION;LANGUAGE=\"{}\":x\r\n", "EXDATE;TZID={}:20260302T093000\r\n",
        "{}:x\r\n", "STATUS:{}\r\n", "CLASS:{}\r\n", "GEO:{}\r\n", "ATTENDEE;CN={}:mailto:a@example.org\r\n",
        "COMMENT;ENCODING=QUOTED-PRINTABLE:{}\r\n", "BEGIN:VALARM\r\nACTION:{}\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n",
        "DURATION:{}\r\n", "SEQUENCE:{}\r\n",
    ],
    "uid": ["{}"],
    "summary": ["{}"],
}


class Line:
    """One connection that is kept, as a reader keeps it; texts go over it as they are."""

    def __init__(self, port):
        self.port, self.connection = port, None

    def send(self, method, target, body=None, headers=()):
        """Seconds until the whole answer is there, and its status."""
        for fresh in (self.connection is None, True):
            if fresh:
                self.close()
                self.connection = Connection("127.0.0.1", self.port, timeout=120)
                self.connection.connect()
            began = time.perf_counter()
            try:
                self.connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
                names = {name.lower() for name, _ in headers}
                if "host" not in names:
                    self.connection.putheader("Host", "127.0.0.1")
                for name, value in headers:
                    self.connection.putheader(name, value.encode() if isinstance(value, str) else value)
                if body is not None:
                    self.connection.putheader("Content-Length", str(len(body)))
                self.connection.endheaders(body)
                answer = self.connection.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException):
                if not fresh:
                    continue
                # Closed at once is an answer too: what counts is how long it took.
                self.close()
                return time.perf_counter() - began, 0, b""
            return time.perf_counter() - began, answer.status, text
        return 0.0, 0, b""

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


class Elsewhere(Provider):
    """A calendar server that viewers name, whose answers have a text in one place."""

    # Where the text is, and whether a preview leads there or the list of calendars.
    PLACES = {
        "a calendar's name": "calendars", "an object's address": "preview", "an etag": "preview", "a token": "preview",
        "an unknown element": "preview", "an element's name": "preview", "an attribute": "preview",
        "a header field": "preview", "an object": "preview", "a title": "preview", "a rule": "preview", "a parameter": "preview",
    }
    USERS = 10

    def __init__(self):
        super().__init__(type("Never", (), {"value": 0}))
        self.place, self.text, self.number = None, "", 0
        self.port, ready = free_port(), threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(self.port, ready)), daemon=True).start()
        ready.wait(10)
        self.environment = {"KALENDS_PRIVATE_CALDAV_HOSTS": ",".join(f"{host}:{self.port}" for host in HOSTS)}

    def connect(self, server):
        """A connection of each of some viewers, so that nobody asks too often."""
        self.connections = []
        for number in range(self.USERS):
            user, base = f"viewer{number}", f"http://{HOSTS[number]}:{self.port}/"
            server.must("PUT", f"/v1/circles/care/members/{user}", {"displayName": user, "role": "viewer"})
            made = server.must("POST", "/v1/circles/care/connections", {"provider": "caldav", "userId": user})["id"]
            account = {"url": base, "username": user, "password": "secret"}
            server.must("PUT", f"/v1/connections/{made}/account", account)
            server.must("PUT", f"/v1/connections/{made}/calendar", {"calendarId": f"{base}{user}/cal/"})
            self.connections.append(made)

    def answer(self, method, path, fields, body):
        status, headers, text = self.plain(method, path, fields, body)
        if self.place == "a header field":
            headers = [*headers, ("ETag", f'"{self.text}"'), ("X-Other", self.text)]
        return status, headers, text

    def plain(self, method, path, fields, body):
        def at(place, otherwise):
            return html.escape(self.text) if self.place == place else otherwise

        home = "/" + path.split("/")[1] + "/cal/"
        if method == "PROPFIND" and "displayname" in body and self.place == "a calendar's name":
            kind = "<D:resourcetype><D:collection/><C:calendar/></D:resourcetype>"
            return multistatus([(home, f"{kind}<D:displayname>{html.escape(self.text)}</D:displayname>")])
        if method != "REPORT" or not self.place:
            return super().answer(method, path, fields, body)
        self.number += 1
        etag = at("an etag", f'"{self.number}"')
        more = f"<D:x>{at('an unknown element', 'x')}</D:x>"
        if self.place == "an element's name":
            more = f"<{self.text}>x</{self.text}>"
        if self.place == "an attribute":
            more = f'<D:x a="{html.escape(self.text)}"/>'
        if "sync-collection" in body:
            name = quote(self.text, safe="")[:60_000] if self.place == "an object's address" else "one.ics"
            rows = [(home + name, f"<D:getetag>{etag}</D:getetag>{more}")]
            return multistatus(rows, f"<D:sync-token>{at('a token', 'http://x/1')}</D:sync-token>")
        line = self.text.replace("\r", "").replace("\n", "")
        parts = {"calendar": "", "event": "", "uid": "there@example.org", "summary": "s"}
        if self.place == "a title":
            parts["summary"] = line
        if self.place in ("a rule", "a parameter"):
            parts["event"] = (f"RRULE:{line}\r\n" if self.place == "a rule" else f"X-OTHER;X-PARAMETER={line}:x\r\n")
        data = self.text if self.place == "an object" else EVENT % parts
        rows = [(href, f"<D:getetag>{etag}</D:getetag><C:calendar-data>{html.escape(data)}</C:calendar-data>")
                for href in re.findall(r"href>([^<]*)<", body)]
        return multistatus(rows)


class Connection(http.client.HTTPConnection):
    def _encode_request(self, request):
        return request.encode()

    def _validate_path(self, url):
        pass


class Growth:
    def __init__(self, server, things, elsewhere, options):
        self.server, self.things, self.elsewhere, self.options = server, things, elsewhere, options
        self.line = Line(server.port)
        self.own = self.made()
        self.document = json.loads(server.request("GET", "/openapi.json")[2])
        self.tried, self.requests, self.faults = 0, 0, []
        self.slowest = (0.0, "")

    def made(self):
        """Ids of what a path leads to, by the part of the path before the id; and credentials of each kind."""
        must, user = self.server.must, {"userId": "jane"}
        must("PUT", "/v1/circles/care/appointments/a1/occurrences/20260122T180000Z", {"status": "cancelled"})
        must("PUT", "/v1/users/jane/password", {"password": "correct horse battery"})
        must("PUT", "/v1/users/jane/events/a1", {"title": "T", "date": "2026-03-02"})
        session = must("POST", "/v1/sessions", user | {"password": "correct horse battery"})["token"]
        key = [("Authorization", f"Bearer {self.server.key}")]
        named = [*key, ("Kalends-User", "jane")]
        answer = self.line.send("POST", "/sync/devices/register", b'{"deviceId": "growth"}', [
            *named, ("Content-Type", "application/json")])
        device = json.loads(answer[2])
        calendar = EVENT % {"calendar": "", "event": "", "uid": "seed@example.org", "summary": "s"}
        answer = self.line.send("POST", "/v1/circles/care/imports?mode=preview", calendar.encode(), [
            *key, ("Content-Type", "text/calendar")])
        self.credentials = {
            "Kalends-User": named, "a registered device": [("Authorization", f"Device {device['deviceToken']}")],
            "a signed-in user's session": [("Authorization", f"Bearer {session}")], "": key,
        }
        # A webhook of a circle that nothing happens in, and a calendar that nobody fetches.
        followed = must("POST", "/v1/circles/care/subscriptions", {"url": "https://calendar.example/c.ics"})["id"]
        must("PATCH", f"/v1/circles/care/subscriptions/{followed}", {"state": "paused"})
        return {
            "start": "20260122T180000Z", "date": "2026-03-02", "subscription": followed,
            "app-passwords": must("POST", "/v1/app-passwords", user | {"label": "growth"})["id"],
            "imports": json.loads(answer[2])["id"], "devices": device["device"]["id"],
            "webhooks": must("POST", "/v1/webhooks", {"url": "http://127.0.0.1:9/", "circles": ["none"]})["id"],
            "connections": must("POST", "/v1/circles/care/connections", user | {"provider": "caldav"})["id"],
        }

    def credential(self, operation):
        """What opens an operation, by the words with which the document says for whom it is."""
        if not operation.get("security"):
            return []
        return next(fields for words, fields in self.credentials.items() if words in operation["x-access"])

    # What is sent

    def targets(self):
        """Every place for a text: a name, the largest size, the shapes that fit, and what sends a text there."""
        feed = self.server.must("POST", "/v1/circles/care/feeds", {"userId": "jane", "label": "growth"})
        self.feed = "/feeds/" + feed["url"].split("/feeds/")[1]
        self.line.send("GET", self.feed)
        yield from self.heads()
        yield from self.kept()
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                if method != "parameters":
                    yield from self.operation(path, method.upper(), operation)
        yield from self.files()
        yield from self.forms()
        yield from self.calendars()
        yield from self.pages()

    def calendars(self):
        """What the calendar server that somebody names answers."""
        known = [("Authorization", f"Bearer {self.server.key}")]
        turns = itertools.count()
        for place, what in Elsewhere.PLACES.items():
            def send(text, place=place, what=what):
                self.elsewhere.place, self.elsewhere.text = place, text
                path = f"/v1/connections/{self.elsewhere.connections[next(turns) % Elsewhere.USERS]}"
                if what == "calendars":
                    return self.line.send("GET", f"{path}/calendars", None, known)
                return self.line.send("POST", f"{path}/sync?mode=preview", b"", known)
            # Longer heads are refused as a whole.
            largest = 30_000 if place == "a header field" else 900_000
            yield f"an answer of a calendar server: {place}", largest, SHAPES, send

    def pages(self):
        """The form that anybody may send."""
        with urlopen(f"http://127.0.0.1:{self.server.port}/app/sign-in") as answer:
            cookies = "; ".join(one.partition(";")[0] for one in answer.headers.get_all("Set-Cookie", []))
            token = re.search(r'name="token" value="([^"]+)"', answer.read().decode())[1]
        # Without a password nothing is hashed, and nobody has to wait for the next try.
        fields = {"token": token, "user": "nobody", "password": "", "to": "/app"}
        headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Cookie", cookies),
                   ("Sec-Fetch-Site", "same-origin")]
        if self.line.send("POST", "/app/sign-in", urlencode(fields).encode(), headers)[1] != 422:
            self.faults.append("POST /app/sign-in: nothing of its form is tried")
        for field in [*fields, "unknown"]:
            def send(text, field=field):
                return self.line.send("POST", "/app/sign-in", urlencode(fields | {field: text}).encode(), headers)
            yield f"POST /app/sign-in: {field}", 40_000, SHAPES, send
        yield "POST /app/sign-in: a name", 40_000, SHAPES, lambda text: self.line.send(
            "POST", "/app/sign-in", urlencode(fields | {text: "x"}).encode(), headers)

    def heads(self):
        reads = [("GET", self.feed, False), ("GET", "/healthz", False), ("GET", "/v1/circles/care", True)]
        if not self.options.short:
            reads += [("GET", "/openapi.json", False), ("GET", "/v1/circles/care/export.ics", True)]
        for method, target, known in reads:
            for header in HEADERS:
                def send(text, method=method, target=target, known=known, header=header):
                    text = text.replace("\r", "").replace("\n", "")
                    headers = [(header, BEGINNINGS.get(header, "") + text)]
                    if known and header not in ("Authorization", "Cookie"):
                        headers.append(("Authorization", f"Bearer {self.server.key}"))
                    return self.line.send(method, target, None, headers)
                yield f"{method} {target.split('/')[1]}: {header}", 30_000, SHAPES, send

    def kept(self):
        """What repeats a request, what a stream goes on from, and what is asked of free time."""
        known = [("Authorization", f"Bearer {self.server.key}")]
        asked = json.dumps({"userIds": ["jane"], "from": "2026-03-02T00:00:00Z", "to": "2026-03-03T00:00:00Z"}).encode()

        def once(text):
            headers = [*known, ("Content-Type", "application/json"), ("Idempotency-Key", text)]
            return self.line.send("POST", "/v1/circles/care/free-busy", asked, headers)
        yield "POST with a key: Idempotency-Key", 30_000, SHAPES, once

        def last(text):
            # No number is below zero: a stream that opens would not end.
            headers = [*known, ("Accept", "text/event-stream"), ("Last-Event-ID", "-" + text)]
            return self.line.send("GET", "/v1/circles/care/changes", None, headers)
        yield "GET a stream: Last-Event-ID", 30_000, SHAPES, last
        path = self.feed.rpartition(".")[0] + ".ifb"
        if self.line.send("GET", f"{path}?availability=1")[1] != 200:
            self.faults.append("GET free time: nothing of its query is tried")
        for name in ("start", "end", "availability", "unknown"):
            def send(text, name=name):
                return self.line.send("GET", f"{path}?{name}={quote(text, safe='')}")
            yield f"GET free time: ?{name}", 14_000, SHAPES, send

    def operation(self, path, method, operation):
        known = self.credential(operation)
        parameters = [self.resolved(one) for one in operation.get("parameters", [])]
        name = f"{method} {path}"
        inside = [one["name"] for one in parameters if one["in"] == "path"]
        for grown in inside:
            for way, written in (("escaped", lambda text: quote(text, safe="")), ("as it is", raw)):
                def send(text, grown=grown, written=written):
                    return self.line.send(method, self.filled(path, {grown: written(text)}), None, known)
                yield f"{name}: {grown} in the path, {way}", 14_000, SHAPES, send
        asked = [one["name"] for one in parameters if one["in"] == "query"]
        if method == "GET" or asked:
            for one in asked + ["unknown"]:
                def send(text, one=one):
                    target = f"{self.filled(path)}?{one}={quote(text, safe='')}"
                    return self.line.send(method, target, None, known)
                yield f"{name}: ?{one}", 14_000, SHAPES, send

            def send(text):
                return self.line.send(method, f"{self.filled(path)}?{quote(text, safe='')}=1", None, known)
            yield f"{name}: a query's name", 14_000, SHAPES, send
        contents = (operation.get("requestBody") or {}).get("content", {})
        if "application/json" in contents:
            yield from self.body(name, path, method, known, self.resolved(contents["application/json"]["schema"]))
        if "application/x-ndjson" in contents:
            yield from self.batch(name, path, method, known)

    def body(self, name, path, method, known, schema):
        sample = self.sample(schema)
        fields = list(schema.get("properties", {}))
        headers = [*known, ("Content-Type", "application/json")]
        # What would be changed is another thing of the same kind, so that later requests find what they need.
        target = self.filled(path, fresh=method == "PUT")
        # Who is not let in, or finds nothing there, is answered before the body is looked at: nothing would be tried.
        status = self.line.send(method, target, json.dumps(sample).encode(), headers)[1]
        if known and status in (401, 403, 404, 405) and name not in UNREACHED:
            self.faults.append(f"{name}: nothing of its body is tried, since the answer to a right one is {status}")

        def sending(make):
            return lambda text: self.line.send(method, target, make(text).encode(), headers)

        for field in fields:
            kind = self.resolved(schema["properties"][field])
            if "string" in str(kind.get("type", kind)):
                yield f"{name}: {field}", 900_000, SHAPES, sending(
                    lambda text, field=field: json.dumps(sample | {field: text}, ensure_ascii=False))
            for inner, innermost in self.resolved(kind.get("items", kind)).get("properties", {}).items():
                def nested(text, field=field, inner=inner, isList="items" in kind):
                    value = {inner: text}
                    return json.dumps(sample | {field: [value] if isList else value}, ensure_ascii=False)
                yield f"{name}: {field}/{inner}", 900_000, SHAPES, sending(nested)
            if not self.options.short:
                yield f"{name}: {field} as a document", 900_000, DOCUMENTS, sending(
                    lambda text, field=field: json.dumps(sample)[:-1] + f', "{field}":{text}}}'
                    if field not in sample else
                    json.dumps({k: v for k, v in sample.items() if k != field} | {"\0": 0})[:-1] + f', "{field}":{text}}}')
                yield f"{name}: a list in {field}", 900_000, SHAPES, sending(
                    lambda text, field=field: json.dumps(sample | {field: [text, text]}, ensure_ascii=False))
        yield f"{name}: a name", 900_000, SHAPES, sending(
            lambda text: json.dumps(sample | {text: 0}, ensure_ascii=False))
        yield f"{name}: two names", 400_000, SHAPES, sending(
            lambda text: json.dumps(sample | {text: 0, text + "b": 0}, ensure_ascii=False))
        yield f"{name}: the document", 900_000, DOCUMENTS, sending(lambda text: text)

    def batch(self, name, path, method, known):
        headers = [*known, ("Content-Type", "application/x-ndjson")]
        target = self.filled(path)
        for field in ("id", "title", "notes", "collection", "op", "unknown"):
            def send(text, field=field):
                item = {"title": "t", "dueAt": "2026-03-02T09:00:00Z"}
                line = {"op": "put", "collection": "tasks", "id": "grown", "item": item}
                (item if field in ("title", "notes", "unknown") else line)[field] = text
                return self.line.send(method, target, json.dumps(line, ensure_ascii=False).encode() + b"\n", headers)
            yield f"{name}: {field} of a line", 900_000, SHAPES, send

        def send(text):
            return self.line.send(method, target, text.encode(), headers)
        yield f"{name}: the lines", 900_000, SHAPES, send

    def files(self):
        """An event whose text changes at each import, as a followed calendar's does."""
        known = [("Authorization", f"Bearer {self.server.key}"), ("Content-Type", "text/calendar")]
        target = "/v1/circles/care/imports?mode=commit&limit=1"
        counter = iter(range(1_000_000_000))
        for place, lines in PLACES.items():
            for line in lines:
                def send(text, place=place, line=line):
                    # A line break would make other lines of it.
                    text = (text + "bc"[next(counter) % 2]).replace("\r", "").replace("\n", "")
                    parts = {"calendar": "", "event": "", "uid": "grown@example.org", "summary": "s"}
                    parts[place] = line.replace("{}", text)
                    return self.line.send("POST", target, (EVENT % parts).encode(), known)
                shown = line.strip().replace("\r\n", " ")
                yield f"POST an import: {place} {shown}", 900_000, SHAPES, send

    def forms(self):
        known = [("Authorization", f"Bearer {self.server.key}")]
        target = "/v1/circles/care/imports?mode=preview&limit=1"
        boundary = "multipart/form-data; boundary=b"
        calendar = EVENT % {"calendar": "", "event": "", "uid": "form@example.org", "summary": "s"}

        def plain(text):
            return text.replace("\r", "").replace("\n", "")

        ways = {
            "a part's header": (boundary, lambda text: (
                f"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{plain(text)}\"\r\n\r\n"
                f"{calendar}\r\n--b--\r\n")),
            "before the parts": (boundary, lambda text: f"{text}\r\n--b\r\n\r\nx\r\n--b--\r\n"),
            "a CSV's cell": ("text/csv", lambda text: f"start,summary\n2026-03-02,{plain(text)}\n"),
            "a CSV's header": ("text/csv", lambda text: f"start,{plain(text)}\n2026-03-02,x\n"),
            "a jCal text": ("application/calendar+json", lambda text: json.dumps(
                ["vcalendar", [], [["vevent", [
                    ["uid", {}, "text", "j@example.org"], ["dtstart", {}, "date", "2026-03-02"],
                    ["summary", {}, "text", text]], []]]], ensure_ascii=False)),
            "a jCal name": ("application/calendar+json", lambda text: json.dumps(
                ["vcalendar", [], [["vevent", [[text, {text: text}, text, text]], []]]], ensure_ascii=False)),
            "an xCal text": ("application/calendar+xml", lambda text: (
                '<icalendar xmlns="urn:ietf:params:xml:ns:icalendar-2.0"><vcalendar><components><vevent><properties>'
                f"<summary><text>{text.replace('&', '&#x301;').replace('<', '&lt;')}</text></summary><dtstart><date>"
                "2026-03-02</date></dtstart></properties></vevent></components></vcalendar></icalendar>")),
            "anything": ("text/calendar", lambda text: text),
        }
        for name, (kind, make) in ways.items():
            def send(text, kind=kind, make=make):
                return self.line.send("POST", target, make(text).encode(), [*known, ("Content-Type", kind)])
            yield f"POST an import: {name}", 900_000, SHAPES, send

    # What the document says

    def resolved(self, schema):
        """The schema itself, of one that is named or may be null beside."""
        while "$ref" in schema or "anyOf" in schema:
            if "anyOf" in schema:
                schema = next(one for one in schema["anyOf"] if one != {"type": "null"})
                continue
            at = self.document
            for step in schema["$ref"].split("/")[1:]:
                at = at[step]
            schema = at
        return schema

    def sample(self, schema):
        """A body with what is required, of the right types."""
        return {
            name: self.value(self.resolved(schema["properties"][name])) for name in schema.get("required", [])
            if name in schema.get("properties", {})}

    def value(self, schema):
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "integer":
            return max(schema.get("minimum", 1), 1)
        if kind == "boolean":
            return True
        if kind == "array":
            return []
        if kind == "object":
            return self.sample(schema)
        return {"date-time": "2026-03-02T09:00:00Z", "date": "2026-03-02", "uri": "https://example.org/"}.get(
            schema.get("format"), "mom")

    def filled(self, path, grown=None, fresh=False):
        """A path with the ids of things that are there; a grown text aside, and ids of others where they are chosen."""
        grown, parts = grown or {}, path.split("/")
        known = self.things | self.own
        kinds = self.own | {"feeds": self.things["feed"]}
        for place, part in enumerate(parts):
            if not part.startswith("{"):
                continue
            name = part[1:-1]
            if name in grown:
                parts[place] = grown[name]
            elif name == "id" and parts[place - 1] in kinds:
                parts[place] = kinds[parts[place - 1]]
            elif fresh and name in ("id", "user", "patient") and "occurrences" not in parts:
                parts[place] = "growing"
            else:
                parts[place] = known.get(name, "none")
        return "/".join(parts)

    # What is measured

    def seconds(self, send, text):
        self.requests += 1
        taken, status, answer = send(text)
        if status >= 500 and status != 503:
            raise Violation(f"the answer was {status}: {answer[:300]}")
        return taken

    def run(self):
        for number, (name, largest, fitting, send) in enumerate(self.targets()):
            if self.options.only and self.options.only not in name:
                continue
            self.tried += 1
            for place, (shape, make) in enumerate(fitting.items()):
                # In the short form each text is tried with marks, and with some of the other shapes in turn.
                if self.options.short and shape != "marks in blocks" and (place + number) % 7:
                    continue
                try:
                    self.grow(f"{name}, {shape}", largest, make, send)
                except Violation as violation:
                    self.faults.append(f"{name}, {shape}: {violation}")
                if len(self.faults) >= self.options.most:
                    return

    def grow(self, name, largest, make, send):
        size, sizes = largest, []
        while size >= 4_000:
            sizes.append(size)
            size //= 4
        for size in reversed(sizes):
            taken = self.seconds(send, make(size))
            if taken > SMALL:
                # Once more: a single time may be a neighbour's.
                taken = min(taken, self.seconds(send, make(size)))
            if taken > self.slowest[0]:
                self.slowest = (taken, f"{name}, {size} bytes")
            if taken > SMALL:
                return self.measure(name, size, make, send, taken)

    def measure(self, name, size, make, send, whole):
        half = self.seconds(send, make(size // 2))
        for _ in range(8):
            if whole <= RATIO * half:
                return
            half = min(half, self.seconds(send, make(size // 2)))
            whole = min(whole, self.seconds(send, make(size)))
            if whole > PATIENCE:
                break
        # The time of an empty request is no part of what grows; a small one can only hide growth, never make it.
        if whole > SMALL and whole > RATIO * half:
            self.faults.append(f"{name}: {size // 2} bytes take {half:.3f} s, {size} take {whole:.3f} s")


def raw(text):
    """As it is but for what would end the target."""
    return "".join(quote(letter) if letter in " \r\n#?\0" else letter for letter in text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true", help="fewer shapes, in less than a minute")
    parser.add_argument("--only", help="texts whose name has this")
    parser.add_argument("--most", type=int, default=20, help="ends after so many faults")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = Elsewhere()
        server, things = seeded(folder, elsewhere.environment)
        elsewhere.connect(server)
        growth = Growth(server, things, elsewhere, options)
        began = time.monotonic()
        try:
            growth.run()
            server.wait()
        except Violation as violation:
            growth.faults.append(str(violation))
        finally:
            growth.line.close()
            server.stop()
    print(f"growth: {growth.tried} texts, {growth.requests} requests in {time.monotonic() - began:.0f} s; "
          f"the slowest took {growth.slowest[0]:.3f} s ({growth.slowest[1]})")
    if growth.faults:
        sys.exit("FAILED:\n" + "\n".join(growth.faults))


if __name__ == "__main__":
    main()
