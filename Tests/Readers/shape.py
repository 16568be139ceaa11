# SPDX-License-Identifier: Apache-2.0
"""What the readers in this folder print, so that one answer can be compared with another.

A line of JSON for each event of each feed, or for each complaint about a feed. Times are in UTC, days are days, and
what is not said is an empty text.
"""

import datetime
import json
import os
import sys
import traceback

UTC = datetime.timezone.utc

# Occurrences of a series that are printed.
MOST = 20


def instant(value):
    """A day as it is, a time in UTC."""
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            return value.strftime("%Y-%m-%dT%H:%M:%S floating")
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return value.isoformat()


def event(kind, uid, recurrence_id, start, end, summary, description, location, status):
    """An event in the words that all readers share."""
    return {
        "kind": kind,
        "uid": str(uid or ""),
        "recurrenceID": recurrence_id,
        "start": start,
        "end": end,
        "summary": str(summary or ""),
        "description": str(description or ""),
        "location": str(location or ""),
        "status": str(status or ""),
        "occurrences": [],
    }


def pick(occurrences, window):
    """The first occurrences that start in the window, as texts."""
    first, last = window

    def moment(start):
        return start if "T" in start else start + "T00:00:00Z"

    inside = [o for o in occurrences if first <= moment(o[0]) < last]
    inside.sort(key=lambda o: (moment(o[0]), o))
    return [f"{start}/{end} {summary}" for start, end, summary in inside[:MOST]]


def main(read):
    """Reads the files that are named behind a window's two instants.

    `read(text, window, complain)` yields the events of a text.
    """
    window = (sys.argv[1], sys.argv[2])
    for path in sys.argv[3:]:
        feed = os.path.basename(path)

        def say(entry, feed=feed):
            print(json.dumps({"feed": feed, **entry}, sort_keys=True, ensure_ascii=False))

        def complain(words, say=say):
            say({"complaint": str(words)})

        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
        try:
            # All events or none: half an answer would look like a difference in each event.
            for entry in list(read(text, window, complain)):
                say(entry)
        except Exception:
            complain(traceback.format_exc(limit=-2))
