# SPDX-License-Identifier: Apache-2.0
"""Calendar apps at the CalDAV door: each keeps a copy of a person's calendars as vdirsyncer and DAVx5 do, and the texts that
they change."""

import base64
import re
import threading
import time
import xml.etree.ElementTree as tree
from datetime import datetime, timezone
from urllib.parse import quote, unquote
from zoneinfo import ZoneInfo

from server import Violation

DAV, CALDAV, APPLE = "{DAV:}", "{urn:ietf:params:xml:ns:caldav}", "{http://apple.com/ns/ical/}"
ZONE = ZoneInfo("Europe/Berlin")
# Seconds after which a server closes a connection without a request, less a few.
SILENT = 20
SPACES = 'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="http://apple.com/ns/ical/"'


class Down(Exception):
    """The server is not there, or was killed before it had answered."""

    def __init__(self, is_unsent):
        super().__init__()
        # Whether nobody can have read the request.
        self.is_unsent = is_unsent


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.body = status, body
        self.fields = {name.lower(): value for name, value in fields.items()}

    @property
    def etag(self):
        return self.fields.get("etag")

    def responses(self):
        """Each resource of a multistatus: its address, its status or nothing, and its properties."""
        root = tree.fromstring(self.body)
        for response in root.findall(f"{DAV}response"):
            status = response.findtext(f"{DAV}status")
            found = {}
            for part in response.findall(f"{DAV}propstat"):
                if " 200 " in f"{part.findtext(f'{DAV}status')} ":
                    found |= {one.tag: one for one in part.find(f"{DAV}prop")}
            yield unquote(response.findtext(f"{DAV}href")), int(status.split()[1]) if status else None, found

    def token(self):
        return tree.fromstring(self.body).findtext(f"{DAV}sync-token")


class Password:
    """An app password, and how many requests with it were sent and completely answered."""

    def __init__(self, server, user, label):
        self.server, self.user, self.label = server, user, label
        self.lock = threading.Lock()
        self.make()

    def make(self):
        made = self.server.must("POST", "/v1/app-passwords", {"label": self.label, "userId": self.user})
        self.identifier = made["id"]
        word = base64.b64encode(f"{self.user}:{made['password']}".encode()).decode()
        self.field = f"Basic {word}"
        self.complete = self.open = 0
        # Whether somebody asked for its end, and whether that was answered.
        self.is_ending = self.has_ended = False

    def asked(self):
        """Status and document, as the API has them."""
        return self.server.call("GET", f"/v1/app-passwords/{self.identifier}", timeout=60)

    def state(self):
        return self.identifier, self.field, self.complete, self.open, self.is_ending, self.has_ended

    def put_back(self, state):
        self.identifier, self.field, self.complete, self.open, self.is_ending, self.has_ended = state

    def check(self, fails):
        status, document = self.asked()
        # What another server recorded is counted a little later, and a database that was killed is asked again. Turns are
        # counted, and no time: a machine may stand still.
        for _ in range(100):
            if status not in (200, 503) or (status == 200 and document["accessCount"] >= self.complete):
                break
            time.sleep(0.2)
            status, document = self.asked()
        if self.is_ending and status == 404:
            self.has_ended = True
        if self.has_ended:
            if status != 404:
                fails(f"the app password of {self.label} had ended, and was answered {status}")
            return
        if status != 200:
            fails(f"the app password of {self.label} was answered {status}")
        count = document["accessCount"]
        if not self.complete <= count <= self.complete + self.open:
            fails(f"{self.label}: {self.complete} complete, {count} recorded, {self.complete + self.open} sent")
        if sum(row["count"] for row in document["clients"]) != count:
            fails(f"{self.label}: {count} recorded, and by client {document['clients']}")


