# SPDX-License-Identifier: Apache-2.0
"""Reads feeds with libical alone: no code of Kalends stands between, and its own checks judge the result.

Usage: libical_reader.py FROM TO FILE...
"""

import ctypes
import ctypes.util
import datetime
import re

import shape


class Time(ctypes.Structure):
    """icaltimetype of libical 3."""

    _fields_ = [
        (name, ctypes.c_int)
        for name in ("year", "month", "day", "hour", "minute", "second", "is_date", "is_daylight")
    ] + [("zone", ctypes.c_void_p)]


class Span(ctypes.Structure):
    _fields_ = [("start", ctypes.c_long), ("end", ctypes.c_long), ("is_busy", ctypes.c_int)]


Found = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Span), ctypes.c_void_p)
pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
library = ctypes.CDLL(ctypes.util.find_library("ical") or "libical.so.3")


def function(name, result, *arguments):
    call = getattr(library, name)
    call.restype, call.argtypes = result, arguments
    return call


parse = function("icalparser_parse_string", pointer, text)
free = function("icalcomponent_free", None, pointer)
check = function("icalrestriction_check", number, pointer)
errors = function("icalcomponent_count_errors", number, pointer)
kind_of = function("icalcomponent_isa", number, pointer)
kind_named = function("icalcomponent_string_to_kind", number, text)
name_of = function("icalcomponent_kind_to_string", text, number)
first_part = function("icalcomponent_get_first_component", pointer, pointer, number)
next_part = function("icalcomponent_get_next_component", pointer, pointer, number)
property_named = function("icalproperty_string_to_kind", number, text)
first_property = function("icalcomponent_get_first_property", pointer, pointer, number)
next_property = function("icalcomponent_get_next_property", pointer, pointer, number)
property_name = function("icalproperty_get_property_name", text, pointer)
value_text = function("icalproperty_get_value_as_string", text, pointer)
line_of = function("icalproperty_as_ical_string", text, pointer)
remove = function("icalcomponent_remove_property", None, pointer, pointer)
value_of = function("icalproperty_get_value", pointer, pointer)
plain_text = function("icalvalue_get_text", text, pointer)
time_of = function("icalproperty_get_datetime_with_component", Time, pointer, pointer)
end_of = function("icalcomponent_get_dtend", Time, pointer)
seconds = function("icaltime_as_timet_with_zone", ctypes.c_long, Time, pointer)
is_null = function("icaltime_is_null_time", number, Time)
utc = function("icaltimezone_get_utc_timezone", pointer)
from_seconds = function("icaltime_from_timet_with_zone", Time, ctypes.c_long, number, pointer)
expand = function("icalcomponent_foreach_recurrence", None, pointer, Time, Time, Found, pointer)

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=shape.UTC)
ANY = kind_named(b"ANY")


def moment(at, is_date=False):
    value = EPOCH + datetime.timedelta(seconds=at)
    return shape.instant(value.date() if is_date else value)


def moment_of(words):
    return datetime.datetime.fromisoformat(words.replace("Z", "+00:00") if "T" in words else words + "T00:00:00+00:00")


def instant(value):
    if is_null(value):
        return ""
    if value.is_date:
        return f"{value.year:04}-{value.month:02}-{value.day:02}"
    if not value.zone:
        return f"{value.year:04}-{value.month:02}-{value.day:02} floating"
    return moment(seconds(value, value.zone))


def parts(component, kind=ANY):
    part = first_part(component, kind)
    while part:
        yield part
        part = next_part(component, kind)


def properties(component, name):
    kind = property_named(name)
    found = first_property(component, kind)
    while found:
        yield found
        found = next_property(component, kind)


def time(component, name):
    for found in properties(component, name):
        return instant(time_of(found, component))
    return ""


def words(component, name):
    for found in properties(component, name):
        return (plain_text(value_of(found)) or b"").decode()
    return ""


