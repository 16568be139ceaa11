# SPDX-License-Identifier: Apache-2.0
"""The server that faults happen to: started on a port of its own, filled over its API, ended in any way."""

import collections
import http.client
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from ports import free_port


class Violation(Exception):
    """A promise that was not kept, in words for whoever runs the tests."""


def seconds_to_stop(process):
    """How long a server takes to stop in order; one that does not is killed after a minute and a half."""
    began = time.monotonic()
    process.terminate()
    try:
        process.wait(90)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return time.monotonic() - began


def longest_transaction(database):
    """Milliseconds, since the server's start; it is asked at the operator's socket next to the database."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(f"{database}.sock")
    connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    text = b""
    while more := connection.recv(1 << 16):
        text += more
    connection.close()
    line = next(line for line in text.split(b"\n") if line.startswith(b"kalends_longest_write_transaction_seconds "))
    return 1000 * float(line.split()[1])


class Caller:
    """Asks what listens at `host` and `port`, with the service key `key`."""

    host, port, key = "127.0.0.1", None, None

    @property
    def origin(self):
        """What comes before a path in an address; nothing where each request may go to another port."""
        return f"http://{self.host}:{self.port}" if self.port else ""

    def request(self, method, path, body=None, headers=None, timeout=30):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        except http.client.HTTPException as error:
            raise ConnectionError(str(error)) from None
        finally:
            connection.close()

    def call(self, method, path, value=None, timeout=30, user=None):
        """A request as the host application, in a user's name where one is given: status and document."""
        body = None if value is None else json.dumps(value).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        if user:
            headers["Kalends-User"] = user
        status, _, text = self.request(method, path, body, headers, timeout)
        return status, json.loads(text) if text and text.startswith(b"{") else None

    def must(self, method, path, value=None):
        status, document = self.call(method, path, value)
        if status not in (200, 201, 204):
            raise Violation(f"{method} {path.split('/')[1]}… was answered {status}: {document}")
        return document

    def put_task(self, circle, identifier, timeout=30, title=None, user=None):
        due = time.strftime("%Y-%m-%dT12:00:00Z", time.gmtime())
        task = {"title": title or identifier, "dueAt": due}
        return self.call("PUT", f"/v1/circles/{circle}/tasks/{identifier}", task, timeout, user)[0]

    # Large enough for several transactions before the one that shows the events.
    EVENTS_OF_FILE = 2000

    def import_file(self, circle, number, timeout=30):
        """Imports a file whose UIDs begin with its number; the status of the answer."""
        day = time.strftime("%Y%m%d")
        events = "".join(
            f"BEGIN:VEVENT\r\nUID:file{number}-{event}@example.com\r\nDTSTAMP:20260101T000000Z\r\n"
            f"DTSTART:{day}T{event % 24:02}{event // 24 % 60:02}00Z\r\nSUMMARY:Event {event} of {number}\r\nEND:VEVENT\r\n"
            for event in range(self.EVENTS_OF_FILE))
        text = f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\n{events}END:VCALENDAR\r\n"
        return self.request(
            "POST", f"/v1/circles/{circle}/imports?mode=commit&limit=1", text.encode(),
            {"Authorization": f"Bearer {self.key}", "Content-Type": "text/calendar"}, timeout)[0]

    def imported_files(self, circle):
        """How many events of each file an export of the circle has, by the file's number."""
        status, _, text = self.request(
            "GET", f"/v1/circles/{circle}/export.ics", headers={"Authorization": f"Bearer {self.key}"})
        if status != 200:
            raise Violation(f"an export was answered {status}")
        return collections.Counter(int(number) for number in re.findall(rb"^UID:file(\d+)-", text, re.M))

    def make_circle(self, circle):
        self.must("PUT", f"/v1/circles/{circle}", {"name": circle, "timeZone": "Europe/Vienna"})
        self.must("PUT", f"/v1/circles/{circle}/members/ann", {"displayName": "Ann", "role": "owner"})

    def remove_task(self, circle, identifier):
        self.must("DELETE", f"/v1/circles/{circle}/tasks/{identifier}")

    def has_task(self, circle, identifier):
        return self.call("GET", f"/v1/circles/{circle}/tasks/{identifier}")[0] == 200


