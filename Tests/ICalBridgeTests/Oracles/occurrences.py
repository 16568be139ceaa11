# SPDX-License-Identifier: Apache-2.0
"""Expands calendars with the PyPI packages `icalendar` and `recurring-ical-events`.

    occurrences.py FIRST END

Reads lines `path<TAB>calendars in base64` from standard input. Prints a JSON array `[path, UID, start]` for each
occurrence from the year FIRST to the one before END, and `[path]` for a file that they refuse.
"""

import base64
import datetime
import json
import sys

import icalendar
import recurring_ical_events

FIRST, LAST = (datetime.date(int(year), 1, 1) for year in sys.argv[1:])


def text(start):
    if isinstance(start, datetime.datetime) and start.tzinfo:
        return start.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return start.isoformat()


for line in sys.stdin:
    path, content = line.rstrip("\n").split("\t")
    try:
        found = [
            [path, str(event.get("UID", "")), text(event["DTSTART"].dt)]
            for calendar in icalendar.Calendar.from_ical(base64.b64decode(content), multiple=True)
            for event in recurring_ical_events.of(calendar).between(FIRST, LAST)
        ]
    except Exception:  # whatever they raise, their verdict is that they cannot read it
        found = [[path]]
    for row in found:
        print(json.dumps(row))
