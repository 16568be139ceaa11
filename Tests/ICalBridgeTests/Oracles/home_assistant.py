# SPDX-License-Identifier: Apache-2.0
"""What Home Assistant's remote calendar makes of files: python's ical in the mode in which Home Assistant uses it.

    home_assistant.py FILE...

Prints a line for each file, `refuses|nothing|takes<TAB>FILE<TAB>reason`; `nothing` is a file in which it finds no whole
calendar, so that it shows nothing without a complaint.
"""

import logging
import signal
import sys
import warnings

from ical.calendar_stream import IcsCalendarStream
from ical.compat import enable_compat_mode


def too_long(*_):
    raise TimeoutError("too long")


def outcome(path):
    with open(path, "rb") as file:
        text = file.read().decode("utf-8", "replace")
    # A zone that changes every second takes it longer than anyone waits.
    signal.alarm(10)
    try:
        with enable_compat_mode(text) as text:
            if IcsCalendarStream.calendar_from_ics(text).events:
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