class Server(Caller):
    """`kalends serve` on a database in `folder`; its log lies in `logs`, which no fault reaches."""

    def __init__(self, folder, logs, environment=None, launcher=()):
        self.database = Path(folder) / "k.sqlite"
        self.log = Path(logs) / "server.log"
        self.port = free_port()
        # A copy of the program: a build that runs meanwhile must not change what is under test. Another process writes it:
        # what another thread starts would hold a file open that is written here, and an open program cannot be started.
        self.program = Path(logs) / "kalends"
        if not self.program.exists():
            program = os.environ.get("KALENDS", ".build-release/release/kalends")
            subprocess.run(["cp", "--preserve=mode,timestamps", program, self.program], check=True)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("KALENDS")}
        self.environment.update(environment or {})
        self.launcher = launcher
        self.process = None
        self.processes = []
        self.key = None

    def start(self):
        self.began = time.monotonic()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.launcher, self.program, "serve", "--database", self.database, "--port", str(self.port),
                 "--log-level", "warning"], stdout=log, stderr=log, env=self.environment)
        self.processes.append(self.process.pid)

    def wait(self, seconds=30):
        """Waits until it answers; how many seconds that took since its start."""
        asked = time.monotonic()
        while True:
            try:
                if self.request("GET", "/healthz", timeout=5)[0] == 200:
                    return time.monotonic() - self.began
            except OSError:
                pass
            if self.process.poll() is not None:
                raise Violation(f"the server ended with {self.process.returncode}: {self.tail()}")
            if time.monotonic() - asked > seconds:
                raise Violation(f"the server did not answer for {seconds} s: {self.tail()}")
            time.sleep(0.005)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Violation("the server did not stop within 30 s") from None

    def tail(self):
        return self.log.read_text(errors="replace")[-600:]

    def command(self, *words):
        done = subprocess.run(
            [self.program, *words, "--database", self.database], capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            raise Violation(f"kalends {words[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def fill(self, feeds=3, items=30):
        """A circle that nobody changes and one that is written to, with so many feeds each; returns those."""
        self.key = self.command("key", "create", "--name", "faults").strip()
        made = []
        for circle in ("still", "written"):
            self.make_circle(circle)
            for number in range(items):
                self.put_task(circle, f"first-{number}")
            for number in range(feeds):
                feed = self.must("POST", f"/v1/circles/{circle}/feeds", {"userId": "ann", "label": str(number)})
                made.append(Feed(feed["id"], urlsplit(feed["url"]).path, circle))
        return made

    def counted(self, feed):
        """How often a feed was read, once all three ways of counting say the same."""
        told = self.must("GET", f"/v1/feeds/{feed.identifier}")
        count = told["accessCount"]
        for name, rows in (("clients", told["clients"]), ("days", told["health"]["days"])):
            total = sum(row["count"] for row in rows)
            if total != count:
                raise Violation(f"accessCount is {count}, and its {name} add up to {total}")
        return count

    def longest_transaction(self):
        return longest_transaction(self.database)

    def check_integrity(self):
        """SQLite's own check, on a copy, so that the server meets its files as they are."""
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy.sqlite"
            for suffix in ("", "-wal"):
                if Path(f"{self.database}{suffix}").exists():
                    shutil.copy2(f"{self.database}{suffix}", f"{copy}{suffix}")
            connection = sqlite3.connect(copy)
            try:
                verdict = connection.execute("PRAGMA integrity_check").fetchone()[0]
            finally:
                connection.close()
        if verdict != "ok":
            raise Violation(f"the database is damaged: {verdict}")


class Feed:
    def __init__(self, identifier, path, circle):
        self.identifier, self.path, self.circle = identifier, path, circle
