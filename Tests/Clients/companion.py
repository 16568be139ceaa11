# SPDX-License-Identifier: Apache-2.0
"""kalends-companion between a folder that khal and vdirsyncer keep and a server: what is made, changed and removed on one
side is so on the other, with times to the second. One line a step; the exit status is 1 when anything is missed.

    KALENDS=.build/debug/kalends python3 -B Tests/Clients/companion.py
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from kalends import Failure, Kalends, wait_for
from programs import Program, without_secrets

HOME = "Europe/Rome"
# Days from today, so that all is within the windows of what is kept in step.
DAY = datetime.now(ZoneInfo(HOME)).date() + timedelta(days=10)
FIELD, RECORD = "\x1f", "\x1e"


def expect(condition, sentence):
    if not condition:
        raise Failure(sentence)


class Desk(Program):
    """A person's machine: khal on one folder, vdirsyncer between it and another, and the companion on that one."""

    name = "desk"
    packages = ["khal", "vdirsyncer"]
    commands = ["khal", "vdirsyncer"]

    def __init__(self, folder, companion):
        super().__init__(folder)
        self.environment["TZ"] = HOME
        self.companion_program = Path(folder) / "kalends-companion"
        shutil.copy2(companion, self.companion_program)
        self.khal_folder, self.folder = self.home / "khal", self.home / "calendars"
        for place in (self.khal_folder, self.folder):
            for name in ("home", "circle"):
                (place / name).mkdir(parents=True)
        self.khal_config = self.home / "khal.conf"
        self.khal_config.write_text(f"""
[calendars]
[[home]]
path = {self.khal_folder}/home
[[circle]]
path = {self.khal_folder}/circle
[sqlite]
path = {self.home}/khal.db
[locale]
local_timezone = {HOME}
default_timezone = {HOME}
timeformat = %H:%M
dateformat = %Y-%m-%d
longdateformat = %Y-%m-%d
datetimeformat = %Y-%m-%d %H:%M
longdatetimeformat = %Y-%m-%d %H:%M
""")
        self.vdirsyncer_config = self.home / "vdirsyncer.conf"
        self.vdirsyncer_config.write_text(f"""
[general]
status_path = "{self.home}/status/"
[pair both]
a = "khal"
b = "companion"
collections = ["home", "circle"]
conflict_resolution = "b wins"
[storage khal]
type = "filesystem"
path = "{self.khal_folder}"
fileext = ".ics"
[storage companion]
type = "filesystem"
path = "{self.folder}"
fileext = ".ics"
""")
        self.run(["vdirsyncer", "-c", self.vdirsyncer_config, "discover"])

    def khal(self, *arguments, typed=None):
        if typed is None:
            return self.run(["khal", "-c", self.khal_config, *arguments])
        result = subprocess.run(
            ["khal", "-c", self.khal_config, *arguments], env=self.environment, cwd=self.home, capture_output=True,
            input=typed.encode(), timeout=60)
        return result.stdout.decode()

    def listed(self, days=45):
        """What khal shows: {title: [start, …]} of each calendar's events."""
        line = FIELD.join(["{calendar}", "{title}", "{start-long-full}", "{end-long-full}", "{location}"]) + RECORD
        start = (DAY - timedelta(days=15)).isoformat()
        text = self.khal("list", "--format", line, "--day-format", "", start, f"{days}d")
        records = [record.strip("\n").split(FIELD) for record in text.split(RECORD)]
        return sorted({tuple(record) for record in records if len(record) == 5})

    def titles(self):
        return [record[1] for record in self.listed()]

    def vdirsyncer(self):
        self.run(["vdirsyncer", "-c", self.vdirsyncer_config, "sync"])

    def companion(self, *arguments, typed=None, status=0, **more):
        result = subprocess.run(
            [self.companion_program, *arguments], env={**self.environment, **more}, cwd=self.home,
            capture_output=True, input=(typed or "").encode(), timeout=120)
        output = result.stdout.decode()
        if result.returncode != status:
            words = without_secrets((result.stderr.decode() + output)[-600:])
            raise Failure(f"kalends-companion {arguments[0]} ended with {result.returncode}: {words}")
        return output

    def sync(self):
        """All three in step: khal's folder, the companion's, the server."""
        self.vdirsyncer()
        report = json.loads(self.companion("sync", "--json"))
        self.vdirsyncer()
        return report


class Person:
    """Ann, as her host application sees her over the API."""

    def __init__(self, server):
        self.server = server

    def call(self, method, path, body=None):
        return self.server.call(method, path, body)

    def events(self):
        return self.call("GET", "/v1/users/ann/events")["items"]

    def event(self, title):
        found = [event for event in self.events() if event["title"] == title]
        expect(len(found) < 2, f"the server has {len(found)} events called {title}")
        return found[0] if found else None

    def planned(self):
        return [event["title"] for event in self.call("GET", "/v1/users/ann/planned")["items"]]


