# SPDX-License-Identifier: Apache-2.0
"""Three servers on one PostgreSQL, under reads, changes and ends, while they are killed, stopped for longer than a lease
lasts, cut off from the database, from each other and from everybody, and while their clocks jump.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/nodes.py [--seconds 90] [--rate 400] [--plant BUG]

For root, each server, PostgreSQL and the clients are hosts of a network of namespaces, where packets vanish; otherwise all
of it is on one host, and what lies between a server and the database stands still. A part of the clients comes through a
balancer, Debian's haproxy; clocks jump by Debian's libfaketime; circles follow calendars of a host in that network. What
is not there is left out, and the run says so.

What must hold: no content to a request that was sent after the answer to an end, and no change by whose role does not allow
it any more; complete <= counted <= sent, over all servers; no change skipped, no webhook skipped, out of order or under way
twice at once; no calendar fetched by two servers at once, except by one that was held up for longer than its lease, and
nothing stored of calendars but whole answers, never an older one over a newer; no acknowledged write lost. In the end the
servers share the background work evenly, within 15 s of a kill and 30 s of a start. With `--plant`
one of these promises is broken on purpose, by a trigger in the database or by what lies before it, and the run has to find
it (`BUGS` says how); it ends with 0 when it did.
"""

import argparse
import base64
import json
import multiprocessing
import random
import time
from collections import Counter, defaultdict
from urllib.parse import urlsplit

import namespaces
from balancer import PROGRAM as BALANCER, Balancer
from calendars import ADDRESSES, Calendars, circle_of
from clients import (
    ALL, WAYS, Client, attempt, demote, end, expire, follow, hasten, look, looks_at, number_of, refresh, write)
from cluster import PROGRAMS, Cluster
from history import (
    Fetch, Read, Refresh, bad_deliveries, done_after_end, fetched_at_once, miscounted, overlaps, reads_after_end, set_back,
    skipped_changes, wrongly_stored)
from node import DATABASE, Node, clock_library
from node_faults import faults
from polls import Feeds, poll
from receiver import Receiver
from ports import free_port
from report import run, skip
from server import Violation
from sharing import unevenly_shared

forked = multiprocessing.get_context("fork")


