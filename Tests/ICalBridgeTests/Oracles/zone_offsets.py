# SPDX-License-Identifier: Apache-2.0
"""Prints how other readers understand the VTIMEZONEs of calendar files, never going by their names.

    zone_offsets.py FIRST END

Reads lines `path<TAB>file in base64` from standard input. Prints a JSON array `[path, TZID, reader, offsets]` for each
VTIMEZONE and each reader: the offsets in seconds at noon on 1 January and 1 July of the years from FIRST to the one
before END, on the zone's own clock and then in UTC. They are null where the reader refuses the zone.

  icalendar  icalendar's Timezone.to_tz() without a look at the name
  libical    icaltimezone_get_utc_offset() and _of_utc_time() of libical, which is told only the component
"""

import base64
import ctypes
import ctypes.util
import datetime
import json
import re
import sys

from icalendar import Timezone

ZONE = re.compile(r"^BEGIN:VTIMEZONE[ \t]*\n(.*?)^END:VTIMEZONE", re.MULTILINE | re.DOTALL | re.IGNORECASE)
NAME = re.compile(r"^TZID[^:\n]*:(.*)\n", re.MULTILINE)
# Other names of the zone, and notes that readers refuse.
NOTES = re.compile(r"^(TZID|TZURL|LAST-MODIFIED|COMMENT|X-[A-Z-]+)[:;].*\n", re.MULTILINE)
NOONS = [
    datetime.datetime(year, month, 1, 12) for year in range(int(sys.argv[1]), int(sys.argv[2])) for month in (1, 7)
]


class Time(ctypes.Structure):
    """icaltimetype of libical 3."""

    _fields_ = [
        (name, ctypes.c_int)
        for name in ("year", "month", "day", "hour", "minute", "second", "is_date", "is_daylight")
    ] + [("zone", ctypes.c_void_p)]


library = ctypes.CDLL(ctypes.util.find_library("ical") or "libical.so.3")


def function(name, result, *arguments):
    call = getattr(library, name)
    call.restype, call.argtypes = result, arguments
    return call


pointer = ctypes.c_void_p
parse = function("icalparser_parse_string", pointer, ctypes.c_char_p)
make = function("icaltimezone_new", pointer)
define = function("icaltimezone_set_component", ctypes.c_int, pointer, pointer)
QUESTION = ctypes.c_int, pointer, ctypes.POINTER(Time), ctypes.POINTER(ctypes.c_int)
DIRECTIONS = [
    function(f"icaltimezone_get_utc_offset{name}", *QUESTION) for name in ("", "_of_utc_time")]


def with_icalendar(zone):
    tz = Timezone.from_ical(zone).to_tz(lookup_tzid=False)
    utc = [noon.replace(tzinfo=datetime.timezone.utc).astimezone(tz).utcoffset() for noon in NOONS]
    return [round(offset.total_seconds()) for offset in [*map(tz.utcoffset, NOONS), *utc]]


def with_libical(zone):
    component, own = parse(zone.replace("\n", "\r\n").encode()), make()
    if not component or not define(own, component):
        raise ValueError("no zone")
    times = [Time(noon.year, noon.month, 1, 12) for noon in NOONS]
    return [
        offset(own, ctypes.byref(time), ctypes.byref(ctypes.c_int())) for offset in DIRECTIONS for time in times]


for line in sys.stdin:
    path, content = line.rstrip("\n").split("\t")
    text = base64.b64decode(content).decode("utf-8", "replace").replace("\r\n", "\n")
    text = text.replace("\n ", "").replace("\n\t", "")
    for body in ZONE.findall(text):
        name = NAME.search(body)
        if not name or not name[1].strip():
            continue
        zone = f"BEGIN:VTIMEZONE\nTZID:Nowhere\n{NOTES.sub('', body)}END:VTIMEZONE\n"
        for reader, read in (("icalendar", with_icalendar), ("libical", with_libical)):
            try:
                offsets = read(zone)
            except Exception:  # whatever it raises, its verdict is that it cannot read the zone
                offsets = None
            print(json.dumps([path, name[1].strip().replace("\\,", ","), reader, offsets]))
