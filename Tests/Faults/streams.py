# SPDX-License-Identifier: Apache-2.0
"""Clients follow streams of changes while their connections are cut at random bytes and servers are killed. What each received
has to be what the list of changes says: nothing missing, nothing twice, in order.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/streams.py [--seeds 100] [--servers 3] [--plant FAULT]

With three servers these have one PostgreSQL, whose connections are cut and stand still, too, and Debian's haproxy is in front
of them, if it is there. Each seed has circles, clients, writers and faults of its own, on the servers of all seeds. With
`--plant` one client of each seed does something wrong on purpose, and the run has to find it; it ends with 0 when it did.
"""

import argparse
import base64
import json
import random
import threading
import time

from balancer import PROGRAM as BALANCER, Balancer
from cluster import PROGRAMS, Cluster
from cutter import Cutter
from events import FAULTS, Follower, difference
from node import Node
from ports import free_port
from report import run, skip
from server import Server, Violation
from wire import CUT, STANDING

parser = argparse.ArgumentParser()
parser.add_argument("--seeds", type=int, default=100)
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="what all seeds are made of")
parser.add_argument("--servers", type=int, choices=[1, 3], default=1)
parser.add_argument("--plant", choices=FAULTS)
options = parser.parse_args()

CIRCLES = 3
# What each of two writers does at least.
WRITES = 40
USERS = ("ann", "ben")
# Seconds after the last change in which a client has to have received everything.
PATIENCE = 60


