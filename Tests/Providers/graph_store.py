# SPDX-License-Identifier: Apache-2.0
"""A mailbox with calendars, events and series, as Exchange keeps them behind Graph."""

import base64
import copy
import itertools
import time
import uuid
from datetime import date, datetime, timedelta, timezone

import graph_series as series

UTC = timezone.utc
READ_ONLY = {
    "id", "changeKey", "createdDateTime", "lastModifiedDateTime", "iCalUId", "type", "seriesMasterId", "bodyPreview",
    "originalStart", "originalStartTimeZone", "originalEndTimeZone", "isOrganizer", "isCancelled", "webLink",
    "cancelledOccurrences", "exceptionOccurrences",
}


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, status, code, message, **more):
        super().__init__(message)
        self.status, self.code, self.message, self.more = status, code, message, more


def wall(value):
    """The wall clock's time of a dateTimeTimeZone, and its zone."""
    text, name = value.get("dateTime"), value.get("timeZone") or "UTC"
    try:
        clock = series.zone(name)
    except LookupError:
        raise Refused(400, "TimeZoneNotSupportedException", f"A valid TimeZone value must be specified: {name}.") from None
    try:
        moment = datetime.fromisoformat(text.split(".")[0].rstrip("Z"))
    except (ValueError, AttributeError):
        raise Refused(400, "ErrorPropertyValidationFailure", "A dateTime cannot be read.") from None
    return moment, clock, name


class Event:
    """A single event, or the master of a series."""

    def __init__(self, calendar):
        self.id = "AAkALg" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()
        self.calendar = calendar
        self.props = {}
        self.extended = {}
        self.start = self.end = None
        self.zone = "UTC"
        self.changed = {}
        self.cancelled = set()
        self.key = self.content = 0
        self.created = self.modified = self.written = 0.0

    @property
    def is_series(self):
        return bool(self.props.get("recurrence"))

    def starts(self, low, high):
        """Days and instants of occurrences that begin within a span, cancelled ones left out, moved ones as planned."""
        clock, length = series.zone(self.zone), self.end - self.start
        at = self.start.astimezone(clock)
        for day in series.days(self.props["recurrence"], (high + timedelta(days=2)).date()):
            begin = datetime.combine(day, at.time(), clock).astimezone(UTC)
            if day not in self.cancelled and begin + length >= low - timedelta(days=1):
                yield day, begin, begin + length


JOIN = "https://teams.microsoft.com/l/meetup-join/19%3ameeting_x%40thread.v2/0"
PLACE = "Microsoft Teams Meeting"
JOIN_BLOCK = (
    '<div style="width:100%"><span style="white-space:nowrap; color:#5F5F5F; opacity:.36">' + 80 * "_" + "</span></div>"
    '<div class="me-email-text" lang="en-US"><div><span>Microsoft Teams meeting</span></div>'
    f'<div><a class="me-email-headline" href="{JOIN}">Click here to join the meeting</a></div></div>'
    '<div style="width:100%"><span style="white-space:nowrap">' + 80 * "_" + "</span></div>")


def meeting(new, old):
    """An online meeting is what its block in the body says: Graph adds it, and a body without it has no meeting."""
    content = (new.get("body") or {}).get("content") or ""
    if new.get("isOnlineMeeting") and not old.get("isOnlineMeeting"):
        text = content.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "<br>")
        if (new.get("body") or {}).get("contentType") == "html":
            text = content
        new["body"] = {"contentType": "html", "content": f"<html><body><div>{text}</div>{JOIN_BLOCK}</body></html>"}
        place = (new.get("location") or {}).get("displayName")
        new["location"] = {"displayName": f"{place}; {PLACE}" if place else PLACE}
    elif old.get("isOnlineMeeting") and JOIN not in content:
        new["isOnlineMeeting"] = False


