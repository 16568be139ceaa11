# SPDX-License-Identifier: Apache-2.0
"""Expands calendar objects in windows of time with the PyPI packages `icalendar` and `recurring-ical-events`.

Reads lines `key<TAB>object in base64` from standard input. Prints a JSON array for each: `[key, [[start, …], …]]` with
the starts of the occurrences in each window, and `[key]` for an object that they refuse. A window of 20 days begins
every 37 days from 2024 to 2028, at seven minutes past one in UTC.
"""

import base64
import datetime
import json
import sys

import icalendar
import recurring_ical_events

FIRST = datetime.datetime(2024, 1, 1, 1, 7, tzinfo=datetime.timezone.utc)
WINDOWS = [
    (FIRST + datetime.timedelta(days=37 * n), FIRST + datetime.timedelta(days=37 * n + 20))
    for n in range(49)
]


def text(start):
    if isinstance(start, datetime.datetime) and start.tzinfo:
        return start.astimezone(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    return start.strftime("%Y%m%dT%H%M%S" if isinstance(start, datetime.datetime) else "%Y%m%d")


for line in sys.stdin:
    key, content = line.rstrip("\n").split("\t")
    try:
        calendar = icalendar.Calendar.from_ical(base64.b64decode(content))
        query = recurring_ical_events.of(calendar)
        row = [key, [sorted(text(event["DTSTART"].dt) for event in query.between(*window)) for window in WINDOWS]]
    except Exception:  # whatever they raise, their verdict is that they cannot read it
        row = [key]
    print(json.dumps(row))