def trigger(name, table, event, statement):
    return (f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {statement}; RETURN NEW; END $$; "
            f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")


# The leases of calendars that are followed end as soon as they are taken.
OF_CALENDAR = "{}.name LIKE 'subscription/%'"
NO_CALENDAR_LEASE = f"IF {OF_CALENDAR.format('NEW')} THEN NEW.ends_at := 0; END IF"

# What each bug breaks, and how it is put there; None for the one that is put before the database.
BUGS = {
    # A reader joins an answer whose question was sent before it came.
    "old-answer": ("ended", None),
    # An end is noted for another circle than its own.
    "wrong-circle": ("ended", trigger("planted", "written_circles", "INSERT", "NEW.circle := 'another'")),
    # A write is noted under a number below its transaction's, which was over for questions before its commit.
    "older-number": ("ended", trigger("planted", "written_circles", "INSERT", "NEW.written_in := NEW.written_in - 1000000000")),
    # What was written is removed at once, and nobody learns that it is missing.
    "forgotten": ("ended", trigger("planted", "written_circles", "INSERT", "RETURN NULL")),
    # A number of a circle's changes is left out.
    "number-skipped": ("changes", trigger(
        "planted", "change_numbers", "INSERT OR UPDATE",
        "IF random() < 0.05 THEN NEW.last_number := NEW.last_number + 1; END IF")),
    # A place among the changes of all circles is left out.
    "place-skipped": ("changes", trigger(
        "planted", "counters", "UPDATE",
        "IF NEW.name = 'changes' AND random() < 0.2 THEN NEW.last_number := NEW.last_number + 1; END IF")),
    # An act gets no place in the audit trail.
    "act-lost": ("acts", trigger("planted", "audit_waiting", "INSERT", "IF random() < 0.2 THEN RETURN NULL; END IF")),
    # A server forgets how far it took its journal into the counts.
    "fold-again": ("counts", trigger("planted", "servers", "UPDATE", "NEW.folded := OLD.folded")),
    # A lease ends as soon as it is taken, so that every server has it.
    "no-lease": ("webhooks", trigger("planted", "leases", "INSERT OR UPDATE", "NEW.ends_at := 0")),
    # Every server has the lease of every calendar, and whoever took it last stores something.
    "no-calendar-lease": ("fetches", trigger("planted", "leases", "INSERT OR UPDATE", NO_CALENDAR_LEASE)),
    # The same, and who has lost a lease does not notice, because the next one has the same number: both store something.
    "same-epoch": ("calendars", "; ".join([
        trigger("planted", "leases", "INSERT OR UPDATE OR DELETE",
                f"IF TG_OP = 'DELETE' THEN IF {OF_CALENDAR.format('OLD')} THEN RETURN NULL; END IF; RETURN OLD; END IF; "
                + NO_CALENDAR_LEASE),
        trigger("planted_numbers", "counters", "UPDATE",
                "IF NEW.name = 'leases' THEN NEW.last_number := OLD.last_number; END IF")])),
    # Every server has every shard: to each, the others seem to have ended, and whoever loses a shard does not notice, because
    # the next one takes it under the same number.
    "no-shard-fence": ("webhooks", "; ".join([
        trigger("planted", "leases", "INSERT OR UPDATE",
                "IF NEW.name LIKE 'shard/%' OR NEW.name LIKE 'server/%' THEN NEW.ends_at := 0; END IF"),
        trigger("planted_numbers", "counters", "UPDATE",
                "IF NEW.name = 'leases' THEN NEW.last_number := OLD.last_number; END IF")])),
    # A server that has too many shards gives none up.
    "hoarder": ("shares", trigger(
        "planted", "leases", "DELETE", "IF OLD.name LIKE 'shard/%' THEN RETURN NULL; END IF; RETURN OLD")),
    # Nobody takes the shards of a server that has ended.
    "late-heir": ("shares", trigger(
        "planted", "leases", "INSERT OR UPDATE", "IF NEW.name LIKE 'shard/%' THEN NEW.ends_at := NEW.ends_at + 60000; END IF")),
    # A reader of changes steps over one now and then.
    "skipped": ("webhooks", trigger(
        "planted", "webhooks", "UPDATE",
        "IF NEW.position > OLD.position AND random() < 0.5 THEN NEW.position := NEW.position + 1; END IF")),
    # Whoever loses a right keeps it.
    "kept-role": ("roles", trigger("planted", "members", "UPDATE", "NEW.role := OLD.role")),
    # Half of what a journal says is not counted.
    "lost-fold": ("counts", trigger(
        "planted", "feed_clients", "INSERT OR UPDATE",
        "IF TG_OP = 'UPDATE' THEN NEW.access_count := OLD.access_count + (NEW.access_count - OLD.access_count) / 2; END IF")),
}

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=90)
parser.add_argument("--rate", type=float, default=400, help="polls a second that the readers try to make")
parser.add_argument("--plant", choices=sorted(BUGS))
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
parser.add_argument("--one-host", action="store_true", help="no network of namespaces, although there could be one")
options = parser.parse_args()

TITLE = f"{options.seconds:.0f} s of faults on three servers of one database" + (
    f", with a bug on purpose ({options.plant}):" if options.plant else ":")
SERVERS = 3
CIRCLES = 8
CLIENTS = "clients"
# Seconds between two ends of a process: feeds', and roles'.
INTERVAL, ROLES_INTERVAL = 0.3, 0.5
# Seconds, on average, between two times that a calendar is fetched because clients ask for it.
REFRESHES = 1.5
# The balancer's part of the polls; the rest goes to the servers directly, so that it is known which one answered.
BALANCED = 0.4
CONNECTIONS = 12