class Mailbox:
    """Everything of one person."""

    def __init__(self, settings):
        self.settings = settings
        self.calendars, self.events, self.transactions, self.bin = {}, {}, {}, {}
        self.versions = itertools.count(1)
        self.log = []
        self.add_calendar("Calendar", {}, True)

    # Calendars

    def add_calendar(self, name, extended, is_default=False):
        if any(c["name"].lower() == name.lower() for c in self.calendars.values()):
            raise Refused(409, "ErrorFolderExists", "A folder with the specified name already exists.")
        ident = "AAMkCal" + uuid.uuid4().hex + "="
        self.calendars[ident] = {
            "id": ident, "name": name, "color": "auto", "hexColor": "", "isDefaultCalendar": is_default,
            "changeKey": uuid.uuid4().hex, "canShare": True, "canViewPrivateItems": True, "canEdit": True,
            "isRemovable": not is_default, "owner": {"name": "Alice", "address": "alice@example.test"}, "_x": extended}
        return self.calendars[ident]

    # Writing

    def touch(self, event, content=True):
        event.key = next(self.versions)
        if content:
            event.content = event.key
        event.modified = time.time() + self.settings["skew"]
        self.log.append((event.key, event.calendar, event.id))

    def create(self, calendar, body):
        tx = body.get("transactionId")
        if tx is not None and tx in self.transactions:
            more = {"@event.existingEventId": self.transactions[tx]} if self.settings["namesExisting"] else {}
            raise Refused(
                self.settings["duplicateStatus"], "ErrorDuplicateTransactionId",
                "Your request can't be completed. The TransactionId specified in the request has already been used to "
                "create a different event.", **more)
        if not body.get("start") or not body.get("end"):
            raise Refused(400, "ErrorPropertyValidationFailure", "Start and end are required.")
        event = Event(calendar)
        event.props = {
            "subject": "", "body": {"contentType": "html", "content": ""}, "location": {"displayName": ""},
            "showAs": "busy", "isReminderOn": True, "reminderMinutesBeforeStart": 15, "isAllDay": False,
            "sensitivity": "normal", "importance": "normal", "attendees": [], "categories": [], "recurrence": None}
        event.created = time.time() + self.settings["skew"]
        event.written = time.monotonic()
        self.apply(event, body)
        if tx is not None:
            event.props["transactionId"] = tx
            self.transactions[tx] = event.id
        self.events[event.id] = event
        self.touch(event)
        return event

    def apply(self, event, body):
        """Merges the properties of a body; the event is unchanged when that is refused."""
        new = copy.deepcopy(event.props)
        for name, value in body.items():
            if name in READ_ONLY or "@odata" in name or name in ("transactionId", "singleValueExtendedProperties"):
                continue
            new[name] = value
        if len(new["subject"] or "") > 255:
            raise Refused(400, "ErrorPropertyValidationFailure", "The subject is longer than 255 characters.")
        meeting(new, event.props)
        start, end, zone = event.start, event.end, event.zone
        if "start" in body or "end" in body or "isAllDay" in body:
            start, end, zone = self.times(event, body, new["isAllDay"])
        if new["recurrence"]:
            first = start.astimezone(series.zone(zone)).date()
            if "recurrence" not in body and event.is_series:
                new["recurrence"]["range"]["startDate"] = first.isoformat()
            try:
                series.check(new["recurrence"], first)
                begins = next(series.days(new["recurrence"], first + timedelta(days=4000)))
            except (series.BadPattern, LookupError, StopIteration) as error:
                raise Refused(400, "ErrorPropertyValidationFailure", f"The recurrence is not valid: {error}.") from None
            # Exchange begins a series on the first day of its pattern.
            start, end = start + (begins - first), end + (begins - first)
        moved = event.is_series and ("recurrence" in body or start != event.start or end != event.end)
        if moved and self.settings["resetsExceptions"]:
            event.changed, event.cancelled = {}, set()
        elif moved and event.changed:
            # An occurrence that the series no longer has takes no place, changed or not.
            days = set(series.days(new["recurrence"], max(event.changed))) if new["recurrence"] else set()
            event.changed = {day: one for day, one in event.changed.items() if day in days}
        event.props, event.start, event.end, event.zone = new, start, end, zone
        for one in body.get("singleValueExtendedProperties") or []:
            event.extended[one["id"].lower()] = (one["id"], one["value"])

    @staticmethod
    def times(event, body, is_all_day):
        if "start" in body:
            moment, clock, zone = wall(body["start"])
        else:
            zone = event.zone
            clock = series.zone(zone)
            moment = event.start.astimezone(clock).replace(tzinfo=None)
        if "end" in body:
            last, end_clock, end_zone = wall(body["end"])
        else:
            end_clock, end_zone = clock, zone
            last = event.end.astimezone(clock).replace(tzinfo=None)
        if is_all_day:
            for name, one in (("Start", moment), ("End", last)):
                if (one.hour, one.minute, one.second) != (0, 0, 0):
                    raise Refused(
                        400, "ErrorInvalidRequest",
                        f"The Event.{name} property for an all-day event needs to be set to midnight.")
            if zone != end_zone or (last - moment) < timedelta(days=1):
                raise Refused(400, "ErrorInvalidRequest", "The duration of an all-day event must be at least 24 hours.")
        start = moment.replace(tzinfo=clock).astimezone(UTC)
        end = last.replace(tzinfo=end_clock).astimezone(UTC)
        if end < start:
            raise Refused(400, "ErrorCalendarEndDateIsEarlierThanStartDate", "The end is before the start.")
        return start, end, zone

    # Finding

    def find(self, ident, calendar=None):
        """An event, or an occurrence as its series and its day."""
        master, _, day = ident.partition(".OCC.")
        event = self.events.get(master)
        gone = Refused(404, "ErrorItemNotFound", "The specified object was not found in the store.")
        if event is None or calendar is not None and event.calendar != calendar:
            raise gone
        if not day:
            return event, None
        day = date.fromisoformat(day)
        if not event.is_series or day in event.cancelled or day not in set(series.days(event.props["recurrence"], day)):
            raise gone
        return event, day

    def planned(self, event, day):
        """When an occurrence would begin and end."""
        clock = series.zone(event.zone)
        begin = datetime.combine(day, event.start.astimezone(clock).time(), clock).astimezone(UTC)
        return begin, begin + (event.end - event.start)

    def patch(self, event, day, body):
        if "transactionId" in body:
            raise Refused(400, "ErrorInvalidRequest", "The TransactionId cannot be changed.")
        if day is None:
            self.apply(event, body)
            return self.touch(event)
        begin, end = self.planned(event, day)
        old = event.changed.get(day)
        single = Event(event.calendar)
        single.props = {**copy.deepcopy(event.props), **(copy.deepcopy(old["props"]) if old else {}), "recurrence": None}
        single.start, single.end, single.zone = (old["start"], old["end"], event.zone) if old else (begin, end, event.zone)
        if body.get("recurrence"):
            raise Refused(400, "ErrorInvalidRequest", "An occurrence does not repeat.")
        self.apply(single, body)
        if single.start != begin:
            around = [d for d in series.days(event.props["recurrence"], day + timedelta(days=4000)) if d not in event.cancelled]
            at = around.index(day)
            low = self.planned(event, around[at - 1])[0] if at else None
            high = self.planned(event, around[at + 1])[0] if at + 1 < len(around) else None
            if low and single.start <= low or high and single.start >= high:
                raise Refused(
                    400, "ErrorOccurrenceCrossingBoundary",
                    "The modified occurrence is crossing or overlapping an adjacent occurrence.")
        own = {k: v for k, v in single.props.items() if v != event.props.get(k) and k != "recurrence"}
        event.changed[day] = {"props": own, "start": single.start, "end": single.end, "version": next(self.versions)}
        self.touch(event, content=False)

    def delete(self, event, day):
        if day is None:
            self.bin[event.id] = self.events.pop(event.id)
            self.log.append((next(self.versions), event.calendar, event.id))
            return
        event.changed.pop(day, None)
        event.cancelled.add(day)
        self.touch(event, content=False)

    def restore(self, ident):
        """A person takes an event out of the bin."""
        if ident in self.bin:
            self.events[ident] = self.bin.pop(ident)
            self.touch(self.events[ident])

    def move(self, calendar):
        """Gives the events of a calendar other ids; what was deleted is forgotten."""
        for event in [one for one in self.events.values() if one.calendar == calendar]:
            del self.events[event.id]
            event.id = Event(calendar).id
            event.props.pop("transactionId", None)
            self.events[event.id] = event
            self.touch(event)
        self.bin = {ident: event for ident, event in self.bin.items() if event.calendar != calendar}

    # Views

    def shown(self, event):
        """Whether searches and views know the event already."""
        return time.monotonic() - event.written >= self.settings["lag"]

    def view(self, calendar, low, high):
        """What a calendar view has: id, version, event and day of each item; masters come along."""
        for event in list(self.events.values()):
            if event.calendar != calendar or not self.shown(event):
                continue
            if not event.is_series:
                if event.start < high and (event.end > low or event.start >= low):
                    yield event.id, event.key, event, None
                continue
            found = []
            for day, begin, end in event.starts(low, high):
                change = event.changed.get(day)
                if change:
                    begin, end = change["start"], change["end"]
                if begin < high and (end > low or begin >= low):
                    version = (event.content, change["version"] if change else 0)
                    found.append((f"{event.id}.OCC.{day}", version, event, day))
            if found:
                yield event.id, event.content if self.settings["silentCancellations"] else event.key, event, None
                yield from found
