# SPDX-License-Identifier: Apache-2.0
"""Reads a feed with two libraries that share no code with Kalends and prints, a line each, what an event says.

Usage: read_feed.py icalendar|ical FILE
"""

import datetime
import json
import sys


def instant(value):
    """A date as it is, a time in UTC."""
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return value.isoformat()


def with_icalendar(text):
    from icalendar import Calendar

    calendar = Calendar.from_ical(text)
    assert not calendar.errors, calendar.errors
    for event in calendar.walk("VEVENT"):
        assert not event.errors, event.errors
        alarms = [int(alarm["TRIGGER"].dt.total_seconds() // -60) for alarm in event.walk("VALARM")]
        yield {
            "uid": str(event["UID"]),
            "summary": str(event["SUMMARY"]),
            "start": instant(event["DTSTART"].dt),
            "end": instant(event["DTEND"].dt),
            "description": str(event["DESCRIPTION"]) if "DESCRIPTION" in event else None,
            "alarms": sorted(alarms),
        }


def with_ical(text):
    from ical.calendar_stream import IcsCalendarStream

    calendar = IcsCalendarStream.calendar_from_ics(text)
    for event in calendar.events:
        alarms = [int(alarm.trigger.total_seconds() // -60) for alarm in event.alarm or []]
        yield {
            "uid": event.uid,
            "summary": event.summary,
            "start": instant(event.dtstart),
            "end": instant(event.dtend),
            "description": event.description,
            "alarms": sorted(alarms),
        }


reader = {"icalendar": with_icalendar, "ical": with_ical}[sys.argv[1]]
with open(sys.argv[2], encoding="utf-8", newline="") as file:
    for entry in sorted(reader(file.read()), key=lambda e: (e["uid"], e["start"])):
        print(json.dumps(entry, sort_keys=True, ensure_ascii=False))
