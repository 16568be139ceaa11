# SPDX-License-Identifier: Apache-2.0
"""Kills the server in the middle of runs that keep calendars in step. A person at each side edits, moves and deletes items
and occurrences, and changes rules, in random order; what was deleted there comes out of the bin, events are copied, some
circles have two connections to one calendar, a mailbox moves to another server, and a database is lost. After each run that
nothing disturbed, and when all is quiet, there is one event for each item and connection, both sides take place at the same
times under the same titles, or a conflict or `attention` names the item. Nobody else's event was touched, and every time that
anybody set is the present one or in a record.

    KALENDS=.build-release/release/kalends .tools/python/bin/python -B Tests/Faults/sync_kill.py [--histories 200] [--seed N] [--postgresql]

Histories live ten at a time in one server, each with a circle and a calendar of its own at Google's emulator, Outlook's
emulator or Radicale; a kill hits all of them at whatever their runs are doing. Wants a Python with Radicale. With
`--postgresql`, the server's database is one, which crashes as often as the server is killed, or both at once.
"""

import argparse
import collections
import json
import random
import re
import sqlite3
import time
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

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
    """A circle, its connections, the items, and what the persons did."""

    def __init__(self, number, seed, server, side, is_shared):
        self.chance = random.Random(seed)
        self.name, self.server, self.side = f"h{number}", server, side
        self.made = 0
        self.items = {}
        # The last time that a person there gave the event of an item, or an occurrence, by the name and its original start.
        self.moved_there = {}
        # Items with something that was deleted there, and events in the bin.
        self.deleted_there, self.bin = set(), {}
        self.foreign = None
        self.trace = []
        self.paths, self.calendar = [], None
        self.make_circle()
        self.connect({"create": {}})
        for _ in range(self.chance.randint(2, 5)):
            self.create()
        if is_shared:
            self.note("a second connection")
            self.connect({"calendarId": self.calendar, "shareWith": True})
        start = self.fresh()
        side.add(self.calendar, f"foreign-{self.name}", start, start + 1800)
        self.foreign = self.strangers()

    def make_circle(self):
        self.server.must("PUT", f"/v1/circles/{self.name}", {"name": f"Circle {self.name}", "timeZone": "Europe/Berlin"})
        self.server.must("PUT", f"/v1/circles/{self.name}/members/ann", {"displayName": "Ann", "role": "owner"})
        self.server.must("PUT", f"/v1/circles/{self.name}/patients/mom", {"displayName": "Mom"})

    def connect(self, choice):
        made = self.call(
            "POST", f"/v1/circles/{self.name}/connections",
            {"provider": self.side.provider, "label": f"connection {len(self.paths)}"})
        path = f"/v1/connections/{made['id']}"
        callback = self.side.connect(self.call, path)
        if callback is not None:
            status, fields, text = self.server.request("GET", callback)
            if status != 303:
                raise Violation(f"the callback was answered {status}: {text[:300]!r}")
            place = {name.lower(): value for name, value in dict(fields).items()}["location"]
            self.call("POST", f"{path}/redeem", {"code": place.rsplit("&code=", 1)[1]})
        self.call("PUT", f"{path}/calendar", choice)
        self.calendar = self.call("GET", path)["calendarId"]
        self.paths.append(path)

    def call(self, method, path, value=None, accept=()):
        """A request as the connections' user."""
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

    def path_of(self, name, original=None):
        """Of an item, or of its occurrence that would have begun then."""
        path = f"/v1/circles/{self.name}/{'tasks' if name.startswith('t') else 'appointments'}/{name}"
        return path if original is None else f"{path}/occurrences/{re.sub('[-:]', '', rfc3339(original))}"

    def put(self, name):
        item = self.items[name]
        title = f"{name} {item['word']}"
        if name.startswith("t"):
            self.call("PUT", self.path_of(name), {"title": title, "dueAt": rfc3339(item["start"])})
            return
        value = {
            "patientId": "mom", "provider": title, "startAt": rfc3339(item["start"]),
            "endAt": rfc3339(item["start"] + item["length"]), "timeZone": item["zone"]}
        if item["count"]:
            value["recurrence"] = {"rrule": f"FREQ=DAILY;COUNT={item['count']}"}
            if left_out := [one for one in item["left_out"] if one in self.starts(item)]:
                value["recurrence"]["exdates"] = [rfc3339(one) for one in left_out]
        self.call("PUT", self.path_of(name), value)

    def create(self):
        kind = self.chance.choice("taaasss")
        start = self.fresh()
        name = f"{'t' if kind == 't' else 'a'}{self.made}"
        self.items[name] = {
            "start": start, "length": 1800, "word": f"word{self.made}",
            "count": self.chance.randint(3, 6) if kind == "s" else 0,
            "left_out": [], "gone": False, "zone": self.chance.choice(["Europe/Berlin", "UTC", "America/New_York"])}
        self.note(f"create {name}{' series' if kind == 's' else ''}")
        self.put(name)

    def pick(self, wants=lambda item: True):
        live = [name for name, item in self.items.items() if not item["gone"] and wants(item)]
        return self.chance.choice(live) if live else None

    def pick_series(self):
        return self.pick(lambda item: item["count"])

    def sync_here(self, name):
        """What the item is now, so that a write of ours carries what came in meanwhile."""
        if name.startswith("a"):
            item, found = self.items[name], self.call("GET", self.path_of(name))
            item["start"] = seconds(found["startAt"])
            item["length"] = seconds(found["endAt"]) - item["start"]
            item["left_out"] = [seconds(one) for one in (found["recurrence"] or {}).get("exdates", [])]

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
            self.sync_here(name)
            item = self.items[name]
            item["start"], item["left_out"] = self.fresh(), []
            self.note(f"move {name} here to {rfc3339(item['start'])}")
            self.put(name)
            self.deleted_there.discard(name)

    def delete_here(self):
        if name := self.pick():
            self.note(f"delete {name} here")
            self.call("DELETE", self.path_of(name))
            self.items[name]["gone"] = True

    def rule_here(self):
        if name := self.pick_series():
            self.sync_here(name)
            item = self.items[name]
            item["count"] = self.chance.randint(2, 7)
            self.note(f"{name} has {item['count']} occurrences here")
            self.put(name)
            self.deleted_there.discard(name)

    def occurrence_here(self):
        if name := self.pick_series():
            self.sync_here(name)
            item = self.items[name]
            start = self.chance.choice(self.starts(item))
            if start in item["left_out"]:
                return
            way = self.chance.choice(["move", "move", "cancel", "back"])
            self.made += 1
            at = start + 3600 * self.chance.randint(1, 9) + 60 * self.made % 3600
            value = {"startAt": rfc3339(at), "endAt": rfc3339(at + 1800)} if way == "move" else {"status": "cancelled"}
            self.note(f"{way} the occurrence {rfc3339(start)} of {name} here")
            path = self.path_of(name, start)
            self.call("DELETE" if way == "back" else "PUT", path, None if way == "back" else value, accept=(404,))
            self.deleted_there.discard(name)

    @staticmethod
    def starts(item):
        """When the occurrences of a series begin by its rule."""
        zone = ZoneInfo(item["zone"])
        first = datetime.fromtimestamp(item["start"], zone).replace(tzinfo=None)
        return [int((first + timedelta(days=day)).replace(tzinfo=zone).timestamp()) for day in range(item["count"] or 1)]

    def here(self, name):
        """When the item takes place, by what the server says."""
        self.sync_here(name)
        item = self.items[name]
        if not item["count"]:
            return [(item["start"], item["start"] + item["length"])]
        changed = {
            seconds(one["originalStart"]): one
            for one in self.call("GET", f"{self.path_of(name)}/occurrences?limit=200")["items"]}
        found = []
        for start in self.starts(item):
            own = changed.get(start)
            if start in item["left_out"] or own and own["status"] == "cancelled":
                continue
            found.append((seconds(own["startAt"]), seconds(own["endAt"])) if own else (start, start + item["length"]))
        return sorted(found)

    # The person there

    def strangers(self):
        return sorted(
            (event["raw"] for event in self.side.events(self.calendar) if event["title"].startswith("foreign-")), key=str)

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
            self.moved_there[self.named(event), None] = start
            return True
        self.there("move", act)

    def delete_there(self):
        def act(event):
            self.side.delete(self.calendar, event)
            name = self.named(event)
            self.deleted_there.add(name)
            if not event["repeats"]:
                self.bin[name] = (event, self.items[name]["word"] if name else None)
            self.moved_there = {key: start for key, start in self.moved_there.items() if key[0] != name}
        self.there("delete", act)

    def restore_there(self):
        """Takes out of the bin what nobody has made again since."""
        there = {self.named(event) for event in self.ours()}
        for name, (event, word) in list(self.bin.items()):
            del self.bin[name]
            if name in there or name not in self.deleted_there or self.items[name]["gone"] or self.items[name]["word"] != word:
                continue
            self.note(f"out of the bin there: {event['title']}")
            self.side.restore(self.calendar, event)

    def rule_there(self):
        def act(event):
            return self.side.set_count(self.calendar, event, self.chance.randint(2, 7)) if event["repeats"] else False
        self.there("rule", act)

    def occurrence_there(self):
        def act(event):
            item = self.items.get(self.named(event))
            if not event["repeats"] or item is None or not item["count"]:
                return False
            start = self.chance.choice(self.starts({**item, "start": event["start"]}))
            if not any(start <= one[0] < start + 36_000 for one in self.side.occurrences(self.calendar, event)):
                return False
            key = self.named(event), start
            if self.chance.random() < 0.3:
                if self.side.delete_one(self.calendar, event, start) is not False:
                    self.deleted_there.add(key[0])
                    self.moved_there.pop(key, None)
                return True
            self.made += 1
            at = start + 3600 * self.chance.randint(1, 9) + 60 * self.made % 3600
            if self.side.move_one(self.calendar, event, start, at, at + 1800) is False:
                return False
            self.moved_there[key] = at
            return True
        self.there("occurrence", act)

    def copy_there(self):
        def act(event):
            if event["start"] is None:
                return False
            self.made += 1
            self.side.copy(self.calendar, event, f"foreign-{self.name} copy {self.made}")
            self.foreign = self.strangers()
            return True
        self.there("copy", act)

    def step(self):
        acts = [
            self.create, self.rename_here, self.rename_here, self.move_here, self.delete_here, self.rule_here, self.rule_here,
            self.occurrence_here, self.occurrence_here, self.occurrence_here, self.rename_there, self.move_there,
            self.move_there, self.delete_there, self.restore_there, self.restore_there, self.rule_there,
            self.occurrence_there, self.occurrence_there, self.occurrence_there, self.copy_there]
        for _ in range(self.chance.randrange(5)):
            self.chance.choice(acts)()

    # Disasters

    def move_mailbox(self):
        """Another server has the mailbox; a single event would be told from a copy by nothing."""
        if not hasattr(self.side, "move_mailbox") or len(self.ours()) < 3 * len(self.paths):
            return
        self.note("move the mailbox")
        self.side.move_mailbox(self.calendar)
        # All events have new ids there, also those of somebody else.
        self.foreign = self.strangers()
        self.bin = {}

    def kept(self):
        """What a person has of the items when the database is lost, to give it to the next one."""
        for name, item in self.items.items():
            if not item["gone"]:
                self.sync_here(name)
        return {
            name: self.call("GET", f"{self.path_of(name)}/occurrences?limit=200")["items"]
            for name, item in self.items.items() if item["count"] and not item["gone"]}

    def begin_again(self, kept):
        self.note("the database is lost")
        self.make_circle()
        for name, item in self.items.items():
            if item["gone"]:
                continue
            self.put(name)
            for one in kept.get(name, []):
                value = {"status": "cancelled"} if one["status"] == "cancelled" else {
                    "startAt": one["startAt"], "endAt": one["endAt"]}
                self.call("PUT", self.path_of(name, seconds(one["originalStart"])), value)
        # What was typed there and not seen yet is an edit of an event that nobody knows; what was deleted comes back, and
        # what has no item any more stays.
        self.moved_there, self.deleted_there, self.bin, self.paths = {}, set(), {}, []
        self.lost = True
        self.connect({"calendarId": self.calendar})

    lost = False

    # Runs

    def begin(self):
        return [(path, self.call("POST", f"{path}/sync", accept=(409,)).get("runId")) for path in self.paths]

    def begin_later(self):
        """Begins runs that read the items from now on: one that is under way may have read them before the last edits."""
        while True:
            known = {one["id"] for path in self.paths for one in self.call("GET", f"{path}/runs?limit=200")["items"]}
            begun = self.begin()
            if not any(run_id in known for _, run_id in begun):
                return begun
            self.finish(begun)

    def finish(self, begun):
        """Waits for runs, and approves those that are held; the runs."""
        return [run for run in (self.finish_one(path, run_id) for path, run_id in begun) if run is not None]

    def finish_one(self, path, run_id):
        if run_id is None:
            runs = self.call("GET", f"{path}/runs")["items"]
            held = next((one for one in runs if one["state"] == "held"), None)
            if held is None:
                return None
            run_id = held["id"]
        for _ in range(4800):
            now = self.call("GET", f"/v1/runs/{run_id}")
            if now["state"] == "held":
                self.note("approve")
                self.call("POST", f"/v1/runs/{run_id}/approve", accept=(409,))
            elif now["state"] in ("done", "failed"):
                return now
            time.sleep(0.025)
        raise Violation(f"{self.name}: a run does not end: {now}")

    # The promises

    def excused(self):
        """Items for which somebody was notified that the sides differ."""
        names = set()
        for path in self.paths:
            for one in self.call("GET", f"{path}/conflicts?limit=200")["items"]:
                if one["state"] == "open":
                    names.add(one["itemId"])
            names |= {one["itemId"] for one in self.call("GET", path)["attention"] if "itemId" in one}
        return names

    def check(self, is_resting=True):
        """What is there is what was meant, or somebody was told; at rest nothing that anybody typed is lost, either."""
        def broken(text):
            shown = "\n  ".join(self.trace)
            raise Violation(f"{self.name} at {self.side.provider}: {text}\n  {shown}")
        if self.strangers() != self.foreign:
            broken("an event of somebody else was changed")
        events, excused = self.ours(), self.excused()
        all_times = []
        for name, item in self.items.items():
            found = [event for event in events if f"{name} word" in event["title"]]
            times = collections.Counter()
            for event in found:
                for start, end, title in [] if event["start"] is None else self.side.occurrences(self.calendar, event):
                    times[start, end] += 1
                    # A lost database knows nothing of an item that was gone, whose event stays as people have it.
                    if name not in excused and not (item["gone"] and self.lost) and (
                            f"{name} {item['word']}" not in title or "theirs" in title):
                        broken(f"{name} is {item['word']} here and {title} there")
            all_times += times
            if name in excused:
                continue
            if item["gone"]:
                if found and not self.lost:
                    broken(f"{name} is gone, and its event is not")
                continue
            if name.startswith("t"):
                if len(found) > len(self.paths) or len(found) < len(self.paths) and name not in self.deleted_there:
                    broken(f"{name} has {len(found)} events")
                continue
            here = self.here(name)
            all_times += here
            wanted = collections.Counter({one: len(self.paths) for one in here})
            if times - wanted or wanted - times and name not in self.deleted_there:
                def said(counter):
                    return ", ".join(f"{rfc3339(one[0])} for {one[1] - one[0]} s" for one in sorted(counter.elements()))
                broken(f"{name} is at {said(wanted)} here and at {said(times)} there")
        if not is_resting:
            return
        texts = json.dumps([
            self.call("GET", f"{path}/{part}?limit=200") for path in self.paths for part in ("conflicts", "journal")])
        texts += " ".join(rfc3339(one[0]) for one in all_times)
        for (name, original), start in self.moved_there.items():
            if name is not None and rfc3339(start)[:-1] not in texts:
                which = f"the occurrence {rfc3339(original)} of " if original else ""
                broken(f"the time {rfc3339(start)} that {which}{name} was given there is nowhere")


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


