# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of docs/host-application.md as a newcomer does, and looks from outside whether what they print happened.

    KALENDS=.build/debug/kalends FIRST_HOUR=.build/debug/FirstHour python3 -B Tests/Clients/first_hour.py [PROGRAM…]

Two of the programs use clients that generators make of the server's own document (Tests/API/generators.py).

Between each program and the server is a relay. It refuses a batch once with 503, and it sends each message of the
webhook several times: changed, unsigned, signed with another key, signed ten minutes ago, as it is, and once more.
"""

import argparse
import base64
import hashlib
import hmac
import http.client
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from urllib.parse import quote

from kalends import Failure, Kalends, wait_for

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "Tests" / "Faults"), str(ROOT / "Tests" / "API")]

from generators import GENERATED, TOOLS, Faulty, python_client, typescript_client  # noqa: E402
from ports import free_port  # noqa: E402

SAMPLES = ROOT / "Samples" / "first-hour"
SAID = """\
1 item of each of 4 kinds; the same PUT again changed 0 things
batch: 24 of 25 lines are in the circle
batch: line 25 (walk-24): required at /value/title
list: 25 tasks in 3 pages
refused: invalid-time at /dueAt, required at /title, unknown-field at /titel
refused: precondition-failed; read again, and both changes are in: 45, Ben was here.
feed: 200 with 28 events, then 304
feed: after a change 200, with the new title: true
feed: the old address 410, the new one 200
""".splitlines()
# 200, 304, 200 and, at the new address, 200; the 410 is not a read.
READS = 4
WEBHOOK = re.compile(r"webhook: (\d+) messages verified, (\d+) refused, 0 changes missed")


def signed(secret, identifier, stamp, body):
    """The signature of Standard Webhooks."""
    key = base64.urlsafe_b64decode(secret.removeprefix("kal_wh_") + "=")
    text = b".".join([identifier.encode(), stamp.encode(), body])
    return "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()


class Relay(http.server.ThreadingHTTPServer):
    """Stands before the server for a program, and before the program for the server's messages."""

    daemon_threads = True

    def __init__(self, server):
        super().__init__(("127.0.0.1", 0), Passing)
        self.server_itself, self.receiver = server.port, free_port()
        self.secret, self.refused_batches, self.genuine, self.answers, self.faults = "", 0, set(), [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"

    def passed(self, port, method, path, headers, body):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def message(self, headers, body):
        """What the receiver answers to the message itself, after it was sent what is not ours."""
        identifier, stamp = headers["webhook-id"], headers["webhook-timestamp"]
        own = {"Content-Type": "application/json", "webhook-id": identifier, "webhook-timestamp": stamp}
        genuine = own | {"webhook-signature": headers["webhook-signature"]}
        strange = body.replace(b'"to":', b'"to":9')
        old = str(int(time.time()) - 600)
        other = signed("kal_wh_" + base64.urlsafe_b64encode(bytes(32)).decode().rstrip("="), identifier, stamp, body)
        two = f"{other} {genuine['webhook-signature']}"
        for name, expected, fields, text in (
                ("a changed body", 401, genuine, strange), ("another id", 401, genuine | {"webhook-id": "x"}, body),
                ("another time", 401, genuine | {"webhook-timestamp": str(int(stamp) + 1)}, body),
                ("no signature", 401, own, body), ("another key", 401, own | {"webhook-signature": other}, body),
                ("a signature that is none", 401, own | {"webhook-signature": "v1,%%% v2 v1"}, body),
                ("no number as the time", 401, genuine | {"webhook-timestamp": "now"}, body),
                ("an old message", 401, own | {
                    "webhook-timestamp": old, "webhook-signature": signed(self.secret, identifier, old, body)}, body),
                ("the message", 204, genuine, body), ("the message again, signed twice", 204, own | {
                    "webhook-signature": two}, body)):
            try:
                status = self.passed(self.receiver, "POST", "/kalends", fields, text)[0]
            except OSError:
                if identifier in self.genuine:
                    break  # The program has heard all that it waited for, and has ended.
                raise
            self.answers.append(status)
            if status == 204:
                self.genuine.add(identifier)
            if status != expected:
                self.faults.append(f"{name} was answered {status}")
        return 204


class Passing(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        relay = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/message":
            return self.write(relay.message(self.headers, body), [], b"")
        if self.path.endswith("/batch") and not relay.refused_batches:
            relay.refused_batches += 1
            # A code that no document has: later versions may have more of them.
            problem = {"type": "about:blank", "title": "Service Unavailable", "status": 503, "code": "busy", "detail": "Later."}
            return self.write(503, [("Retry-After", "1")], json.dumps(problem).encode())
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        status, fields, text = relay.passed(relay.server_itself, self.command, self.path, headers, body or None)
        if self.path == "/v1/webhooks" and status == 201:
            relay.secret = json.loads(text)["secret"]
        kept = [(name, value) for name, value in fields if name.lower() in ("etag", "content-type", "retry-after")]
        return self.write(status, kept, text)

    do_GET = do_PUT = do_POST = do_DELETE = answer

    def write(self, status, fields, text):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def python(folder, server):
    return [sys.executable, "-B", SAMPLES / "first_hour.py"]


def compiled(place, sample, *options):
    """The compiler's strict reading: a sample that is copied should not bring warnings along."""
    for file in (sample, Path(__file__).with_name("node.d.ts")):
        shutil.copy(file, place)
    done = subprocess.run(
        ["tsc", "--strict", *options, "--target", "es2022", "--lib", "es2022,dom", "--module", "nodenext", "first-hour.mts",
         "node.d.ts"], cwd=place, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"the compiler of TypeScript has something to say:\n{done.stdout}")
    return ["node", place / "first-hour.mjs"]


def typescript(folder, server):
    place = Path(folder) / "typescript"
    place.mkdir()
    return compiled(
        place, SAMPLES / "first-hour.mts", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--noUnusedLocals")


def document(server):
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/openapi.json", timeout=30) as answer:
        return answer.read()


def generated_python(folder, server):
    place = Path(folder) / "generated-python"
    place.mkdir()
    python_client(document(server), place)
    shutil.copy(GENERATED / "first_hour.py", place)
    return [sys.executable, "-B", place / "first_hour.py"]


def generated_typescript(folder, server):
    place = Path(folder) / "generated-typescript"
    place.mkdir()
    typescript_client(document(server), place)
    shutil.copy(GENERATED / "package.json", place)
    return compiled(place, GENERATED / "first-hour.mts")


def swift(folder, server):
    copy = Path(folder) / "FirstHour"
    shutil.copy2(os.environ.get("FIRST_HOUR") or ROOT / ".build/debug/FirstHour", copy)
    return [copy]


PROGRAMS = {
    "python": python, "typescript": typescript, "swift": swift, "generated-python": generated_python,
    "generated-typescript": generated_typescript}
# What a program needs besides the server.
NEEDS = {
    "typescript": ["node", "tsc"], "generated-python": [TOOLS / "openapi-python-client"],
    "generated-typescript": ["node", "tsc", TOOLS / "openapi-generator-cli"]}


def hour(name, command, server, turn):
    """One run of a program, and what can be seen of it afterwards."""
    relay = Relay(server)
    key = server._key
    environment = server.environment | {
        "KALENDS_URL": relay.address, "KALENDS_KEY": key, "WEBHOOK_PORT": str(relay.receiver),
        "WEBHOOK_URL": f"{relay.address}/message"}
    began = time.monotonic()
    try:
        done = subprocess.run([*command, name], env=environment, capture_output=True, text=True, timeout=120)
    finally:
        relay.shutdown()
        relay.server_close()
    seconds = time.monotonic() - began
    if done.returncode != 0:
        raise Failure(f"it ended with {done.returncode}: {done.stdout}{done.stderr[-2000:]}")
    lines = done.stdout.replace("True", "true").splitlines()
    faults = list(relay.faults)
    if lines[:-1] != SAID:
        faults.append("it printed\n" + "\n".join(lines))
    counts = WEBHOOK.fullmatch(lines[-1])
    refused = relay.answers.count(401)
    if not counts or not relay.genuine or (int(counts[1]), int(counts[2])) != (len(relay.genuine), refused):
        faults.append(f"it printed “{lines[-1]}”, and was sent {len(relay.genuine)} messages and {refused} others")
    if relay.refused_batches != 1:
        faults.append("it sent no batch")
    for secret in (key, relay.secret):
        if secret in done.stdout + done.stderr:
            faults.append("it printed a secret")
    faults += seen(name, server, turn)
    if faults:
        raise Failure("; ".join(faults))
    return f"{len(relay.genuine)} messages verified, {refused} others refused, {seconds:.1f} s"


def seen(name, server, turn):
    """What is not in the database as the program says."""
    faults, circle = [], f"/v1/circles/{quote(name)}"
    members = {member["id"]: member["role"] for member in server.call("GET", f"{circle}/members")["items"]}
    if members != {"ada": "owner", "ben": "member"}:
        faults.append(f"the members are {members}")
    for collection, expected in (("tasks", 25), ("shifts", 1), ("appointments", 1), ("follow-ups", 1)):
        items = server.call("GET", f"{circle}/{collection}?limit=1000")["items"]
        if len(items) != expected:
            faults.append(f"there are {len(items)} {collection}")
    pills = server.call("GET", f"{circle}/tasks/pills")
    if pills["title"] != "Refill pills and vitamins":
        faults.append(f"the task's title is {pills['title']}")
    feeds = server.call("GET", f"{circle}/feeds")["items"]
    if [feed["label"] for feed in feeds] != ["Phone"]:
        faults.append(f"the feeds are {feeds}")
    elif feeds[0]["accessCount"] != READS * turn:
        faults.append(f"the feed was read {feeds[0]['accessCount']} times and not {READS * turn}")
    if server.call("GET", "/v1/webhooks")["items"]:
        faults.append("a webhook is left")
    return faults


def check_page():
    """Lines of the page that are in none of the programs."""
    page = (ROOT / "docs" / "host-application.md").read_text()
    files = {
        "python": ["first_hour.py", "generated/first_hour.py"], "typescript": ["first-hour.mts", "generated/first-hour.mts"],
        "swift": ["FirstHour.swift", "Messages.swift"]}
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.M | re.S)
    for language, text in blocks:
        if language in files and not any(text in (SAMPLES / file).read_text() for file in files[language]):
            raise Failure(f"docs/host-application.md has lines that are not in {' or '.join(files[language])}:\n{text}")
    printed = next(text for language, text in blocks if not language).replace("True", "true").splitlines()
    if printed[:-1] != SAID or not WEBHOOK.fullmatch(printed[-1]):
        raise Failure("docs/host-application.md has other lines than the programs print")


def check_twins():
    """The receiver of messages is the same whatever sends the requests."""
    for file, start, stop in (("first_hour.py", "# 2. ", "\nwebhook, _ = "), ("first-hour.mts", "\n/** Whether", "\nconst { value")):
        text = (SAMPLES / file).read_text()
        part = text[text.index(start):text.index(stop)]
        if part not in (GENERATED / file).read_text():
            raise Failure(f"{file} and its twin for a generated client differ in what hears of changes")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("programs", nargs="*", help=f"of {', '.join(PROGRAMS)}; all by default")
    names = options.parse_args().programs or list(PROGRAMS)
    absent = [name for name in names if name not in PROGRAMS]
    absent += sorted({str(tool) for name in names for tool in NEEDS.get(name, []) if not shutil.which(tool)})
    if absent:
        print(f"not known or not there: {', '.join(absent)}", file=sys.stderr)
        return 2
    check_page()
    check_twins()
    folder = tempfile.mkdtemp(prefix="kalends-first-hour-")
    server, failed = None, 0
    try:
        server = Kalends(Path(os.environ.get("KALENDS") or ".build/debug/kalends"), folder)
        wait_for("the server", lambda: server.call("GET", "/v1/circles") is not None)
        for name in names:
            try:
                command = PROGRAMS[name](folder, server)
                # A second run finds everything there, and needs the feed that it has.
                for turn in (1, 2):
                    print(f"first hour, {name}, run {turn}: {hour(name, command, server, turn)}")
            except (Failure, Faulty, OSError, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"first hour, {name}: FAULT {failure}")
    finally:
        if server:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
