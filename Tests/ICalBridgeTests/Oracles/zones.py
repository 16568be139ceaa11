# SPDX-License-Identifier: Apache-2.0
"""Reads the times of calendar files by what their VTIMEZONEs say, never by what their zones are called.

    zones.py dateutil|icalendar|ical|tzdata FILE...

Each event carries in SUMMARY the instant in UTC that its DTSTART is to be. For each that a reader takes for another
one a line is printed, `TZID<TAB>DTSTART<TAB>expected<TAB>read`; the last line counts the events that were compared.

  dateutil   dateutil.tz.tzical on the file's own text; it finds the last onset on the wall clock
  icalendar  icalendar's Timezone.get_transitions(), whose list of changes in UTC is searched here as a tzinfo would
  ical       Home Assistant's ical: IcsTimezoneInfo over its own parser and time line
  tzdata     the other way round: Python's zoneinfo by TZID, which tells whether what was expected is right

A time that occurs twice is the first of the two (RFC 5545 section 3.3.5), which is fold=0 in all four.

Known faults of the readers:
  ical       14.3 forgets the onset at DTSTART of a part without RRULE, though it is the first one (section 3.6.5), and
             so takes zones without summer for UTC. It shows where the zone's name is none of Python's; here each such
             part is given its DTSTART as RDATE too. Home Assistant goes by the name first and is not concerned.
  icalendar  7.3 knows no change after 2038-12-31. No event here is later.
  dateutil   2.9 refuses a VTIMEZONE with a property it does not know, such as X-LIC-LOCATION. None is written.
"""

import bisect
import datetime
import io
import re
import sys

UTC = datetime.timezone.utc
EVENT = re.compile(
    r"BEGIN:VEVENT\n.*?^DTSTART;TZID=(?P<tzid>[^:\n]+):(?P<wall>\d{8}T\d{6})$.*?^SUMMARY:(?P<at>\d{8}T\d{6}Z)$"
    r".*?^END:VEVENT$",
    re.MULTILINE | re.DOTALL,
)
ZONE = re.compile(r"^BEGIN:VTIMEZONE\n(?P<body>.*?)^END:VTIMEZONE$", re.MULTILINE | re.DOTALL)


def wall(text):
    """`20260121T090000` as a naive time; much faster than strptime."""
    return datetime.datetime(
        int(text[0:4]), int(text[4:6]), int(text[6:8]), int(text[9:11]), int(text[11:13]), int(text[13:15])
    )


def with_dateutil(zone):
    from dateutil.tz import tzical

    tz = tzical(io.StringIO(zone)).get()
    return lambda time: time - tz.utcoffset(time.replace(tzinfo=tz))


def with_icalendar(zone):
    from icalendar import Timezone

    times, info = Timezone.from_ical(zone).get_transitions()
    changes = sorted(zip(times, (offset for offset, _, _ in info)))
    onsets = [at for at, _ in changes]

    def read(time):
        # The first instant at which this clock shows the time: try the offset in force before the one after.
        for index in range(max(0, bisect.bisect(onsets, time - datetime.timedelta(days=2)) - 1), len(changes)):
            instant = time - changes[index][1]
            if onsets[index] <= instant and (index + 1 == len(onsets) or instant < onsets[index + 1]):
                return instant
        return None

    return read


def with_ical(zone):
    from ical.calendar_stream import IcsCalendarStream
    from ical.timezone import IcsTimezoneInfo

    zone = re.sub(r"^(DTSTART:(.*)\n)(?!RRULE)", r"\1RDATE:\2\n", zone, flags=re.MULTILINE)
    text = f"BEGIN:VCALENDAR\nPRODID:x\nVERSION:2.0\n{zone}END:VCALENDAR\n"
    tz = IcsTimezoneInfo.from_timezone(IcsCalendarStream.calendar_from_ics(text).timezones[0])
    return lambda time: time - tz.utcoffset(time)


def with_tzdata(identifier):
    import zoneinfo

    tz = zoneinfo.ZoneInfo(identifier)
    return lambda time: time.replace(tzinfo=tz).astimezone(UTC).replace(tzinfo=None)


def main():
    name, *files = sys.argv[1:]
    reader = {"dateutil": with_dateutil, "icalendar": with_icalendar, "ical": with_ical, "tzdata": with_tzdata}[name]
    # Zones that are the same but for their name are made once: the readers see the text under a name of no zone.
    made = {}
    compared = 0
    for path in files:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read().replace("\r\n", "\n").replace("\n ", "")
        zones = {}
        for match in ZONE.finditer(text):
            body = match["body"]
            tzid = re.search(r"^TZID:(.*)$", body, re.MULTILINE)[1]
            assert tzid not in zones, f"{tzid} is defined twice"
            key = tzid if name == "tzdata" else body.replace(f"TZID:{tzid}\n", "TZID:Nowhere\n", 1)
            if key not in made:
                made[key] = reader(key if name == "tzdata" else f"BEGIN:VTIMEZONE\n{key}END:VTIMEZONE\n")
            zones[tzid] = made[key]
        for event in EVENT.finditer(text):
            expected = wall(event["at"])
            read = zones[event["tzid"]](wall(event["wall"]))
            if read != expected:
                print(f"{event['tzid']}\t{event['wall']}\t{expected.isoformat()}\t{read and read.isoformat()}")
            compared += 1
    print(f"compared\t{compared}")


main()