class People:
    """Who is in the circles: feeds that never end, those that do, by an act or by expiring, and users that lose a role."""

    def __init__(self, nodes, seconds):
        first = nodes[0]
        first.key = first.command("key", "create", "--name", "nodes").strip()
        for node in nodes:
            node.key = first.key
        self.paths, self.identifiers = [], []
        for circle in range(CIRCLES):
            first.must("PUT", f"/v1/circles/c{circle}", {"name": "C", "timeZone": "Europe/Vienna"})
            first.put_task(f"c{circle}", "first")
        self.steady = [self._feed(first)[0] for _ in range(2 * CIRCLES)]
        self.ending = [self._feed(first) for _ in range(int(seconds / (INTERVAL + 0.02)))]
        self.expiring = [self._feed(first) for _ in range(int(seconds / 1.5))]
        self.losing = []
        for number in range(int(seconds / ROLES_INTERVAL)):
            user, circle = f"r{number}", f"c{number % CIRCLES}"
            first.must("PUT", f"/v1/circles/{circle}/members/{user}", {"displayName": "U", "role": "member"})
            self.losing.append((number, user, circle))

    def _feed(self, node):
        number = len(self.paths)
        circle, user = f"c{number % CIRCLES}", f"u{number}"
        node.must("PUT", f"/v1/circles/{circle}/members/{user}", {"displayName": "U", "role": "member"})
        feed = node.must("POST", f"/v1/circles/{circle}/feeds", {"userId": user})
        self.paths.append(urlsplit(feed["url"]).path)
        self.identifiers.append(feed["id"])
        return number, feed["id"], user, circle

    def counted(self, node):
        """How often each feed was read, of those that are there."""
        counts = {}
        for number, feed in enumerate(self.identifiers):
            status, document = node.call("GET", f"/v1/feeds/{feed}")
            if status == 200:
                counts[number] = document["accessCount"]
        return counts


class Everybody:
    """All clients, and what they saw."""

    def __init__(self, folder, nodes, balancer, people, cluster, subscriptions):
        asked = [*nodes, balancer] if balancer else nodes
        places = [forked.RawValue("i", 0) for _ in range(3)]
        feeds = Feeds(people.paths, people.steady, [
            ([number for number, *_ in people.ending], places[0]), ([number for number, *_ in people.expiring], places[1])])
        direct = options.rate * (1 - BALANCED if balancer else 1) / len(nodes)
        self.readers = [
            Client(folder, f"reads{node.number}", poll, node, feeds, direct, CONNECTIONS) for node in nodes]
        if balancer:
            self.readers.append(
                Client(folder, "balanced", poll, balancer, feeds, options.rate * BALANCED, 2 * CONNECTIONS))
        self.writers = [Client(folder, f"writes{number}", write, asked, f"w{number}", CIRCLES, 0.02) for number in range(2)]
        self.follower = Client(folder, "changes", follow, asked, CIRCLES)
        self.enders = [Client(folder, "ends", end, asked, people.ending, places[0], INTERVAL),
                       Client(folder, "expiries", expire, asked, people.expiring, places[1])]
        self.demoter = Client(folder, "roles", demote, asked, people.losing, places[2], ROLES_INTERVAL)
        self.trier = Client(folder, "trials", attempt, asked, people.losing, places[2], 0.05)
        self.of_calendars = [
            Client(folder, "refreshes", refresh, nodes, subscriptions, REFRESHES),
            Client(folder, "looks", look, asked, len(subscriptions), 0.1),
            Client(folder, "due", hasten, cluster, 1)] if subscriptions else []

    def stop(self, clients=None):
        for client in clients or [
                *self.readers, *self.writers, self.follower, *self.enders, self.demoter, self.trier, *self.of_calendars]:
            client.stop()

    def end(self):
        """Stops those that change something, then the readers; the follower goes on."""
        self.stop([*self.enders, self.demoter, self.trier, *self.writers, *self.of_calendars])
        self.ended, self.ways = {}, Counter()
        for ended, ways in [ender.seen() for ender in self.enders]:
            self.ended |= ended
            self.ways += ways
        self.demoted, ways = self.demoter.seen()
        self.ways += ways
        self.trials = self.trier.seen()
        self.writes, self.written, self.unanswered = 0, {}, {}
        for count, written, unanswered in [writer.seen() for writer in self.writers]:
            self.writes += count
            self.written |= written
            self.unanswered |= unanswered
        self.refreshes, self.looks, self.due = [one.seen() for one in self.of_calendars] or ([], [], 0)
        self.stop(self.readers)
        self.reads = [one for reader in self.readers for one in reader.seen()]

    def end_following(self):
        self.stop([self.follower])
        self.follows, self.changes = self.follower.seen()


def way_of_running(network, why_not, balancer):
    return "; ".join([
        "servers, PostgreSQL and clients in namespaces joined by a bridge" if network else f"all on one host ({why_not})",
        f"{BALANCED:.0%} of the polls through haproxy" if balancer else "no haproxy: every poll goes to a server",
        "calendars are followed" if network else "no calendars are followed: their hosts have to have public addresses",
        "clocks jump" if clock_library() else "no libfaketime: clocks do not jump"])


