# SPDX-License-Identifier: Apache-2.0
"""Calendars at the other side of a connection, and the person who edits there: the emulators of Google and Outlook, Radicale.

Each has the same functions. An event is a dictionary with `id`, `title`, `start` and `end` (seconds since 1970, none for whole
days), `repeats`, and `raw`, whatever it is in. An occurrence is named by when its series has it begin.
"""

import base64
import http.client
import json
import re
import subprocess
import sys
import time
import urllib.parse
from datetime import datetime, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

sys.path.append(str(Path(__file__).resolve().parent.parent / "Providers"))
from graph_series import WINDOWS
from ports import free_port
from server import Violation

PROVIDERS = Path(__file__).resolve().parent.parent / "Providers"
USER, PASSWORD = "alice", "secret"


def exchange(method, url, body=None, headers=None):
    """Status, fields and body; no redirect is followed."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120)
    try:
        target = parts.path + ("?" + parts.query if parts.query else "")
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        connection.request(method, target, data, headers or {})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


class Gone(Violation):
    """A run removed the event after the person had looked."""


def must(method, url, body=None, headers=None):
    status, _, text = exchange(method, url, body, {"Content-Type": "application/json", **(headers or {})})
    if status >= 300:
        # Google keeps what was deleted, and lets nobody change it.
        is_gone = status in (404, 410) or status == 403 and b'"forbidden"' in text
        raise (Gone if is_gone else Violation)(f"a person's {method} was answered {status}: {text[:300]!r}")
    return json.loads(text) if text else {}


def rfc3339(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(text, zone="UTC"):
    """The instant of a time with an offset, or on the clock of a zone."""
    time_ = datetime.fromisoformat(re.sub(r"\.\d+", "", text).replace("Z", "+00:00"))
    return int((time_ if time_.tzinfo else time_.replace(tzinfo=ZoneInfo(zone))).timestamp())


class Side:
    """A provider for all histories; `calendar` is always the id that the connection has."""

    provider = None

    def __init__(self):
        self.process = None

    def environment(self):
        return {}

    def connect(self, call, path):
        """Signs the connection in, as a browser would."""
        address = call("POST", f"{path}/authorize", {})["authorizeURL"]
        status, fields, text = exchange("GET", address)
        if status != 302:
            raise Violation(f"the sign-in was answered {status}: {text[:300]!r}")
        back = {name.lower(): value for name, value in fields.items()}["location"]
        return "/v1/connections/callback?" + back.split("?", 1)[1]

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()


class Google(Side):
    provider = "google"

    def __init__(self, folder):
        super().__init__()
        ready = Path(folder) / "google-ready"
        self.process = subprocess.Popen(
            [sys.executable, "-B", PROVIDERS / "google_emulator.py", "--ready", ready], stdout=subprocess.DEVNULL)
        for _ in range(600):
            if ready.exists() and ready.read_text().endswith("\n"):
                break
            time.sleep(0.05)
        self.address = ready.read_text().strip()
        self.token = must("POST", f"{self.address}/control/person", {})["token"]

    def environment(self):
        return {
            "KALENDS_GOOGLE_CLIENT_ID": "our-client.apps.googleusercontent.com",
            "KALENDS_GOOGLE_CLIENT_SECRET": "GOCSPX-x",
            "KALENDS_GOOGLE_AUTHORIZE_URL": f"{self.address}/o/oauth2/v2/auth",
            "KALENDS_GOOGLE_TOKEN_URL": f"{self.address}/token",
            "KALENDS_GOOGLE_REVOKE_URL": f"{self.address}/revoke", "KALENDS_GOOGLE_API_URL": self.address}

    def send(self, method, calendar, path="", body=None):
        name = urllib.parse.quote(calendar, safe="")
        return must(
            method, f"{self.address}/calendar/v3/calendars/{name}/events{path}", body,
            {"Authorization": f"Bearer {self.token}"})

    def events(self, calendar):
        state = must("GET", f"{self.address}/control/state")
        found = [one for account in state["accounts"].values() for one in account if one["id"] == calendar]
        events = []
        for raw in found[0]["events"] if found else []:
            if raw["status"] == "cancelled" or "recurringEventId" in raw:
                continue
            timed = "dateTime" in raw["start"]
            events.append({
                "id": raw["id"], "title": raw.get("summary", ""), "repeats": "recurrence" in raw,
                "start": seconds(raw["start"]["dateTime"], raw["start"].get("timeZone", "UTC")) if timed else None,
                "end": seconds(raw["end"]["dateTime"], raw["end"].get("timeZone", "UTC")) if timed else None,
                "raw": {name: raw.get(name) for name in ("summary", "start", "end", "status", "description")}})
        return events

    def rename(self, calendar, event, title):
        self.send("PATCH", calendar, "/" + event["id"], {"summary": title})

    def move(self, calendar, event, start, end):
        times = {"start": {"dateTime": rfc3339(start)}, "end": {"dateTime": rfc3339(end)}}
        self.send("PATCH", calendar, "/" + event["id"], times)

    def delete(self, calendar, event):
        self.send("DELETE", calendar, "/" + event["id"])

    def add(self, calendar, title, start, end):
        self.send("POST", calendar, "", {
            "summary": title, "start": {"dateTime": rfc3339(start)}, "end": {"dateTime": rfc3339(end)}})

    def occurrences(self, calendar, event):
        if not event["repeats"]:
            return [(event["start"], event["end"], event["title"])]
        items = self.send("GET", calendar, f"/{event['id']}/instances?maxResults=250")["items"]
        return sorted(
            (seconds(one["start"]["dateTime"]), seconds(one["end"]["dateTime"]), one.get("summary", ""))
            for one in items if one["status"] != "cancelled")

    @staticmethod
    def instance(event, original):
        return f"/{event['id']}_{rfc3339(original).replace('-', '').replace(':', '')}"

    def move_one(self, calendar, event, original, start, end):
        times = {"start": {"dateTime": rfc3339(start)}, "end": {"dateTime": rfc3339(end)}}
        self.send("PATCH", calendar, self.instance(event, original), times)

    def delete_one(self, calendar, event, original):
        self.send("DELETE", calendar, self.instance(event, original))

    def set_count(self, calendar, event, count):
        lines = self.send("GET", calendar, "/" + event["id"])["recurrence"]
        self.send("PATCH", calendar, "/" + event["id"], {
            "recurrence": [re.sub(r"COUNT=\d+", f"COUNT={count}", line) for line in lines]})

    def restore(self, calendar, event):
        must("POST", f"{self.address}/control/restore", {"id": calendar, "event": event["id"]})

    def copy(self, calendar, event, title):
        raw = self.send("GET", calendar, "/" + event["id"])
        names = ("description", "location", "start", "end", "recurrence", "extendedProperties")
        self.send("POST", calendar, "", {"summary": title, **{name: raw[name] for name in names if name in raw}})


class Outlook(Side):
    provider = "outlook"

    def __init__(self, folder):
        super().__init__()
        self.process = subprocess.Popen(
            [sys.executable, "-B", PROVIDERS / "graph_emulator.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, cwd=PROVIDERS)
        self.address = self.process.stdout.readline().removeprefix("ready ").strip()

    def environment(self):
        return {
            "KALENDS_MICROSOFT_CLIENT_ID": "our-app", "KALENDS_MICROSOFT_CLIENT_SECRET": "ms-secret",
            "KALENDS_MICROSOFT_LOGIN_URL": self.address, "KALENDS_MICROSOFT_GRAPH_URL": f"{self.address}/v1.0"}

    def send(self, method, path, body=None):
        return must(method, f"{self.address}/v1.0/me/{path}", body, {
            "X-Person": "1", "Prefer": 'IdType="ImmutableId", outlook.body-content-type="text"'})

    def events(self, calendar):
        events = []
        for raw in must("GET", f"{self.address}/control/events"):
            if raw["calendar"] != calendar or raw.get("seriesMasterId"):
                continue
            events.append({
                "id": raw["id"], "title": raw["subject"], "repeats": raw.get("recurrence") is not None,
                "start": None if raw["isAllDay"] else seconds(raw["start"]["dateTime"]),
                "end": None if raw["isAllDay"] else seconds(raw["end"]["dateTime"]),
                "zone": raw["originalStartTimeZone"], "marks": raw.get("singleValueExtendedProperties", []),
                "raw": {name: raw.get(name) for name in ("subject", "start", "end", "isAllDay")}})
        return events

    @staticmethod
    def time(seconds_):
        return {"dateTime": rfc3339(seconds_)[:-1], "timeZone": "UTC"}

    @staticmethod
    def path(event):
        return "events/" + urllib.parse.quote(event["id"], safe="")

    def rename(self, calendar, event, title):
        self.send("PATCH", self.path(event), {"subject": title})

    def move(self, calendar, event, start, end):
        self.send("PATCH", self.path(event), {"start": self.time(start), "end": self.time(end)})

    def delete(self, calendar, event):
        self.send("DELETE", self.path(event))

    def add(self, calendar, title, start, end):
        self.send("POST", f"calendars/{urllib.parse.quote(calendar, safe='')}/events", {
            "subject": title, "start": self.time(start), "end": self.time(end)})

    def occurrences(self, calendar, event):
        if not event["repeats"]:
            return [(event["start"], event["end"], event["title"])]
        low, high = rfc3339(event["start"] - 86_400), rfc3339(event["start"] + 400 * 86_400)
        items = self.send(
            "GET", f"{self.path(event)}/instances?startDateTime={low}&endDateTime={high}&$top=500")["value"]
        return sorted((seconds(one["start"]["dateTime"]), seconds(one["end"]["dateTime"]), one["subject"]) for one in items)

    def instance(self, event, original):
        """Outlook names occurrences by their day on the clock of their series."""
        zone = ZoneInfo(WINDOWS.get(event["zone"], event["zone"]))
        day = datetime.fromtimestamp(original, timezone.utc).astimezone(zone).date()
        return {"id": f"{event['id']}.OCC.{day}"}

    def move_one(self, calendar, event, original, start, end):
        self.move(calendar, self.instance(event, original), start, end)

    def delete_one(self, calendar, event, original):
        self.delete(calendar, self.instance(event, original))

    def set_count(self, calendar, event, count):
        old = self.send("GET", self.path(event))["recurrence"]
        self.send("PATCH", self.path(event), {
            "recurrence": {"pattern": old["pattern"], "range": {**old["range"], "numberOfOccurrences": count}}})

    def restore(self, calendar, event):
        must("POST", f"{self.address}/control/restore", {"id": event["id"]})

    def copy(self, calendar, event, title):
        self.send("POST", f"calendars/{urllib.parse.quote(calendar, safe='')}/events", {
            "subject": title, "start": self.time(event["start"]), "end": self.time(event["end"]),
            "singleValueExtendedProperties": event["marks"]})

    def move_mailbox(self, calendar):
        must("POST", f"{self.address}/control/move", {"calendar": calendar})


class Radicale(Side):
    """Its occurrences need Python's icalendar and recurring_ical_events."""

    provider = "caldav"
    fields = {"Authorization": "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()}

    def __init__(self, folder):
        super().__init__()
        home = Path(folder) / "radicale"
        home.mkdir()
        self.port = free_port()
        (home / "users").write_text(f"{USER}:{PASSWORD}\n")
        (home / "config").write_text(
            f"[server]\nhosts=127.0.0.1:{self.port}\nmax_connections=64\n"
            f"[auth]\ntype=htpasswd\nhtpasswd_filename={home}/users\nhtpasswd_encryption=plain\ndelay=0\n"
            f"[storage]\nfilesystem_folder={home}/collections\n[logging]\nlevel=error\n")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "radicale", "--config", str(home / "config")], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.address = f"http://127.0.0.1:{self.port}/"
        for _ in range(600):
            try:
                exchange("GET", self.address)
                return
            except OSError:
                time.sleep(0.05)
        raise Violation("Radicale does not answer")

    def environment(self):
        return {"KALENDS_PRIVATE_CALDAV_HOSTS": f"127.0.0.1:{self.port}"}

    def connect(self, call, path):
        call("PUT", f"{path}/account", {"url": self.address, "username": USER, "password": PASSWORD})

    def send(self, method, path, body=None, **fields):
        kind = {"Content-Type": "text/calendar; charset=utf-8"} if method == "PUT" else {}
        return exchange(method, self.address.rstrip("/") + path, body, {
            **self.fields, **kind, **{name.replace("_", "-"): value for name, value in fields.items()}})

    @staticmethod
    def time(text, name):
        """The instant of a date-time property of the first event; none for whole days."""
        event = text[text.index("BEGIN:VEVENT"):]
        found = re.search(rf"^{name}(;[^:]*)?:(\d{{8}})(?:T(\d{{6}})(Z?))?\r?$", event, re.M)
        if found is None or found[3] is None:
            return None
        moment = datetime.strptime(found[2] + found[3], "%Y%m%d%H%M%S")
        zone = re.search(r"TZID=\"?([^;:\"]+)", found[1] or "")
        return int(moment.replace(tzinfo=ZoneInfo(zone[1]) if zone else timezone.utc).timestamp())

    def events(self, calendar):
        path = urllib.parse.urlsplit(calendar).path
        query = (b'<calendar-query xmlns="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:"><D:prop><D:getetag/></D:prop>'
                 b'<filter><comp-filter name="VCALENDAR"/></filter></calendar-query>')
        status, _, text = self.send("REPORT", path, query, Depth="1")
        if status != 207:
            raise Violation(f"Radicale lists with {status}")
        events = []
        for href in re.findall(r"<(?:\w+:)?href>([^<]+\.ics)</", text.decode()):
            status, fields, body = self.send("GET", href)
            if status != 200:
                continue
            raw = re.sub(r"\r?\n[ \t]", "", body.decode())
            etag = {name.lower(): value for name, value in fields.items()}["etag"]
            title = re.search(r"^SUMMARY(?:;[^:]*)?:(.*?)\r?$", raw[raw.index("BEGIN:VEVENT"):], re.M)
            events.append({
                "id": href, "title": title[1].replace("\\,", ",") if title else "", "repeats": "\nRRULE" in raw,
                "start": self.time(raw, "DTSTART"), "end": self.time(raw, "DTEND"), "raw": raw, "etag": etag})
        return events

    def put(self, event, text):
        status, _, answer = self.send("PUT", event["id"], text.encode(), If_Match=event["etag"])
        if status == 412:
            # A run was faster: the person looks again another time.
            return False
        if status >= 300:
            raise Violation(f"Radicale answers a person {status}: {answer[:300]!r}")
        return True

    @staticmethod
    def replaced(raw, name, line):
        head, tail = raw.split("BEGIN:VEVENT", 1)
        return head + "BEGIN:VEVENT" + re.sub(rf"^{name}[;:].*$", line, tail, count=1, flags=re.M)

    def rename(self, calendar, event, title):
        return self.put(event, self.replaced(event["raw"], "SUMMARY", f"SUMMARY:{title}\r"))

    def move(self, calendar, event, start, end):
        text = event["raw"]
        for name, moment in (("DTSTART", start), ("DTEND", end)):
            compact = rfc3339(moment).replace("-", "").replace(":", "")
            text = self.replaced(text, name, f"{name}:{compact}\r")
        return self.put(event, text)

    def delete(self, calendar, event):
        self.send("DELETE", event["id"])

    def add(self, calendar, title, start, end):
        times = [rfc3339(moment).replace("-", "").replace(":", "") for moment in (start, end)]
        text = "\r\n".join([
            "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//person//EN", "BEGIN:VEVENT", f"UID:{title}@person",
            "DTSTAMP:20261121T010000Z", f"DTSTART:{times[0]}", f"DTEND:{times[1]}", f"SUMMARY:{title}", "END:VEVENT",
            "END:VCALENDAR", ""])
        status, _, _ = self.send("PUT", urllib.parse.urlsplit(calendar).path + f"{title}.ics", text.encode())
        if status >= 300:
            raise Violation(f"Radicale does not take the event of a person: {status}")

    def occurrences(self, calendar, event):
        if not event["repeats"]:
            return [(event["start"], event["end"], event["title"])]
        import recurring_ical_events
        found = recurring_ical_events.of(self.icalendar().Calendar.from_ical(event["raw"])).between(
            datetime.fromtimestamp(event["start"] - 86_400, timezone.utc),
            datetime.fromtimestamp(event["start"] + 400 * 86_400, timezone.utc))
        return sorted(
            (int(one["DTSTART"].dt.timestamp()), int(one["DTEND"].dt.timestamp()), str(one["SUMMARY"])) for one in found
            if one.get("STATUS") != "CANCELLED")

    @staticmethod
    def icalendar():
        import icalendar
        return icalendar

    def change(self, event, act):
        """Changes the calendar of an event as a program does that reads and writes it whole."""
        whole = self.icalendar().Calendar.from_ical(event["raw"])
        master = next(one for one in whole.walk("VEVENT") if "RECURRENCE-ID" not in one)
        act(whole, master)
        return self.put(event, whole.to_ical().decode())

    @staticmethod
    def original(master, start):
        """When an occurrence begins, on the clock of its series."""
        return datetime.fromtimestamp(start, timezone.utc).astimezone(master["DTSTART"].dt.tzinfo)

    @staticmethod
    def override(whole, start):
        return next((one for one in whole.walk("VEVENT") if "RECURRENCE-ID" in one
                     and int(one["RECURRENCE-ID"].dt.timestamp()) == start), None)

    def move_one(self, calendar, event, original, start, end):
        def act(whole, master):
            own = self.override(whole, original)
            if own is None:
                own = self.icalendar().Event()
                for name, value in master.property_items():
                    if name not in ("BEGIN", "END", "RRULE", "EXDATE", "RDATE", "DTSTART", "DTEND", "DURATION"):
                        own[name] = value
                own.add("RECURRENCE-ID", self.original(master, original))
                whole.add_component(own)
            for name, moment in (("DTSTART", start), ("DTEND", end)):
                own.pop(name, None)
                own.add(name, datetime.fromtimestamp(moment, timezone.utc))
        return self.change(event, act)

    def delete_one(self, calendar, event, original):
        def act(whole, master):
            own = self.override(whole, original)
            if own is not None:
                whole.subcomponents.remove(own)
            master.add("EXDATE", self.original(master, original))
        return self.change(event, act)

    def set_count(self, calendar, event, count):
        return self.put(event, self.replaced_rule(event["raw"], count))

    @staticmethod
    def replaced_rule(raw, count):
        return re.sub(r"^(RRULE:.*COUNT=)\d+", rf"\g<1>{count}", raw, flags=re.M)

    def restore(self, calendar, event):
        self.send("PUT", event["id"], event["raw"].encode(), If_None_Match="*")

    def copy(self, calendar, event, title):
        text = re.sub(r"^UID:.*$", f"UID:{title.replace(' ', '-')}@person\r", event["raw"], flags=re.M)
        text = re.sub(r"^SUMMARY.*$", f"SUMMARY:{title}\r", text, flags=re.M)
        path = urllib.parse.urlsplit(calendar).path + f"{title.replace(' ', '-')}.ics"
        status, _, answer = self.send("PUT", path, text.encode())
        if status >= 300:
            raise Violation(f"Radicale does not take a copy: {status} {answer[:200]!r}")
