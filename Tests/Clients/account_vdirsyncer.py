# SPDX-License-Identifier: Apache-2.0
"""vdirsyncer keeps a CalDAV account and a folder in step. Its user edits the files; khal lists those with events."""

import re
import shutil
import subprocess
from datetime import datetime, timezone

from kalends import Failure
from schedule import HOME, utc
from vdirsyncer import Vdirsyncer


class VdirsyncerAccount(Vdirsyncer):
    packages = ["vdirsyncer", "khal"]
    commands = ["vdirsyncer", "khal"]

    def add(self, url, user, password):
        self.calendars = self.home / "calendars"
        self.config = self.home / "vdirsyncer.conf"
        self.config.write_text(
            f"""
[general]
status_path = "{self.home}/status/"

[pair account]
a = "folder"
b = "server"
collections = ["from b"]
metadata = ["displayname", "color"]

[storage folder]
type = "filesystem"
path = "{self.calendars}"
fileext = ".ics"

[storage server]
type = "caldav"
url = "{url}"
username = "{user}"
password = "{password}"
""")
        self.config.chmod(0o600)
        # It asks for each calendar whether it may make the folder.
        found = subprocess.run(["vdirsyncer", "-c", self.config, "discover"], env=self.environment, cwd=self.home,
                               input=b"y\n" * 20, capture_output=True, timeout=60)
        if found.returncode:
            raise Failure(f"vdirsyncer found no calendars: {found.stderr.decode(errors='replace')[-600:]}")
        self.run(["vdirsyncer", "-c", self.config, "sync"])
        self.run(["vdirsyncer", "-c", self.config, "metasync"])
        self._listed_by_khal()

    def _listed_by_khal(self):
        """khal shows each calendar under the name that vdirsyncer took over."""
        names = {folder.name: (folder / "displayname").read_text() for folder in self.calendars.iterdir()}
        if not any("Rossi family" in name for name in names.values()):
            raise Failure(f"the calendars are called {names}")
        config = self.home / "khal.conf"
        config.write_text(
            f"[calendars]\n[[all]]\npath = {self.calendars}/*\ntype = discover\n[sqlite]\npath = {self.home}/khal.db\n"
            f"[locale]\nlocal_timezone = {HOME}\ndefault_timezone = {HOME}\ndateformat = %Y-%m-%d\n"
            "longdateformat = %Y-%m-%d\ndatetimeformat = %Y-%m-%d %H:%M\nlongdatetimeformat = %Y-%m-%d %H:%M\n")
        listed = self.run(["khal", "-c", config, "list", "--format", "{title}", "--day-format", "", "today", "60d"])
        for title in ("Dr. Wu", "Dr. Späth", "Gym"):
            # The series has five occurrences in each of two circles.
            count, wanted = listed.count(title), 10 if title == "Gym" else 2
            if count != wanted:
                raise Failure(f"khal lists {title} {count} times, and not {wanted}: {listed}")

    def entries(self):
        from icalendar import Calendar

        found = []
        for file in sorted(self.calendars.glob("*/*.ics")):
            calendar = Calendar.from_ical(file.read_bytes())
            parts = [part for part in calendar.walk() if part.name in ("VEVENT", "VTODO")]
            for part in parts:
                if "RECURRENCE-ID" in part:
                    continue
                start = part.get("DUE") or part.get("DTSTART")
                text = "" if not start else utc(start.dt) if isinstance(start.dt, datetime) else start.dt.isoformat()
                found.append((file.parent.name, str(part["UID"]), str(part["SUMMARY"]), text,
                              part.get("STATUS") == "COMPLETED"))
        return found

    def _file(self, uid):
        for file in self.calendars.glob("*/*.ics"):
            if re.search(rf"^UID:{re.escape(uid)}\r?$", file.read_text(), re.M):
                return file
        raise Failure(f"vdirsyncer has no file with the UID {uid}")

    def _edit(self, uid, change):
        from icalendar import Calendar

        file = self._file(uid)
        calendar = Calendar.from_ical(file.read_bytes())
        parts = [part for part in calendar.walk() if part.name in ("VEVENT", "VTODO")]
        master = next(part for part in parts if "RECURRENCE-ID" not in part)
        change(calendar, master)
        file.write_bytes(calendar.to_ical())

    def move(self, uid, start):
        def change(_, event):
            shift(event, datetime.fromisoformat(start))

        self._edit(uid, change)

    def move_occurrence(self, uid, original, start):
        def change(calendar, event):
            moved = event.copy()
            del moved["RRULE"]
            moved["RECURRENCE-ID"] = event["DTSTART"].__class__(
                datetime.fromisoformat(original).astimezone(event["DTSTART"].dt.tzinfo))
            zone = event["DTSTART"].params.get("TZID")
            if zone:
                moved["RECURRENCE-ID"].params["TZID"] = zone
            shift(moved, datetime.fromisoformat(start))
            calendar.add_component(moved)

        self._edit(uid, change)

    def delete_occurrence(self, uid, start):
        def change(_, event):
            event.add("EXDATE", datetime.fromisoformat(start).astimezone(event["DTSTART"].dt.tzinfo))

        self._edit(uid, change)

    def copy(self, uid, other):
        file = self._file(uid)
        file.with_name(f"{other}.ics").write_bytes(file.read_bytes().replace(uid.encode(), other.encode()))

    def complete(self, uid):
        def change(_, task):
            for name in ("STATUS", "COMPLETED", "PERCENT-COMPLETE"):
                task.pop(name, None)
            task.add("STATUS", "COMPLETED")
            task.add("COMPLETED", datetime.now(timezone.utc))
            task.add("PERCENT-COMPLETE", 100)

        self._edit(uid, change)

    def make_task(self, collection, uid, title):
        (self.calendars / collection / f"{uid}.ics").write_bytes(
            "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//somebody//editor//EN", "BEGIN:VTODO",
                         f"UID:{uid}", "DTSTAMP:20260101T000000Z", f"SUMMARY:{title}", "END:VTODO",
                         "END:VCALENDAR", ""]).encode())

    def delete(self, uid):
        self._file(uid).unlink()

    def _refused_sync(self):
        done = subprocess.run(["vdirsyncer", "-c", self.config, "sync"], env=self.environment, cwd=self.home,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        text = done.stderr.decode(errors="replace")
        if done.returncode == 0:
            raise Failure("vdirsyncer was refused nothing")
        return text

    def refused(self, uid, start):
        file, kept = self._file(uid), self.home / "kept.ics"
        shutil.copy2(file, kept)
        self.move(uid, start)
        edited = file.read_bytes()
        text = self._refused_sync()
        if "403" not in text:
            raise Failure(f"the refusal is no 403: {text[-600:]}")
        if not file.exists() or file.read_bytes() != edited:
            raise Failure("vdirsyncer lost what its user had written")
        # Its user takes it back.
        shutil.copy2(kept, file)

    def refresh_refused(self):
        text = self._refused_sync()
        if "401" not in text and "Unauthorized" not in text:
            raise Failure(f"an ended password is no 401: {text[-600:]}")


def shift(part, start):
    """Moves an event, and keeps its length and the way its times are written."""
    length = part["DTEND"].dt - part["DTSTART"].dt
    zone = part["DTSTART"].dt.tzinfo
    for name, moment in (("DTSTART", start), ("DTEND", start + length)):
        value = part[name].__class__(moment.astimezone(zone))
        value.params = part[name].params
        part[name] = value
