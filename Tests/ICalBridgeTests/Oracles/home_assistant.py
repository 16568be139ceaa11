# SPDX-License-Identifier: Apache-2.0
"""How Home Assistant's remote calendar reads files: python's ical in the mode in which Home Assistant uses it.

    home_assistant.py FILE...

Prints a line for each file, `refuses|nothing|takes<TAB>FILE<TAB>reason`; `nothing` is a file in which it finds no whole
calendar, so that it shows nothing without a complaint. A file that it reads, and whose days it cannot look up as Home
Assistant does for each view and for the calendar's state, is refused, too.
"""

import datetime
import logging
import signal
import sys
import warnings

from ical.calendar_stream import IcsCalendarStream
from ical.compat import enable_compat_mode


ZONE = datetime.timezone.utc
NOW = datetime.datetime(2026, 6, 1, tzinfo=ZONE)


def too_long(*_):
    raise TimeoutError("too long")


def look_up(calendar):
    """The next event, and those of two years."""
    signal.alarm(10)
    try:
        timeline = calendar.timeline_tz(ZONE)
        next(iter(timeline.active_after(NOW)), None)
        year = datetime.timedelta(365)
        for _ in timeline.overlapping(NOW - year, NOW + year):
            pass
    except TimeoutError:
        # A rule that never meets a day refuses nothing; it takes a processor.
        pass


def outcome(path):
    with open(path, "rb") as file:
        text = file.read().decode("utf-8", "replace")
    # A zone that changes every second takes it longer than anyone waits.
    signal.alarm(10)
    try:
        with enable_compat_mode(text) as text:
            calendar = IcsCalendarStream.calendar_from_ics(text)
            if calendar.events:
                look_up(calendar)
                return "takes", ""
            return ("takes" if IcsCalendarStream.from_ics(text).calendars else "nothing"), ""
    # Some faults escape as other errors than CalendarParseError; the calendar is unavailable then, too.
    except Exception as error:
        detail = getattr(error, "detailed_error", None) or ""
        return "refuses", " ".join(f"{error} {detail}".split())
    finally:
        signal.alarm(0)


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, too_long)
    for path in sys.argv[1:]:
        result, reason = outcome(path)
        print(f"{result}\t{path}\t{reason[:400]}")


main()
