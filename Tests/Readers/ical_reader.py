# SPDX-License-Identifier: Apache-2.0
"""Reads feeds with python's ical, Home Assistant's reader, which refuses a whole file for one wrong property.

Usage: ical_reader.py FROM TO FILE...
"""

import datetime

import shape
from ical.calendar_stream import IcsCalendarStream
from ical.types.recur import RecurrenceId


def recurrence_id(item):
    """The library keeps the text of a RECURRENCE-ID and its zone."""
    if item.recurrence_id is None:
        return ""
    value = RecurrenceId.to_value(item.recurrence_id)
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        value = value.replace(tzinfo=item.recurrence_id.tzinfo)
    return shape.instant(value)


def cannot_expand(calendar):
    """The series that version 14 is known to get wrong, whoever wrote them."""
    for item in calendar.events:
        # It compares a RECURRENCE-ID as text, without the Z of UTC, and knows no RANGE.
        if item.recurrence_id and (item.recurrence_id.endswith("Z") or item.recurrence_id.range.value != "NONE"):
            yield item.uid
        # Without an RRULE it forgets DTSTART.
        if item.rdate and not item.rrule:
            yield item.uid


def word(value):
    return str(getattr(value, "value", value) or "")


def read(text, window, complain):
    stream = IcsCalendarStream.from_ics(text)
    if len(stream.calendars) != 1:
        complain(f"{len(stream.calendars)} calendars")
    calendar = stream.calendars[0]
    first, last = [datetime.datetime.fromisoformat(t.replace("Z", "+00:00")) for t in window]
    occurrences = {}
    doubtful = set(cannot_expand(calendar))
    series = {e.uid for e in calendar.events if e.rrule or e.rdate}
    for found in calendar.timeline_tz(datetime.timezone.utc).overlapping(first, last):
        if found.uid in series:
            occurrences.setdefault(found.uid, []).append(
                (shape.instant(found.dtstart), shape.instant(found.end), found.summary or "")
            )
    for item in calendar.events:
        entry = shape.event(
            "VEVENT",
            item.uid,
            recurrence_id(item),
            shape.instant(item.dtstart),
            shape.instant(item.end),
            item.summary,
            item.description,
            item.location,
            word(item.status),
        )
        if item.recurrence_id is None:
            entry["occurrences"] = shape.pick(occurrences.get(item.uid, []), window)
        if item.uid in doubtful:
            entry["occurrences"] = None
        yield entry
    for item in calendar.todos:
        yield shape.event(
            "VTODO",
            item.uid,
            recurrence_id(item),
            shape.instant(item.dtstart),
            shape.instant(item.due),
            item.summary,
            item.description,
            item.location,
            word(item.status),
        )


if __name__ == "__main__":
    shape.main(read)
