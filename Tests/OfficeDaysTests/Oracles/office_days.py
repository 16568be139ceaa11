# SPDX-License-Identifier: Apache-2.0
"""A second opinion about office days, written from the rules in words, for the tests of `OfficeDays`.

    python3 -B office_days.py < cases.jsonl > answers.jsonl

A line is one person's quarter: settings, and what happened, each with its time. The answer holds every day of the
quarter as it is at the end, and how many events were written at each step. Nothing is shared with the library: midnights
are searched by bisection through Python's zoneinfo, minutes are counted from the union of all visits.

Where the rules are silent, both follow these readings:
- 23:59 is the last minute before the next date begins, also where the clock skips or repeats that minute.
- A time that the clock skips is read with the offset before the jump; one that comes twice is the first of the two.
- A person's word counts for any date; visits and nights count from the date of the enabling on.
- Settings change what is dated today or later, by the clock of the new zone. A decided day keeps its status there, and
  the past keeps everything.
"""

import hashlib
import json
import sys
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
ONE = timedelta(days=1)


class Clock:
    """A zone's clock on the wall."""

    kept = {}

    def __init__(self, name):
        self.zone = ZoneInfo(name)
        self.midnights = {}

    @classmethod
    def of(cls, name):
        if name not in cls.kept:
            cls.kept[name] = cls(name)
        return cls.kept[name]

    def date(self, second):
        return datetime.fromtimestamp(second, self.zone).date()

    def begins(self, day):
        """The first second whose date is `day` or later: by bisection, nothing else is asked of the zone."""
        if day not in self.midnights:
            noon = int(datetime(day.year, day.month, day.day, tzinfo=timezone.utc).timestamp())
            low, high = noon - 30 * 3600, noon + 30 * 3600
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if self.date(middle) >= day else (middle, high)
            self.midnights[day] = high
        return self.midnights[day]

    def second(self, day, text):
        """When the clock shows this time of this day. Python's fold of 0 is the reading above."""
        hour, minute = map(int, text.split(":"))
        return int(datetime(day.year, day.month, day.day, hour, minute, tzinfo=self.zone, fold=0).timestamp())


def clock_face(text):
    hour, minute = map(int, text.split(":"))
    return f"{(hour + 11) % 12 + 1}:{minute:02d} {'AM' if hour < 12 else 'PM'}"


def is_far(day, month):
    return (day.year, day.month) != (month.year, month.month)


