# SPDX-License-Identifier: Apache-2.0
"""A host application's first hour with Kalends, in Python's standard library.

    KALENDS_KEY=$(kalends key create --name my-app) python3 first_hour.py [CIRCLE]
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone

SERVER = os.environ.get("KALENDS_URL", "http://localhost:8080")
KEY = os.environ["KALENDS_KEY"]
CIRCLE = sys.argv[1] if len(sys.argv) > 1 else "first-hour"


# 1. Asking


class Refused(Exception):
    """What the server refused. Branch on `code`, which never changes its meaning; the sentences are for people."""

    def __init__(self, problem):
        super().__init__(problem.get("detail") or problem["title"])
        self.code, self.problem = problem["code"], problem


def call(method, path, value=None, if_match=None, media_type="application/json"):
    """The document that the server answers, and its entity tag."""
    body = value if value is None or isinstance(value, bytes) else json.dumps(value).encode()
    request = urllib.request.Request(SERVER + path, body, method=method)
    request.add_header("Authorization", f"Bearer {KEY}")
    request.add_header("Content-Type", media_type)
    if if_match:
        request.add_header("If-Match", if_match)
    for attempt in range(5):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
                return json.loads(text) if text else None, answer.headers["ETag"]
        except urllib.error.HTTPError as error:
            # Too much at once, or a database that is away for a moment: the same request is right a little later.
            if error.code in (429, 503) and attempt < 4:
                time.sleep(int(error.headers.get("Retry-After", "1")))
                continue
            raise Refused(json.load(error)) from None


# 2. Hearing of changes


def is_genuine(secret, headers, body):
    """Whether Kalends signed these bytes, within the last five minutes (docs/host-application.md)."""
    text = secret.removeprefix("kal_wh_")
    key = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    stamp = headers["webhook-timestamp"]
    if abs(time.time() - int(stamp)) > 300:
        return False
    signed = b".".join([headers["webhook-id"].encode(), stamp.encode(), body])
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, one) for one in headers["webhook-signature"].split(" "))


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes the messages. A message may come twice, with the same id: it is worked on once."""

    secret, seen, latest, refused = "", {}, 0, 0

    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 1 << 20))
        try:
            genuine = is_genuine(self.secret, self.headers, body)
        except (KeyError, TypeError, ValueError, AttributeError):
            genuine = False  # a header is missing, or is nothing that we would send
        if not genuine:
            Receiver.refused += 1
        elif self.headers["webhook-id"] not in self.seen:
            data = json.loads(body)["data"]
            self.seen[self.headers["webhook-id"]] = data["items"]
            Receiver.latest = max(self.latest, data["to"])
        self.send_response(204 if genuine else 401)
        self.end_headers()

    def log_message(self, *_):
        pass


listener = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("WEBHOOK_PORT", "0"))), Receiver)
threading.Thread(target=listener.serve_forever, daemon=True).start()
address = os.environ.get("WEBHOOK_URL", f"http://127.0.0.1:{listener.server_port}/kalends")
webhook, _ = call("POST", "/v1/webhooks", {"url": address, "circles": [CIRCLE]})
Receiver.secret = webhook["secret"]  # shown this once: keep it as you keep a password


# 3. A circle, its people, and something of each kind

circle = f"/v1/circles/{CIRCLE}"
tomorrow = datetime.now(timezone.utc).date() + timedelta(days=1)
call("PUT", circle, {"name": "Rossi family", "timeZone": "Europe/Rome"})
call("PUT", f"{circle}/members/ada", {"displayName": "Ada", "role": "owner"})
call("PUT", f"{circle}/members/ben", {"displayName": "Ben", "role": "member"})
call("PUT", f"{circle}/patients/ma", {"displayName": "Mamma"})
pills = {"title": "Refill pills", "dueAt": f"{tomorrow}T09:00:00+01:00", "reminders": [15]}
task, tag = call("PUT", f"{circle}/tasks/pills", pills)
call("PUT", f"{circle}/shifts/night", {
    "patientId": "ma", "ownerId": "ben",
    "startAt": f"{tomorrow}T20:00:00+01:00", "endAt": f"{tomorrow}T23:00:00+01:00"})
call("PUT", f"{circle}/appointments/cardio", {
    "patientId": "ma", "provider": "Dr. Wu", "startAt": f"{tomorrow}T14:30:00+01:00",
    "recurrence": {"rrule": "FREQ=WEEKLY;COUNT=4"}})
call("PUT", f"{circle}/follow-ups/results", {
    "description": "Ask for the results", "dueAt": f"{tomorrow}T16:00:00+01:00"})
