# SPDX-License-Identifier: Apache-2.0
"""A thousand feeds and app passwords end amid a million reads.

Readers poll on keep-alive connections, one by one and pipelined, and note when each request was sent. No request that
was sent after the answer to revoke, regenerate, delete, leave or end, or after the moment of expiry, may get content.
"""

import argparse
import base64
import json
import multiprocessing
import os
import random
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time

from running import HOST, call, make_key, path_of, start

WAYS = ["revoke", "regenerate", "delete", "leave", "expire", "command", "end", "end later"]
# Of feeds 410 says that they have ended, of app passwords 401.
CONTENT, ENDED = (200, 207, 304), (401, 410)


class Reader:
    """One connection, on which several requests may be under way."""

    STATUS = re.compile(rb"HTTP/1\.1 (\d{3})[^\r]*\r\n(.*?)\r\n\r\n", re.S)
    LENGTH = re.compile(rb"content-length: (\d+)", re.I)

    def __init__(self, port):
        self.socket = socket.create_connection((HOST, port))
        self.socket.settimeout(30)
        self.rest = b""

    def ask(self, head, conditional, count):
        """Sends as many requests at once and gives the statuses of their answers, in order."""
        condition = "If-None-Match: *\r\n" if conditional and head.startswith("GET") else ""
        self.socket.sendall(f"{head}Host: x\r\n{condition}\r\n".encode() * count)
        statuses = []
        while len(statuses) < count:
            found = self.STATUS.match(self.rest)
            if found:
                length = self.LENGTH.search(found[2])
                end = found.end() + (int(length[1]) if length and found[1] != b"304" else 0)
                if len(self.rest) >= end:
                    statuses.append(int(found[1]))
                    self.rest = self.rest[end:]
                    continue
            more = self.socket.recv(1 << 18)
            if not more:
                raise SystemExit("the server closed a reader's connection")
            self.rest += more
        return statuses


def read(port, heads, ended, position, total, violations, statuses):
    """Reads what is near that which ends next; `ended` holds when each one's end was known."""
    chance = random.Random(os.getpid())
    readers = [Reader(port) for _ in range(4)]
    while position.value < len(heads):
        reader = chance.choice(readers)
        index = min(len(heads) - 1, max(0, position.value + chance.randint(-6, 6)))
        count = chance.choice([1, 2, 8, 40])
        sent = time.monotonic()
        answers = reader.ask(heads[index], chance.random() < 0.7, count)
        at = ended[index]
        content = sum(status in CONTENT for status in answers)
        if at and sent > at and content:
            with violations.get_lock():
                violations.value += content
        with total.get_lock():
            total.value += count
        for status in set(answers):
            if status in CONTENT + ENDED:
                with statuses.get_lock():
                    statuses[(CONTENT + ENDED).index(status)] += answers.count(status)
            else:
                with violations.get_lock():
                    violations.value += 1
                print("an unexpected answer:", status, file=sys.stderr)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--feeds", type=int, default=1000)
    options.add_argument("--reads", type=int, default=1_000_000)
    given = options.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))

    with tempfile.TemporaryDirectory() as folder:
        process, port = start(given.program, folder)
        try:
            key = make_key(given.program, folder)
            call(port, "PUT", "/v1/circles/c", key, '{"name":"C","timeZone":"Europe/Berlin"}')
            ids, heads, ways = [], [], []
            for i in range(given.feeds):
                # A command takes a process of its own each time, and an expiry a second: they have a smaller part.
                way = {0: "command", 10: "expire", 15: "end later"}.get(i % 20, "end" if i % 5 == 1 else WAYS[i % 4])
                ways.append(way)
                call(port, "PUT", f"/v1/circles/c/members/u{i}", key, '{"displayName":"U","role":"member"}')
                if way.startswith("end"):
                    made = json.loads(call(port, "POST", "/v1/app-passwords", key, json.dumps({"userId": f"u{i}", "label": "A"})))
                    ids.append(made["id"])
                    basic = base64.b64encode(f"{made['username']}:{made['password']}".encode()).decode()
                    heads.append(f"PROPFIND /dav/calendars/u{i}/c/ HTTP/1.1\r\nDepth: 0\r\nAuthorization: Basic {basic}\r\n")
                    continue
                feed = call(port, "POST", "/v1/circles/c/feeds", key, json.dumps({"userId": f"u{i}"}))
                ids.append(json.loads(feed)["id"])
                heads.append(f"GET {path_of(feed)} HTTP/1.1\r\n")

            ended = multiprocessing.Array("d", given.feeds)
            position = multiprocessing.Value("i", 0)
            total, violations = multiprocessing.Value("q", 0), multiprocessing.Value("q", 0)
            statuses = multiprocessing.Array("q", len(CONTENT + ENDED))
            arguments = (port, heads, ended, position, total, violations, statuses)
            readers = [multiprocessing.Process(target=read, args=arguments) for _ in range(3)]
            for reader in readers:
                reader.start()
            took = {way: [] for way in WAYS}
            since = time.monotonic()
            for i, (own, way) in enumerate(zip(ids, ways)):
                while total.value < given.reads * i // given.feeds and any(r.is_alive() for r in readers):
                    time.sleep(0.001)
                before = time.monotonic()
                if way == "revoke" or way == "regenerate":
                    call(port, "POST", f"/v1/feeds/{own}/{way}", key, "{}")
                elif way == "delete":
                    call(port, "DELETE", f"/v1/feeds/{own}", key)
                elif way == "leave":
                    call(port, "DELETE", f"/v1/circles/c/members/u{i}", key)
                elif way == "command":
                    subprocess.run(
                        [given.program, "feed", "revoke", own, "--database", f"{folder}/k.sqlite"],
                        check=True, capture_output=True)
                elif way == "end":
                    call(port, "DELETE", f"/v1/app-passwords/{own}", key)
                else:
                    moment = int(time.time()) + 2
                    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
                    kind = "feeds" if way == "expire" else "app-passwords"
                    call(port, "PATCH", f"/v1/{kind}/{own}", key, json.dumps({"expiresAt": at}))
                took[way].append(time.monotonic() - before)
                if way in ("expire", "end later"):
                    time.sleep(max(0, moment - time.time()) + 0.002)
                ended[i] = time.monotonic()
                position.value = i
                if not all(reader.is_alive() for reader in readers):
                    break
            while total.value < given.reads and all(reader.is_alive() for reader in readers):
                time.sleep(0.01)
            # Past the last: every reader finds it and ends.
            position.value = given.feeds
            for reader in readers:
                reader.join(60)
            seconds = time.monotonic() - since
            died = sum(reader.exitcode != 0 for reader in readers)
            counts = ", ".join(f"{count} were {status}" for status, count in zip(CONTENT + ENDED, statuses))
            print(f"{total.value} reads in {seconds:.0f} s ({counts}) amid {given.feeds} ends")
            for way, times in took.items():
                if times:
                    times.sort()
                    print(f"{way}: {len(times)}, answered in {1000 * times[len(times) // 2]:.1f} ms (median), "
                          f"{1000 * times[int(len(times) * 0.99)]:.1f} ms (p99)")
            print(f"reads that were sent after an end was answered and got content: {violations.value}")
            sys.exit(1 if violations.value or died or total.value < given.reads else 0)
        finally:
            process.kill()


if __name__ == "__main__":
    main()