def insist(server, method, path, value=None):
    """Asks until a server does it: it may be starting, or lack its database."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            status, document = server.call(method, path, value, timeout=10)
        except OSError as error:
            status, document = 503, str(error)
        if status in (200, 201, 204):
            return document
        if status not in (502, 503, 504) or time.monotonic() > deadline:
            raise Violation(f"{method} {path} was answered {status}: {document}")
        time.sleep(0.1)


def listed(server, path, since, user):
    """All changes after a number, as the list has them."""
    name, found = ("sequence" if path == "/v1/changes" else "number"), []
    while True:
        status, page = server.call("GET", f"{path}?since={since}&limit=1000", timeout=30, user=user)
        if status != 200:
            raise Violation(f"{path} after {since} was answered {status}: {page}")
        found += [(item[name], item) for item in page["items"]]
        if page["nextCursor"] is None:
            return found
        since = page["nextCursor"]


class Seed:
    """Circles, those who change them, and those who follow them."""

    def __init__(self, number, server, servers):
        self.number, self.server, self.servers = number, server, servers
        self.chance = random.Random(f"{options.seed} {number}")
        self.circles = [f"s{number}-{index}" for index in range(CIRCLES)]
        self.events, self.writes, self.faults, self.is_harmed = 0, 0, [], True

    def fill(self):
        # How far all changes are: those who follow them begin a little before.
        self.start = insist(self.server, "GET", "/v1/changes?limit=1&since=0")["latest"]
        for circle in self.circles:
            insist(self.server, "PUT", f"/v1/circles/{circle}", {"name": circle, "timeZone": "Europe/Vienna"})
            for user in USERS:
                member = {"displayName": user, "role": "member"}
                insist(self.server, "PUT", f"/v1/circles/{circle}/members/{user}", member)
        bound = {"name": "bound", "circles": self.circles[:1]}
        self.bound_key = insist(self.server, "POST", "/v1/keys", bound)["key"]

    def followers(self, way):
        """By the service key from the first change, as each user, from the next change on; and of all circles, also by a key
        that is bound to one of them."""
        def follower(path, key=None, **more):
            return Follower(way, path, key or self.server.key, random.Random(self.chance.random()), **more)

        made = []
        for circle in self.circles:
            path = f"/v1/circles/{circle}/changes"
            made += [follower(path, since=0), follower(path, since=self.chance.randrange(3), by_query=True),
                     follower(path, since=0, user=self.chance.choice(USERS))]
        made.append(follower(f"/v1/circles/{self.circles[0]}/changes"))
        made += [follower("/v1/changes", self.bound_key, since=max(0, self.start - 5)), follower("/v1/changes", self.bound_key)]
        made += [follower("/v1/changes", since=self.start), follower("/v1/changes", since=max(0, self.start - 5), by_query=True),
                 follower("/v1/changes")]
        if options.plant:
            self.chance.choice(made).fault = options.plant
        return made

    def write(self, name, chance):
        """Changes circles until it has done enough, and whatever is done to servers is over; what gets no answer may have
        happened or not."""
        done, number = 0, 0
        while done < WRITES or self.is_harmed:
            number += 1
            circle, task = chance.choice(self.circles), f"{name}-{chance.randrange(8)}"
            path, due = f"/v1/circles/{circle}", "2026-03-03T09:00:00Z"
            kind = chance.random()
            try:
                if kind < 0.6:
                    self.server.put_task(circle, task, timeout=5, title=f"{task} {number}", user=chance.choice([None, *USERS]))
                elif kind < 0.7:
                    self.server.call("DELETE", f"{path}/tasks/{task}", timeout=5)
                elif kind < 0.8:
                    # Several changes in one transaction.
                    value = {"title": f"{number}", "dueAt": due}
                    lines = "".join(
                        json.dumps({"op": "put", "collection": "tasks", "id": f"{name}-b{line}", "value": value}) + "\n"
                        for line in range(chance.choice([3, 30])))
                    self.server.request("POST", f"{path}/batch", lines.encode(), {
                        "Authorization": f"Bearer {self.server.key}", "Content-Type": "application/x-ndjson"}, timeout=5)
                elif kind < 0.95:
                    # One user's feed is no change for the other.
                    self.server.call("POST", f"{path}/feeds", {"userId": chance.choice(USERS)}, timeout=5)
                else:
                    self.server.call("PUT", path, {"name": f"{number}", "timeZone": "Europe/Vienna"}, timeout=5)
                done += 1
            except OSError:
                time.sleep(0.02)
            time.sleep(chance.uniform(0, 0.03))
        self.writes += done

    def harm(self):
        """Does something to a server, and undoes it."""
        time.sleep(self.chance.uniform(0, 0.8))
        server = self.chance.choice(self.servers)
        kind = self.chance.choice(["kill", "kill", "stop"] + ["cut", "part"] * (len(self.servers) > 1))
        self.faults.append(kind)
        if kind == "kill":
            server.kill()
        elif kind == "stop":
            server.stop()
        else:
            server.wire.mode = CUT if kind == "cut" else STANDING
            time.sleep(self.chance.uniform(0.1, 1))
        if len(self.servers) > 1:
            return server.heal()
        server.start()
        server.wait()

    def run(self, way):
        self.fill()
        followers = self.followers(way)
        writers = [threading.Thread(target=self.write, args=(f"w{number}", random.Random(self.chance.random())))
                   for number in range(2)]
        for one in followers + writers:
            one.start()
        try:
            try:
                for _ in range(self.chance.choice([0, 1, 1, 2])):
                    self.harm()
            finally:
                self.is_harmed = False
            for one in writers:
                one.join()
            return self.judge(followers)
        finally:
            for one in followers:
                one.stop()
            for one in followers:
                one.join()

    def judge(self, followers):
        """The sentences on what is wrong."""
        deadline = time.monotonic() + PATIENCE
        expected = {}
        for one in followers:
            # Who begins with the next change has to have begun.
            while one.began_after is None and one.error is None and time.monotonic() < deadline:
                time.sleep(0.02)
            if one.began_after is None:
                return [f"{one.path} never began: {one.error or one.statuses}"]
            asked = one.path, one.began_after, one.user
            expected[one] = listed(self.server, *asked)
            if one.key == self.bound_key:
                expected[one] = [(number, item) for number, item in expected[one] if item["circleId"] == self.circles[0]]
            while len(one.received) < len(expected[one]) and one.error is None and time.monotonic() < deadline:
                time.sleep(0.02)
        # What comes twice may come later.
        time.sleep(0.3)
        self.events = sum(len(one.received) for one in followers)
        found = []
        for one in followers:
            if options.plant and one.fault and not one.has_erred:
                raise Violation("nothing was planted, because too little came")
            says = one.error or difference(one.received, expected[one])
            if says:
                found.append(f"{one.path}{f' for {one.user}' if one.user else ''} after {one.began_after}: {says}")
        return found + self.disorder(expected[followers[-2]])

    @staticmethod
    def disorder(changes):
        """Whether the changes of each circle are in its order among those of all, as everybody received them."""
        last, found = {}, []
        for _, change in changes:
            circle, number = change["circleId"], change["number"]
            if circle in last and number != last[circle] + 1:
                found.append(f"change {number} of {circle} comes after {last[circle]}")
            last[circle] = number
        return found[:5]


def rounds(folder):
    print(f"seed {options.seed}; {'through haproxy' if options.servers > 1 and BALANCER else 'no balancer'}", flush=True)
    cluster = balancer = None
    servers = []
    try:
        if options.servers > 1:
            cluster = Cluster()
            key = base64.b64encode(random.randbytes(32)).decode()
            servers = [Node(folder, number, cluster, key) for number in range(options.servers)]
        else:
            servers = [Server(folder, folder)]
        for server in servers:
            # The first one makes the tables, for which it has the database to itself.
            server.start()
            server.wait(60)
        asked = servers[0]
        asked.key = asked.command("key", "create", "--name", "streams").strip()
        upstreams = [(server.host, server.port) for server in servers]
        if cluster and BALANCER:
            balancer = Balancer(folder, servers, "127.0.0.1", free_port())
            balancer.wait()
            balancer.key = asked.key
            asked, upstreams = balancer, [(balancer.host, balancer.port)]
        for number in range(1, options.seeds + 1):
            began = time.monotonic()
            seed = Seed(number, asked, servers)
            cutter = Cutter(f"{options.seed} {number}", upstreams)
            try:
                found = seed.run(cutter)
            finally:
                cutter.close()
            yield (number, seed.writes, seed.events, cutter.cuts, " ".join(seed.faults) or "-", f"{time.monotonic() - began:.1f}")
            if options.plant:
                if len(found) != 1:
                    raise Violation(f"one client does wrong on purpose ({options.plant}), and what is found is {found}")
            elif found:
                raise Violation(f"seed {number}: " + "; ".join(found[:5]))
    finally:
        for server in servers:
            server.close() if cluster else server.stop()
        if balancer:
            balancer.close()
        if cluster:
            cluster.close()


if __name__ == "__main__":
    title = f"{options.seeds} seeds of streams over {options.servers} server(s)" + (
        f", with a client that does wrong on purpose ({options.plant}):" if options.plant else ":")
    if options.servers > 1 and not PROGRAMS:
        skip(title, "there is no PostgreSQL")
    run(title, [("seed", 5), ("writes", 6), ("events", 7), ("cuts", 6), ("faults", 12), ("s", 6)], rounds)
