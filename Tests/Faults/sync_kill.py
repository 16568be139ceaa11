# SPDX-License-Identifier: Apache-2.0
"""Kills the server in the middle of runs that keep calendars in step. A person at each side edits, moves and deletes in
random order; when all is quiet there is one event for each item, both sides are equal, nobody else's event was touched, and
every time that anybody set is the present one or in a record.

    KALENDS=.build-release/release/kalends .tools/python/bin/python -B Tests/Faults/sync_kill.py [--histories 200] [--seed N] [--postgresql]

Histories live ten at a time in one server, each with a circle and a calendar of its own at Google's emulator, Outlook's
emulator or Radicale; a kill hits all of them at whatever their runs are doing. Wants a Python with Radicale. With
`--postgresql`, the server's database is one, which crashes as often as the server is killed, or both at once.
"""

import argparse
import json
import random
import sqlite3
import time
from pathlib import Path

from cluster import PROGRAMS, Cluster
from report import run, skip
from server import Server, Violation
from sync_sides import Gone, Google, Outlook, Radicale, rfc3339, seconds

parser = argparse.ArgumentParser()
parser.add_argument("--histories", type=int, default=200)
parser.add_argument("--together", type=int, default=10)
parser.add_argument("--steps", type=int, default=8)
parser.add_argument("--seed", type=int, default=None)
parser.add_argument("--postgresql", action="store_true", help="on PostgreSQL, which crashes too")
options = parser.parse_args()