def value(component, name):
    for found in properties(component, name):
        return value_text(found).decode()
    return ""


def complaints(component):
    """What libical noted while reading and while checking."""
    # A component has one place to read on from, so a list is made before its UID is looked for.
    for found in list(properties(component, b"X-LIC-ERROR")):
        yield f"{name_of(kind_of(component)).decode()} {words(component, b'UID')}: {value_text(found).decode()}"
    for part in list(parts(component)):
        yield from complaints(part)


def read(content, window, complain):
    root = parse(content.encode())
    if not root or name_of(kind_of(root)) != b"VCALENDAR":
        complain("no calendar")
        return
    if errors(root):
        complain(f"{errors(root)} errors on reading")
    if not check(root):
        complain("refused by the restrictions of the RFC")
    for complaint in complaints(root):
        complain(complaint)
    limits = [
        from_seconds(int(datetime.datetime.fromisoformat(t.replace("Z", "+00:00")).timestamp()), 0, utc())
        for t in window
    ]
    masters, replacements, entries, ranges = {}, {}, [], set()
    for component in [c for kind in (b"VEVENT", b"VTODO") for c in parts(root, kind_named(kind))]:
        name = name_of(kind_of(component)).decode()
        entry = shape.event(
            name,
            words(component, b"UID"),
            time(component, b"RECURRENCE-ID"),
            time(component, b"DTSTART"),
            time(component, b"DUE") if name == "VTODO" else instant(end_of(component)),
            words(component, b"SUMMARY"),
            words(component, b"DESCRIPTION"),
            words(component, b"LOCATION"),
            value(component, b"STATUS"),
        )
        entries.append(entry)
        # Without an end an event lasts its day, or no time (RFC 5545 section 3.6.1).
        if name == "VEVENT" and not entry["end"]:
            entry["end"] = entry["start"]
            if "T" not in entry["start"]:
                day = datetime.date.fromisoformat(entry["start"]) + datetime.timedelta(days=1)
                entry["end"] = day.isoformat()
        if entry["recurrenceID"]:
            replacements.setdefault(entry["uid"], []).append(entry)
            for found in properties(component, b"RECURRENCE-ID"):
                if b"RANGE=" in line_of(found):
                    ranges.add(entry["uid"])
        elif any(True for n in (b"RRULE", b"RDATE") for _ in properties(component, n)):
            masters[entry["uid"]] = (component, entry)
    is_long = any(int(number) > 32767 for number in re.findall(r"INTERVAL=(\d+)", content))
    for uid, (component, entry) in masters.items():
        additions = list(properties(component, b"RDATE"))
        # libical 3 passes over periods and RANGE when it expands, and keeps an INTERVAL in 16 bits.
        if uid in ranges or is_long or any(b"/" in value_text(addition) for addition in additions):
            entry["occurrences"] = None
            continue
        replaced = {r["recurrenceID"] for r in replacements.get(uid, [])}
        found = [(r["start"], r["end"], r["summary"]) for r in replacements.get(uid, [])]
        is_date = "T" not in entry["start"]

        def add(_, span, __, found=found, replaced=replaced, entry=entry, is_date=is_date):
            start = moment(span.contents.start, is_date)
            if start not in replaced:
                found.append((start, moment(span.contents.end, is_date), entry["summary"]))

        # It reads the zone of an RDATE but forgets it when it expands.
        length = moment_of(entry["end"]) - moment_of(entry["start"])
        for addition in additions:
            start = instant(time_of(addition, component))
            if start not in replaced:
                end = shape.instant(moment_of(start) + length)
                found.append((start, end if "T" in start else end[:10], entry["summary"]))
            remove(component, addition)
        call = Found(add)
        expand(component, limits[0], limits[1], call, None)
        entry["occurrences"] = shape.pick(set(found), window)
    yield from entries
    free(root)


if __name__ == "__main__":
    shape.main(read)
