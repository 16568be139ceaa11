# SPDX-License-Identifier: Apache-2.0
"""Each kind of POST with an `Idempotency-Key`, doubled a thousand times at once, also while servers are killed: one effect, and
one answer for all.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/doubles.py [--doubles 1000] [--servers 3] [--only NAME…] \
        [--plant]

The kinds are those of the OpenAPI document, and each has a request in `once_kinds.py` that is done, at connections of the
emulator of Google where it is about one. What one request does by itself is the
measure: as many entries in the audit trail, as many changes of the circle, as many more things in the list of what it makes.
Every double is sent again until it has an answer. Another request with the key has to be 422, and 409 while the first one is
under way. With `--plant` each double has a key of its own, and the run has to find that they take effect more than once; it
ends with 0 when it did.
"""

import argparse
import asyncio
import base64
import json
import random
import resource
import time
from collections import Counter

from cluster import PROGRAMS, Cluster
from node import Node
from once_kinds import KINDS, World
from report import run, skip
from server import Server, Violation
from sync_sides import Google

parser = argparse.ArgumentParser()
parser.add_argument("--doubles", type=int, default=1000)
parser.add_argument("--servers", type=int, choices=[1, 3], default=1)
parser.add_argument("--only", nargs="+", choices=sorted(KINDS), help="these kinds")
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
parser.add_argument("--plant", action="store_true")
options = parser.parse_args()

LIMITS = {"KALENDS_MAX_CONNECTIONS_PER_NETWORK": "5000", "KALENDS_ALLOW_HTTP_IMPORTS": "true",
          "KALENDS_RETURN_ORIGINS": "http://127.0.0.1:9"}
# Seconds until every double has to have an answer.
PATIENCE = 120
# What may pass, so that it is asked again.
AGAIN = (429, 500, 502, 503, 504)
# What no single act does, and what it may be answered when it runs again after a kill.
IN_STEPS = {"cleanUpOfficeDays", "commitImport", "dismissConflict", "postBatch", "redeemAuthorization", "resolveConflict",
            "undoImport", "upsertAppleEvents", "upsertPlannedEvents"}
DONE_BEFORE = (404, 409, 410)


def encoded(request, key, once):
    body = request.bytes
    lines = [f"POST {request.path} HTTP/1.1", "Host: localhost", "Connection: close", f"Authorization: Bearer {key}",
             f"Content-Length: {len(body)}", f'Idempotency-Key: "{once}"']
    if request.body is not None:
        lines.append(f"Content-Type: {request.kind}")
    if request.user:
        lines.append(f"Kalends-User: {request.user}")
    return "\r\n".join(lines + ["", ""]).encode() + body


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        self.status = int(lines[0].split()[1])
        fields = [line.partition(":") for line in lines[1:]]
        self.fields = {name.lower(): value.strip() for name, _, value in fields}
        if self.fields.get("transfer-encoding") != "chunked" and len(self.body) < int(self.fields.get("content-length", 0)):
            raise ConnectionError("cut")

    @property
    def code(self):
        return json.loads(self.body).get("code") if self.body.startswith(b"{") else None

    @property
    def given(self):
        """What has to be the same for everybody."""
        return self.status, self.body, self.fields.get("location"), self.fields.get("set-cookie")