def log_in(desk, person, key):
    address = f"http://127.0.0.1:{person.server.port}"
    desk.companion("sync", status=2)
    desk.companion(
        "login", address, "--folder", desk.folder, "--user", "ann", "--label", "desk", typed="wrong-token\n", status=3)
    desk.companion("login", address, "--folder", desk.folder, "--user", "ann", "--label", "desk", typed=key + "\n")
    desk.companion("sync", status=2)
    desk.companion(
        "calendars", "--own", "home", "--mirror", "circle", "--planned", "home", "--patience", "0")
    listed = json.loads(desk.companion("calendars", "--json"))["calendars"]
    expect({calendar["id"]: calendar["uses"] for calendar in listed}
           == {"home": ["own", "planned"], "circle": ["mirror"]}, f"calendars are {listed}")
    token = next(Path(desk.environment["XDG_CONFIG_HOME"]).glob("**/token.json"))
    expect(token.stat().st_mode & 0o777 == 0o600, "others can read the token")
    everything = [path.read_bytes() for path in desk.home.glob("**/*") if path.is_file()]
    expect(not any(key.encode() in content for content in everything), "the token of the login is kept")
    answer = json.loads(desk.companion("status", "--server", "--json"))
    expect(answer["connected"] and answer["answer"]["user"] == "ann", f"the status is {answer}")


def made(desk, person):
    desk.khal("new", "-a", "home", "-l", "Via Roma 1", DAY.isoformat(), "10:00", "11:30", "Dentist")
    desk.khal("new", "-a", "home", DAY.isoformat(), (DAY + timedelta(days=1)).isoformat(), "Excursion")
    person.call("POST", "/v1/users/ann/events", {
        "title": "Choir", "date": DAY.isoformat(), "startTime": "18:15", "endTime": "19:45", "location": "Town hall"})
    desk.khal("new", "-a", "circle", DAY.isoformat(), "07:00", "07:30", "Nobody's business")
    desk.sync()
    dentist = person.event("Dentist")
    expect(dentist, "the server has not heard of khal's event")
    expect((dentist["date"], dentist["startTime"], dentist["endTime"], dentist["location"], dentist["provider"])
           == (DAY.isoformat(), "10:00", "11:30", "Via Roma 1", "apple"), f"the server has {dentist}")
    days = person.event("Excursion")
    expect(days["allDay"] and days["date"] == DAY.isoformat()
           and days["endDate"] == (DAY + timedelta(days=1)).isoformat(), f"the server has {days}")
    expect(sorted(person.planned()) == ["Dentist", "Excursion"], f"planned are {person.planned()}")
    choir = [record for record in desk.listed() if record[1] == "Choir"]
    expect(choir == [("circle", "Choir", f"{DAY} 18:15", f"{DAY} 19:45", "Town hall")], f"khal lists {choir}")
    expect(person.event("Nobody's business") is None, "an event without our mark left the mirror")


def quiet(desk, person):
    for _ in range(2):
        counts = desk.sync()["counts"]
        expect(counts["written"] == counts["sent"] == counts["failed"] == 0, f"a sync without changes did {counts}")
    before = {path: path.stat().st_mtime_ns for path in desk.folder.glob("**/*.ics")}
    desk.sync()
    expect(before == {path: path.stat().st_mtime_ns for path in desk.folder.glob("**/*.ics")}, "a file was written")


def changed(desk, person):
    # khal asks what to edit, for the new value, and again.
    desk.khal("edit", "Dentist", typed="s\nDentist, molar\nn\n")
    choir = person.event("Choir")
    person.call("PATCH", f"/v1/users/ann/events/{choir['id']}", {
        "title": "Choir rehearsal", "startTime": "18:30", "endTime": "20:00"})
    desk.sync()
    dentist = person.event("Dentist, molar")
    expect(dentist and person.event("Dentist") is None, "the server has not heard of khal's change")
    expect(dentist["startTime"] == "10:00", f"the server has {dentist}")
    choir = [record[:4] for record in desk.listed() if record[1].startswith("Choir")]
    expect(choir == [("circle", "Choir rehearsal", f"{DAY} 18:30", f"{DAY} 20:00")], f"khal lists {choir}")
    # The server's event is changed in khal, and goes back.
    desk.khal("edit", "Choir rehearsal", typed="l\nChurch\nn\n")
    desk.sync()
    expect(person.event("Choir rehearsal")["location"] == "Church", "khal's change of a mirrored event was lost")


