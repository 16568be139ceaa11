# SPDX-License-Identifier: Apache-2.0
"""vdirsyncer: copies the feed into a folder, a file for each event. Read back with the icalendar library."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from programs import Program
from reading import unrolled
from schedule import Occurrence, utc


class Vdirsyncer(Program):
    name = "vdirsyncer"
    packages = ["vdirsyncer"]
    commands = ["vdirsyncer"]

    def version(self):
        return self.run(["vdirsyncer", "--version"]).split()[-1]

    def subscribe(self, feed):
        self.calendar = self.home / "calendar"
        self.calendar.mkdir()
        self.config = self.home / "vdirsyncer.conf"
        self.config.write_text(
            f"""
[general]
status_path = "{self.home}/status/"

[pair feed]
a = "folder"
b = "address"
collections = null
conflict_resolution = "b wins"

[storage folder]
type = "filesystem"
path = "{self.calendar}"
fileext = ".ics"

[storage address]
type = "http"
url = "{feed.url}"
""")
        self.config.chmod(0o600)
        self.run(["vdirsyncer", "-c", self.config, "discover"])

    def refresh(self):
        self.run(["vdirsyncer", "-c", self.config, "sync"])

    def occurrences(self):
        found = []
        for file in sorted(Path(self.calendar).glob("*.ics")):
            found += occurrences_of(file.read_bytes())
        return self.identified(found)

    def identified(self, found):
        """vdirsyncer gives every event of a web address a UID of its own making. Ours are put back by the titles."""
        return [replace(occurrence, uid=self.uids.get(occurrence.title, occurrence.uid)) for occurrence in found]


def occurrences_of(data):
    from icalendar import Calendar

    events = Calendar.from_ical(data).walk("VEVENT")
    changed = [event for event in events if "RECURRENCE-ID" in event]
    found = []
    for event in events:
        texts = {
            "title": str(event.get("SUMMARY", "")), "notes": str(event.get("DESCRIPTION", "")),
            "location": str(event.get("LOCATION", "")),
        }
        uid, start, end = str(event["UID"]), event["DTSTART"].dt, event["DTEND"].dt
        if not isinstance(start, datetime):
            found.append(Occurrence(uid, start.isoformat(), end.isoformat(), **texts))
        elif "RRULE" in event:
            exdates = event.get("EXDATE", [])
            exdates = exdates if isinstance(exdates, list) else [exdates]
            found += unrolled(
                uid, start, end, event["RRULE"].to_ical().decode(),
                [entry.dt for dates in exdates for entry in dates.dts],
                [other["RECURRENCE-ID"].dt for other in changed if str(other["UID"]) == uid], **texts)
        else:
            found.append(Occurrence(uid, utc(start), utc(end), **texts))
    return found
