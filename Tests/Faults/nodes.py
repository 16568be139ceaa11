# SPDX-License-Identifier: Apache-2.0
"""Three servers on one PostgreSQL, under reads, changes and ends, while they are killed, stopped for longer than a lease
lasts, and cut off from the database.

    KALENDS=.build/release/kalends python3 Tests/Faults/nodes.py [--seconds 90] [--plant BUG]

What must hold: no content to a request that was sent after the answer to an end; complete <= counted <= sent, over all
servers; no change skipped, no webhook skipped, out of order or served twice at once. With `--plant` one of these promises is
broken on purpose, by a trigger in the database or by what lies before it, and the run has to find it (docs/nodes.md has the
table); it ends with 0 when it did.
"""

import argparse
import base64
import http.server
import json
import multiprocessing
import os
import pickle
import random
import signal
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import urlsplit

from cluster import PROGRAMS, Cluster
from history import Delivery, Read, bad_deliveries, miscounted, reads_after_end, skipped_changes
from load import Connection
from report import run, skip
from server import Server, Violation, free_port
from wire import CUT, PASSING, STANDING, Wire

forked = multiprocessing.get_context("fork")


def trigger(name, table, event, statement):
    return (f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {statement}; RETURN NEW; END $$; "
            f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")


# What each bug breaks, and how it is put there; None for the one that is put before the database.
BUGS = {
    # A reader joins an answer whose question was sent before it came.
    "old-answer": ("ended", None),
    # An end is told for another circle than its own.
    "wrong-circle": ("ended", trigger("planted", "written_circles", "INSERT", "NEW.circle := 'another'")),
    # A server forgets how far it took its journal into the counts.
    "fold-again": ("counts", trigger("planted", "servers", "UPDATE", "NEW.folded := OLD.folded")),
    # A lease ends as soon as it is taken, so that every server has it.
    "no-lease": ("webhooks", trigger("planted", "leases", "INSERT OR UPDATE", "NEW.ends_at := 0")),
    # A reader of changes steps over one now and then.
    "skipped": ("webhooks", trigger(
        "planted", "webhooks", "UPDATE",
        "IF NEW.position > OLD.position AND random() < 0.5 THEN NEW.position := NEW.position + 1; END IF")),
    # Half of what a journal says is not counted.
    "lost-fold": ("counts", trigger(
        "planted", "feed_clients", "INSERT OR UPDATE",
        "IF TG_OP = 'UPDATE' THEN NEW.access_count := OLD.access_count + (NEW.access_count - OLD.access_count) / 2; END IF")),
}

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=90)
parser.add_argument("--plant", choices=sorted(BUGS))
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
options = parser.parse_args()

TITLE = f"{options.seconds:.0f} s of faults on three servers of one database" + (
    f", with a bug on purpose ({options.plant}):" if options.plant else ":")
SERVERS = 3
CIRCLES = 8
# Longer than a lease lasts.
LONG = 13
WAYS = ["revoke", "regenerate", "delete", "leave", "expire"]


class Node(Server):
    """One of the servers, with files and a wire of its own."""

    def __init__(self, folder, number, cluster, key):
        place = Path(folder) / f"server{number}"
        place.mkdir()
        if number:
            os.link(Path(folder) / "server0" / "kalends", place / "kalends")
        super().__init__(
            place, place, {"KALENDS_FILES": str(place / "k"), "KALENDS_SERVERS": "several", "KALENDS_SECRET_KEY": key})
        self.is_faulty = forked.RawValue("b", 0)
        self.number, self.wire = number, Wire(free_port(), f"{cluster.home}/.s.PGSQL.5432")
        self.database = (
            f"host=127.0.0.1 port={self.wire.port} user=kalends dbname=kalends sslmode=disable gssencmode=disable")