def repeated(desk, person):
    # khal's first question is for the way of repeating.
    desk.khal("new", "-a", "home", "--repeat", "weekly", DAY.isoformat(), "08:00", "08:30", "Swimming")
    person.call("POST", "/v1/users/ann/events", {
        "title": "Market", "date": DAY.isoformat(), "startTime": "07:00", "endTime": "08:00",
        "recurrence": {"rrule": "FREQ=WEEKLY;COUNT=3"}})
    desk.sync()
    swimming = person.event("Swimming")
    expect(swimming and "FREQ=WEEKLY" in swimming["recurrence"]["rrule"], f"the server has {swimming}")
    market = [record[2] for record in desk.listed() if record[1] == "Market"]
    expect(market == [f"{DAY + timedelta(days=7 * week)} 07:00" for week in range(3)], f"khal lists {market}")


def removed(desk, person):
    # khal looks for words in the file's own text, where a comma is escaped.
    desk.khal("edit", "molar", typed="D\ny\n")
    person.call("DELETE", f"/v1/users/ann/events/{person.event('Choir rehearsal')['id']}")
    # A deletion counts when it was seen twice.
    for _ in range(2):
        desk.sync()
    expect(person.event("Dentist, molar") is None, "the server still has what khal deleted")
    expect("Choir rehearsal" not in desk.titles(), "khal still has what the server deleted")
    expect("Nobody's business" in desk.titles(), "an event without our mark is gone")
    expect("Excursion" in desk.titles(), "another event is gone")
    expect("Dentist, molar" not in person.planned(), "what is planned has an event that is gone")


def moment(hour):
    return datetime(DAY.year, DAY.month, DAY.day, hour, tzinfo=ZoneInfo(HOME)).isoformat()


def shown(desk, word):
    """What khal lists of the events of ours with a word in the title, as (title, start)."""
    return [(record[1], record[2]) for record in desk.listed() if record[0] == "circle" and word in record[1]]


def appointment(hour):
    return {"patientId": "mom", "provider": "Dr. Rossi", "startAt": moment(hour), "endAt": moment(hour + 1)}


def connect(person):
    made = person.call("POST", "/v1/circles/rome/connections", {"provider": "apple", "userId": "ann"})
    return f"/v1/connections/{made['id']}"


def items(desk, person):
    """Items of a circle: put over the API, changed on both sides, removed on both sides."""
    circle = "/v1/circles/rome"
    person.call("PUT", circle, {"name": "Rome", "timeZone": HOME})
    person.call("PUT", f"{circle}/members/ann", {"displayName": "Ann", "role": "owner"})
    person.call("PUT", f"{circle}/patients/mom", {"displayName": "Mom"})
    own = connect(person)
    person.call("PUT", f"{circle}/tasks/pills", {"title": "Pills", "dueAt": moment(9)})
    person.call("PUT", f"{circle}/appointments/rossi", appointment(11))
    desk.sync()
    pills, rossi = shown(desk, "Pills"), shown(desk, "Rossi")
    expect([start for _, start in pills] == [f"{DAY} 09:00"], f"khal lists {pills}")
    expect([start for _, start in rossi] == [f"{DAY} 11:00"], f"khal lists {rossi}")
    expect(person.event(pills[0][0]) is None, "an item is among the person's own events")
    quiet(desk, person)

    # A task is Kalends': its time follows the API, and what is typed into it is put back and recorded.
    person.call("PUT", f"{circle}/tasks/pills", {"title": "Pills", "dueAt": moment(10)})
    desk.sync()
    expect(shown(desk, "Pills") == [(pills[0][0], f"{DAY} 10:00")], f"khal lists {shown(desk, 'Pills')}")
    desk.khal("edit", "Pills", typed="s\nPills, all of them\nn\n")
    expect(shown(desk, "all of them"), "khal did not edit the task's event")
    for _ in range(2):
        desk.sync()
    expect(shown(desk, "Pills") == [(pills[0][0], f"{DAY} 10:00")], f"khal lists {shown(desk, 'Pills')}")
    records = person.call("GET", f"{own}/conflicts")["items"]
    expect([(one["kind"], one["state"]) for one in records] == [("editedThere", "resolved")], f"recorded is {records}")
    # An appointment moves on either side.
    desk.khal("edit", "Rossi", typed=f"t\n{DAY} 15:00 {DAY} 16:00\nn\n")
    desk.sync()
    moved = person.call("GET", f"{circle}/appointments/rossi")["startAt"]
    expect(datetime.fromisoformat(moved) == datetime.fromisoformat(moment(15)), f"the appointment is at {moved}")
    person.call("PUT", f"{circle}/appointments/rossi", appointment(17))
    desk.sync()
    expect(shown(desk, "Rossi") == [(rossi[0][0], f"{DAY} 17:00")], f"khal lists {shown(desk, 'Rossi')}")
    quiet(desk, person)

    # The events stay with the folder while there is no connection; the next one finds them by their marks.
    person.call("DELETE", f"{own}?events=keep")
    desk.sync()
    expect(len(shown(desk, "Pills")) == len(shown(desk, "Rossi")) == 1, "an event went that was to stay")
    own = connect(person)
    files = sorted((desk.folder / "circle").glob("*.ics"))
    desk.sync()
    expect(files == sorted((desk.folder / "circle").glob("*.ics")), "an event that was there is made again")
    quiet(desk, person)

    # Removed on both sides: a task is gone, an appointment waits for a word.
    person.call("DELETE", f"{circle}/tasks/pills")
    desk.khal("edit", "Rossi", typed="D\ny\n")
    for _ in range(2):
        desk.sync()
    expect(shown(desk, "Pills") == [] and shown(desk, "Rossi") == [], f"khal lists {desk.titles()}")
    records = [one for one in person.call("GET", f"{own}/conflicts")["items"] if one["state"] == "open"]
    expect([one["kind"] for one in records] == ["deletedThere"], f"open is {records}")
    kept = person.call("GET", f"{circle}/appointments/rossi")
    expect(kept["status"] != "cancelled", "an event that was deleted has cancelled its appointment")
    person.call("POST", f"/v1/conflicts/{records[0]['id']}/resolve", {"keep": "kalends"})
    desk.sync()
    expect(shown(desk, "Rossi") == [(rossi[0][0], f"{DAY} 17:00")], f"khal lists {shown(desk, 'Rossi')}")
    person.call("DELETE", f"{own}?events=remove")
    desk.sync()
    expect(shown(desk, "Rossi") == [], "an event stays of a connection whose events were to go")
    expect("Nobody's business" in desk.titles(), "an event without our mark is gone")


