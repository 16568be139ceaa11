# SPDX-License-Identifier: Apache-2.0
"""Expands calendars with a library of another project.

    occurrences.py READER FIRST END

READER is `icalendar`, with recurring-ical-events, or `ical`, in the mode in which Home Assistant uses it. Reads lines
`name<TAB>calendars in base64` from standard input. Prints a JSON array `[name, UID, start, end]` for each occurrence
from the year FIRST to the one before END, `[name, UID]` for a series that the library is known to get wrong, and
`[name]` for a file that it refuses.
"""

import base64
import datetime
import json
import logging
import signal
import sys
import warnings

READER = sys.argv[1]
FIRST, LAST = (datetime.date(int(year), 1, 1) for year in sys.argv[2:])
UTC = datetime.timezone.utc


def text(time):
    if isinstance(time, datetime.datetime) and time.tzinfo:
        return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return time.isoformat()


def with_icalendar(content):
    import icalendar
    import recurring_ical_events

    for calendar in icalendar.Calendar.from_ical(content, multiple=True):
        for event in recurring_ical_events.of(calendar).between(FIRST, LAST):
            yield str(event.get("UID", "")), text(event["DTSTART"].dt), text(event.end)


def with_ical(content):
    from ical.calendar_stream import IcsCalendarStream
    from ical.compat import enable_compat_mode
    from ical_reader import cannot_expand

    first, last = (datetime.datetime(day.year, 1, 1, tzinfo=UTC) for day in (FIRST, LAST))
    with enable_compat_mode(content.decode("utf-8", "replace")) as words:
        for calendar in IcsCalendarStream.from_ics(words).calendars:
            doubtful = set(cannot_expand(calendar))
            for uid in doubtful:
                yield (uid,)
            for event in calendar.timeline_tz(UTC).overlapping(first, last):
                if event.uid not in doubtful:
                    yield event.uid or "", text(event.dtstart), text(event.end)


def too_long(*_):
    raise TimeoutError("too long")


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, too_long)
    expand = {"icalendar": with_icalendar, "ical": with_ical}[READER]
    for line in sys.stdin:
        name, content = line.rstrip("\n").split("\t")
        # A rule that never meets a day takes a reader longer than anyone waits.
        signal.alarm(240)
        try:
            found = [[name, *row] for row in expand(base64.b64decode(content))]
        except Exception:  # whatever they raise, their verdict is that they cannot read it
            found = [[name]]
        finally:
            signal.alarm(0)
        for row in found:
            print(json.dumps(row))


main()
