# SPDX-License-Identifier: Apache-2.0
"""Builds a calendar with python's icalendar, writes it, and says how long that took.

Usage: icalendar_render.py EVENTS.json [OUTPUT.ics [ROUNDS]]

Prints one line of JSON: the library and its version, the bytes written, and in milliseconds the best of ROUNDS (3) for
building and writing together and for writing alone. What the file says is turned into Python's dates before the clock
starts, because a program would have them so.

EVENTS.json holds an object with
  calendar   a list of [NAME, value, {parameter: value}?], text without escapes, VERSION and PRODID among them
  timezones  a list of {tzid, observances: [{daylight, dtstart, rrule?, rdates?, from, to, name}]}, all as iCalendar
             writes them, offsets as +0100
  events     a list of {uid, dtstamp, start, end, tzid?, summary, description?, location?, status, transp, categories,
             url?, sequence, created, lastModified, busystatus, alarms: [minutes before]}; start and end are
             20260131T093000 with a tzid, 20260131T093000Z, or 20260131 for a whole day; alarms have the summary
"""

import datetime
import json
import sys
import time
import zoneinfo

import icalendar

UTC = datetime.timezone.utc


def moment(text, tzid=None):
    if len(text) == 8:
        return datetime.date(int(text[:4]), int(text[4:6]), int(text[6:]))
    value = datetime.datetime.strptime(text[:15], "%Y%m%dT%H%M%S")
    if text.endswith("Z"):
        return value.replace(tzinfo=UTC)
    return value.replace(tzinfo=zoneinfo.ZoneInfo(tzid)) if tzid else value


def offset(text):
    length = datetime.timedelta(hours=int(text[1:3]), minutes=int(text[3:5]))
    return -length if text[0] == "-" else length


def prepared(data):
    for zone in data["timezones"]:
        for part in zone["observances"]:
            part["dtstart"] = moment(part["dtstart"])
            part["rdates"] = [moment(text) for text in part.get("rdates") or []]
            part["from"], part["to"] = offset(part["from"]), offset(part["to"])
    for event in data["events"]:
        for name in ("start", "end"):
            event[name] = moment(event[name], event.get("tzid"))
        for name in ("dtstamp", "created", "lastModified"):
            event[name] = moment(event[name])
        event["alarms"] = [datetime.timedelta(minutes=-minutes) for minutes in event["alarms"]]
    return data


def built(data):
    calendar = icalendar.Calendar()
    for name, value, *parameters in data["calendar"]:
        if parameters and parameters[0].get("VALUE") == "DURATION":
            value = icalendar.vDuration.from_ical(value)
        elif name.startswith("X-"):
            # A property that the library does not know is written without escapes otherwise.
            value = icalendar.vText(value)
        calendar.add(name, value, parameters[0] if parameters else None)
    for zone in data["timezones"]:
        timezone = icalendar.Timezone()
        timezone.add("tzid", zone["tzid"])
        for part in zone["observances"]:
            observance = icalendar.TimezoneDaylight() if part["daylight"] else icalendar.TimezoneStandard()
            observance.add("dtstart", part["dtstart"])
            if part.get("rrule"):
                observance.add("rrule", icalendar.vRecur.from_ical(part["rrule"]))
            for date in part["rdates"]:
                observance.add("rdate", date)
            observance.add("tzoffsetfrom", part["from"])
            observance.add("tzoffsetto", part["to"])
            observance.add("tzname", part["name"])
            timezone.add_component(observance)
        calendar.add_component(timezone)
    for item in data["events"]:
        event = icalendar.Event()
        event.add("uid", item["uid"])
        event.add("dtstamp", item["dtstamp"])
        event.add("dtstart", item["start"])
        event.add("dtend", item["end"])
        event.add("summary", item["summary"])
        for name in ("description", "location", "url"):
            if item.get(name):
                event.add(name, item[name])
        event.add("status", item["status"])
        event.add("transp", item["transp"])
        event.add("categories", item["categories"])
        event.add("sequence", item["sequence"])
        event.add("created", item["created"])
        event.add("last-modified", item["lastModified"])
        event.add("x-microsoft-cdo-busystatus", item["busystatus"])
        for before in item["alarms"]:
            alarm = icalendar.Alarm()
            alarm.add("action", "DISPLAY")
            alarm.add("trigger", before)
            alarm.add("description", item["summary"])
            event.add_component(alarm)
        calendar.add_component(event)
    return calendar


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = prepared(json.load(file))
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    whole, writing = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        calendar = built(data)
        middle = time.perf_counter()
        # In the order in which properties were added, which is quicker than the library's own.
        text = calendar.to_ical(sorted=False)
        end = time.perf_counter()
        whole.append(end - start)
        writing.append(end - middle)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "wb") as file:
            file.write(text)
    print(
        json.dumps(
            {
                "library": "python icalendar",
                "version": icalendar.__version__,
                "bytes": len(text),
                "buildAndWriteMilliseconds": round(min(whole) * 1000, 1),
                "writeMilliseconds": round(min(writing) * 1000, 1),
            }
        )
    )


main()
