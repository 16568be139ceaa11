# SPDX-License-Identifier: Apache-2.0
"""Reads feeds with python's icalendar, and series with recurring-ical-events when that is installed.

Usage: icalendar_reader.py FROM TO FILE...
"""

import datetime

import shape
from icalendar import Calendar

try:
    import recurring_ical_events
except ImportError:
    recurring_ical_events = None


def parsed(window):
    return [datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) for text in window]


def time(component, name):
    return shape.instant(component[name].dt) if name in component else ""


def end(component):
    """DTEND or DUE, or what the RFC says about an event without either."""
    if component.name == "VTODO":
        return time(component, "DUE")
    return shape.instant(component.end)


def read(text, window, complain):
    calendar = Calendar.from_ical(text)
    for component in calendar.walk():
        for error in component.errors:
            complain(f"{component.name} {component.get('UID', '')}: {error}")
    occurrences = {}
    series = {str(c["UID"]) for c in calendar.walk("VEVENT") if "RRULE" in c or "RDATE" in c}
    if recurring_ical_events:
        first, last = parsed(window)
        for occurrence in recurring_ical_events.of(calendar).between(first, last):
            if str(occurrence["UID"]) in series:
                occurrences.setdefault(str(occurrence["UID"]), []).append(
                    (time(occurrence, "DTSTART"), end(occurrence), str(occurrence.get("SUMMARY", "")))
                )
    for component in calendar.walk("VEVENT") + calendar.walk("VTODO"):
        entry = shape.event(
            component.name,
            component["UID"],
            time(component, "RECURRENCE-ID"),
            time(component, "DTSTART"),
            end(component),
            component.get("SUMMARY"),
            component.get("DESCRIPTION"),
            component.get("LOCATION"),
            component.get("STATUS"),
        )
        if "RECURRENCE-ID" not in component:
            entry["occurrences"] = shape.pick(occurrences.get(entry["uid"], []), window)
            if recurring_ical_events is None:
                entry["occurrences"] = None
        yield entry


if __name__ == "__main__":
    shape.main(read)