class App:
    """A calendar app of a person."""

    def __init__(self, history, user, label):
        self.history, self.server, self.user, self.label = history, history.server, user, label
        self.chance = history.chance
        self.password = Password(self.server, user, label)
        self.home = f"/dav/calendars/{user}/"
        # By collection: the resources by name, each with its ETag (none while unknown) and text; and tokens, newest last.
        self.copies, self.tokens = {}, {}

    def send(self, method, path, body=None, **fields):
        """An answer; raises Down when none comes."""
        password = self.password
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        headers |= {"Authorization": password.field, "User-Agent": "DAVx5/4.5"}
        has_ended = password.has_ended
        if isinstance(body, str):
            body = body.encode()
        reads = method in ("PROPFIND", "REPORT", "GET", "HEAD")
        stalls = 0
        for _ in range(200):
            began = time.monotonic()
            try:
                answer = Answer(*self.server.request(method, quote(path, safe="/~@"), body, headers, timeout=60))
            except OSError as error:
                is_unsent = isinstance(error, ConnectionRefusedError)
                if not is_unsent:
                    with password.lock:
                        password.open += 1
                # The machine stood still: the server gave the connection up before it had heard anything.
                if reads and isinstance(error, ConnectionResetError) and time.monotonic() - began > SILENT:
                    stalls += 1
                    if stalls > 3:
                        raise Down(False) from error
                    continue
                raise Down(is_unsent) from error
            if answer.status >= 500:
                with password.lock:
                    password.open += 1
            # A write that the database could not answer may have been done.
            if answer.status != 429 and not (answer.status == 503 and reads):
                break
            time.sleep(0.1)
        if answer.status in (200, 207, 304) if reads else 200 <= answer.status < 300:
            if has_ended:
                raise Violation(f"{self.label}: an app password that had ended was answered {answer.status}")
            with password.lock:
                password.complete += 1
        if answer.status >= 500 and answer.status not in (503, 507):
            self.history.broken(f"{self.label}: {method} {path} was answered {answer.status}: {answer.body[:300]}")
        return answer

    def xml(self, method, path, body, depth="0", expecting=(207,)):
        answer = self.send(method, path, body, Depth=depth, Content_Type="application/xml; charset=utf-8")
        if answer.status not in expecting:
            self.history.broken(f"{self.label}: {method} {path} was answered {answer.status}: {answer.body[:300]}")
        return answer

    # Its copy

    def collections(self):
        """The segments of the calendars at home."""
        body = f"<propfind {SPACES}><prop><resourcetype/><sync-token/></prop></propfind>"
        answer = self.xml("PROPFIND", self.home, body, "1")
        return [href[len(self.home):-1] for href, _, found in answer.responses()
                if (kind := found.get(f"{DAV}resourcetype")) is not None and kind.find(f"{CALDAV}calendar") is not None]

    def listed(self, segment, by_query=False):
        """The ETags that a collection lists, by name; nothing where it is gone."""
        if by_query:
            body = (f'<C:calendar-query {SPACES}><prop><getetag/></prop><C:filter><C:comp-filter name="VCALENDAR"/>'
                    "</C:filter></C:calendar-query>")
            answer = self.xml("REPORT", f"{self.home}{segment}/", body, "1", (207, 404))
        else:
            body = f"<propfind {SPACES}><prop><getetag/></prop></propfind>"
            answer = self.xml("PROPFIND", f"{self.home}{segment}/", body, "1", (207, 404))
        if answer.status == 404:
            return None
        found = {}
        for href, _, properties in answer.responses():
            name = href[len(f"{self.home}{segment}/"):]
            if name in found:
                self.history.broken(f"{self.label}: {segment} lists {name} twice")
            if name:
                found[name] = properties[f"{DAV}getetag"].text
        return found

    def read(self, segment, names):
        """Reads texts into the copy; what is gone leaves it."""
        copy = self.copies[segment]
        for first in range(0, len(names), 10):
            some = names[first:first + 10]
            hrefs = "".join(f"<href>{quote(f'{self.home}{segment}/{name}', safe='/~@')}</href>" for name in some)
            body = f"<C:calendar-multiget {SPACES}><prop><getetag/><C:calendar-data/></prop>{hrefs}</C:calendar-multiget>"
            answer = self.xml("REPORT", f"{self.home}{segment}/", body, "1", (207, 404))
            if answer.status == 404:
                self.copies.pop(segment, None)
                return
            seen = set()
            for href, status, found in answer.responses():
                name = href[len(f"{self.home}{segment}/"):]
                seen.add(name)
                if status == 404:
                    copy.pop(name, None)
                elif f"{CALDAV}calendar-data" in found:
                    copy[name] = (found[f"{DAV}getetag"].text, found[f"{CALDAV}calendar-data"].text)
                else:
                    self.history.broken(f"{self.label}: {name} came without its text")
            if seen != set(some):
                self.history.broken(f"{self.label}: asked for {some}, got {sorted(seen)}")

    def synchronize(self, is_rare=True):
        """Brings the copy up to date, in one of the ways that apps have."""
        present = self.collections()
        for segment in list(self.copies):
            if segment not in present:
                self.copies.pop(segment)
                self.tokens.pop(segment, None)
        for segment in present:
            copy, tokens = self.copies.setdefault(segment, {}), self.tokens.setdefault(segment, [])
            if is_rare and self.chance.random() < 0.25:
                self.compare(segment)
                continue
            old = self.chance.choice(tokens) if tokens and self.chance.random() < 0.2 else (tokens or [None])[-1]
            self.follow(segment, copy, tokens, old)

    def compare(self, segment):
        listed = self.listed(segment, self.chance.random() < 0.5)
        if listed is None:
            self.copies.pop(segment)
            return
        copy = self.copies[segment]
        for name in list(copy):
            if name not in listed:
                copy.pop(name)
        self.read(segment, [name for name, etag in listed.items() if name not in copy or copy[name][0] != etag])

    def follow(self, segment, copy, tokens, token):
        """Follows the changes since a token; without one, or with one that is no longer taken, from the beginning."""
        from_start, kept = token is None, set()
        limit = self.chance.choice([None, 1, 2, 3, 7, 100])
        for _ in range(2000):
            bound = f"<limit><nresults>{limit}</nresults></limit>" if limit else ""
            body = (f"<sync-collection {SPACES}><sync-token>{token or ''}</sync-token><sync-level>1</sync-level>{bound}"
                    "<prop><getetag/></prop></sync-collection>")
            answer = self.xml("REPORT", f"{self.home}{segment}/", body, self.chance.choice("01"), (207, 403, 404))
            if answer.status == 404:
                self.copies.pop(segment, None)
                return
            if answer.status == 403:
                if b"valid-sync-token" not in answer.body or token is None:
                    self.history.broken(f"{self.label}: a token was answered {answer.body[:400]}")
                tokens.clear()
                token, from_start, kept = None, True, set()
                continue
            wanted, is_cut, count = [], False, 0
            for href, status, found in answer.responses():
                name = href[len(f"{self.home}{segment}/"):]
                if status == 507:
                    is_cut = True
                    continue
                count += 1
                if status == 404:
                    copy.pop(name, None)
                    kept.discard(name)
                else:
                    kept.add(name)
                    if name not in copy or copy[name][0] != found[f"{DAV}getetag"].text:
                        wanted.append(name)
            if limit and count > limit:
                self.history.broken(f"{self.label}: {count} came where {limit} were wanted since {token}: "
                                    f"{answer.body.decode()}")
            self.read(segment, wanted)
            if segment not in self.copies:
                return
            token = answer.token()
            if not is_cut:
                break
        else:
            self.history.broken(f"{self.label}: following {segment} has no end")
        if from_start:
            for name in list(copy):
                if name not in kept:
                    copy.pop(name)
        tokens.append(token)
        del tokens[:-6]

    def check(self):
        """Its copy is what the server lists and gives."""
        fails = self.history.broken
        present = self.collections()
        if sorted(present) != sorted(self.copies):
            fails(f"{self.label}: has {sorted(self.copies)}, and there are {sorted(present)}")
        for segment in present:
            copy, listed = self.copies[segment], self.listed(segment)
            if {name: etag for name, (etag, _) in copy.items()} != listed:
                fails(f"{self.label}: the copy of {segment} has { {n: e for n, (e, _) in copy.items()} }, listed is {listed}")
            for name, (etag, text) in copy.items():
                answer = self.send("GET", f"{self.home}{segment}/{name}")
                if (answer.status, answer.etag, answer.body.decode()) != (200, etag, text):
                    fails(f"{self.label}: GET of {segment}/{name} was answered {answer.status} {answer.etag}, the copy has "
                          f"{etag}:\n{answer.body.decode()}\n{text}")


