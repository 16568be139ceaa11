# SPDX-License-Identifier: Apache-2.0
"""Counts the VEVENTs of calendar files with an independent reader, the PyPI package `icalendar`.

Reads paths from standard input, one a line, and prints `path<TAB>count`, or `path<TAB>error` for a file that
package refuses.
"""

import sys

import icalendar


def count(path):
    with open(path, "rb") as file:
        calendars = icalendar.Calendar.from_ical(file.read(), multiple=True)
    return sum(len(list(calendar.walk("VEVENT"))) for calendar in calendars)


for line in sys.stdin:
    path = line.rstrip("\n")
    try:
        print(f"{path}\t{count(path)}")
    except Exception:  # whatever it raises, its verdict is that it cannot read the file
        print(f"{path}\terror")
