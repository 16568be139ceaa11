# SPDX-License-Identifier: Apache-2.0
"""The server under test: started on a port of its own choice, filled over its API, ended when done."""

import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path


class Failure(Exception):
    """Something that is not as it must be, in words for whoever runs the tests."""


def wait_for(what, condition, seconds=30.0, pause=0.1):
    """The first truthy value of `condition`, or a failure that says what did not come."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(pause)


def settled(look, quiet=2.0, seconds=30.0):
    """Looks until something is there and has stayed the same for a while. What is there is judged elsewhere."""
    end, since, last = time.monotonic() + seconds, time.monotonic(), None
    while time.monotonic() < end:
        seen = look()
        if seen != last:
            last, since = seen, time.monotonic()
        elif seen and time.monotonic() - since > quiet:
            break
        time.sleep(0.25)


class Kalends:
    circle = "clients"

    def __init__(self, program, folder, *options, **settings):
        """`options` are further arguments, `settings` variables that the server gets."""
        # A copy of the program: a build that runs meanwhile must not change what is under test.
        self.program = Path(folder) / "kalends"
        shutil.copy2(program, self.program)
        self.database = Path(folder) / "kalends.sqlite"
        self.log_path = Path(folder) / "kalends.log"
        self.log = open(self.log_path, "wb")
        # Settings of the machine must not reach in.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("KALENDS")} | settings
        self.environment = environment
        self.process = subprocess.Popen(
            [self.program, "serve", "--database", self.database, "--port", "0", *options],
            stdout=self.log, stderr=self.log, cwd=folder, env=environment)
        try:
            self.port = wait_for("the server's port", self._announced_port)
            key = subprocess.run(
                [self.program, "key", "create", "--name", "clients", "--database", self.database],
                check=True, capture_output=True, text=True, env=environment)
        except BaseException:
            self.stop()
            raise
        self._key = key.stdout.strip()

    def _announced_port(self):
        if self.process.poll() is not None:
            raise Failure(f"the server ended with {self.process.returncode}: {self.log_path.read_text()[-500:]}")
        match = re.search(r"\bserving\b.*\bport=(\d+)", self.log_path.read_text())
        return match and int(match[1])

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()

    def call(self, method, path, body=None, media_type="application/json"):
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data=body, method=method,
            headers={"Authorization": f"Bearer {self._key}", "Content-Type": media_type})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise Failure(f"{method} of the API was answered {error.code}: {error.read()[:500]!r}") from None
        return json.loads(text) if text else None

    def item(self, method, collection, identifier, value=None):
        return self.call(method, f"/v1/circles/{self.circle}/{collection}/{identifier}", value)

    def batch(self, lines):
        """Puts and deletes many items in one call; every line must be taken."""
        body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        report = self.call("POST", f"/v1/circles/{self.circle}/batch", body, "application/x-ndjson")
        if report["rejected"]:
            raise Failure(f"the API rejected {report['rejected']}")

    def make_feed(self, label):
        """A feed of its own for each client, so that each one's accesses are counted alone."""
        feed = self.call("POST", f"/v1/circles/{self.circle}/feeds", {"userId": "ann", "label": label})
        return Feed(self, feed["id"], feed["url"].replace("//localhost:", "//127.0.0.1:"))


class Feed:
    def __init__(self, server, identifier, url):
        self.server, self.identifier, self.url = server, identifier, url

    def accesses(self):
        return self.server.call("GET", f"/v1/feeds/{self.identifier}")["accessCount"]
