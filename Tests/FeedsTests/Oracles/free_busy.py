# SPDX-License-Identifier: Apache-2.0
"""When the reader of a feed is busy, by the PyPI packages icalendar and recurring-ical-events.

    free_busy.py ZONE FROM TO

Reads lines `name<TAB>feed<TAB>what its address says of free time<TAB>what it says of available time, too`, the latter three in
base64, from standard input. Prints JSON arrays: `[name, "feed", FBTYPE, start, end]` for each period of what the feed's events
take between FROM and TO, `[name, "said", FBTYPE, start, end]` and `[name, "available", "", start, end]` for what its address
says. Dates and times without a zone are on the clock of ZONE.
"""

import base64
import datetime
import json
import sys
import warnings
import zoneinfo

import icalendar
import recurring_ical_events

ZONE, UTC = zoneinfo.ZoneInfo(sys.argv[1]), datetime.timezone.utc
FIRST, LAST = (datetime.datetime.fromisoformat(text) for text in sys.argv[2:])
MARGIN = datetime.timedelta(days=3)


def instant(time):
    if not isinstance(time, datetime.datetime):
        time = datetime.datetime.combine(time, datetime.time())
    return time.replace(tzinfo=time.tzinfo or ZONE).astimezone(UTC)


def united(periods):
    """Periods in order, those that meet as one."""
    found = []
    for start, end in sorted(periods):
        start, end = max(start, FIRST), min(end, LAST)
        if start >= end:
            continue
        if found and found[-1][1] >= start:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def taken(content):
    """The periods of a feed by kind; what is transparent or cancelled takes no time."""
    periods = {}
    for calendar in icalendar.Calendar.from_ical(content, multiple=True):
        for event in recurring_ical_events.of(calendar).between(FIRST - MARGIN, LAST + MARGIN):
            status = str(event.get("STATUS", "")).upper()
            if str(event.get("TRANSP", "")).upper() == "TRANSPARENT" or status == "CANCELLED":
                continue
            kind = "BUSY-TENTATIVE" if status == "TENTATIVE" else "BUSY"
            periods.setdefault(kind, []).append((instant(event["DTSTART"].dt), instant(event.end)))
    return {kind: united(found) for kind, found in periods.items()}


def said(content):
    """The periods of a VFREEBUSY by kind, and those in which somebody is available (RFC 7953)."""
    calendar = icalendar.Calendar.from_ical(content)
    periods = {}
    for part in calendar.walk("VFREEBUSY"):
        assert not part.errors, part.errors
        assert instant(part["DTSTART"].dt) == FIRST and instant(part["DTEND"].dt) == LAST, part
        lines = part.get("FREEBUSY", [])
        for line in lines if isinstance(lines, list) else [lines]:
            kind = str(line.params.get("FBTYPE", "BUSY"))
            periods.setdefault(kind, []).extend([(line.start, line.end)] if hasattr(line, "start") else [line.dt])
    available = []
    for part in calendar.walk("VAVAILABILITY"):
        assert not part.errors, part.errors
        assert all(name in part for name in ("UID", "DTSTAMP", "DTSTART", "DTEND")), part
        for one in part.walk("AVAILABLE"):
            assert all(name in one for name in ("UID", "DTSTAMP", "DTSTART")), one
            available.append((one["DTSTART"].dt, one["DTEND"].dt))
    return periods, available


def main():
    warnings.simplefilter("ignore")

    def tell(name, what, kind, periods):
        for start, end in sorted(periods):
            print(json.dumps([name, what, kind, *(one.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for one in (start, end))]))

    for line in sys.stdin:
        name, feed, text, both = line.rstrip("\n").split("\t")
        for kind, periods in taken(base64.b64decode(feed)).items():
            tell(name, "feed", kind, periods)
        periods, none = said(base64.b64decode(text))
        assert not none, none
        for kind, found in periods.items():
            tell(name, "said", kind, found)
        tell(name, "available", "", said(base64.b64decode(both))[1])


main()
