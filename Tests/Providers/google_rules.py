# SPDX-License-Identifier: Apache-2.0
"""Recurrence as the Google emulator needs it: which starts a series has (RFC 5545 section 3.3.10), day by day.

It knows what calendar apps write: DAILY to YEARLY with INTERVAL, COUNT, UNTIL, BYDAY, BYMONTHDAY, BYMONTH and BYSETPOS.
Anything else is refused, so that no test passes by a rule that was read wrongly.
"""

import calendar
import datetime
import functools
import re
import zoneinfo

DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
UTC = datetime.timezone.utc
# Days that a series is followed for: far beyond what a test looks at.
HORIZON = 366 * 6


class BadRule(Exception):
    pass


def stamp(text, zone):
    """A time of EXDATE, RDATE or UNTIL as an instant; a day is its midnight."""
    if re.fullmatch(r"\d{8}T\d{6}Z", text):
        return datetime.datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    if re.fullmatch(r"\d{8}T\d{6}", text):
        return datetime.datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=zone).astimezone(UTC)
    if re.fullmatch(r"\d{8}", text):
        return datetime.datetime.strptime(text, "%Y%m%d").replace(tzinfo=zone).astimezone(UTC)
    raise BadRule(f"not a time: {text}")


def parse_rule(text, zone):
    parts = {}
    for part in text.split(";"):
        name, _, value = part.partition("=")
        if name in parts or not value:
            raise BadRule(f"part of a rule: {part}")
        parts[name] = value
    known = {"FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", "BYMONTHDAY", "BYMONTH", "BYSETPOS", "WKST"}
    if set(parts) - known or parts.get("FREQ") not in ("DAILY", "WEEKLY", "MONTHLY", "YEARLY"):
        raise BadRule(f"rule: {text}")
    if "COUNT" in parts and "UNTIL" in parts:
        raise BadRule("COUNT and UNTIL exclude each other")
    rule = {
        "freq": parts["FREQ"], "interval": int(parts.get("INTERVAL", 1)), "count": None, "until": None, "days": [],
        "month_days": [int(d) for d in parts.get("BYMONTHDAY", "").split(",") if d],
        "months": [int(m) for m in parts.get("BYMONTH", "").split(",") if m],
        "places": [int(p) for p in parts.get("BYSETPOS", "").split(",") if p],
        "week": DAYS.index(parts.get("WKST", "MO")),
    }
    if "COUNT" in parts:
        rule["count"] = int(parts["COUNT"])
    if "UNTIL" in parts:
        rule["until"] = stamp(parts["UNTIL"], zone)
        if len(parts["UNTIL"]) == 8:
            rule["until"] += datetime.timedelta(days=1, seconds=-1)
    for day in parts.get("BYDAY", "").split(","):
        if day:
            found = re.fullmatch(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)", day)
            if not found:
                raise BadRule(f"BYDAY: {day}")
            rule["days"].append((int(found[1]) if found[1] else None, DAYS.index(found[2])))
    return rule


def parse(lines, zone):
    """The lines of `recurrence`: rules, extra starts, and starts that are left out."""
    rules, extra, left_out = [], set(), set()
    for line in lines:
        head, colon, value = line.partition(":")
        name, *parameters = head.split(";")
        if not colon or name not in ("RRULE", "RDATE", "EXDATE"):
            raise BadRule(f"line of a recurrence: {line}")
        own = zone
        for parameter in parameters:
            key, _, argument = parameter.partition("=")
            if key == "TZID":
                own = zoneinfo.ZoneInfo(argument)
            elif (key, argument) not in (("VALUE", "DATE"), ("VALUE", "DATE-TIME")):
                raise BadRule(f"parameter: {parameter}")
        if name == "RRULE":
            rules.append(parse_rule(value, zone))
        else:
            (extra if name == "RDATE" else left_out).update(stamp(text, own) for text in value.split(","))
    return rules, extra, left_out


def matches_day(rule, day, start):
    last = calendar.monthrange(day.year, day.month)[1]
    if rule["months"] and day.month not in rule["months"]:
        return False
    if rule["month_days"]:
        if not any(day.day == d or day.day == last + 1 + d for d in rule["month_days"]):
            return False
    elif rule["freq"] in ("MONTHLY", "YEARLY") and not rule["days"] and day.day != start.day:
        return False
    if rule["freq"] == "YEARLY" and not rule["months"] and not rule["days"] and day.month != start.month:
        return False
    if rule["days"]:
        def fits(ordinal, weekday):
            if day.weekday() != weekday:
                return False
            if ordinal is None:
                return True
            if rule["freq"] == "YEARLY" and not rule["months"]:
                raise BadRule("numbered days of a year")
            from_end = -((last - day.day) // 7 + 1)
            return ordinal in ((day.day - 1) // 7 + 1, from_end)
        return any(fits(*pair) for pair in rule["days"])
    return rule["freq"] != "WEEKLY" or day.weekday() == start.weekday()


def period(rule, day):
    if rule["freq"] == "DAILY":
        return day.toordinal()
    if rule["freq"] == "WEEKLY":
        return (day.toordinal() - 1 - rule["week"]) // 7
    return day.year * 12 + day.month - 1 if rule["freq"] == "MONTHLY" else day.year


def rule_starts(rule, start):
    """Wall-clock starts in order, within the horizon; the first is always one (RFC 5545 section 3.8.5.3)."""
    first = period(rule, start.date())
    by_period, order = {}, []
    for offset in range(HORIZON):
        day = start.date() + datetime.timedelta(days=offset)
        number = period(rule, day) - first
        if number % rule["interval"] == 0 and matches_day(rule, day, start):
            if number not in by_period:
                order.append(number)
            by_period.setdefault(number, []).append(day)
    count = 0
    for number in order:
        days = by_period[number]
        if rule["places"]:
            places = {p - 1 if p > 0 else len(days) + p for p in rule["places"]}
            days = [day for place, day in enumerate(days) if place in places]
        for day in days:
            if rule["count"] is not None and count >= rule["count"]:
                return
            wall = datetime.datetime.combine(day, start.time())
            if rule["until"] is not None and wall.replace(tzinfo=start.tzinfo).astimezone(UTC) > rule["until"]:
                return
            count += 1
            yield wall


def starts(lines, start):
    """The starts of a series as instants, in order. `start` has the zone on whose clock the series repeats."""
    return list(_starts(tuple(lines), start.replace(tzinfo=None), start.tzinfo, start.fold))


@functools.lru_cache(maxsize=4096)
def _starts(lines, wall, zone, fold):
    start = wall.replace(tzinfo=zone, fold=fold)
    rules, extra, left_out = parse(lines, start.tzinfo)
    found = {start.astimezone(UTC)} | extra
    for rule in rules:
        found |= {wall.replace(tzinfo=start.tzinfo).astimezone(UTC) for wall in rule_starts(rule, start)}
    return tuple(sorted(found - left_out))