def rounds(folder):
    print(f"seed {options.seed}")
    why_not = "--one-host" if options.one_host else namespaces.missing()
    network = None if why_not else namespaces.Network(
        [DATABASE, CLIENTS, *(f"server{number}" for number in range(SERVERS)), "balancer"])
    try:
        if network:
            network.enter(CLIENTS)
        print(way_of_running(network, why_not, BALANCER), flush=True)
        yield from on_network(folder, network)
    finally:
        if network:
            network.close()


def on_network(folder, network):
    chance = random.Random(options.seed)
    cluster = Cluster(network)
    key = base64.b64encode(chance.randbytes(32)).decode()
    nodes = [
        Node(folder, number, cluster, key, network, options.plant == "old-answer" and number == 1)
        for number in range(SERVERS)]
    host = network.addresses[CLIENTS] if network else "127.0.0.1"
    senders = {node.host: node.number for node in nodes} if network else None
    receiver = Receiver(folder, options.seed, host, senders)
    everybody = balancer = calendars = None
    subscriptions = []
    try:
        for node in nodes:
            node.start()
        for node in nodes:
            node.wait(60)
        people = People(nodes, options.seconds)
        if BALANCER:
            place = network.addresses["balancer"] if network else "127.0.0.1"
            balancer = Balancer(folder, nodes, place, free_port(), network.launcher("balancer") if network else ())
            balancer.key, balancer.is_faulty = nodes[0].key, forked.RawValue("b", 0)
            balancer.wait()
        print(f"{len(people.paths)} feeds made", flush=True)
        if network:
            network.lend(CLIENTS, ADDRESSES)
            calendars = Calendars(folder, options.seed, senders)
            subscriptions = [
                nodes[0].must("POST", f"/v1/circles/{circle_of(number)}/subscriptions", {"url": calendars.address(number)})["id"]
                for number in range(len(ADDRESSES))]
        before = numbers(nodes)
        nodes[0].must("POST", "/v1/webhooks", {"url": "http://{}:{}/".format(*receiver.address)})
        aim, plant = BUGS.get(options.plant, (None, None))
        if plant:
            cluster.ask(plant)
        everybody = Everybody(folder, nodes, balancer, people, cluster, subscriptions)
        began = time.monotonic()
        if options.plant == "old-answer":
            nodes[1].wire.replays = True
        happened = faults(nodes, options.seconds, chance)
        if options.plant == "old-answer":
            nodes[1].wire.replays = False
        everybody.end()
        seconds = time.monotonic() - began
        if plant and aim not in ("webhooks", "shares"):
            cluster.ask("DROP FUNCTION IF EXISTS planted, planted_numbers CASCADE")
        last_looks = []
        if calendars:
            settle_calendars(cluster, calendars)
            everybody.looks += looks_at_all(nodes[0])
            everybody.refreshes += refresh_all(nodes, subscriptions)
            last_looks = [one for node in nodes for one in looks_at_all(node)]
        settle(cluster, 20 if aim == "webhooks" else 60)
        shares, said_of_shares = [], ""
        if aim in (None, "shares"):
            shares, said_of_shares = unevenly_shared(cluster, nodes, receiver, bool(senders) and not plant)
        last = numbers(nodes)
        everybody.end_following()
        wait_for_counts(cluster)
        counts = people.counted(nodes[0])
        deliveries, fetches = receiver.deliveries(), calendars.fetches() if calendars else []
        at_once, excused = fetched_at_once(fetches, held_up(happened))
        findings = {
            "ended": reads_after_end(everybody.reads, everybody.ended),
            "roles": done_after_end(everybody.trials, everybody.demoted), "acts": unnoted(nodes[0], people, everybody.ended),
            "counts": miscounted(everybody.reads, counts), "changes": skipped_changes(everybody.changes),
            "webhooks": bad_deliveries(
                deliveries, {circle: (before[circle] + 1, last[circle]) for circle in last},
                [(one.server, one.began, one.ended) for one in happened if one.kind.startswith("unplug")]),
            "shares": shares, "fetches": at_once,
            "calendars": wrongly_stored(everybody.looks, fetches, everybody.refreshes, last_looks),
            "writes": set_back(
                everybody.written, everybody.unanswered,
                {one: number_of(nodes[0], *one) for one in everybody.written})}
        yield from said(everybody, happened, seconds, counts, len(deliveries), sum(last.values()))
        if calendars:
            yield from said_of_calendars(everybody, fetches, excused)
        if said_of_shares:
            yield ("shards", 64, said_of_shares)
        for name, found in findings.items():
            yield (f"bad {name}", len(found), shown(found, everybody, happened))
        if not options.plant:
            progress, seconds = left_behind(nodes)
            yield ("left behind", 1, f"an import at {progress:.0%} when its server was killed, failed after {seconds:.0f} s")
            check_named(nodes[0])
            nodes[2].heal()
        judge(findings, aim)
        if options.plant:
            others = [name for name, found in findings.items() if found and name != aim]
            yield ("found", 1, options.plant + (f", and with it {others}" if others else ""))
    finally:
        if everybody:
            everybody.stop()
        if balancer:
            balancer.close()
        for node in nodes:
            node.close()
        receiver.close()
        if calendars:
            calendars.close()
        cluster.close()


