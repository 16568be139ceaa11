# SPDX-License-Identifier: Apache-2.0
"""Real calendar programs add a CalDAV account of Kalends by its address, a name and an app password. Each has a person
of its own, who owns one circle and only sees another: everything must be there; what is changed in the program is
changed here, and the other way round; what may not be changed stays; and a password that has ended lets nothing in,
while the program keeps what it has. One line a program; the exit status is 1 when anything is missed, 2 when a program
is missing.

    KALENDS=.build/debug/kalends python Tests/Clients/accounts.py [thunderbird evolution vdirsyncer kdav]
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

try:
    import dateutil  # noqa: F401
    import icalendar  # noqa: F401
except ImportError as error:
    sys.exit(f"{error.name} not found; run `Tests/Harness clients-account`, or: pip install -r Tests/requirements.txt")

from account_evolution import EvolutionAccount
from account_kdav import KDAVAccount
from account_thunderbird import ThunderbirdAccount
from account_vdirsyncer import VdirsyncerAccount
from kalends import Failure, Kalends, wait_for
from programs import without_secrets
from schedule import HOME, rfc3339, utc

NAMES = {"thunderbird": ThunderbirdAccount, "evolution": EvolutionAccount, "vdirsyncer": VdirsyncerAccount,
         "kdav": KDAVAccount}


@dataclass(frozen=True, order=True)
class Entry:
    """One resource of a collection: a series is one, too. `start` is `2027-03-05T08:30:00Z`, a date, or empty."""

    collection: str
    uid: str
    title: str
    start: str
    is_done: bool = False

    def is_like(self, other):
        """Whether all but the title is the same; a title is made from patient and provider, and here names the latter."""
        return replace(self, title="") == replace(other, title="")


class Person:
    """A user with an app password, the owner of one circle and a viewer of another."""

    def __init__(self, server, name):
        self.server, self.name = server, name
        self.circles = [f"{name}-home", f"{name}-work"]
        self.entries = {}
        tomorrow = datetime.now(timezone.utc).replace(hour=8, minute=30, second=0, microsecond=0) + timedelta(days=1)
        for circle, title, role in zip(self.circles, ("Rossi family", "Team"), ("owner", "viewer")):
            self._fill(circle, title, role, tomorrow)
        self.made = server.call("POST", "/v1/app-passwords", {"userId": name, "label": name})
        self.url = self.made["url"].replace("//localhost:", "//127.0.0.1:")
        self.user, self.password = self.made["username"], self.made["password"]

    def _fill(self, circle, title, role, day):
        path = f"/v1/circles/{circle}"
        self.server.call("PUT", path, {"name": title, "timeZone": HOME})
        self.server.call("PUT", f"{path}/members/{self.name}", {"displayName": self.name, "role": role})
        self.server.call("PUT", f"{path}/patients/oma", {"displayName": "Oma"})

        def put(collection, identifier, value, shown, start):
            item = self.server.call("PUT", f"{path}/{collection}/{identifier}", value)
            place = circle + ("~tasks" if collection in ("tasks", "follow-ups") else "")
            self.entries[circle, identifier] = Entry(place, item["uid"], shown, start)

        def appointment(identifier, provider, start, **more):
            put("appointments", identifier, {"patientId": "oma", "provider": provider, "startAt": rfc3339(start),
                                             "durationMinutes": 45, **more}, provider, utc(start))

        put("tasks", "pills", {"title": "Refill pills", "dueAt": rfc3339(day)}, "Refill pills", utc(day))
        put("tasks", "someday", {"title": "Some day", "dueAt": None}, "Some day", "")
        put("follow-ups", "report", {"description": "Ask for it", "dueAt": rfc3339(day)}, "Ask for it", utc(day))
        appointment("visit", "Dr. Wu", day + timedelta(days=2))
        appointment("gone", "Dr. Späth", day + timedelta(days=3))
        appointment("weekly", "Gym", day + timedelta(days=4),
                    recurrence={"rrule": "FREQ=WEEKLY;COUNT=5", "exdates": []})
        date = (day + timedelta(days=5)).date().isoformat()
        shift = {"patientId": "oma", "ownerId": self.name, "startDate": date, "endDate": date}
        put("shifts", "day", shift, "Oma", date)

    def uid(self, circle, identifier):
        return self.entries[self.circles[circle], identifier].uid

    def item(self, method, circle, path, value=None):
        return self.server.call(method, f"/v1/circles/{self.circles[circle]}/{path}", value)

    def password_path(self):
        return f"/v1/app-passwords/{self.made['id']}"


class Turn:
    """One program with its person, step by step."""

    def __init__(self, program, person):
        self.program, self.person = program, person
        self.held, self.faults = [], []
        self.made_uid = f"made-in-{program.name}"

    def step(self, name, action):
        try:
            action()
            self.held.append(name)
        except Failure as failure:
            self.faults.append(f"{name}: {failure}")
        except Exception:
            self.faults.append(f"{name}: " + traceback.format_exc(limit=-3).strip().replace("\n", "\n    "))
        return not self.faults

    def steps(self):
        return [("added", self.add), ("moved", self.move), ("one occurrence moved", self.move_occurrence),
                ("one occurrence deleted", self.delete_occurrence), ("copied", self.copy), ("done", self.complete),
                ("made", self.make), ("changed here", self.change), ("deleted here", self.delete),
                ("deleted there", self.delete_there), ("viewer", self.viewer), ("read-only password", self.read_only),
                ("ended", self.ended)]

    def run(self):
        # What follows builds on what was before; the first fault ends the turn.
        all(self.step(name, action) for name, action in self.steps())

    def must_hold(self, what):
        """The program must come to hold exactly what the person has."""
        wanted = sorted(self.program.comparable(entry) for entry in self.person.entries.values())
        held = []

        def holds():
            nonlocal held
            self.program.refresh()
            held = sorted(Entry(*fields) for fields in self.program.entries())
            held = sorted(self.program.comparable(entry) for entry in held)
            return len(held) == len(wanted) and all(
                one.is_like(other) and other.title in one.title for one, other in zip(held, wanted))

        try:
            wait_for(what, holds, seconds=30, pause=0.5)
        except Failure:
            lacks = [entry for entry in wanted if not any(one.is_like(entry) for one in held)]
            more = [entry for entry in held if not any(one.is_like(entry) for one in wanted)]
            raise Failure(f"{what}: {len(held)} entries of {len(wanted)}; lacks {lacks[:4]}; has {more[:4]}; "
                          f"titles {[entry.title for entry in held]}") from None

    def must_be(self, what, condition):
        """The server must come to have what the program was asked to change."""
        def asked():
            self.program.refresh()
            return condition()

        wait_for(what, asked, seconds=20, pause=0.5)

    def change_entry(self, circle, identifier, **fields):
        key = self.person.circles[circle], identifier
        self.person.entries[key] = replace(self.person.entries[key], **fields)

    def add(self):
        self.program.add(self.person.url, self.person.user, self.person.password)
        self.must_hold("everything to be there")

    def move(self):
        start = later(self.person.entries[self.person.circles[0], "visit"].start, hours=3)
        self.program.move(self.person.uid(0, "visit"), start)
        self.must_be("the appointment to be moved here", lambda: instant(
            self.person.item("GET", 0, "appointments/visit")["startAt"]) == start)
        self.change_entry(0, "visit", start=start)
        self.must_hold("the program to keep the move")

    def move_occurrence(self):
        first = self.person.entries[self.person.circles[0], "weekly"].start
        original = later(first, days=7)
        self.program.move_occurrence(self.person.uid(0, "weekly"), original, later(original, hours=2))

        def moved():
            occurrences = self.person.item("GET", 0, "appointments/weekly")["occurrences"]
            return [instant(one["startAt"]) for one in occurrences if one.get("startAt")] == [later(original, hours=2)]

        self.must_be("one occurrence to be moved here, and no other", moved)
        self.must_hold("the series to stay")

    def delete_occurrence(self):
        last = later(self.person.entries[self.person.circles[0], "weekly"].start, days=28)
        self.program.delete_occurrence(self.person.uid(0, "weekly"), last)

        def deleted():
            item = self.person.item("GET", 0, "appointments/weekly")
            gone = [instant(start) for start in item["recurrence"]["exdates"]]
            path = f"appointments/weekly/occurrences/{last.replace('-', '').replace(':', '')}"
            return last in gone or self.person.item("GET", 0, path)["status"] == "cancelled"

        self.must_be("one occurrence to be deleted here", deleted)
        self.must_hold("the rest of the series to stay")

    def copy(self):
        """An app takes over the whole title, which the server makes from the patient and the provider."""
        uid = f"copied-in-{self.program.name}"
        self.program.copy(self.person.uid(0, "visit"), uid)

        def copied():
            appointments = self.person.item("GET", 0, "appointments")["items"]
            return [one["provider"] for one in appointments if one["uid"] == uid]

        self.must_be("a copy to be made here", copied)
        if copied() != ["Dr. Wu"]:
            raise Failure(f"the copy's provider is {copied()}")
        self.person.entries["copied", "there"] = replace(self.person.entries[self.person.circles[0], "visit"], uid=uid)
        self.must_hold("the copy to stay")

    def complete(self):
        for identifier, collection in (("pills", "tasks"), ("someday", "tasks"), ("report", "follow-ups")):
            self.program.complete(self.person.uid(0, identifier))
            self.must_be(f"{identifier} to be done here", lambda: self.person.item(
                "GET", 0, f"{collection}/{identifier}")["status"] == "completed")
            self.change_entry(0, identifier, is_done=True)
        self.must_hold("completed tasks to stay")

    def make(self):
        self.program.make_task(f"{self.person.circles[0]}~tasks", self.made_uid, "Water the plants")

        def made():
            tasks = self.person.item("GET", 0, "tasks")["items"]
            return any(task["title"] == "Water the plants" and task["uid"] == self.made_uid for task in tasks)

        self.must_be("a task that the program made", made)
        self.person.entries["made", "there"] = Entry(
            f"{self.person.circles[0]}~tasks", self.made_uid, "Water the plants", "")
        self.must_hold("the program to keep the task that it made")

    def change(self):
        task = self.person.item("GET", 1, "tasks/pills")
        start = later(self.person.entries[self.person.circles[1], "pills"].start, days=1)
        self.person.item("PUT", 1, "tasks/pills", {"title": task["title"], "dueAt": start})
        self.change_entry(1, "pills", start=start)
        self.must_hold("a change here to be seen there")

    def delete(self):
        for circle in (0, 1):
            self.person.item("DELETE", circle, "appointments/gone")
            del self.person.entries[self.person.circles[circle], "gone"]
        self.must_hold("a deletion here to be seen there")

    def delete_there(self):
        self.program.delete(self.made_uid)
        self.must_be("a deletion there to be seen here", lambda: all(
            task["uid"] != self.made_uid for task in self.person.item("GET", 0, "tasks")["items"]))
        del self.person.entries["made", "there"]
        self.must_hold("what was deleted to stay so")

    def refused(self, circle):
        """A move that is refused: nothing changes here, and the program shows what is here."""
        before = self.person.item("GET", circle, "appointments/visit")
        start = later(self.person.entries[self.person.circles[circle], "visit"].start, hours=1)
        self.program.refused(self.person.uid(circle, "visit"), start)
        if self.person.item("GET", circle, "appointments/visit") != before:
            raise Failure("what may not be changed was changed here")
        self.must_hold("everything to be there after the refusal")

    def viewer(self):
        self.refused(1)

    def read_only(self):
        self.person.server.call("PATCH", self.person.password_path(), {"access": "read"})
        self.refused(0)

    def ended(self):
        before = sorted(Entry(*fields) for fields in self.program.entries())
        self.person.server.call("DELETE", self.person.password_path())
        self.person.item("DELETE", 0, "appointments/visit")
        log = self.person.server.log_path
        refused = log.read_text().count("status=401")
        self.program.refresh_refused()
        wait_for("the program to be let in no more", lambda: log.read_text().count("status=401") > refused)
        if sorted(Entry(*fields) for fields in self.program.entries()) != before:
            raise Failure("the program no longer keeps what it had, or has read more")


def later(start, **length):
    return utc(datetime.fromisoformat(start) + timedelta(**length))


def instant(text):
    return utc(datetime.fromisoformat(text))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("programs", nargs="*", help=f"of {', '.join(NAMES)}; all by default")
    names = options.parse_args().programs or list(NAMES)
    if unknown := [name for name in names if name not in NAMES]:
        options.error(f"unknown: {', '.join(unknown)}")
    binary = Path(os.environ.get("KALENDS") or ".build/debug/kalends")
    absent = [] if binary.is_file() else [f"kalends: no program at {binary}; build it, or name it in KALENDS"]
    absent += [f"{name}: {reason}" for name in names if (reason := NAMES[name].missing())]
    if absent:
        print("\n".join(absent), file=sys.stderr)
        return 2

    # A terminated run cleans up like a finished one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begun = time.monotonic()
    folder = tempfile.mkdtemp(prefix="kalends-accounts-")
    server, programs, failed = None, [], 0
    try:
        server = Kalends(binary, folder)
        for name in names:
            program = NAMES[name](folder)
            programs.append(program)
            turn = Turn(program, Person(server, name))
            turn.run()
            failed += bool(turn.faults)
            print(f"{name + ' ' + program.version():<24} {'FAULT ' if turn.faults else ''}{' · '.join(turn.held)}")
            for line in turn.faults:
                print(f"    {without_secrets(line)}", flush=True)
            program.stop()
    finally:
        for program in programs:
            program.stop()
        if server:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(names) - failed} of {len(names)} programs are right, in {time.monotonic() - begun:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"failed: {without_secrets(str(failure))}", file=sys.stderr)
        sys.exit(1)