# Texts

def compact(moment):
    return datetime.fromtimestamp(moment, ZONE).strftime("%Y%m%dT%H%M%S")


def instant(line):
    """The instant of a date-time property; nothing for a whole day."""
    found = re.match(r"[A-Z-]+((?:;[^:]*)?):(\d{8}T\d{6})(Z?)$", line)
    if found is None:
        return None
    zone = re.search(r"TZID=\"?([^;:\"]+)", found[1])
    where = timezone.utc if found[3] or not zone else ZoneInfo(zone[1])
    return int(datetime.strptime(found[2], "%Y%m%dT%H%M%S").replace(tzinfo=where).timestamp())


def components(text):
    """The lines of each VEVENT and VTODO of a text."""
    lines = re.sub(r"\r\n[ \t]", "", text).split("\r\n")
    found, current = [], None
    for line in lines:
        if line in ("BEGIN:VEVENT", "BEGIN:VTODO"):
            current = []
            found.append(current)
        if current is not None:
            current.append(line)
        if line in ("END:VEVENT", "END:VTODO"):
            current = None
    return found


def value(lines, name):
    """The line of a property of a component; nothing without it."""
    return next((line for line in lines if re.match(rf"{name}[;:]", line)), None)


def content(lines, name):
    line = value(lines, name)
    return None if line is None else re.sub(r"\\(.)", r"\1", line.split(":", 1)[1])


