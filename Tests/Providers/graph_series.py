# SPDX-License-Identifier: Apache-2.0
"""Days of Graph's patterned recurrences, by Microsoft's description, and Windows' names of zones."""

import calendar
from datetime import date, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from corpora import find

WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
INDEXES = ["first", "second", "third", "fourth"]
WINDOWS = {
    "UTC": "Etc/UTC", "W. Europe Standard Time": "Europe/Berlin", "GMT Standard Time": "Europe/London",
    "Eastern Standard Time": "America/New_York", "Pacific Standard Time": "America/Los_Angeles",
    "FLE Standard Time": "Europe/Kiev", "Romance Standard Time": "Europe/Paris", "Tokyo Standard Time": "Asia/Tokyo",
    "Central European Standard Time": "Europe/Warsaw", "New Zealand Standard Time": "Pacific/Auckland",
    "India Standard Time": "Asia/Kolkata", "Central Standard Time": "America/Chicago",
}
if path := find("windows_zones.tsv"):
    with open(path, encoding="utf-8") as rows:
        for row in rows:
            cells = row.rstrip("\n").split("\t")
            if cells[0] == "W" and len(cells) == 3:
                WINDOWS[cells[1]] = cells[2]


class BadPattern(ValueError):
    """A recurrence that Exchange does not take."""


def zone(name):
    """The clock of a Windows or IANA name; LookupError for any other."""
    try:
        return ZoneInfo(WINDOWS.get(name, name))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise LookupError(name) from error


def check(recurrence, first):
    """Throws BadPattern unless the recurrence is whole and begins on the day of its event."""
    pattern, span = recurrence.get("pattern") or {}, recurrence.get("range") or {}
    kind = pattern.get("type")
    wanted = {
        "daily": (), "weekly": ("daysOfWeek",), "absoluteMonthly": ("dayOfMonth",),
        "relativeMonthly": ("daysOfWeek",), "absoluteYearly": ("dayOfMonth", "month"),
        "relativeYearly": ("daysOfWeek", "month"),
    }
    if kind not in wanted or not 1 <= pattern.get("interval", 0) <= (999 if kind == "daily" else 99):
        raise BadPattern("pattern.type or pattern.interval")
    for name in wanted[kind]:
        if not pattern.get(name):
            raise BadPattern(f"pattern.{name}")
    if not 0 <= pattern.get("dayOfMonth", 0) <= 31 or not 0 <= pattern.get("month", 0) <= 12:
        raise BadPattern("pattern.dayOfMonth or pattern.month")
    if span.get("startDate") != first.isoformat():
        raise BadPattern("range.startDate is not the day of start")
    if span.get("type") == "endDate" and (span.get("endDate") or "") < span["startDate"]:
        raise BadPattern("range.endDate")
    if span.get("type") == "numbered" and not 1 <= span.get("numberOfOccurrences", 0) <= 999:
        raise BadPattern("range.numberOfOccurrences")
    if span.get("type") not in ("endDate", "numbered", "noEnd"):
        raise BadPattern("range.type")
    zone(span.get("recurrenceTimeZone") or "UTC")


def month_day(pattern, year, month):
    """The day of a month on which a pattern of months or years falls; None if it falls on no day."""
    length = calendar.monthrange(year, month)[1]
    if pattern["type"].startswith("absolute"):
        return min(pattern["dayOfMonth"], length)
    fits = [d for d in range(1, length + 1) if WEEKDAYS[date(year, month, d).weekday()] in pattern["daysOfWeek"]]
    index = pattern.get("index") or "first"
    place = -1 if index == "last" else INDEXES.index(index)
    return fits[place] if place < len(fits) else None


def days(recurrence, last):
    """The days of all occurrences up to a last one, in order."""
    pattern, span = recurrence["pattern"], recurrence["range"]
    first, kind, interval = date.fromisoformat(span["startDate"]), pattern["type"], pattern["interval"]
    end = min(last, date.fromisoformat(span["endDate"])) if span["type"] == "endDate" else last
    left = span["numberOfOccurrences"] if span["type"] == "numbered" else 10**6
    if kind in ("daily", "weekly"):
        day, start = first, WEEKDAYS.index(pattern.get("firstDayOfWeek") or "sunday")
        origin = first - timedelta(days=(first.weekday() - start) % 7)
        while day <= end and left > 0:
            if kind == "daily":
                yield day
                left -= 1
                day += timedelta(days=interval)
                continue
            if ((day - origin).days // 7) % interval == 0 and WEEKDAYS[day.weekday()] in pattern["daysOfWeek"]:
                yield day
                left -= 1
            day += timedelta(days=1)
        return
    year, month = first.year, pattern["month"] if kind.endswith("Yearly") else first.month
    step = interval * 12 if kind.endswith("Yearly") else interval
    while date(year, month, 1) <= end and left > 0:
        number = month_day(pattern, year, month)
        if number and first <= date(year, month, number) <= end:
            yield date(year, month, number)
            left -= 1
        year, month = year + (month - 1 + step) // 12, (month - 1 + step) % 12 + 1
        if year > 9000:
            return
