# SPDX-License-Identifier: Apache-2.0
"""From what a client stores to occurrences. The rules are unrolled by dateutil, on wall clock times."""

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

from schedule import Occurrence, utc


def series_starts(start, rule, exdates=(), replaced=()):
    """The instants of a series: `start` is aware, `exdates` and `replaced` are instants to leave out."""
    wall = start.replace(tzinfo=None)
    zone = start.tzinfo
    # dateutil wants UNTIL in the kind of time it walks in, so it is compared here, as an instant.
    parts = [part for part in rule.split(";") if not part.upper().startswith("UNTIL=")]
    until = next((part[6:] for part in rule.split(";") if part.upper().startswith("UNTIL=")), None)
    last = datetime.strptime(until, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc) if until else None
    gone = {utc(moment) for moment in (*exdates, *replaced)}
    starts = []
    for moment in rrulestr(";".join(parts), dtstart=wall):
        aware = moment.replace(tzinfo=zone)
        # A rule without an end would go on for ever; none is put in that reaches this far.
        if (last and aware.astimezone(timezone.utc) > last) or moment > wall + timedelta(days=4000):
            break
        if utc(aware) not in gone:
            starts.append(aware)
    return starts


def unrolled(uid, start, end, rule, exdates, replaced, **texts):
    length = end.astimezone(timezone.utc) - start.astimezone(timezone.utc)
    return [
        Occurrence(uid, utc(moment), utc(moment.astimezone(timezone.utc) + length), **texts)
        for moment in series_starts(start, rule, exdates, replaced)
    ]


def zone(name):
    return timezone.utc if name == "UTC" else ZoneInfo(name)