again, _ = call("PUT", f"{circle}/tasks/pills", pills)
print(f"1 item of each of 4 kinds; the same PUT again changed {again['sequence'] - task['sequence']} things")


# 4. Many at once: one line of JSON each. Good lines are applied, and the others are named.

lines = [
    {"op": "put", "collection": "tasks", "id": f"walk-{number}",
     "value": {"title": f"Walk {number}", "dueAt": f"{tomorrow}T{8 + number // 2:02}:30:00+01:00"}}
    for number in range(24)]
lines.append({"op": "put", "collection": "tasks", "id": "walk-24", "value": {"dueAt": f"{tomorrow}T21:00:00+01:00"}})
batch = "".join(json.dumps(line) + "\n" for line in lines).encode()
report, _ = call("POST", f"{circle}/batch", batch, media_type="application/x-ndjson")
print(f"batch: {report['applied'] + report['unchanged']} of {len(lines)} lines are in the circle")
for line in report["rejected"]:
    for fault in line["errors"]:
        print(f"batch: line {line['line']} ({line['id']}): {fault['code']} at {fault['pointer']}")


# 5. Lists come in pages

tasks, pages, cursor = [], 0, None
while pages == 0 or cursor:
    page, _ = call("GET", f"{circle}/tasks?limit=10" + (f"&cursor={cursor}" if cursor else ""))
    tasks, pages, cursor = tasks + page["items"], pages + 1, page["nextCursor"]
print(f"list: {len(tasks)} tasks in {pages} pages")


# 6. Refusals, by their code

try:
    feed, _ = call("POST", f"{circle}/feeds", {"userId": "ada", "label": "Phone"})
except Refused as refusal:
    if refusal.code != "label-taken":
        raise
    feed, _ = call("POST", f"/v1/feeds/{refusal.problem['feedId']}/reveal")  # from an earlier run
    feed["id"] = refusal.problem["feedId"]

try:
    call("PUT", f"{circle}/tasks/wrong", {"titel": "Refill", "dueAt": "tomorrow"})
except Refused as refusal:
    if refusal.code != "invalid-fields":
        raise
    faults = sorted(f"{fault['code']} at {fault['pointer']}" for fault in refusal.problem["errors"])
    print("refused:", ", ".join(faults))

# Somebody else was faster: with If-Match nothing is overwritten unseen.
call("PUT", f"{circle}/tasks/pills", pills | {"notes": "Ben was here."}, if_match=tag)
try:
    call("PUT", f"{circle}/tasks/pills", pills | {"durationMinutes": 45}, if_match=tag)
except Refused as refusal:
    if refusal.code != "precondition-failed":
        raise
    latest, tag = call("GET", f"{circle}/tasks/pills")
    merged, _ = call(
        "PUT", f"{circle}/tasks/pills", pills | {"notes": latest["notes"], "durationMinutes": 45}, if_match=tag)
    both = f"{merged['durationMinutes']}, {merged['notes']}"
    print(f"refused: {refusal.code}; read again, and both changes are in: {both}")


# 7. A feed, as a calendar app reads it


def read(url, tag=None):
    """The status, the entity tag and the text of a calendar."""
    request = urllib.request.Request(url, headers={"If-None-Match": tag} if tag else {})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers["ETag"], answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["ETag"], ""


status, tag, text = read(feed["url"])
print(f"feed: {status} with {text.count('BEGIN:VEVENT')} events, then {read(feed['url'], tag)[0]}")
call("PUT", f"{circle}/tasks/pills", pills | {"title": "Refill pills and vitamins"})
status, tag, text = read(feed["url"], tag)
print(f"feed: after a change {status}, with the new title: {'Refill pills and vitamins' in text}")
renewed, _ = call("POST", f"/v1/feeds/{feed['id']}/regenerate", {"graceSeconds": 0})
print(f"feed: the old address {read(feed['url'])[0]}, the new one {read(renewed['url'])[0]}")


# 8. What the webhook said, and what it may have missed

changes, cursor = [], 0
while cursor is not None:
    page, _ = call("GET", f"{circle}/changes?since={cursor}&limit=1000")
    changes, latest, cursor = changes + page["items"], page["latest"], page["nextCursor"]
deadline = time.monotonic() + 30
while Receiver.latest < latest and time.monotonic() < deadline:
    time.sleep(0.05)
heard = {item["number"] for items in Receiver.seen.values() for item in items}
missed = {change["number"] for change in changes if change["number"] > min(heard, default=0)} - heard
print(f"webhook: {len(Receiver.seen)} messages verified, {Receiver.refused} refused, {len(missed)} changes missed")
call("DELETE", f"/v1/webhooks/{webhook['id']}")
