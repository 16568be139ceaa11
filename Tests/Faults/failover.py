# SPDX-License-Identifier: Apache-2.0
"""A server on PostgreSQL with a synchronous standby: under full load the primary dies, the standby is promoted, and the old
primary comes back. Nothing acknowledged may be lost, no address that ended may be read again, and nothing may be written to
the old primary any more.

    KALENDS=.build-release/release/kalends python3 Tests/Faults/failover.py [--rounds 10] [--servers 2]

The servers' address has both hosts, the first of which is the old primary in every other round. What an operator has to do
is done as docs/nodes.md says: the old primary is stopped before the standby is promoted, and comes back as a standby or
with `default_transaction_read_only=on`.
"""

import argparse
import base64
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from cluster import PROGRAMS, Replicated
from load import Load, forked
from report import check_brackets, check_written, run, skip
from server import Server, Violation

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=10)
parser.add_argument("--servers", type=int, default=2, choices=(1, 2), help="two share the database")
parser.add_argument("--seconds", type=float, default=15, help="how soon writes are taken after the promotion")
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
options = parser.parse_args()

TITLE = f"{options.rounds} failovers of PostgreSQL under load, {options.servers} servers:"
BATCH = 20


class Member(Replicated):
    """One of two PostgreSQLs, which take turns as the primary."""

    def everything(self):
        """The server's processes."""
        first = int((self.data / "postmaster.pid").read_text().split()[0])
        found = []
        for place in Path("/proc").glob("[0-9]*/stat"):
            try:
                process, parent = int(place.parent.name), int(place.read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if parent == first or process == first:
                found.append(process)
        return found

    def signal_all(self, sign):
        """Sends a signal to all of the server's processes; after SIGKILL none of them is left."""
        processes = self.everything()
        for process in processes:
            try:
                os.kill(process, sign)
            except ProcessLookupError:
                pass
        while sign == signal.SIGKILL and any(is_alive(process) for process in processes):
            time.sleep(0.01)
        if sign == signal.SIGKILL:
            # Where nobody takes the dead away, their number is taken for a server that runs.
            for lock in [self.data / "postmaster.pid", *self.home.glob(".s.PGSQL.*")]:
                lock.unlink()


def is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def kill(member, chance):
    member.signal_all(signal.SIGKILL)


def stop_at_once(member, chance):
    member.crash()


def hang(member, chance):
    """The machine answers nobody for a while, before somebody pulls its plug."""
    member.signal_all(signal.SIGSTOP)
    time.sleep(chance.uniform(0.5, 4))
    member.signal_all(signal.SIGKILL)


DEATHS = [kill, stop_at_once, hang]


class Ender:
    """Makes feeds, reads them and ends them, and notes which ends were acknowledged; and puts batches."""

    def __init__(self, folder, servers):
        self.servers, self.place = servers, Path(folder)
        self.ended, self.batches = self.place / "ended", self.place / "batches"
        self.breaches = forked.RawValue("q", 0)
        self.running = forked.RawValue("b", 0)
        self.round, self.processes = 0, []

    def start(self):
        self.round += 1
        self.running.value = 1
        self.processes = [forked.Process(target=self._end), forked.Process(target=self._batch)]
        for process in self.processes:
            process.start()

    def stop(self):
        self.running.value = 0
        for process in self.processes:
            process.join(90)
            if process.is_alive() or process.exitcode:
                process.kill()
                raise Violation(f"a client did not come to an end: {process.exitcode}")

    def _end(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        number = 0
        with open(self.ended, "a", buffering=1) as file:
            while self.running.value:
                number += 1
                server = self.servers[number % len(self.servers)]
                other = self.servers[(number + 1) % len(self.servers)]
                user = f"u{self.round}-{number}"
                try:
                    server.call("PUT", f"/v1/circles/written/members/{user}", {"displayName": "U", "role": "member"})
                    status, feed = server.call("POST", "/v1/circles/written/feeds", {"userId": user})
                    if status != 201:
                        continue
                    path = urlsplit(feed["url"]).path
                    other.request("GET", path)
                    if server.call("POST", f"/v1/feeds/{feed['id']}/revoke")[0] in (200, 204):
                        file.write(path + "\n")
                        if other.request("GET", path)[0] in (200, 304):
                            self.breaches.value += 1
                except OSError:
                    time.sleep(0.01)

    def _batch(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        number = 0
        day = time.strftime("%Y-%m-%dT12:00:00Z", time.gmtime())
        with open(self.batches, "a", buffering=1) as file:
            while self.running.value:
                number += 1
                server = self.servers[number % len(self.servers)]
                names = [f"b-{self.round}-{number}-{line}" for line in range(BATCH)]
                body = "".join(json.dumps({
                    "op": "put", "collection": "tasks", "id": name, "value": {"title": name, "dueAt": day}}) + "\n"
                    for name in names).encode()
                try:
                    status, _, text = server.request("POST", "/v1/circles/written/batch", body, {
                        "Authorization": f"Bearer {server.key}", "Content-Type": "application/x-ndjson"})
                    if status == 200 and json.loads(text)["applied"] == BATCH:
                        file.write(" ".join(names) + "\n")
                except OSError:
                    pass
                time.sleep(0.05)

    def check(self, primary):
        """Looks at everything that was acknowledged; returns how many ends and lines of batches that was."""
        ended = self.ended.read_text().split()
        for server in self.servers:
            for path in ended:
                if server.request("GET", path)[0] != 410:
                    raise Violation("an address that ended is read again")
        if self.breaches.value:
            raise Violation(f"{self.breaches.value} addresses were read after the answer to their end")
        lines = set(self.batches.read_text().split())
        there = set(primary.ask("SELECT id FROM schedule_items WHERE id LIKE 'b-%'").split())
        if lines - there:
            raise Violation(f"{len(lines - there)} lines of batches were acknowledged and are not there")
        return len(ended), len(lines)


def taken(servers, number):
    """Seconds until each server takes a write; every refusal before has to be one that says to come again."""
    began = time.monotonic()
    for place, server in enumerate(servers):
        while True:
            try:
                status = server.put_task("still", f"after-{number}-{place}")
            except OSError:
                status = None
            if status in (200, 201):
                break
            if status not in (503, None):
                raise Violation(f"a write was answered {status}")
            if time.monotonic() - began > 60:
                raise Violation(f"no write was taken for 60 s: {server.tail()}")
            time.sleep(0.01)
    return time.monotonic() - began


def returned(old, new, servers, number):
    """The old primary is there again, as one that only reads; the servers reconnect, and must not stay with it."""
    for _ in range(3):
        new.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'kalends'")
        taken(servers, f"{number}-returned")
    # Whoever connects asks the first host whether it takes writes, and leaves it.
    there = "SELECT pid FROM pg_stat_activity WHERE application_name = 'kalends'"
    first = set(old.ask(there).split())
    time.sleep(1)
    if stayed := first & set(old.ask(there).split()):
        raise Violation(f"{len(stayed)} sessions stay with the old primary")


class Switch(threading.Thread):
    """A wire to one PostgreSQL; once armed, it swallows the next commit and leads to another one from then on."""

    def __init__(self, first, second):
        super().__init__(daemon=True)
        self.place, self.second, self.is_armed, self.ends = f"{first.home}/.s.PGSQL.5432", second, False, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            near = self.listener.accept()[0]
            far = socket.socket(socket.AF_UNIX)
            far.connect(self.place)
            self.ends += [near, far]
            threading.Thread(target=self.pass_on, args=(near, far, True), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(far, near, False), daemon=True).start()

    def pass_on(self, source, target, is_asking):
        try:
            writes = False
            while data := source.recv(1 << 16):
                if b"BEGIN" in data:
                    writes = b"READ WRITE" in data
                if is_asking and writes and self.is_armed and b"COMMIT" in data:
                    self.is_armed, self.place = False, f"{self.second.home}/.s.PGSQL.5432"
                    for end in self.ends:
                        self.cut(end)
                    return
                target.sendall(data)
        except OSError:
            pass
        self.cut(target)

    @staticmethod
    def cut(end):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def lost_number(folder):
    """A commit is lost with its server, and the promoted one has given its number to another transaction, which was kept."""
    first, second = Member(), Member()
    server = None
    try:
        switch = Switch(first, second)
        home = Path(folder) / "lost"
        home.mkdir()
        server = Server(home, home, {"KALENDS_FILES": str(home / "k")})
        server.database = f"host=127.0.0.1 port={switch.port} user=kalends dbname=kalends sslmode=disable gssencmode=disable"
        server.start()
        server.wait()
        # The second has everything but the last commit, and numbers beyond that of the last.
        server.fill(1, 1)
        server.stop()
        first.crash()
        second.crash()
        shutil.rmtree(second.data)
        shutil.copytree(first.data, second.data, symlinks=True)
        if second.owner:
            subprocess.run(["chown", "-R", "postgres", second.data], check=True)
        first.start()
        second.start()
        second.ask("DO $$ BEGIN FOR i IN 1..3000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$")
        server.start()
        server.wait()
        # The first request notes when the key was last used.
        server.put_task("still", "before")
        time.sleep(1.5)
        switch.is_armed = True
        status = server.put_task("still", "lost")
        there = second.ask("SELECT count(*) FROM schedule_items WHERE id = 'lost'")
        if switch.is_armed or there != "0":
            raise Violation("the write was to be lost")
        if status in (200, 201):
            raise Violation(f"a write was answered {status} and is lost: its number is another's")
        if status != 503 or taken([server], "lost") > 15:
            raise Violation(f"a write was answered {status}")
        return status
    finally:
        if server:
            server.stop()
        first.close()
        second.close()


def split(folder):
    """The standby is promoted while the old primary goes on, and one of two servers reaches nothing else: it gives no
    content after an end that the other answered. The other one finds the new primary by itself."""
    old = Member()
    members, servers = [old], []
    try:
        members.append(new := Member(old))
        key = base64.b64encode(random.randbytes(32)).decode()
        for name, hosts in [("left", f"{old.home}"), ("moves", f"{old.home},{new.home}")]:
            home = Path(folder) / f"split-{name}"
            home.mkdir()
            server = Server(home, home, {
                "KALENDS_FILES": str(home / "k"), "KALENDS_SECRET_KEY": key, "KALENDS_SERVERS": "several"})
            server.database = f"host={hosts} user=kalends dbname=kalends"
            servers.append(server)
            server.start()
            server.wait()
        left, moves = servers
        feeds = left.fill(20, 5)
        moves.key = left.key
        paths = [feed.path for feed in feeds]
        for server in servers:
            for path in paths:
                if server.request("GET", path)[0] != 200:
                    raise Violation("a feed is not read before")
        new.wait_for_commits("")
        new.run("pg_ctl", "promote", "-D", new.data, "-w")
        seconds = taken([moves], "split")
        refused = []
        for feed in feeds:
            if moves.call("POST", f"/v1/feeds/{feed.identifier}/revoke")[0] not in (200, 204):
                raise Violation("an end was not taken by the new primary")
        # Each is asked for at once and again, as long as the database takes to be given up.
        with ThreadPoolExecutor(len(paths)) as pool:
            for _ in range(3):
                refused += pool.map(lambda path: left.request("GET", path)[0], paths)
        if set(refused) != {503}:
            raise Violation(f"a server that only reaches the old primary answered {set(refused)} after an end")
        for path in paths:
            if moves.request("GET", path)[0] != 410:
                raise Violation("an address that ended is read at the new primary")
        return f"{len(feeds)} ends, {len(refused)} polls refused, {seconds:.2f} s until the other server wrote to the new one"
    finally:
        for server in servers:
            server.kill()
        for member in members:
            member.close()


def rounds(folder):
    print(f"seed {options.seed}")
    if options.servers > 1:
        print(f"an old primary that nobody stopped: {split(folder)}")
    print(f"a commit whose number was lost and given again was answered {lost_number(folder)}")
    chance = random.Random(options.seed)
    primary = Member()
    members, servers = [primary], []
    try:
        members.append(standby := Member(primary))
        key = base64.b64encode(random.randbytes(32)).decode()
        for place in range(options.servers):
            home = Path(folder) / f"server{place}"
            home.mkdir()
            server = Server(home, home, {
                "KALENDS_FILES": str(home / "k"), "KALENDS_SECRET_KEY": key,
                "KALENDS_SERVERS": "several" if options.servers > 1 else "one"})
            server.database = f"host={members[0].home},{members[1].home} user=kalends dbname=kalends"
            servers.append(server)
            server.start()
            server.wait()
        feeds = servers[0].fill()
        for server in servers:
            server.key = servers[0].key
        loads = [Load(server, feeds, readers=2, circle="written") for server in servers[:1]]
        loads += [Load(server, feeds, readers=2) for server in servers[1:]]
        ender = Ender(folder, servers)
        for number in range(1, options.rounds + 1):
            death = DEATHS[(number - 1) % len(DEATHS)]
            for load in [*loads, ender]:
                load.start()
            time.sleep(chance.uniform(0.5, 2))
            death(primary, chance)
            standby.wait_for_commits("")
            standby.run("pg_ctl", "promote", "-D", standby.data, "-w")
            seconds = taken(servers, number)
            # It comes back: fenced, or as a standby.
            if number % 2:
                primary.start("-c default_transaction_read_only=on -c synchronous_standby_names=")
                returned(primary, standby, servers, number)
                primary.crash()
                name = "read-only"
            else:
                name = "standby"
            shutil.rmtree(primary.data)
            primary.follow(standby)
            if name == "standby":
                returned(primary, standby, servers, number)
            time.sleep(chance.uniform(0.2, 0.5))
            for load in [*loads, ender]:
                load.stop()
            primary, standby = standby, primary
            sums = check_brackets(servers[0], loads)
            written = check_written(servers[0], loads[0])
            ends, lines = ender.check(primary)
            yield (number, death.__name__.replace("_", " "), name, *sums, written, ends, lines, f"{seconds:.2f}")
            if seconds > options.seconds:
                raise Violation(f"no write was taken for {seconds:.2f} s after the promotion")
        gaps = primary.ask("SELECT count(sequence), max(sequence) FROM changes")
        if len(set(gaps.split("|"))) != 1:
            raise Violation(f"changes are not numbered without a gap: {gaps}")
        for server in servers:
            server.stop()
        print(servers[0].command("doctor").strip())
    finally:
        for process in forked.active_children():
            process.kill()
        for server in servers:
            server.stop()
        for member in members:
            member.close()


if __name__ == "__main__":
    if not PROGRAMS:
        skip(TITLE, "there is no PostgreSQL (Debian: apt-get install postgresql)")
    run(
        TITLE,
        [("round", 5), ("death", 12), ("returns as", 10), ("complete", 9), ("counted", 9), ("sent", 9), ("written", 8),
         ("ends", 6), ("lines", 6), ("again s", 8)], rounds)
