# SPDX-License-Identifier: Apache-2.0
"""What is put into the feed, and which occurrences must come out of it.

The expected instants are computed here from wall clock times, by Python's zoneinfo and dateutil. The feed's own text
is never looked at: a fault in it would otherwise be expected of the clients as well.
"""

from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

HOME = "Europe/Berlin"


@dataclass(frozen=True, order=True)
class Occurrence:
    """One line in a calendar. Times are `2027-03-05T08:30:00Z`; an all-day one has dates, the end excluded."""

    uid: str
    start: str
    end: str
    title: str
    notes: str = ""
    location: str = ""


def in_zone(wall, zone, fold=0):
    """A wall clock time as an instant."""
    return wall.replace(tzinfo=ZoneInfo(zone), fold=fold)


def rfc3339(moment):
    return moment.isoformat(timespec="seconds")


def utc(moment):
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def day_text(day):
    return day.isoformat()


def clock_change(after, zone, forward):
    """The day on which the zone's clocks next go forward or back, found by looking, not from a rule."""
    day = after
    while True:
        noons = [in_zone(datetime.combine(d, time(12)), zone).utcoffset() for d in (day - timedelta(days=1), day)]
        if noons[0] != noons[1] and (noons[1] > noons[0]) == forward:
            return day
        day += timedelta(days=1)