class Doubles:
    """Many clients that send one request at the same moment."""

    def __init__(self, servers, chance):
        self.servers, self.chance = servers, chance
        self.refused, self.lost = Counter(), 0

    async def send(self, number, data, go=None):
        """One try; `go`: before this, all but the last byte is sent, if anything."""
        server = self.servers[number % len(self.servers)]
        # From networks of their own, as clients are; the first octets are this machine's.
        place = (f"127.0.{1 + number % 200}.1", 0)
        reader, writer = await asyncio.open_connection(server.host, server.port, local_addr=place)
        try:
            if go:
                sent = len(data) - 1 if number % 2 else 0
                writer.write(data[:sent])
                await go.wait()
                data = data[sent:]
            writer.write(data)
            return Answer(await asyncio.wait_for(reader.read(), 60))
        finally:
            writer.transport.abort()

    async def insist(self, number, data, go=None):
        """Sends it until it has an answer that stays, and waits as long as it is asked to."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            pause = 0
            try:
                answer = await self.send(number, data, go)
                if answer.status not in AGAIN and answer.code != "request-under-way":
                    return answer
                self.refused[answer.status] += 1
                pause = min(2, int(answer.fields.get("retry-after", 0)))
            except (OSError, asyncio.TimeoutError, IndexError, ValueError):
                self.lost += 1
            go = None
            await asyncio.sleep(self.chance.uniform(0.02, 0.3) + pause * self.chance.random())
        raise Violation(f"a double had no answer for {PATIENCE} s")

    async def burst(self, data, kills):
        """The answers to doubles; `data`: makes a double of its number."""
        go = asyncio.Event()
        tasks = [asyncio.create_task(self.insist(number, data(number), go)) for number in range(options.doubles)]
        # Until everybody has connected, and long before a header would have to be complete.
        await asyncio.sleep(min(4, 0.2 + options.doubles / 500))
        go.set()
        loop = asyncio.get_running_loop()
        for _ in range(kills):
            await asyncio.sleep(self.chance.choice([self.chance.uniform(0, 0.02), self.chance.uniform(0, 0.5)]))
            await loop.run_in_executor(None, self.kill)
        return await asyncio.gather(*tasks)

    def kill(self):
        server = self.chance.choice(self.servers)
        server.kill()
        server.start()
        server.wait(60)

    async def under_way(self, request, key, once):
        """What the same and another request get while the first one has not arrived as a whole; and the first one's answer."""
        first, data = self.servers[0], encoded(request, key, once)
        reader, writer = await asyncio.open_connection(first.host, first.port)
        try:
            writer.write(data[:-1])
            await writer.drain()
            await asyncio.sleep(0.5)
            others = [await self.send(number, encoded(one, key, once))
                      for number, one in enumerate([request, request.other, request])]
            writer.write(data[-1:])
            return others, Answer(await asyncio.wait_for(reader.read(), 60))
        finally:
            writer.transport.abort()


class Kind:
    """One operation, and what it does by itself."""

    def __init__(self, name, servers, key, circles, chance, google):
        self.name, self.servers, self.key, self.circles, self.chance = name, servers, key, circles, chance
        self.google = google

    def world(self):
        world = World(self.servers[0], next(self.circles), self.google)
        return world, KINDS[self.name](world)

    def state(self, world, request):
        """Everything so far: acts by kind, changes of the circle by kind, and things in the list."""
        acts, page = Counter(), "/v1/audit?limit=1000"
        latest, cursor = None, ""
        while True:
            found = world.must("GET", page + cursor)
            acts += Counter(one["action"] for one in found["items"] if self.mine(one["actor"]))
            if found["nextCursor"] is None:
                break
            cursor = f"&cursor={found['nextCursor']}"
        changes = world.must("GET", f"{world.path}/changes?limit=1000")["items"]
        kinds = Counter((one["type"], one["change"]) for one in changes)
        # What comes of a calendar that is fetched or kept in step is the server's own doing.
        for kind in ("subscription", "connection"):
            kinds.pop((kind, "updated"), None)
        things = None
        if request.listed:
            # What is one's own is listed for the user, where the path does not name them.
            is_own = (request.user or self.name == "signIn") and "/users/" not in request.listed
            found = world.must("GET", f"{request.listed}?limit=1000", user=world.user if is_own else None)["items"]
            # An import that a kill interrupted is listed, and imported nothing.
            things = sum(one.get("state") != "failed" for one in found)
        return acts, kinds, things

    def mine(self, actor):
        return actor.startswith(("key:", "user:"))

    def effect(self, before, after):
        (acts, kinds, things), (acts2, kinds2, things2) = before, after
        return dict(acts2 - acts), dict(kinds2 - kinds), None if things is None else things2 - things

    def once(self):
        """What one request does, and its status."""
        world, request = self.world()
        before = self.state(world, request)
        answer = asyncio.run(Doubles(self.servers, self.chance).insist(0, encoded(request, self.key, f"one-{world.number}")))
        self.measure, self.status = self.effect(before, self.state(world, request)), answer.status
        if answer.status >= 400:
            raise Violation(f"{self.name}: what is to be doubled is refused with {answer.status}: {answer.body[:300]}")

    def doubled(self, kills):
        """Many at once; what there was of it."""
        world, request = self.world()
        before = self.state(world, request)
        doubles, once = Doubles(self.servers, self.chance), f"many-{world.number}"

        def data(number):
            return encoded(request, self.key, f"{once}-{number}" if options.plant else once)

        began = time.monotonic()
        answers = asyncio.run(doubles.burst(data, kills))
        seconds = time.monotonic() - began
        effect = self.effect(before, self.state(world, request))
        found = set(one.given for one in answers)
        if effect != self.measure:
            raise Violation(f"{self.name}: {len(answers)} doubles did {effect}, and one does {self.measure}")
        if len(found) != 1:
            shown = [(one[0], one[1][:200]) for one in found]
            raise Violation(f"{self.name}: doubles have {len(found)} answers: {shown[:3]}")
        status = answers[0].status
        if status != self.status and not (kills and self.name in IN_STEPS and status in DONE_BEFORE):
            raise Violation(f"{self.name}: doubles are answered {status}, and one is {self.status}: {answers[0].body[:200]}")
        other = asyncio.run(doubles.insist(0, encoded(request.other, self.key, once)))
        # Nobody learns from a key whether a password is another one: with another body it is another request's.
        if self.name != "signIn" and (other.status, other.code) != (422, "idempotency-key-reused"):
            raise Violation(f"{self.name}: another request with the key is answered {other.status}: {other.body[:200]}")
        refused = ", ".join(f"{count} × {status}" for status, count in sorted(doubles.refused.items())) or "-"
        return self.name, status, len(answers), kills, doubles.lost, refused, f"{seconds:.1f}"

    def beside(self):
        """The same and another request while the first is under way; nothing where the operation reads no body."""
        if options.plant:
            return
        world, request = self.world()
        if request.body is None or self.name == "signIn":
            return
        others, first = asyncio.run(Doubles(self.servers, self.chance).under_way(request, self.key, f"way-{world.number}"))
        for one in others:
            if (one.status, one.code) != (409, "request-under-way") or "retry-after" not in one.fields:
                raise Violation(f"{self.name}: while the first is under way another is answered {one.status}: {one.body[:200]}")
        if first.status != self.status:
            raise Violation(f"{self.name}: the one that was under way is answered {first.status}: {first.body[:200]}")