MONTH = 30 * 86_400
# Times of a history are minutes of their own, so that each is found again wherever it went.
FIRST = (int(time.time()) // 86_400 + 3) * 86_400


class History:
    """A circle, its connection, the items, and what both persons did."""

    def __init__(self, number, seed, server, side):
        self.chance = random.Random(seed)
        self.name, self.server, self.side = f"h{number}", server, side
        self.made = 0
        self.items = {}
        # The last time that the person there gave the event of an item.
        self.moved_there = {}
        self.deleted_there = set()
        self.foreign = None
        self.trace = []
        server.must("PUT", f"/v1/circles/{self.name}", {"name": f"Circle {self.name}", "timeZone": "Europe/Berlin"})
        server.must("PUT", f"/v1/circles/{self.name}/members/ann", {"displayName": "Ann", "role": "owner"})
        server.must("PUT", f"/v1/circles/{self.name}/patients/mom", {"displayName": "Mom"})
        made = self.call("POST", f"/v1/circles/{self.name}/connections", {"provider": side.provider})
        self.path = f"/v1/connections/{made['id']}"
        callback = side.connect(self.call, self.path)
        if callback is not None:
            status, fields, text = server.request("GET", callback)
            if status != 303:
                raise Violation(f"the callback was answered {status}: {text[:300]!r}")
            place = {name.lower(): value for name, value in dict(fields).items()}["location"]
            self.call("POST", f"{self.path}/redeem", {"code": place.rsplit("&code=", 1)[1]})
        self.call("PUT", f"{self.path}/calendar", {"create": {}})
        self.calendar = self.call("GET", self.path)["calendarId"]
        for _ in range(self.chance.randint(2, 5)):
            self.create()
        start = self.fresh()
        side.add(self.calendar, f"foreign-{self.name}", start, start + 1800)
        self.foreign = self.strangers()

    def call(self, method, path, value=None, accept=()):
        """A request as the connection's user."""
        for attempt in range(40):
            status, _, text = self.server.request(
                method, path, None if value is None else json.dumps(value).encode(),
                {"Authorization": f"Bearer {self.server.key}", "Content-Type": "application/json",
                 "Kalends-User": "ann"}, timeout=120)
            if status not in (503,) or attempt == 39:
                break
            time.sleep(0.1)
        if status >= 300 and status not in accept:
            raise Violation(f"{method} {path} was answered {status}: {text[:400]!r}")
        return {"status": status, **json.loads(text)} if text else {"status": status}

    def note(self, text):
        self.trace.append(text)

    def fresh(self):
        """A start that nothing else of this history has, to the minute."""
        self.made += 1
        return FIRST + self.chance.randrange(60) * 86_400 + self.made * 60

    # The person here

    def put(self, name):
        item = self.items[name]
        title = f"{name} {item['word']}"
        if name.startswith("t"):
            self.call("PUT", f"/v1/circles/{self.name}/tasks/{name}", {"title": title, "dueAt": rfc3339(item["start"])})
            return
        value = {
            "patientId": "mom", "provider": title, "startAt": rfc3339(item["start"]),
            "endAt": rfc3339(item["start"] + 1800), "timeZone": item["zone"]}
        if item["series"]:
            value["recurrence"] = {"rrule": "FREQ=DAILY;COUNT=4"}
        self.call("PUT", f"/v1/circles/{self.name}/appointments/{name}", value)

    def create(self):
        kind = self.chance.choice("taaas")
        start = self.fresh()
        name = f"{'t' if kind == 't' else 'a'}{self.made}"
        self.items[name] = {
            "start": start, "word": f"word{self.made}", "series": kind == "s", "gone": False,
            "zone": self.chance.choice(["Europe/Berlin", "UTC", "America/New_York"])}
        self.note(f"create {name}{' series' if kind == 's' else ''}")
        self.put(name)

    def pick(self):
        live = [name for name, item in self.items.items() if not item["gone"]]
        return self.chance.choice(live) if live else None

    def sync_here(self, name):
        """What the item is now, so that a write of ours carries what came in meanwhile."""
        if name.startswith("a"):
            found = self.call("GET", f"/v1/circles/{self.name}/appointments/{name}")
            self.items[name]["start"] = seconds(found["startAt"])

    def rename_here(self):
        if name := self.pick():
            self.sync_here(name)
            self.made += 1
            self.items[name]["word"] = f"word{self.made}"
            self.note(f"rename {name} here")
            self.put(name)
            self.deleted_there.discard(name)

    def move_here(self):
        if name := self.pick():
            self.items[name]["start"] = start = self.fresh()
            self.note(f"move {name} here to {rfc3339(start)}")
            self.put(name)
            self.deleted_there.discard(name)

    def delete_here(self):
        if name := self.pick():
            collection = "tasks" if name.startswith("t") else "appointments"
            self.note(f"delete {name} here")
            self.call("DELETE", f"/v1/circles/{self.name}/{collection}/{name}")
            self.items[name]["gone"] = True

    # The person there

    def strangers(self):
        return [event["raw"] for event in self.side.events(self.calendar) if event["title"].startswith("foreign-")]

    def ours(self):
        return [event for event in self.side.events(self.calendar) if not event["title"].startswith("foreign-")]

    def named(self, event):
        """The item of an event whose title nobody has changed."""
        return next((name for name in self.items if f"{name} word" in event["title"]), None)

    def there(self, name, act):
        events = self.ours()
        if not events:
            return
        event = self.chance.choice(events)
        try:
            if act(event) is not False:
                self.note(f"{name} there: {event['title']}")
        except Gone:
            # The person looks again another time.
            return

    def rename_there(self):
        def act(event):
            self.made += 1
            return self.side.rename(self.calendar, event, f"{event['title']} (theirs {self.made})")
        self.there("rename", act)

    def move_there(self):
        def act(event):
            if event["start"] is None or event["repeats"]:
                return False
            start = self.fresh()
            if self.side.move(self.calendar, event, start, start + 1800) is False:
                return False
            self.moved_there[self.named(event)] = start
            return True
        self.there("move", act)

    def delete_there(self):
        def act(event):
            self.side.delete(self.calendar, event)
            self.deleted_there.add(self.named(event))
            self.moved_there.pop(self.named(event), None)
        self.there("delete", act)

    def step(self):
        acts = [
            self.create, self.rename_here, self.rename_here, self.move_here, self.delete_here, self.rename_there,
            self.move_there, self.move_there, self.delete_there]
        for _ in range(self.chance.randrange(4)):
            self.chance.choice(acts)()

    # Runs

    def begin(self):
        answer = self.call("POST", f"{self.path}/sync", accept=(409,))
        return answer.get("runId")

    def finish(self, run_id):
        """Waits for a run, and approves one that is held."""
        if run_id is None:
            runs = self.call("GET", f"{self.path}/runs")["items"]
            held = next((one for one in runs if one["state"] == "held"), None)
            if held is None:
                return None
            run_id = held["id"]
        for _ in range(2400):
            now = self.call("GET", f"/v1/runs/{run_id}")
            if now["state"] == "held":
                self.note("approve")
                self.call("POST", f"/v1/runs/{run_id}/approve", accept=(409,))
            elif now["state"] in ("done", "failed"):
                return now
            time.sleep(0.025)
        raise Violation(f"{self.name}: a run does not end: {now}")

    # The promises

    def check(self):
        def broken(text):
            shown = "\n  ".join(self.trace)
            raise Violation(f"{self.name} at {self.side.provider}: {text}\n  {shown}")
        if self.strangers() != self.foreign:
            broken("an event of somebody else was changed")
        events = self.ours()
        records = json.dumps([
            self.call("GET", f"{self.path}/{part}?limit=200") for part in ("conflicts", "journal")])
        for name, item in self.items.items():
            found = [event for event in events if f"{name} word" in event["title"]]
            if item["gone"]:
                # An edit there of what was deleted here waits for a person.
                if found and "editedThere" not in records:
                    broken(f"{name} is gone, and its event is not")
                continue
            if len(found) > 1:
                broken(f"{name} has {len(found)} events")
            if not found:
                if name not in self.deleted_there:
                    broken(f"{name} has no event")
                continue
            event = found[0]
            if f"{name} {item['word']}" not in event["title"] or "theirs" in event["title"]:
                broken(f"{name} is {item['word']} here and {event['title']} there")
            if name.startswith("a"):
                here = self.call("GET", f"/v1/circles/{self.name}/appointments/{name}")
                start, end = seconds(here["startAt"]), seconds(here["endAt"])
                if (event["start"], event["end"]) != (start, end):
                    broken(f"{name} is at {here['startAt']} here and at {event['start']} there")
        expected = sum(not item["gone"] for item in self.items.values())
        if len(events) > expected and "editedThere" not in records:
            broken(f"there are {len(events)} events of ours for {expected} items")
        texts = records + json.dumps([self.call("GET", f"/v1/circles/{self.name}/appointments?limit=200")])
        texts += " ".join(rfc3339(event["start"]) for event in events if event["start"] is not None)
        for name, start in self.moved_there.items():
            if name is not None and rfc3339(start)[:-1] not in texts:
                broken(f"the time {rfc3339(start)} that {name} was given there is nowhere")


def strike(server, cluster, chance):
    """Kills the server, its database, or both; how many runs were under way."""
    way = chance.choice(["server", "database", "both"]) if cluster else "server"
    if way != "server":
        cluster.crash()
    if way != "database":
        server.kill()
    if way != "server":
        cluster.start()
    met = running(server, cluster)
    if way != "database":
        server.start()
    server.wait()
    return met


def running(server, cluster):
    """Runs that were under way when the server was killed, by its own database."""
    if cluster:
        return int(cluster.ask("SELECT count(*) FROM sync_runs WHERE state = 'running'"))
    with sqlite3.connect(f"file:{server.database}?mode=ro", uri=True) as database:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = next(name for name in tables if name.lower() in ("syncruns", "sync_runs"))
        return database.execute(f"SELECT count(*) FROM {table} WHERE state = 'running'").fetchone()[0]


def settle(histories):
    """Runs until two in a row have written nothing."""
    quiet = 0
    for _ in range(12):
        ended = [history.finish(run_id) for history, run_id in [(one, one.begin()) for one in histories]]
        counts = [run["counts"] for run in ended if run]
        writes = sum(one[key] for one in counts for key in ("created", "updated", "deleted", "pulled"))
        failed = [run for run in ended if run and run["status"] != "success"]
        quiet = quiet + 1 if writes == 0 and not failed else 0
        if quiet == 2:
            return
    raise Violation(f"the runs do not come to rest: {counts}; {failed}")


def batch(server, cluster, sides, numbers, seed, chance):
    """So many histories at once; kills, runs that a kill has met, and restarts."""
    histories = [History(number, seed + number, server, sides[number % len(sides)]) for number in numbers]
    kills = met = 0
    for _ in range(options.steps):
        for history in histories:
            history.step()
        begun = [(history, history.begin()) for history in histories]
        if chance.random() < 0.6:
            time.sleep(chance.choice([0.0, 0.02, 0.05, 0.1, 0.2, 0.4]) * chance.random() * 2)
            met += strike(server, cluster, chance)
            kills += 1
            for history in histories:
                history.note("killed")
            # Some go on at once, and some of the people edit before the next run.
            if chance.random() < 0.5:
                continue
        for history, run_id in begun:
            history.finish(run_id)
            history.note("run")
    settle(histories)
    if not cluster:
        server.check_integrity()
    for history in histories:
        history.check()
    return kills, met


def rounds(folder):
    seed = options.seed if options.seed is not None else random.randrange(1 << 32)
    print(f"seed {seed}")
    sides = [Google(folder), Outlook(folder), Radicale(folder)]
    environment = {}
    for side in sides:
        environment |= side.environment()
    cluster = Cluster() if options.postgresql else None
    if cluster:
        environment["KALENDS_FILES"] = str(Path(folder) / "k")
    server = Server(folder, folder, environment)
    if cluster:
        server.database = cluster.address
    server.start()
    server.wait()
    try:
        server.key = server.command("key", "create", "--name", "faults").strip()
        chance = random.Random(seed)
        met = 0
        for first in range(0, options.histories, options.together):
            numbers = range(first, min(first + options.together, options.histories))
            began = time.monotonic()
            kills, hit = batch(server, cluster, sides, numbers, seed, chance)
            met += hit
            yield (f"{numbers.start + 1}-{numbers.stop}", kills, hit, f"{time.monotonic() - began:.0f}")
        if met == 0:
            raise Violation("no kill has met a run: nothing was tried")
    finally:
        server.stop()
        for side in sides:
            side.stop()
        if cluster:
            cluster.close()


if __name__ == "__main__":
    TITLE = f"{options.histories} histories of calendars in step, with a server " + (
        "or a PostgreSQL that is killed in the middle of runs:" if options.postgresql else
        "that is killed in the middle of runs:")
    if options.postgresql and not PROGRAMS:
        skip(TITLE, "there is no PostgreSQL (Debian: apt-get install postgresql)")
    run(
        TITLE,
        [("histories", 10), ("kills", 6), ("runs that a kill has met", 24), ("s", 5)], rounds)