class Person:
    def __init__(self, case):
        self.settings = dict(case["settings"], enabled=False)
        self.visits, self.words = {}, {}
        # A decided day: status, source, zone, looks (the settings it was made by), counts.
        self.days = {}
        self.events = {}
        self.counts_from = self.nights_until = None
        self.writes = 0

    # -- facts

    def zone(self):
        s = self.settings
        return s["homeOfficeTimeZone"] if s["timeZoneMode"] == "homeOffice" else s["deviceTimeZone"]

    def today(self, now):
        return Clock.of(self.zone()).date(now)

    def seconds(self, day, zone):
        """Seconds in the office on a date; where visits overlap they count once."""
        clock = Clock.of(zone)
        first, last = clock.begins(day), clock.begins(day + ONE)
        marks = []
        for start, end in self.visits.values():
            start, end = max(start, first), min(end, last)
            if start < end:
                marks += [(start, 1), (end, -1)]
        total = inside = since = 0
        for at, step in sorted(marks):
            if inside > 0:
                total += at - since
            inside, since = inside + step, at
        return total

    def is_work_day(self, day):
        s = self.settings
        return WEEKDAYS[day.weekday()] in s["trackedDays"] and day.isoformat() not in s["holidays"]

    def does_count(self, day):
        if day in self.days and self.days[day]["counts"]:
            return True
        return self.settings["enabled"] and self.counts_from is not None and day >= self.counts_from

    def status(self, day, zone, now):
        if day in self.words:
            return self.words[day], "person"
        if not self.does_count(day):
            return "none", None
        if self.seconds(day, zone) >= 3600:
            return "inOffice", "visits"
        if now >= Clock.of(zone).begins(day + ONE) - 60 and self.is_work_day(day):
            return "remote", "endOfDay"
        return "none", None

    # -- events

    def look(self):
        """What of the settings an event shows, as it is now."""
        s = self.settings
        return {
            "inOffice": s["officeTitle"], "remote": s["remoteTitle"], "availability": s["availability"],
            "hours": None if s["eventType"] == "allDay" else (s["officeHours"]["start"], s["officeHours"]["end"]),
            "address": s["officeAddress"], "goal": s["monthlyGoal"],
        }

    def office_days(self, day):
        return sum(
            1 for other, found in self.days.items()
            if found["status"] == "inOffice" and not is_far(other, day) and other <= day)

    def event(self, day):
        """The event of a decided day, from nothing but what was decided."""
        found = self.days[day]
        look, status = found["look"], found["status"]
        if status == "none":
            return None
        hours = look["hours"]
        face = "allDay" if hours is None else f"{hours[0]}-{hours[1]}"
        uid = f"iod-{day.isoformat()}-{status}-{hashlib.sha256(face.encode()).hexdigest()[:8]}"
        lines = ["Status: " + ("In Office" if status == "inOffice" else "Remote")]
        if hours is not None:
            kind = "Office" if status == "inOffice" else "Work"
            lines.append(f"{kind} Hours: {clock_face(hours[0])} \u2013 {clock_face(hours[1])}")
        lines.append(f"Total Office Days This Month: {self.office_days(day)}/{look['goal']}")
        lines.append("UID: " + uid)
        if hours is None:
            start, end = day.isoformat(), (day + ONE).isoformat()
        else:
            clock = Clock.of(found["zone"])
            start, end = clock.second(day, hours[0]), clock.second(day, hours[1])
            if end <= start:
                (h1, m1), (h2, m2) = (map(int, text.split(":")) for text in hours)
                end = start + ((h2 - h1) * 60 + m2 - m1) * 60
        return {
            "uid": uid, "title": look[status], "start": start, "end": end, "allDay": hours is None,
            "availability": look["availability"], "location": look["address"] if status == "inOffice" else None,
            "notes": "\n".join(lines), "state": "managed", "zone": None if hours is None else found["zone"],
        }

    def write(self, day, event):
        there = self.events.get(day)
        if there is not None and there["state"] != "managed":
            return
        if there == event:
            return
        self.writes += 1
        if event is None:
            del self.events[day]
        else:
            self.events[day] = event

    def is_shown(self, day):
        status = self.days[day]["status"] if day in self.days else "none"
        return status == "inOffice" or status == "remote" and self.settings["createRemoteEvents"]

    def judge(self, days, now, keeping=False):
        """Decides days again, and writes what that changes: their events, and the counts of the month after them."""
        today = self.today(now)
        changed, fresh = set(), {}
        for day in sorted(days):
            before = self.days.get(day)
            old = before["status"] if before else "none"
            zone = self.zone() if before is None or keeping else before["zone"]
            status, source = self.status(day, zone, now)
            if keeping and old != "none" and day not in self.words:
                status, source = old, before["source"]
            is_new = before is None or old != status
            if is_new and self.status(day, self.zone(), now)[0] == status:
                zone = self.zone()
            does_count = self.does_count(day)
            fresh[day] = is_new or day >= today
            look = self.look() if fresh[day] else before["look"]
            self.days[day] = {"status": status, "source": source, "zone": zone, "counts": does_count, "look": look}
            if (old == "inOffice") != (status == "inOffice"):
                changed.add(day)
        if self.settings["enabled"]:
            self.publish(fresh, changed)
        # Where nothing was decided and nothing is to be seen, nothing is kept.
        for day in fresh:
            if not self.days[day]["source"] and not self.days[day]["counts"] and day not in self.events:
                del self.days[day]

    def publish(self, fresh, changed):
        # Events are made once all days are decided, so that each is written once, with its final count.
        for day in sorted(fresh):
            if fresh[day]:
                self.write(day, self.event(day) if self.is_shown(day) else None)
            elif day in self.events:
                self.write(day, self.event(day))
        for day in sorted(self.events):
            if day not in fresh and any(day > other and not is_far(day, other) for other in changed):
                self.write(day, self.event(day))

    def nights(self, now):
        """Every date whose last minute has begun is decided."""
        if not self.settings["enabled"]:
            return
        clock = Clock.of(self.zone())
        over = []
        while now >= clock.begins(self.nights_until + 2 * ONE) - 60:
            self.nights_until += ONE
            over.append(self.nights_until)
        for day in over:
            # A day without a status is decided, too: later visits find that it counts.
            self.days.setdefault(
                day, {"status": "none", "source": None, "zone": self.zone(), "counts": True, "look": self.look()})
            self.days[day]["counts"] = True
        self.judge(over, now)

    def touched(self, spans, now):
        """Dates that a visit has a part in, by today's zone or by that of a decided day."""
        found = set()
        for start, end in spans:
            clock = Clock.of(self.zone())
            day = clock.date(start) - 2 * ONE
            while day <= clock.date(end) + 2 * ONE:
                own = Clock.of(self.days[day]["zone"] if day in self.days else self.zone())
                if own.begins(day) < end and start < own.begins(day + ONE):
                    found.add(day)
                day += ONE
        return found

    # -- what happens

    def take(self, step):
        now = step["now"]
        self.writes = 0
        self.nights(now)
        do = step["do"]
        if do == "visit":
            spans = [self.visits[step["id"]]] if step["id"] in self.visits else []
            self.visits[step["id"]] = (step["start"], step["end"])
            if spans != [self.visits[step["id"]]]:
                self.judge(self.touched(spans + [self.visits[step["id"]]], now), now)
        elif do == "unvisit":
            if step["id"] in self.visits:
                self.judge(self.touched([self.visits.pop(step["id"])], now), now)
        elif do == "word":
            day = date.fromisoformat(step["date"])
            if self.words.get(day) != step["status"]:
                self.words[day] = step["status"]
                self.judge([day], now)
        elif do == "unword":
            day = date.fromisoformat(step["date"])
            if self.words.pop(day, None) is not None:
                self.judge([day], now)
        elif do == "settings":
            was = self.settings["enabled"]
            if self.settings == step["settings"]:
                return self.writes
            self.settings = step["settings"]
            today = self.today(now)
            if self.settings["enabled"] and not was:
                self.counts_from, self.nights_until = today, today - ONE
            if self.settings["enabled"]:
                days = {*self.days, *self.words, *self.touched(self.visits.values(), now)}
                self.judge([day for day in days if day >= today], now, keeping=True)
                self.nights(now)
        elif do in ("edited", "deleted"):
            day = date.fromisoformat(step["date"])
            if day in self.events and (do == "deleted" or self.events[day]["state"] == "managed"):
                self.events[day]["state"] = "unmanaged" if do == "edited" else "removed"
        elif do == "cleanup":
            for day in [day for day, event in self.events.items() if event["state"] == "managed"]:
                self.writes += 1
                del self.events[day]
        return self.writes


def answer(case):
    person = Person(case)
    writes = [person.take(step) for step in case["steps"]]
    days = []
    day, last = date.fromisoformat(case["from"]), date.fromisoformat(case["to"])
    while day <= last:
        found = person.days.get(day, {"status": "none", "source": None, "zone": person.zone()})
        shown = {
            "date": day.isoformat(), "status": found["status"], "source": found["source"],
            "officeMinutes": person.seconds(day, found["zone"]) // 60,
        }
        if day in person.events:
            shown["event"] = person.events[day]
        days.append(shown)
        day += ONE
    return {"writes": writes, "days": days}


def main():
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line)), ensure_ascii=False, sort_keys=True))


main()
