# SPDX-License-Identifier: Apache-2.0
"""khal: lists the folder that vdirsyncer keeps. Its own engine unrolls the series; only printed lines are read."""

from dataclasses import replace
from datetime import datetime, timedelta

from programs import Program
from schedule import HOME, Occurrence, utc

# Characters that no text holds, so that notes of several lines stay one field.
FIELD, RECORD = "\x1f", "\x1e"


class Khal(Program):
    name = "khal"
    packages = ["khal"]
    commands = ["khal"]

    def __init__(self, folder, vdirsyncer):
        super().__init__(folder)
        self.vdirsyncer = vdirsyncer

    def version(self):
        return self.run(["khal", "--version"]).split()[-1]

    def subscribe(self, feed):
        self.config = self.home / "khal.conf"
        # The offset is printed too: in autumn one hour is there twice.
        self.config.write_text(
            f"""
[calendars]
[[feed]]
path = {self.vdirsyncer.calendar}
readonly = True

[sqlite]
path = {self.home}/khal.db

[locale]
local_timezone = {HOME}
default_timezone = {HOME}
timeformat = %H:%M:%S
dateformat = %Y-%m-%d
longdateformat = %Y-%m-%d
datetimeformat = %Y-%m-%dT%H:%M:%S%z
longdatetimeformat = %Y-%m-%dT%H:%M:%S%z
""")

    def refresh(self):
        """khal looks at the folder whenever it is asked."""

    def occurrences(self):
        names = ["uid", "start-long-full", "end-long-full", "title", "description", "location"]
        line = FIELD.join(f"{{{name}}}" for name in names) + RECORD
        text = self.run([
            "khal", "-c", self.config, "list", "--format", line, "--day-format", "",
            self.span[0].isoformat(), self.span[1].isoformat()])
        # An event of several days is listed on each of them.
        return sorted(self.vdirsyncer.identified({self._occurrence(*fields) for fields in self._records(text)}))

    def _records(self, text):
        records = [record.strip("\n") for record in text.split(RECORD)]
        return [record.split(FIELD) for record in records if record]

    def _occurrence(self, uid, start, end, title, notes, location):
        start, end = datetime.fromisoformat(start), datetime.fromisoformat(end)
        if start.tzinfo:
            return Occurrence(uid, utc(start), utc(end), title, notes, location)
        # An all-day event has no offset, and khal names its last day.
        last = end.date() + timedelta(days=1)
        return Occurrence(uid, start.date().isoformat(), last.isoformat(), title, notes, location)

    def comparable(self, occurrence):
        # The icalendar library of Debian 12 takes a backslash that stands before an n for a line break.
        return replace(occurrence, notes=occurrence.notes.replace("\\n", "\n"))