class Receiver:
    """Takes webhooks, slowly enough that two at once are seen, and refuses a few."""

    def __init__(self, folder):
        self.port, self.file = free_port(), Path(folder) / "webhooks"
        self._process = forked.Process(target=self._run, daemon=True)
        self._process.start()

    def _run(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        file, lock, chance = open(self.file, "ab"), threading.Lock(), random.Random(options.seed)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                text = self.rfile.read(int(self.headers["content-length"]))
                began = time.monotonic()
                time.sleep(chance.uniform(0, 0.03))
                is_taken = chance.random() > 0.01
                data = json.loads(text)["data"]
                delivery = Delivery(
                    self.headers["webhook-id"], data["circleId"], tuple(item["number"] for item in data["items"]), began,
                    time.monotonic(), is_taken)
                with lock:
                    pickle.dump(delivery, file)
                    file.flush()
                try:
                    self.send_response(204 if is_taken else 500)
                    self.send_header("content-length", "0")
                    self.end_headers()
                except OSError:
                    pass

            def log_message(self, *words):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            def handle_error(self, *words):
                """A sender that is killed resets its connection."""

        Quiet(("127.0.0.1", self.port), Handler).serve_forever()

    def deliveries(self):
        found = []
        with open(self.file, "rb") as file:
            while True:
                try:
                    found.append(pickle.load(file))
                except EOFError:
                    return found

    def close(self):
        self._process.kill()
        self._process.join()


class Client:
    """Processes that ask the servers until they are stopped, and what they saw."""

    def __init__(self, folder, name, work, *arguments):
        self.file = Path(folder) / name
        self._running = forked.RawValue("b", 1)
        self._process = forked.Process(target=self._run, args=(work, arguments))
        self._process.start()

    def _run(self, work, arguments):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        seen = work(lambda: self._running.value, *arguments)
        with open(self.file, "wb") as file:
            pickle.dump(seen, file)

    def stop(self):
        self._running.value = 0

    def seen(self):
        self._process.join(120)
        if self._process.is_alive() or self._process.exitcode != 0:
            self._process.kill()
            raise Violation(f"the client {self.file.name} did not come to an end: {self._process.exitcode}")
        with open(self.file, "rb") as file:
            return pickle.load(file)


def read(goes_on, node, paths, position):
    """Polls feeds near the one that ends next, and those that never end."""
    reads, tags, connection = [], {}, None
    steady = [feed for feed, (_, is_steady) in enumerate(paths) if is_steady]
    others = [feed for feed, (_, is_steady) in enumerate(paths) if not is_steady]
    while goes_on():
        near = others[min(len(others) - 1, max(0, position.value + random.randint(-4, 3)))]
        feed = random.choice(steady) if random.random() < 0.3 else near
        sent = time.monotonic()
        try:
            connection = connection or Connection(node.port)
            sent = time.monotonic()
            status, tag, _ = connection.get(paths[feed][0], tags.get(feed) if random.random() < 0.7 else None)
            if tag:
                tags[feed] = tag
            reads.append(Read(feed, sent, time.monotonic(), status, node.number))
            # Without this a server that refuses gets nothing but reads.
            time.sleep(0.0005 if status != 503 else 0.05)
        except OSError:
            connection = None
            reads.append(Read(feed, sent, None, None, node.number))
            time.sleep(0.05)
    return reads


def chosen(nodes):
    """A server; one that is in trouble is asked seldom, so that what happens meanwhile is more than waiting for it."""
    good = [node for node in nodes if not node.is_faulty.value]
    return random.choice(good if good and random.random() < 0.9 else nodes)


def write(goes_on, nodes, name):
    """Writes tasks anywhere; those that were acknowledged."""
    written, number = [], 0
    while goes_on():
        number += 1
        circle, task = f"c{random.randrange(CIRCLES)}", f"{name}-{number}"
        try:
            if chosen(nodes).put_task(circle, task, timeout=5) in (200, 201):
                written.append((circle, task))
        except OSError:
            pass
        time.sleep(0.01)
    return written


def follow(goes_on, nodes):
    """Follows the changes of all circles, each time on another server; their numbers in the order in which they came."""
    lists = defaultdict(list)
    while goes_on():
        circle = f"c{random.randrange(CIRCLES)}"
        last = lists[circle][-1] if lists[circle] else 0
        try:
            status, document = chosen(nodes).call(
                "GET", f"/v1/circles/{circle}/changes?since={last}&limit=200", timeout=5)
        except OSError:
            continue
        if status == 200:
            lists[circle] += [item["number"] for item in document["items"]]
        time.sleep(0.005)
    return dict(lists)


def insist(nodes, method, path, value=None, gone=()):
    """Asks servers, most often one that serves, until one has done it; `gone` are answers that say that it was done before."""
    began = time.monotonic()
    while time.monotonic() - began < 60:
        try:
            status, document = chosen(nodes).call(method, path, value, timeout=4)
        except OSError:
            # It may have been done, or may be done yet.
            continue
        if status in (200, 201, 204, *gone):
            return document
        if status != 503:
            raise Violation(f"{method} {path} was answered {status}: {document}")
        time.sleep(0.1)
    raise Violation(f"{method} {path} was not done for a minute")


def end(goes_on, nodes, feeds, position, interval):
    """Ends one feed after the other; when the answer to each end was there, by feed."""
    ended, ways = {}, Counter()
    for place, (number, feed, user, circle) in enumerate(feeds):
        position.value = place
        if not goes_on():
            break
        way = WAYS[place % len(WAYS)]
        if way == "revoke":
            insist(nodes, "POST", f"/v1/feeds/{feed}/revoke", {}, gone=(409,))
        elif way == "regenerate":
            insist(nodes, "POST", f"/v1/feeds/{feed}/regenerate", {})
        elif way == "delete":
            insist(nodes, "DELETE", f"/v1/feeds/{feed}", gone=(404,))
        elif way == "leave":
            insist(nodes, "DELETE", f"/v1/circles/{circle}/members/{user}", gone=(404,))
        else:
            moment = int(time.time()) + 2
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
            # Past by the time that somebody does it, it is no end in the future any more.
            insist(nodes, "PATCH", f"/v1/feeds/{feed}", {"expiresAt": at}, gone=(422, 409))
            time.sleep(max(0, moment - time.time()) + 0.002)
            if time.time() - moment > 0.5:
                continue
        ended[number] = time.monotonic()
        ways[way] += 1
        time.sleep(interval)
    return ended, ways


def heal(node):
    node.wire.mode = PASSING
    if node.process.poll() is None:
        node.process.send_signal(signal.SIGCONT)
    else:
        node.start()
    node.wait(60)
    node.is_faulty.value = 0


def kinds(chance):
    """What happens, one after the other: a kill first, and everything as often as everything else."""
    yield "kill"
    while True:
        yield from chance.sample(["kill", "stop", "stop long", "part", "part long", "cut"], 6)


def fault(node, kind, chance, done):
    seconds = LONG if kind.endswith("long") else chance.uniform(0.2, 3)
    node.is_faulty.value = 1
    if kind == "kill":
        node.kill()
    elif kind.startswith("stop"):
        node.process.send_signal(signal.SIGSTOP)
    else:
        node.wire.mode = CUT if kind == "cut" else STANDING
    time.sleep(seconds)
    heal(node)
    done.append((kind, node.number, seconds))


def faults(nodes, seconds, chance):
    """Faults of one server or two at a time, so that one at least serves; what there was."""
    done, busy, deadline = [], {}, time.monotonic() + seconds
    failures, coming = [], kinds(chance)

    def one(node, kind):
        try:
            fault(node, kind, random.Random(chance.random()), done)
        except BaseException as error:
            failures.append(error)

    while time.monotonic() < deadline:
        for number in [number for number, thread in busy.items() if not thread.is_alive()]:
            del busy[number]
        if len(busy) < SERVERS - 1 and (not busy or chance.random() < 0.4):
            node = chance.choice([node for node in nodes if node.number not in busy])
            busy[node.number] = threading.Thread(target=one, args=(node, next(coming)))
            busy[node.number].start()
        time.sleep(chance.uniform(0.3, 2))
    for thread in busy.values():
        thread.join()
    if failures:
        raise failures[0]
    return done


def calendar(events):
    """A file that takes seconds to bring in."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//faults//nodes//EN"]
    for number in range(events):
        lines += ["BEGIN:VEVENT", f"UID:e{number}", "DTSTAMP:20260101T000000Z", f"SUMMARY:Event {number}",
                  f"DTSTART:2026{number % 12 + 1:02}{number % 28 + 1:02}T{number % 24:02}0000Z", "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""]).encode()


def left_behind(nodes):
    """An import whose server is killed: its progress is told by another server before, its failure after; the events of none
    of it are there. How far it was, and how many seconds the failure took."""
    lost, other = nodes[2], nodes[0]
    headers = {"Authorization": f"Bearer {other.key}", "Content-Type": "text/calendar", "Prefer": "respond-async"}
    status, _, text = lost.request("POST", "/v1/circles/c0/imports?mode=commit&limit=1", calendar(60_000), headers)
    if status != 202:
        raise Violation(f"an import was answered {status}: {text[:300]}")
    place = f"/v1/imports/{json.loads(text)['id']}?limit=1"
    seen, deadline = 0, time.monotonic() + 30
    while not seen and time.monotonic() < deadline:
        document = other.must("GET", place)
        if document["state"] not in ("reading", "committing"):
            raise Violation(f"the import is {document['state']} before its server was killed")
        seen = document["progress"]
        time.sleep(0.1)
    lost.kill()
    began = time.monotonic()
    while (state := other.must("GET", place)["state"]) != "failed":
        if time.monotonic() - began > 40 or state == "committed":
            raise Violation(f"the import of a server that is gone is {state}")
        time.sleep(0.2)
    seconds = time.monotonic() - began
    if found := shown_events(other):
        raise Violation(f"{found} events of an import that failed are shown")
    return seen, seconds


def check_named(node):
    """Doctor says that the third server is gone, once it has not been heard of for a quarter of a minute."""
    deadline = time.monotonic() + 30
    while True:
        told = [line for line in node.command("doctor").splitlines() if "server2" in line]
        if len(told) == 1 and "not seen since" in told[0]:
            return
        if time.monotonic() > deadline:
            raise Violation(f"doctor does not name the server that is gone: {told}")
        time.sleep(1)


def shown_events(node):
    """How many imported events an export of the circle shows."""
    status, _, text = node.request("GET", "/v1/circles/c0/export.ics", headers={"Authorization": f"Bearer {node.key}"})
    if status != 200:
        raise Violation(f"an export was answered {status}")
    return text.count(b"SUMMARY:Event ") + text.count(b"SUMMARY:CK: Event ")


def fill(nodes, count):
    """Circles, members and feeds: two of each circle that never end, and others of a member each."""
    first = nodes[0]
    first.key = first.command("key", "create", "--name", "nodes").strip()
    for node in nodes:
        node.key = first.key
    made = []
    for circle in range(CIRCLES):
        first.must("PUT", f"/v1/circles/c{circle}", {"name": "C", "timeZone": "Europe/Vienna"})
        first.put_task(f"c{circle}", "first")
    for number in range(2 * CIRCLES + count):
        circle, user = f"c{number % CIRCLES}", f"u{number}"
        first.must("PUT", f"/v1/circles/{circle}/members/{user}", {"displayName": "U", "role": "member"})
        feed = first.must("POST", f"/v1/circles/{circle}/feeds", {"userId": user})
        made.append((number, feed["id"], user, circle, urlsplit(feed["url"]).path, number < 2 * CIRCLES))
    return made


def counted(nodes, made):
    """How often each feed was read, of those that are there."""
    counts = {}
    for number, feed, *_ in made:
        status, document = nodes[0].call("GET", f"/v1/feeds/{feed}")
        if status == 200:
            counts[number] = document["accessCount"]
    return counts


def rounds(folder):
    print(f"seed {options.seed}")
    chance = random.Random(options.seed)
    cluster = Cluster()
    key = base64.b64encode(chance.randbytes(32)).decode()
    nodes = [Node(folder, number, cluster, key) for number in range(SERVERS)]
    receiver, clients = Receiver(folder), []
    try:
        for node in nodes:
            node.start()
        for node in nodes:
            node.wait(60)
        interval = 0.15
        made = fill(nodes, int(options.seconds / interval))
        before = numbers(nodes)
        nodes[0].must("POST", "/v1/webhooks", {"url": f"http://127.0.0.1:{receiver.port}/"})
        aim, plant = BUGS.get(options.plant, (None, None))
        if plant:
            cluster.ask(plant)
        paths = [(path, is_steady) for *_, path, is_steady in made]
        position = forked.RawValue("i", 0)
        ending = [(number, feed, user, circle) for number, feed, user, circle, _, is_steady in made if not is_steady]
        readers = [
            Client(folder, f"reads{number}-{node.number}", read, node, paths, position)
            for node in nodes for number in range(2)]
        writers = [Client(folder, f"writes{number}", write, nodes, f"w{number}") for number in range(2)]
        follower = Client(folder, "changes", follow, nodes)
        ender = Client(folder, "ends", end, nodes, ending, position, interval)
        clients = [*readers, *writers, follower, ender]
        if options.plant == "old-answer":
            nodes[1].wire.replays = True
        happened = faults(nodes, options.seconds, chance)
        nodes[1].wire.replays = False
        for client in [ender, *writers]:
            client.stop()
        ended, ways = ender.seen()
        written = [one for writer in writers for one in writer.seen()]
        for client in readers:
            client.stop()
        reads = [one for reader in readers for one in reader.seen()]
        if plant and aim != "webhooks":
            cluster.ask("DROP FUNCTION planted CASCADE")
        settle(cluster, 20 if aim == "webhooks" else 60)
        last = numbers(nodes)
        follower.stop()
        changes = follower.seen()
        statuses = Counter(one.status for one in reads)
        named = Counter(kind for kind, *_ in happened)
        unexpected = set(statuses) - {200, 304, 410, 503, None}
        if unexpected:
            raise Violation(f"readers were answered {unexpected}")
        lost = sum(not nodes[0].has_task(*one) for one in written[::7])
        wait_for_counts(cluster)
        counts = counted(nodes, made)
        findings = {
            "ended": reads_after_end(reads, ended), "counts": miscounted(reads, counts),
            "changes": skipped_changes(changes), "webhooks": bad_deliveries(
                receiver.deliveries(), {circle: (before[circle] + 1, last[circle]) for circle in last})}
        yield ("reads", len(reads), f"{statuses[200]} whole, {statuses[304]} unchanged, {statuses[410]} ended, "
               f"{statuses[503]} refused, {statuses[None]} without an answer")
        yield ("ends", len(ended), ", ".join(f"{count} {way}" for way, count in ways.items()))
        yield ("faults", len(happened), ", ".join(f"{count} {kind}" for kind, count in named.items()))
        yield ("writes", len(written), f"{lost} lost")
        yield ("changes", sum(map(len, changes.values())), f"followed, of {sum(last.values())}")
        yield ("webhooks", len(receiver.deliveries()), "received")
        yield ("counted", sum(counts.values()), f"in {len(counts)} feeds")
        for name, found in findings.items():
            yield (f"bad {name}", len(found), str(found[:3]) if found else "")
        if not options.plant:
            progress, seconds = left_behind(nodes)
            yield ("left behind", 1, f"an import at {progress:.0%} when its server was killed, failed after {seconds:.0f} s")
            check_named(nodes[0])
            heal(nodes[2])
        if lost:
            raise Violation(f"{lost} acknowledged writes are not there")
        if options.plant:
            if not findings[aim]:
                raise Violation(f"the bug {options.plant} was not found")
            others = [name for name, found in findings.items() if found and name != aim]
            yield ("found", 1, options.plant + (f", and with it {others}" if others else ""))
        elif any(findings.values()):
            raise Violation("a promise was not kept")
        elif not statuses[410] or not named:
            raise Violation("nothing was looked at: no end was seen, or nothing happened")
    finally:
        for client in clients:
            client.stop()
        for node in nodes:
            try:
                node.process.send_signal(signal.SIGCONT)
                node.kill()
            except (AttributeError, OSError):
                pass
            node.wire.close()
        receiver.close()
        cluster.close()


def numbers(nodes):
    """The number of the last change of each circle."""
    return {
        f"c{circle}": nodes[0].must("GET", f"/v1/circles/c{circle}/changes?limit=1")["latest"] for circle in range(CIRCLES)}


def settle(cluster, seconds):
    """Waits until the webhook was told of everything."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        waiting = cluster.ask(
            "SELECT (SELECT count(*) FROM webhook_deliveries WHERE state = 'pending') + (SELECT count(*) FROM webhooks, "
            "counters WHERE position < last_number AND counters.name = 'changes')")
        if waiting == "0":
            return
        time.sleep(0.2)


def wait_for_counts(cluster):
    """Waits until each server has said how much it recorded, and taken it into the counts."""
    time.sleep(3)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and cluster.ask("SELECT count(*) FROM servers WHERE folded < recorded") != "0":
        time.sleep(0.2)


if __name__ == "__main__":
    if not PROGRAMS:
        skip(TITLE, "there is no PostgreSQL (Debian: apt-get install postgresql)")
    run(TITLE, [("", 13), ("number", 8), ("of these", 0)], rounds)