def lose(server, histories):
    """The database is lost, and its sealing key is not: the next one knows the events by their marks."""
    kept = [history.kept() for history in histories]
    server.kill()
    for file in Path(server.database).parent.glob(f"{Path(server.database).name}*"):
        if not file.name.endswith(".key") and file.is_file():
            file.unlink()
    server.start()
    server.wait()
    server.key = server.command("key", "create", "--name", "faults").strip()
    for history, one in zip(histories, kept):
        history.begin_again(one)


def settle(histories):
    """Runs until two in a row have written nothing."""
    quiet = 0
    for _ in range(16):
        begun = [(history, history.begin()) for history in histories]
        ended = [run for history, runs in begun for run in history.finish(runs)]
        counts = [run["counts"] for run in ended]
        writes = sum(one[key] for one in counts for key in ("created", "updated", "deleted", "pulled"))
        failed = [run for run in ended if run["status"] != "success" and not run["counts"]["failed"]]
        quiet = quiet + 1 if writes == 0 and not failed else 0
        if quiet == 2:
            return
    raise Violation(f"the runs do not come to rest: {counts}; {failed}")


def batch(server, cluster, sides, numbers, seed, chance):
    """So many histories at once; kills, runs that a kill has met, restarts, and what befalls a database or a mailbox."""
    loses_at = chance.randrange(2, options.steps) if not cluster and chance.random() < 0.4 else None
    histories = [
        History(number, seed + number, server, sides[number % len(sides)],
                is_shared=loses_at is None and chance.random() < 0.3)
        for number in numbers]
    kills = met = 0
    for step in range(options.steps):
        if step == loses_at:
            lose(server, histories)
        for history in histories:
            history.step()
        is_killed = chance.random() < 0.5
        begun = [(history, history.begin() if is_killed else history.begin_later()) for history in histories]
        if is_killed:
            time.sleep(chance.choice([0.0, 0.02, 0.05, 0.1, 0.2, 0.4]) * chance.random() * 2)
            met += strike(server, cluster, chance)
            kills += 1
            for history in histories:
                history.note("killed")
            # Some go on at once, and some of the people edit before the next run.
            if chance.random() < 0.5:
                continue
            for history, runs in begun:
                history.finish(runs)
            continue
        for history, runs in begun:
            ended = history.finish(runs)
            history.note("run")
            # Of two connections, each writes after the other what that one has brought.
            if len(history.paths) == 1 and ended and all(run["status"] == "success" for run in ended):
                history.check(is_resting=False)
                if chance.random() < 0.1:
                    history.move_mailbox()
                    history.finish(history.begin())
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
