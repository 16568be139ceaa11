# SPDX-License-Identifier: Apache-2.0
"""What Apple's calendar programs send, as Apple recorded it, is sent to the CalDAV door, and the answers are judged by
what these programs need.

    KALENDS_CALENDARSERVER=CHECKOUT python Tests/Clients/apple_requests.py PROGRAM

CHECKOUT is one of apple/ccs-calendarserver, whose simulation of load has the bodies: OS X 10.6, 10.7 and 10.11, and
iOS 5.
Prints one line for each request that is answered otherwise, and how many hold; the exit status is 1 when any does not.
"""

import base64
import http.client
import os
import re
import sys
import tempfile
import uuid
import xml.etree.ElementTree as tree
from datetime import datetime, timedelta, timezone
from pathlib import Path

from kalends import Failure, Kalends

DATA = "contrib/performance/loadtest/request-data"
DAV, CALDAV, CS = "{DAV:}", "{urn:ietf:params:xml:ns:caldav}", "{http://calendarserver.org/ns/}"
VALUES = {"start-date": "20260101", "search": "ann", "displayname": "ann", "email": "ann", "firstname": "ann",
          "lastname": "ann", "context": "attendee", "searchTokens": "<C:search-token>ann</C:search-token>",
          "order": "7", "color": "FD8208FF",
          "name": "Made by Apple", "vfreebusy-uid": "u1", "start": "20270101T000000Z", "end": "20270102T000000Z",
          "attendees": "", "event-mask": "", "now": "20270101T000000Z", "organizer": "mailto:ann@example.com",
          "summary": "S"}
PRINCIPAL = [CALDAV + "calendar-home-set", CALDAV + "calendar-user-address-set", DAV + "current-user-principal",
             DAV + "displayname", DAV + "principal-URL", DAV + "principal-collection-set", DAV + "supported-report-set"]
CALENDAR = [DAV + "resourcetype", DAV + "displayname", DAV + "current-user-privilege-set", DAV + "owner",
            CS + "getctag",
            DAV + "sync-token", DAV + "supported-report-set", CALDAV + "supported-calendar-component-set"]
MEMBER = [DAV + "getetag", DAV + "getcontenttype", CALDAV + "calendar-data"]


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def has(self, *statuses):
        if self.status not in statuses:
            raise Failure(f"it is answered {self.status}: {self.body[:200]!r}")
        return self

    def responses(self):
        """Each href with its properties by status, or with the status alone."""
        self.has(207)
        found = {}
        for response in tree.fromstring(self.body).findall(DAV + "response"):
            values = {}
            for part in response.findall(DAV + "propstat"):
                status = int(part.find(DAV + "status").text.split()[1])
                values.setdefault(status, {})
                for value in part.find(DAV + "prop"):
                    if any(value.tag in others for others in values.values()):
                        raise Failure(f"{value.tag} is there twice")
                    values[status][value.tag] = value
            href, status = response.find(DAV + "href").text, response.find(DAV + "status")
            if not values and status is None:
                raise Failure(f"{href} has neither properties nor a status")
            found[href] = values or int(status.text.split()[1])
        return found