class Schedule:
    def __init__(self, server, today=None):
        self.server = server
        self.today = today or datetime.now(ZoneInfo(HOME)).date()
        self.items = []
        self.expected = {}
        self._uids = {}
        self._fill()

    # -- what is put in ---------------------------------------------------------------------------------------------

    def _add(self, collection, identifier, value, occurrences):
        self.items.append((collection, identifier, value))
        self.expected[(collection, identifier)] = occurrences

    def _task(self, identifier, title, wall, zone=None, minutes=30, fold=0, notes="", reminders=()):
        start = in_zone(wall, zone or HOME, fold)
        value = {"title": title, "dueAt": rfc3339(start), "durationMinutes": minutes, "reminders": list(reminders)}
        if zone:
            value["timeZone"] = zone
        if notes:
            value["notes"] = notes
        end = start.astimezone(timezone.utc) + timedelta(minutes=minutes)
        self._add("tasks", identifier, value, [Occurrence("", utc(start), utc(end), f"CK: {title}", notes)])

    def _series(self, identifier, provider, wall, rule, zone=None, until=None, skipped=(), location="", notes=""):
        """A repeating appointment of 45 minutes; `until` is a wall clock time, `skipped` are places in the row."""
        zone_name = zone or HOME
        start = in_zone(wall, zone_name)
        text = rule
        if until:
            text += ";UNTIL=" + in_zone(until, zone_name).astimezone(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        walls = []
        for moment in rrulestr(rule, dtstart=wall):
            if until and moment > until:
                break
            walls.append(moment)
        starts = [in_zone(moment, zone_name) for moment in walls]
        value = {
            "patientId": "oma", "provider": provider, "startAt": rfc3339(start), "durationMinutes": 45,
            "recurrence": {"rrule": text, "exdates": [rfc3339(starts[index]) for index in skipped]},
        }
        for name, content in (("timeZone", zone), ("location", location), ("notes", notes)):
            if content:
                value[name] = content
        occurrences = [
            Occurrence(
                "", utc(moment), utc(moment.astimezone(timezone.utc) + timedelta(minutes=45)),
                f"CK Appt: Großmutter Eßer - {provider}", notes, location)
            for index, moment in enumerate(starts) if index not in skipped
        ]
        self._add("appointments", identifier, value, occurrences)
        return starts

    def _fill(self):
        today = self.today

        def wall(days, hour, minute=0, second=0):
            return datetime.combine(today + timedelta(days=days), time(hour, minute, second))

        spring = clock_change(today + timedelta(days=2), HOME, forward=True)
        autumn = clock_change(today + timedelta(days=2), HOME, forward=False)

        self._task("plain", "Refill pills", wall(3, 9), reminders=[15])
        self._task("seconds", "To the second", wall(4, 10, 11, 12), minutes=1)
        self._task("past", "Last month", wall(-30, 18), minutes=90)
        self._task(
            "text", "Ärztin anrufen, Brüder; 医者 👩🏽‍⚕️ \\ Ende", wall(5, 23, 45), minutes=60,
            notes="Erste Zeile, mit Komma; Strichpunkt: \\n ist kein Umbruch\nZweite „Zeile“ 日本語 – Ende")
        self._task("long", "Sehr lange Überschrift ー長い題名ー " * 8 + "Ende", wall(6, 7, 30))
        self._task("elsewhere", "Call New York", wall(7, 15, 45), zone="America/New_York")
        self._task("half", "Half an hour off", wall(8, 5, 30), zone="Asia/Kolkata")
        self._task("odd", "Half an hour of summer time", wall(9, 12), zone="Australia/Lord_Howe")
        # One wall clock time that is there twice, an hour apart.
        self._task("first", "First half past two", datetime.combine(autumn, time(2, 30)), fold=0)
        self._task("second", "Second half past two", datetime.combine(autumn, time(2, 30)), fold=1)
        self._task("moved", "Before the change", wall(10, 14), notes="as it was")
        self._task("removed", "Here for now", wall(11, 16))

        first, last = today + timedelta(days=12), today + timedelta(days=14)
        self._add(
            "shifts", "days",
            {"patientId": "oma", "ownerId": "ann", "startDate": day_text(first), "endDate": day_text(last)},
            [Occurrence("", day_text(first), day_text(last + timedelta(days=1)), "CK Shift: Großmutter Eßer - Ann")])

        # From evening to morning over the night that lacks an hour: nine hours on the clock, eight in truth.
        night = [
            in_zone(datetime.combine(spring - timedelta(days=1), time(22)), HOME),
            in_zone(datetime.combine(spring, time(7)), HOME),
        ]
        self._add(
            "shifts", "night",
            {"patientId": "oma", "ownerId": "ben", "startAt": rfc3339(night[0]), "endAt": rfc3339(night[1])},
            [Occurrence("", utc(night[0]), utc(night[1]), "CK Shift: Großmutter Eßer - Benoît")])

        due = in_zone(wall(15, 11), HOME)
        self._add(
            "follow-ups", "report",
            {"description": "Ask for the report", "dueAt": rfc3339(due), "durationMinutes": 20},
            [Occurrence("", utc(due), utc(due + timedelta(minutes=20)), "CK Follow-up: Ask for the report")])

        # Every week over the change of the clocks, with one week left out and one on another day.
        starts = self._series(
            "weekly", "Dr. Wu, Praxis; links", datetime.combine(spring - timedelta(days=25), time(9, 30)),
            "FREQ=WEEKLY;COUNT=8", skipped=(2,), location="Hauptstraße 5, Köln", notes="Bring the card")
        changed = in_zone(starts[4].replace(tzinfo=None) + timedelta(days=1, hours=4, minutes=15), HOME)
        self.occurrence = (
            "weekly", starts[4].astimezone(timezone.utc).strftime("%Y%m%dT%H%M%SZ"),
            {"startAt": rfc3339(changed), "durationMinutes": 90, "provider": "Dr. Späth", "location": "Zimmer 7",
             "notes": "another doctor, another day"})
        self._replace(
            ("appointments", "weekly"), utc(starts[4]),
            Occurrence(
                "", utc(changed), utc(changed + timedelta(minutes=90)), "CK Appt: Großmutter Eßer - Dr. Späth",
                "another doctor, another day", "Zimmer 7"))

        # Its clocks change on other days than those of the circle.
        self._series(
            "abroad", "Clinic", datetime.combine(spring - timedelta(days=40), time(20, 15)), "FREQ=WEEKLY;INTERVAL=1",
            zone="America/New_York", until=datetime.combine(spring + timedelta(days=9), time(20, 15)))
        self._series("ended", "Short course", wall(16, 8), "FREQ=DAILY;COUNT=4")

    def _replace(self, key, start, new):
        old = self.expected[key]
        self.expected[key] = [new if occurrence.start == start else occurrence for occurrence in old]

    # -- over the API -----------------------------------------------------------------------------------------------

    def put(self):
        circle = f"/v1/circles/{self.server.circle}"
        self.server.call("PUT", circle, {"name": "Clients", "timeZone": HOME})
        self.server.call("PUT", f"{circle}/members/ann", {"displayName": "Ann", "role": "owner"})
        self.server.call("PUT", f"{circle}/members/ben", {"displayName": "Benoît", "role": "member"})
        self.server.call("PUT", f"{circle}/patients/oma", {"displayName": "Großmutter Eßer"})
        self.server.batch(
            {"op": "put", "collection": collection, "id": identifier, "value": value}
            for collection, identifier, value in self.items)
        identifier, start, value = self.occurrence
        self.server.item("PUT", "appointments", f"{identifier}/occurrences/{start}", value)
        # Only the UIDs come from the server: it makes them up.
        for key, occurrences in self.expected.items():
            uid = self.server.item("GET", *key)["uid"]
            self.expected[key] = [replace(occurrence, uid=uid) for occurrence in occurrences]

    def uid(self, collection, identifier):
        return self.expected[(collection, identifier)][0].uid

    def change(self):
        """Moves and renames one task; returns its UID."""
        uid = self.uid("tasks", "moved")
        self._task(
            "moved", "After the change, größer", datetime.combine(self.today + timedelta(days=20), time(6, 5, 4)),
            minutes=75, notes="as it is\nnow")
        self.expected["tasks", "moved"] = [replace(self.expected["tasks", "moved"][0], uid=uid)]
        collection, identifier, value = self.items.pop()
        self.server.item("PUT", collection, identifier, value)
        return uid

    def remove(self):
        """Deletes a task and a whole series; returns their UIDs."""
        keys = [("tasks", "removed"), ("appointments", "ended")]
        uids = {self.uid(*key) for key in keys}
        for key in keys:
            self.server.item("DELETE", *key)
            del self.expected[key]
        return uids

    def occurrences(self):
        return sorted(occurrence for group in self.expected.values() for occurrence in group)

    def uids(self):
        """Every title that was ever put in, with its event's UID. No two events share one."""
        for occurrence in self.occurrences():
            if self._uids.setdefault(occurrence.title, occurrence.uid) != occurrence.uid:
                raise ValueError(f"two events are called {occurrence.title}")
        return self._uids

    def span(self):
        """Days that hold every occurrence, with room on both sides."""
        return self.today - timedelta(days=60), self.today + timedelta(days=420)