def described(server):
    """The names of operations that take a key."""
    document = json.loads(server.request("GET", "/openapi.json")[2])
    return {operation["operationId"] for item in document["paths"].values() for method, operation in item.items()
            if method == "post" and any(one.get("name") == "Idempotency-Key" for one in operation.get("parameters", []))}


def rounds(folder):
    print(f"seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 3 * options.doubles + 1000)), hard))
    cluster, servers, google = None, [], Google(folder)
    try:
        if options.servers > 1:
            cluster = Cluster()
            key = base64.b64encode(random.randbytes(32)).decode()
            servers = [Node(folder, number, cluster, key) for number in range(options.servers)]
            for server in servers:
                server.environment.update(LIMITS | google.environment())
        else:
            servers = [Server(folder, folder, LIMITS | google.environment())]
        for server in servers:
            # The first one makes the tables, for which it has the database to itself.
            server.start()
            server.wait(60)
        key = servers[0].command("key", "create", "--name", "doubles").strip()
        for server in servers:
            server.key = key
        named = described(servers[0])
        if named != set(KINDS):
            raise Violation(f"once_kinds.py lacks {sorted(named - set(KINDS))} and has {sorted(set(KINDS) - named)} too many")
        circles = iter(range(1 << 30))
        for name in options.only or KINDS:
            kind = Kind(name, servers, key, circles, chance, google)
            kind.once()
            for kills in (0, 1):
                yield kind.doubled(kills)
            kind.beside()
    finally:
        google.stop()
        for server in servers:
            server.close() if cluster else server.stop()
        if cluster:
            cluster.close()


def planted(folder):
    """Ends when what is wrong on purpose is found."""
    try:
        yield from rounds(folder)
    except Violation as violation:
        if "doubles did" not in str(violation):
            raise
        return print(f"found: {str(violation)[:300]}", flush=True)
    raise Violation("each double had a key of its own, and nothing was found")


if __name__ == "__main__":
    title = f"{options.doubles} doubles of each POST with a key, over {options.servers} server(s):"
    if options.servers > 1 and not PROGRAMS:
        skip(title, "there is no PostgreSQL")
    run(title, [("operation", 20), ("status", 6), ("doubles", 7), ("kills", 5), ("lost", 5), ("asked again", 24), ("s", 6)],
        planted if options.plant else rounds)