class Apple:
    """A person with one circle, as an Apple device reaches them."""

    def __init__(self, server, folder):
        self.folder = folder
        circle = f"/v1/circles/{server.circle}"
        server.call("PUT", circle, {"name": "Rossi family", "timeZone": "Europe/Rome"})
        server.call("PUT", f"{circle}/members/ann", {"displayName": "Ann", "role": "owner"})
        server.call("PUT", f"{circle}/patients/oma", {"displayName": "Oma"})
        day = (datetime.now(timezone.utc) + timedelta(days=2)).replace(microsecond=0).isoformat()
        for number in range(12):
            server.item("PUT", "appointments", f"a{number}", {
                "patientId": "oma", "provider": f"Dr. {number}", "startAt": day, "durationMinutes": 30})
            server.item("PUT", "tasks", f"t{number}", {"title": f"Task {number}", "dueAt": day})
        password = server.call("POST", "/v1/app-passwords", {"userId": "ann", "label": "Mac"})["password"]
        self.credentials = "Basic " + base64.b64encode(f"ann:{password}".encode()).decode()
        self.port = server.port
        self.home, self.principal = "/dav/calendars/ann/", "/dav/principals/ann/"
        self.calendar, self.tasks = f"{self.home}{server.circle}/", f"{self.home}{server.circle}~tasks/"

    def send(self, method, path, body=b"", depth=None, is_known=True, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers["Content-Type"] = "text/xml" if body[:1] == b"<" else "text/calendar"
        if is_known:
            headers["Authorization"] = self.credentials
        if depth is not None:
            headers["Depth"] = depth
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        result = Answer(answer.status, answer.headers, answer.read())
        connection.close()
        return result

    def body(self, file, **more):
        """What the file has, with values in place of the simulation's own names."""
        values = {**VALUES, **more}

        def filled(match):
            return values[match[1]]

        text = re.sub(r"%\(([\w-]+)\)s", filled, file.read_text())
        return re.sub(r"\{(\w+)\}", filled, text).encode()


def asked(body):
    """The names in a request's prop."""
    return [value.tag for value in tree.fromstring(body).find(DAV + "prop")]


def complete(responses, names, needed):
    """Every property that was asked for is there once, with its value or in 404; the needed ones have values."""
    for href, values in responses.items():
        if not isinstance(values, dict):
            raise Failure(f"{href} is answered {values}")
        got = {name for part in values.values() for name in part}
        if got != set(names):
            raise Failure(f"{href} answers {sorted(got ^ set(names))} otherwise")
        if set(values) - {200, 404}:
            raise Failure(f"{href} has the statuses {sorted(values)}")
        if lacking := [name for name in needed(href) if name in names and name not in values.get(200, {})]:
            raise Failure(f"{href} lacks {lacking}")


def propfind(apple, path, body, depth, needed):
    """In full, and with nothing of what is not there, as newer programs ask."""
    full = apple.send("PROPFIND", path, body, depth).responses()
    complete(full, asked(body), needed)
    for name, value in (("Prefer", "return=minimal"), ("Brief", "t")):
        for href, values in apple.send("PROPFIND", path, body, depth, **{name: value}).responses().items():
            if 404 in values or set(values.get(200, {})) != set(full[href].get(200, {})):
                raise Failure(f"with {name} {href} answers otherwise")
    return full


def well_known(apple, file):
    body = apple.body(file)
    for path in ("/.well-known/caldav", "/dav/", "/dav/principals/"):
        challenge = apple.send("PROPFIND", path, body, "0", is_known=False).has(401).headers.get("WWW-Authenticate", "")
        if not challenge.startswith("Basic"):
            raise Failure(f"{path} asks for no credentials: {challenge!r}")
    propfind(apple, "/.well-known/caldav", body, "0", lambda _: [DAV + "current-user-principal", DAV + "resourcetype"])


def principal_initial(apple, file):
    for path in ("/dav/", "/dav/principals/", apple.principal):
        propfind(apple, path, apple.body(file), "0", lambda _: [DAV + "current-user-principal", DAV + "resourcetype"])


def principal(apple, file):
    options = apple.send("OPTIONS", apple.principal).has(200, 204).headers.get("DAV", "")
    if "calendar-access" not in options or "calendar-auto-schedule" in options:
        raise Failure(f"the principal's DAV header is {options!r}")
    propfind(apple, apple.principal, apple.body(file), "0", lambda _: PRINCIPAL)


def searchable(apple, file):
    answer = apple.send("REPORT", "/dav/principals/", apple.body(file), "0").has(200)
    if tree.fromstring(answer.body).tag != DAV + "principal-search-property-set":
        raise Failure(f"it is no set of properties: {answer.body[:200]!r}")


def expand(apple, file):
    if list(apple.send("REPORT", apple.principal, apple.body(file), "0").responses()) != [apple.principal]:
        raise Failure("the principal is not answered")


def search(apple, file):
    # Apple's own report is not listed in supported-report-set, and may be refused as one that is not known.
    answer = apple.send("REPORT", "/dav/principals/", apple.body(file), "0").has(207, 403)
    if answer.status == 207:
        if list(answer.responses()) != [apple.principal]:
            raise Failure("somebody else than the person was found, or nobody")
    elif b"calendarserver-principal-search" not in apple.body(file) or b"supported-report" not in answer.body:
        raise Failure(f"it is refused without its reason: {answer.body[:200]!r}")


def home(apple, file):
    body = apple.body(file)
    found = propfind(apple, apple.home, body, "1", lambda href: [] if href == apple.home else CALENDAR)
    kinds = {href: [kind.tag for kind in values[200][DAV + "resourcetype"]] for href, values in found.items()}
    if CALDAV + "calendar" in kinds[apple.home]:
        raise Failure("the home is a calendar itself")
    for path, component in ((apple.calendar, "VEVENT"), (apple.tasks, "VTODO")):
        values = found[path.replace("~", "%7E") if path not in found else path][200]
        components = [c.get("name") for c in values[CALDAV + "supported-calendar-component-set"]]
        if components != [component]:
            raise Failure(f"{path} is for {components}")


def home_sync(apple, file):
    # A program asks this only where the home has a token.
    answer = apple.send("REPORT", apple.home, apple.body(file, **{"sync-token": ""}), "0").has(207, 403)
    if answer.status == 403 and b"supported-report" not in answer.body:
        raise Failure(f"it is refused without its reason: {answer.body[:200]!r}")


def properties(apple, file):
    """Whatever a device sets is taken, and found again."""
    path = apple.home if "calendarhome" in file.name else apple.calendar
    # One of the files has two bodies.
    for text in re.split(r"(?=<\?xml)", apple.body(file).decode())[1:]:
        names = [value.tag for value in tree.fromstring(text).iter(DAV + "prop") for value in value]
        for href, values in apple.send("PROPPATCH", path, text.encode()).responses().items():
            if sorted(values.get(200, {})) != sorted(names):
                raise Failure(f"{href} does not take {names}: {values}")
        empty = "".join(f"<x:{name.split('}')[1]} xmlns:x='{name[1:].split('}')[0]}'/>" for name in names)
        asking = f"<A:propfind xmlns:A='DAV:'><A:prop>{empty}</A:prop></A:propfind>"
        for values in apple.send("PROPFIND", path, asking.encode(), "0").responses().values():
            for name in names:
                sent = tree.fromstring(text).find(f".//{name}")
                kept = values.get(200, {}).get(name)
                if kept is None or (kept.text or "").strip() != (sent.text or "").strip() or len(kept) != len(sent):
                    raise Failure(f"{name} is not found again: {values}")


def collection(apple, file):
    for path in (apple.calendar, apple.tasks):
        propfind(apple, path, apple.body(file), "0", lambda _: CALENDAR)


def members(apple, file):
    for path in (apple.calendar, apple.tasks):
        found = propfind(apple, path, apple.body(file), "1", lambda href: [] if href == path else MEMBER)
        if len(found) != 13:
            raise Failure(f"{path} has {len(found) - 1} members, and not 12")


def with_etags(apple, path, body, count):
    answer = apple.send("REPORT", path, body, "1")
    found = answer.responses()
    complete(found, asked(body), lambda _: MEMBER)
    if len(found) != count:
        raise Failure(f"{path} answers {len(found)} resources, and not {count}")
    return answer, found


def sync(apple, file):
    for path in (apple.calendar, apple.tasks):
        answer, _ = with_etags(apple, path, apple.body(file, **{"sync-token": ""}), 12)
        token = tree.fromstring(answer.body).find(DAV + "sync-token").text
        again, _ = with_etags(apple, path, apple.body(file, **{"sync-token": token}), 0)
        if tree.fromstring(again.body).find(DAV + "sync-token").text != token:
            raise Failure("the token changes although nothing does")
        late = apple.send("REPORT", path, apple.body(file, **{"sync-token": token[:-1] + "x9"}), "1").has(403)
        if b"valid-sync-token" not in late.body:
            raise Failure(f"a token that was never given is refused without its reason: {late.body[:200]!r}")


def multiget(apple, file):
    line = file.with_name(file.name.replace(".request", "_hrefs.request"))
    for path in (apple.calendar, apple.tasks):
        listed = apple.send("PROPFIND", path, b"", "1").responses()
        hrefs = [href for href in listed if href.endswith(".ics")]
        text = apple.body(file, hrefs="".join(apple.body(line, href=href).decode() for href in hrefs))
        _, found = with_etags(apple, path, text, 12)
        for href, values in found.items():
            data = values[200].get(CALDAV + "calendar-data")
            if data is not None and not data.text.startswith("BEGIN:"):
                raise Failure(f"{href} has no text")


def query(apple, file):
    if "events_depth1" in file.name:
        # A range of 2015: nothing is there.
        return with_etags(apple, apple.calendar, apple.body(file), 0)
    return with_etags(apple, apple.tasks if "vtodo" in file.name else apple.calendar, apple.body(file), 12)


def make(apple, file):
    for component in ("VEVENT", "VTODO"):
        name = str(uuid.uuid4()).upper()
        apple.send("MKCALENDAR", f"{apple.home}{name}/", apple.body(file, component_type=component)).has(201)
        apple.send("DELETE", f"{apple.home}{name}/").has(204, 200)


def nowhere(method, *names):
    """The door names neither an inbox, an outbox nor notifications; a device that asks all the same learns that."""
    def asked_for(apple, file):
        values = {"hrefs": "", "sync-token": "", "href": "/"}
        for name in names:
            apple.send(method, f"{apple.home}{name}/", apple.body(file, **values), "1").has(404, 403, 405)

    return asked_for


# The first pattern that a file's name has says how it is sent and judged.
KINDS = [
    (r"_hrefs\.", None), (r"notification.*(propfind|d1)", nowhere("PROPFIND", "notification")),
    (r"notification", nowhere("REPORT", "notification")), (r"inbox", nowhere("PROPFIND", "inbox")),
    (r"^post_", nowhere("POST", "outbox")), (r"well_known", well_known),
    (r"principal_(propfind_initial|initial)", principal_initial), (r"principal_propfind|delegate_principal", principal),
    (r"principals_report", searchable), (r"principal_expand", expand), (r"principal.*search", search),
    (r"proppatch", properties), (r"create_calendar", make), (r"calendarhome_sync", home_sync),
    (r"calendarhome.*propfind", home), (r"(propfind_d1|depth1_propfind)", members), (r"calendar_propfind", collection),
    (r"calendar_sync", sync), (r"multiget", multiget), (r"query", query),
]


def main():
    checkout = os.environ.get("KALENDS_CALENDARSERVER")
    if len(sys.argv) != 2 or not checkout:
        sys.exit(__doc__)
    files = sorted(Path(checkout, DATA).glob("*/*.request*"))
    if not files:
        sys.exit(f"there are no requests in {checkout}/{DATA}")
    held, parts, faults = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        server = Kalends(sys.argv[1], folder)
        try:
            apple = Apple(server, folder)
            for file in files:
                name = f"{file.parent.name}/{file.name}"
                kind = next(((judge,) for pattern, judge in KINDS if re.search(pattern, file.name)), None)
                if kind == (None,):
                    # Part of a multiget, and sent with it.
                    parts += 1
                    continue
                try:
                    if kind is None:
                        raise Failure("nothing says how it is sent")
                    kind[0](apple, file)
                    held += 1
                except (Failure, KeyError, tree.ParseError) as fault:
                    faults.append(f"  {name}: {fault!r}" if not isinstance(fault, Failure) else f"  {name}: {fault}")
        finally:
            server.stop()
    print(f"apple-requests: {held} of {held + len(faults)} hold; {parts} more are parts of others")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"{failure}")
