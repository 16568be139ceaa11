# SPDX-License-Identifier: Apache-2.0
"""Reads the to-dos and journal entries of files with python's icalendar.

Usage: todo_reader.py FILE...

A line of JSON for each file: its components with their kind, UID, RECURRENCE-ID, and the values by property of what
says how far they are done and what they belong to; or why the file cannot be read.
"""

import json
import sys

import shape
from icalendar import Calendar

# The start, the due time and the rules may be said in another way that means the same.
NAMES = (
    "STATUS",
    "PRIORITY",
    "PERCENT-COMPLETE",
    "COMPLETED",
    "RELATED-TO",
    "COMMENT",
    "RESOURCES",
    "GEO",
)


def values(component, name):
    found = component.get(name, [])
    return sorted(value.to_ical().decode() for value in (found if isinstance(found, list) else [found]))


def times(component, name):
    return shape.instant(component[name].dt) if name in component else ""


def read(path):
    with open(path, "rb") as file:
        calendars = Calendar.from_ical(file.read(), multiple=True)
    return [
        {
            "kind": component.name,
            "uid": str(component.get("UID", "")),
            "recurrenceID": times(component, "RECURRENCE-ID"),
            "hasDue": "DUE" in component or "DURATION" in component,
            "descriptions": len(values(component, "DESCRIPTION")),
            "repeats": "RRULE" in component or "RDATE" in component,
            "values": {name: values(component, name) for name in NAMES if name in component},
        }
        for calendar in calendars
        for component in calendar.walk()
        if component.name in ("VTODO", "VJOURNAL")
    ]


for path in sys.argv[1:]:
    try:
        print(json.dumps({"components": read(path)}))
    except Exception as problem:  # A reader that fails says so, whatever it is.
        print(json.dumps({"components": [], "fault": str(problem) or type(problem).__name__}))