def running(desk, person):
    log = open(desk.home / "run.log", "wb")
    process = subprocess.Popen(
        [desk.companion_program, "run", "--json"], env=desk.environment, cwd=desk.home, stdout=log, stderr=log)
    try:
        wait_for("the first sync of run", lambda: (desk.home / "run.log").read_text().count("\n") >= 1)
        desk.khal("new", "-a", "home", DAY.isoformat(), "12:00", "12:30", "Lunch")
        desk.vdirsyncer()
        wait_for("khal's event at the server, by itself", lambda: person.event("Lunch"))
        person.call("POST", "/v1/users/ann/events", {"title": "Tea", "date": DAY.isoformat(), "startTime": "16:00"})
        process.send_signal(signal.SIGUSR1)

        def is_listed():
            desk.vdirsyncer()
            return "Tea" in desk.titles()

        wait_for("the server's event in khal, after SIGUSR1", is_listed, pause=0.5)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        log.close()
    expect(process.returncode == 0, f"run ended with {process.returncode}")


def disconnected(desk, person):
    before = desk.listed()
    desk.companion("disconnect")
    desk.companion("sync", status=2)
    desk.companion("calendars", status=3)
    answer = json.loads(desk.companion("status", "--json"))
    expect(not answer["connected"] and answer["status"].get("last_sync_at") is None, f"the status is {answer}")
    left = {path.name for path in desk.home.glob(".*/**/*") if path.is_file()}
    expect(not left & {"token.json", "engine.json", "connector.json"}, f"these files are left: {sorted(left)}")
    desk.vdirsyncer()
    expect(desk.listed() == before, "an event went with the connection")


STEPS = [
    ("logged in, and calendars chosen", log_in), ("made on both sides", made), ("nothing to do", quiet),
    ("changed on both sides", changed), ("repeated on both sides", repeated), ("removed on both sides", removed),
    ("still nothing to do", quiet), ("a circle's items, on both sides", items), ("nothing to do again", quiet),
    ("run by itself", running), ("disconnected", disconnected),
]


def main():
    kalends = Path(os.environ.get("KALENDS") or ".build/debug/kalends")
    companion = Path(os.environ.get("COMPANION") or ".build-companion/debug/kalends-companion")
    absent = [f"no program at {path}" for path in (kalends, companion) if not path.is_file()]
    if Desk.missing():
        absent.append(Desk.missing())
    if absent:
        print("\n".join(absent), file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begun = time.monotonic()
    folder = tempfile.mkdtemp(prefix="kalends-companion-")
    server = None
    try:
        server = Kalends(kalends, folder)
        person, desk = Person(server), Desk(folder, companion)
        person.call("PUT", "/v1/users/ann", {"timeZone": HOME})
        for name, step in STEPS:
            more = (server._key,) if step is log_in else ()
            step(desk, person, *more)
            print(f"companion: {name}", flush=True)
    finally:
        if server:
            server.stop()
        if os.environ.get("KEEP"):
            print(f"kept: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"companion: {len(STEPS)} steps are right, in {time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"failed: {without_secrets(str(failure))}", file=sys.stderr)
        sys.exit(1)
