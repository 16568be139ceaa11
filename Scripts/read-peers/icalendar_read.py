# SPDX-License-Identifier: Apache-2.0
"""Reads a calendar file with python's icalendar and says how long that took. Usage: icalendar_read.py FILE.ics"""

import sys
import time

import icalendar

data = open(sys.argv[1], "rb").read()
start = time.perf_counter()
calendar = icalendar.Calendar.from_ical(data)
# Values are made when they are asked for.
count = sum(1 for event in calendar.walk("VEVENT") if event.decoded("DTSTART") and event.decoded("SUMMARY"))
spent = (time.perf_counter() - start) * 1000
print(f"{'python icalendar ' + icalendar.__version__ + ': ' + str(count) + ' events with their starts':<58}{spent:.0f} ms")
