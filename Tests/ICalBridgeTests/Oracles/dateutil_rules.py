#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints random recurrence rules with their first occurrences as python-dateutil finds them.

    dateutil_rules.py [SEED] [COUNT] [--all]

One rule a line: RRULE, DTSTART, then up to 20 occurrences, separated by tabs; "END" follows when there are no more.

Without --all, rules that dateutil reads in another way than RFC 5545, libical 4 and ical.net are not made:
  month    YEARLY with BYMONTHDAY but no BYMONTH: dateutil takes every month, the others that of DTSTART
  weekno   BYWEEKNO with INTERVAL or BYSETPOS: dateutil's year is the calendar's, not the week-numbering one;
           BYWEEKNO alone: dateutil takes all seven days, the others the weekday of DTSTART;
           BYWEEKNO=-52 or -53, when that is week 1: dateutil misses its days in the December before;
           BYWEEKNO=52 or 53: dateutil takes this year's length for that of the year before when it counts its weeks,
           so it misses 1 January 2011, which is in week 52 of 2010, and takes 2 January 2050 for week 53 of 2049
  mixed    BYDAY=MO,2TU: dateutil takes days that are both, the others days that are either
           (so dateutil finds nothing and such a rule is skipped as too slow, with --all too)
  setpos   WEEKLY with BYSETPOS: dateutil counts the first week's set from DTSTART, the others from the week's start
With --all they are made too, and the class stands before the rule, separated by a space.
"""

import datetime
import itertools
import random
import signal
import sys

from dateutil.rrule import rrulestr

DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


class TooSlow(Exception):
    pass


def alarm(*_):
    # It rings again and again, because an exception may be lost in a place that must not raise.
    if searching:
        raise TooSlow


searching = False


def some(r, low, high, most, signed=False):
    values = set()
    for _ in range(r.randint(1, most)):
        value = r.randint(low, high)
        values.add(-value if signed and r.random() < 0.3 else value)
    values = list(values)
    r.shuffle(values)
    return values


def make(r):
    freq = r.choice(
        ["YEARLY"] * 4 + ["MONTHLY"] * 4 + ["WEEKLY"] * 3 + ["DAILY"] * 3 + ["HOURLY", "MINUTELY", "SECONDLY"]
    )
    subdaily = freq in ("HOURLY", "MINUTELY", "SECONDLY")
    start = datetime.datetime(
        r.randint(1990, 2040), r.randint(1, 12), 1, r.randint(0, 23), r.randint(0, 59), r.choice([0, 0, 30])
    )
    start += datetime.timedelta(days=r.randint(0, 30))
    parts, classes = {"FREQ": freq}, set()
    if r.random() < 0.5:
        parts["INTERVAL"] = r.randint(2, 40 if subdaily else 7 if freq != "DAILY" else 45)

    def text(values):
        return ",".join(str(v) for v in values)

    if r.random() < 0.3:
        parts["BYMONTH"] = text(sorted({start.month, r.randint(1, 12)}) if subdaily else some(r, 1, 12, 4))
    if freq != "WEEKLY" and r.random() < 0.35:
        parts["BYMONTHDAY"] = text(some(r, 1, 31, 6, signed=True))
    if freq == "YEARLY" and r.random() < 0.2 or subdaily and r.random() < 0.05:
        parts["BYYEARDAY"] = text(some(r, 1, 366, 20, signed=True))
    if freq == "YEARLY" and r.random() < 0.2:
        parts["BYWEEKNO"] = text(some(r, 1, 53, 5, signed=True))
    if r.random() < 0.45:
        numbered = freq == "MONTHLY" or freq == "YEARLY" and "BYWEEKNO" not in parts
        top = 5 if freq == "MONTHLY" or "BYMONTH" in parts else 53
        days, plain, ordinal = [], False, False
        both = r.random() < 0.15
        number_all = numbered and r.random() < 0.5
        for day in r.sample(DAYS, r.randint(1, 4)):
            if number_all and not (both and r.random() < 0.5):
                days.append(str(r.choice([1, -1]) * r.randint(1, top)) + day)
                ordinal = True
            else:
                days.append(day)
                plain = True
        parts["BYDAY"] = ",".join(days)
        if plain and ordinal:
            classes.add("mixed")
    if r.random() < 0.25:
        parts["BYHOUR"] = text(some(r, 0, 23, 4))
    if r.random() < 0.2:
        parts["BYMINUTE"] = text(some(r, 0, 59, 4))
    if r.random() < 0.1:
        parts["BYSECOND"] = text(some(r, 0, 59, 4))
    if any(name.startswith("BY") for name in parts) and r.random() < 0.2:
        parts["BYSETPOS"] = text(some(r, 1, 6, 3, signed=True))
    if r.random() < 0.3:
        parts["WKST"] = r.choice(DAYS)
    limit = r.random()
    if limit < 0.25:
        parts["COUNT"] = r.randint(1, 30)
    elif limit < 0.4:
        days = r.randint(0, 3 if subdaily else 2000)
        parts["UNTIL"] = (start + datetime.timedelta(days=days, hours=r.randint(0, 23))).strftime("%Y%m%dT%H%M%S")

    if freq == "YEARLY":
        if "BYMONTHDAY" in parts and not {"BYMONTH", "BYYEARDAY", "BYWEEKNO"} & parts.keys():
            classes.add("month")
        if "BYWEEKNO" in parts:
            if "INTERVAL" in parts or "BYSETPOS" in parts:
                classes.add("weekno")
            if not {"BYDAY", "BYMONTHDAY", "BYYEARDAY"} & parts.keys():
                classes.add("weekno")
            if {"52", "53", "-52", "-53"} & set(parts["BYWEEKNO"].split(",")):
                classes.add("weekno")
    if freq == "WEEKLY" and "BYSETPOS" in parts:
        classes.add("setpos")
    return ";".join(f"{k}={v}" for k, v in parts.items()), start, classes


def main():
    global searching
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    seed = int(arguments[0]) if arguments else 1
    count = int(arguments[1]) if len(arguments) > 1 else 2000
    everything = "--all" in sys.argv
    r = random.Random(seed)
    signal.signal(signal.SIGVTALRM, alarm)
    # Whoever started this may have blocked signals, and a child inherits that.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGVTALRM, signal.SIGTERM])
    made = 0
    while made < count:
        rule, start, classes = make(r)
        if classes and not everything:
            continue
        try:
            # Before the clock runs: dateutil makes a ValueError of whatever is raised while it parses.
            found = rrulestr(rule, dtstart=start)
            # A rule that seldom or never applies is searched through step by step up to the year 9999. The clock is
            # that of the process, so that a busy machine leaves out no other rules than an idle one.
            searching = True
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.03, 0.01)
            times = list(itertools.islice(found, 21))
            searching = False
        except TooSlow:
            continue
        except ValueError as error:
            if "empty" not in str(error):
                raise
            times = []
        finally:
            searching = False
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        made += 1
        fields = [t.strftime("%Y%m%dT%H%M%S").rjust(15, "0") for t in times[:20]] + ([] if len(times) > 20 else ["END"])
        label = "+".join(sorted(classes)) + " " if everything else ""
        print("\t".join([label + rule, start.strftime("%Y%m%dT%H%M%S")] + fields))


main()