def said(everybody, happened, seconds, counts, deliveries, changes):
    """What there was of everything. Raises where nothing was looked at."""
    statuses = Counter(one.status for one in everybody.reads)
    refused = statuses[502] + statuses[503] + statuses[504]
    tried = Counter(one.status for one in everybody.trials)
    requests = sum(map(len, [everybody.reads, everybody.trials, everybody.ended, everybody.refreshes, everybody.looks]))
    requests += everybody.writes + everybody.follows
    answered = len(everybody.reads) - statuses[None]
    waits = sorted(one.received - one.sent for one in everybody.reads if one.received)
    middle, late = 1000 * waits[len(waits) // 2], 1000 * waits[len(waits) * 99 // 100]
    yield ("requests", requests, f"{requests / seconds:.0f} a second for {seconds:.0f} s, {answered / seconds:.0f} polls "
           f"answered a second: p50 {middle:.1f} ms, p99 {late:.0f} ms")
    yield ("reads", len(everybody.reads), f"{statuses[200]} whole, {statuses[304]} unchanged, {statuses[410]} ended, "
           f"{refused} refused, {statuses[None]} without an answer; "
           f"{sum(one.server < 0 for one in everybody.reads)} through the balancer")
    yield ("ends", sum(everybody.ways.values()), ", ".join(f"{count} {way}" for way, count in everybody.ways.items()))
    named = Counter(one.kind for one in happened)
    beside = overlaps([(one.began, one.ended) for one in happened])
    yield ("faults", len(happened), ", ".join(f"{count} {kind}" for kind, count in named.items())
           + f"; {beside} while another went on")
    yield ("writes", everybody.writes, f"to {len(everybody.written)} tasks")
    yield ("trials", len(everybody.trials), f"{tried[200] + tried[201]} allowed, {tried[403]} refused for the role")
    followed = {circle: len(numbers) for circle, numbers in everybody.changes.items()}
    among_all = followed.pop(ALL, 0)
    yield ("changes", sum(followed.values()), f"followed, of {changes}, and {among_all} among those of all circles")
    yield ("webhooks", deliveries, "received")
    yield ("counted", sum(counts.values()), f"in {len(counts)} feeds")
    unexpected = set(statuses) - {200, 304, 410, 502, 503, 504, None}
    unexpected |= set(tried) - {200, 201, 403, 502, 503, 504, None}
    if unexpected:
        raise Violation(f"clients were answered {unexpected}")
    if not statuses[410] or not (tried[403] or options.plant == "kept-role") or not happened:
        raise Violation("nothing was looked at: no end was seen, or nothing happened")


def said_of_calendars(everybody, fetches, excused):
    """What there was of calendars that are followed. Raises where nothing was looked at."""
    statuses = Counter(one.status for one in everybody.refreshes)
    under_way = defaultdict(list)
    for fetch in fetches:
        under_way[fetch.calendar].append(fetch)
    met = sum(
        any(fetch.began < one.received and one.sent < fetch.ended and fetch.sender != one.server
            for fetch in under_way[one.calendar])
        for one in everybody.refreshes if one.received)
    whole = [fetch for fetch in fetches if fetch.is_whole]
    kept = {(one.calendar, one.events) for one in everybody.looks if one.events}
    yield ("fetches", len(fetches), f"of {len(under_way)} calendars by {len({fetch.sender for fetch in fetches})} servers, "
           f"{len(fetches) - len(whole)} refused or broken off, {sum(one.ended - one.began > 10 for one in whole)} longer than a "
           f"lease; {excused} pairs at once, of a server that was held up for longer than a lease")
    yield ("refreshes", len(everybody.refreshes), f"{sum(one.is_done for one in everybody.refreshes)} stored, {statuses[200]} "
           f"answered, {statuses[429]} too often, {statuses[503]} refused, {statuses[None]} without an answer; {met} waited "
           f"while another server fetched the calendar; {everybody.due} made due")
    yield ("looks", len(everybody.looks), f"at calendars, at {len(kept)} of {len(whole)} answers")
    if set(statuses) - {200, 429, 503, None}:
        raise Violation(f"refreshes were answered {set(statuses)}")
    # With a bug on purpose, little may be stored; that it is found says that something was looked at.
    if not options.plant and (not met or len(kept) < len(ADDRESSES)):
        raise Violation("nothing was looked at: no two servers were asked for the same calendar, or none was stored")


def held_up(happened):
    """Servers that may have lost a lease without learning of it, from when until when.

    One that was paused does not know it before it goes on, when it may send what it was about to. One that has lost the
    database learns of it once it has asked for more time in vain, and ends what is under way only then. What was sent while
    the cable was out may come as long after as that was: TCP doubles the time between its tries."""
    late = {"stop long": lambda _: 1, "part long": lambda _: 0, "unplug long": lambda fault: fault.ended - fault.began}
    return [(one.server, one.began, one.ended + late[one.kind](one)) for one in happened if one.kind in late]


def shown(found, everybody, happened):
    """The first of what was found. For what came after an end: how many ends that were, how long after them it went on, and
    what happened to servers at the time of the first."""
    if found and isinstance(found[0][0], Fetch):
        return "; ".join(" and ".join(
            f"answer {one.answer} to server {one.sender} ({one.began - pair[0].began:.2f}–{one.ended - pair[0].began:.2f} s)"
            for one in pair) + f" of calendar {pair[0].calendar}" for pair in found[:3])
    if not found or not isinstance(found[0], Read):
        return str(found[:3]) if found else ""
    ends = everybody.ended if found[0] in everybody.reads else everybody.demoted
    after = max(one.sent - ends[one.feed] for one in found)
    end = min(ends[one.feed] for one in found)
    beside = [f"{one.kind} of server {one.server}" for one in happened if one.began - 1 < end < one.ended + 10]
    return (f"after {len({one.feed for one in found})} ends, up to {after:.1f} s after one; around the first: "
            f"{', '.join(beside) or 'nothing'}; {found[:2]}")


def judge(findings, aim):
    """Raises where a promise was not kept, or where a bug on purpose was not found."""
    if findings["writes"]:
        raise Violation(f"{len(findings['writes'])} acknowledged writes are not there")
    if options.plant:
        if not findings[aim]:
            raise Violation(f"the bug {options.plant} was not found")
    elif any(findings.values()):
        raise Violation("a promise was not kept")


def calendar(events):
    """A file that takes seconds to bring in."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//faults//nodes//EN"]
    for number in range(events):
        lines += ["BEGIN:VEVENT", f"UID:e{number}", "DTSTAMP:20260101T000000Z", f"SUMMARY:Event {number}",
                  f"DTSTART:2026{number % 12 + 1:02}{number % 28 + 1:02}T{number % 24:02}0000Z", "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""]).encode()


def left_behind(nodes):
    """An import whose server is killed: another server reports its progress before, its failure after; the events of none
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
        named = [line for line in node.command("doctor").splitlines() if "server2" in line]
        if len(named) == 1 and "not seen since" in named[0]:
            return
        if time.monotonic() > deadline:
            raise Violation(f"doctor does not name the server that is gone: {named}")
        time.sleep(1)


def shown_events(node):
    """How many imported events an export of the circle shows."""
    status, _, text = node.request("GET", "/v1/circles/c0/export.ics", headers={"Authorization": f"Bearer {node.key}"})
    if status != 200:
        raise Violation(f"an export was answered {status}")
    return text.count(b"SUMMARY:Event ") + text.count(b"SUMMARY:CK: Event ")


# What the audit trail calls each way in which a feed ends, and whether it names the feed or its user.
ACTS = {"revoke": ("feed.revoked", 1), "regenerate": ("feed.regenerated", 1), "delete": ("feed.deleted", 1),
        "leave": ("member.removed", 2)}


def unnoted(node, people, ended):
    """Ends that were answered and that the audit trail does not name. The trail has to be whole."""
    node.command("audit", "verify")
    noted, cursor = set(), ""
    while cursor is not None:
        page = node.must("GET", "/v1/audit?limit=1000" + (f"&cursor={cursor}" if cursor else ""))
        noted |= {(entry["action"], entry["subject"]) for entry in page["items"]}
        cursor = page["nextCursor"]
    found = []
    for place, feed in enumerate(people.ending):
        action, name = ACTS[WAYS[place % len(WAYS)]]
        if feed[0] in ended and (action, feed[name]) not in noted:
            found.append((action, feed[name]))
    return found


def numbers(nodes):
    """The number of the last change of each circle."""
    return {
        f"c{circle}": nodes[0].must("GET", f"/v1/circles/c{circle}/changes?limit=1")["latest"] for circle in range(CIRCLES)}


def settle(cluster, seconds):
    """Waits until the webhook's receiver has everything."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        bring_forward(cluster)
        waiting = cluster.ask(
            "SELECT (SELECT count(*) FROM webhook_deliveries WHERE state = 'pending') + (SELECT count(*) FROM webhooks, "
            "counters WHERE position < last_number AND counters.name = 'changes') + "
            "(SELECT count(*) FROM changes WHERE sequence IS NULL)")
        if waiting == "0":
            return
        time.sleep(0.2)


def bring_forward(cluster):
    """Makes messages due that a server whose clock was ahead put off for an hour: late they may be, but must come."""
    if clock_library():
        cluster.ask(
            "UPDATE webhook_deliveries SET next_at = 0 WHERE state = 'pending' AND next_at > "
            "(extract(epoch FROM clock_timestamp()) * 1000)::bigint + 1800000")


def settle_calendars(cluster, calendars):
    """Makes nothing more due, and waits until no calendar is fetched or stored."""
    calendars.is_kind.value = 1
    cluster.ask(
        "BEGIN; LOCK TABLE schema_migrations IN EXCLUSIVE MODE; "
        "UPDATE subscriptions SET next_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 86400000; COMMIT")
    deadline = time.monotonic() + 60
    while calendars.under_way.value or cluster.ask(
            "SELECT count(*) FROM leases WHERE (name LIKE 'subscription/%' OR name LIKE 'circle/%') AND "
            "ends_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint") != "0":
        if time.monotonic() > deadline:
            raise Violation("calendars are still fetched, a minute after the last was asked for")
        time.sleep(0.1)
    # Where leases do not work, because of a deliberate bug, what was fetched last may yet have to be stored.
    time.sleep(1)


def refresh_all(nodes, subscriptions):
    """Has each calendar fetched by each server, which has to be possible whatever happened before."""
    refreshes = []
    for node in nodes:
        for calendar, subscription in enumerate(subscriptions):
            path, deadline = f"/v1/circles/{circle_of(calendar)}/subscriptions/{subscription}/refresh", time.monotonic() + 30
            while True:
                sent = time.monotonic()
                status, document = node.call("POST", path)
                is_done = status == 200 and document["lastProblem"] is None
                refreshes.append(Refresh(calendar, sent, time.monotonic(), status, is_done, node.number))
                if is_done:
                    break
                if time.monotonic() > deadline:
                    raise Violation(f"server {node.number} does not fetch calendar {calendar}: {status}, {document}")
                time.sleep(0.5)
    return refreshes


def looks_at_all(node):
    """What a server shows of all calendars."""
    found = []
    for circle in sorted({circle_of(calendar) for calendar in range(len(ADDRESSES))}):
        found += looks_at(node, [one for one in range(len(ADDRESSES)) if circle_of(one) == circle], circle, timeout=30)
    if len(found) != len(ADDRESSES):
        raise Violation(f"server {node.number} does not show what circles follow")
    return found


def wait_for_counts(cluster):
    """Waits until each server has reported how much it recorded, and taken it into the counts."""
    time.sleep(3)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and cluster.ask("SELECT count(*) FROM servers WHERE folded < recorded") != "0":
        time.sleep(0.2)


if __name__ == "__main__":
    if not PROGRAMS:
        skip(TITLE, "there is no PostgreSQL (Debian: apt-get install postgresql)")
    if BUGS.get(options.plant, ("",))[0] in ("fetches", "calendars") and (options.one_host or namespaces.missing()):
        skip(TITLE, "no calendars are followed: their hosts have to have public addresses, in a network of namespaces")
    run(TITLE, [("", 13), ("number", 8), ("of these", 0)], rounds)