def uid_of(text):
    return content(components(text)[0], "UID")


def edited(text, **changes):
    """A text whose first component has other lines, by property: `None` takes one away."""
    text = re.sub(r"\r\n[ \t]", "", text)
    start = re.search(r"BEGIN:V(EVENT|TODO)\r\n", text)
    end = text.index(f"END:V{start[1]}\r\n", start.end())
    lines = text[start.end():end].split("\r\n")[:-1]
    for name, line in changes.items():
        name = name.replace("_", "-")
        lines = [one for one in lines if not re.match(rf"{name}[;:]", one)]
        if line is not None:
            lines.append(line)
    return text[:start.end()] + "".join(f"{line}\r\n" for line in lines) + text[end:]


def timed(name, moment):
    return f"{name};TZID=Europe/Berlin:{compact(moment)}"


def changed_occurrence(text, start, moment):
    """A text in which the occurrence at a start takes place at another time, for half an hour."""
    text = re.sub(r"\r\n[ \t]", "", text)
    main = components(text)[0]
    mark = timed("RECURRENCE-ID", start)
    for lines in components(text):
        if mark in lines:
            text = text.replace("\r\n".join(lines) + "\r\n", "")
    kept = [line for line in main if not re.match(r"(DTSTART|DTEND|DURATION|RRULE|EXDATE|RDATE|END)[;:]", line)]
    lines = [*kept, mark, timed("DTSTART", moment), timed("DTEND", moment + 1800), "END:VEVENT"]
    return text.replace("END:VCALENDAR", "\r\n".join(lines) + "\r\nEND:VCALENDAR")


def made(component, uid, *lines):
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//door//kill//EN", f"BEGIN:{component}", f"UID:{uid}",
                        "DTSTAMP:20261101T000000Z", *lines, f"END:{component}", "END:VCALENDAR", ""])
