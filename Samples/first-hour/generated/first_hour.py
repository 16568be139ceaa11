# SPDX-License-Identifier: Apache-2.0
"""A host application's first hour with Kalends, through the client that openapi-python-client makes from /openapi.json.

    KALENDS_KEY=$(kalends key create --name my-app) python3 first_hour.py [CIRCLE]

docs/host-application.md says how the client is made. It has to be beside this file as `kalends_client`.
"""

import base64
import hashlib
import hmac
import http.server
import io
import json
import os
import sys
import threading
import time
from datetime import datetime, timedelta, timezone

import httpx
from kalends_client import AuthenticatedClient
from kalends_client.api.changes import list_changes
from kalends_client.api.circles import put_circle, put_member, put_patient
from kalends_client.api.feeds import create_feed, regenerate_feed, reveal_feed
from kalends_client.api.schedule import (
    get_task, list_tasks, post_batch, put_appointment, put_follow_up, put_shift, put_task)
from kalends_client.api.webhooks import create_webhook, delete_webhook
from kalends_client.models import (
    AppointmentInput, CircleInput, FeedInput, FollowUpInput, MemberInput, MemberRole, PatientInput, Problem,
    RecurrenceInput, Regeneration, ShiftInput, TaskInput, WebhookInput)
from kalends_client.types import UNSET, File

CIRCLE = sys.argv[1] if len(sys.argv) > 1 else "first-hour"
client = AuthenticatedClient(
    base_url=os.environ.get("KALENDS_URL", "http://localhost:8080"), token=os.environ["KALENDS_KEY"],
    timeout=httpx.Timeout(30))


# 1. Asking


class Refused(Exception):
    """What the server refused. Branch on `code`, which never changes its meaning; the sentences are for people."""

    def __init__(self, problem):
        super().__init__(problem.detail)
        self.code, self.problem = problem.code, problem


def call(operation, *path, **more):
    """What the server answered, as the client's own type, and its entity tag."""
    for attempt in range(5):
        if isinstance(more.get("body"), File):
            more["body"].payload.seek(0)  # the attempt before has read it to its end
        answer = operation.sync_detailed(*path, client=client, **more)
        # Too much at once, or a database that is away for a moment: the same request is right a little later.
        if answer.status_code in (429, 503) and attempt < 4:
            time.sleep(int(answer.headers.get("Retry-After", "1")))
            continue
        if isinstance(answer.parsed, Problem):
            raise Refused(answer.parsed)
        return answer.parsed, answer.headers.get("ETag")


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
webhook, _ = call(create_webhook, body=WebhookInput(url=address, circles=[CIRCLE]))
Receiver.secret = webhook.secret  # shown this once: keep it as you keep a password


# 3. A circle, its people, and something of each kind


def at(hour, minute=0):
    """A time of tomorrow, in Rome's winter."""
    tomorrow = datetime.now(timezone.utc).date() + timedelta(days=1)
    return datetime(tomorrow.year, tomorrow.month, tomorrow.day, hour, minute, tzinfo=timezone(timedelta(hours=1)))


def pills(**more):
    return TaskInput(**{"title": "Refill pills", "due_at": at(9), "reminders": [15]} | more)


call(put_circle, CIRCLE, body=CircleInput(name="Rossi family", time_zone="Europe/Rome"))
call(put_member, CIRCLE, "ada", body=MemberInput(display_name="Ada", role=MemberRole.OWNER))
call(put_member, CIRCLE, "ben", body=MemberInput(display_name="Ben", role=MemberRole.MEMBER))
call(put_patient, CIRCLE, "ma", body=PatientInput(display_name="Mamma"))
task, tag = call(put_task, CIRCLE, "pills", body=pills())
call(put_shift, CIRCLE, "night", body=ShiftInput(patient_id="ma", owner_id="ben", start_at=at(20), end_at=at(23)))
call(put_appointment, CIRCLE, "cardio", body=AppointmentInput(
    patient_id="ma", provider="Dr. Wu", start_at=at(14, 30), recurrence=RecurrenceInput(rrule="FREQ=WEEKLY;COUNT=4")))
call(put_follow_up, CIRCLE, "results", body=FollowUpInput(description="Ask for the results", due_at=at(16)))
again, _ = call(put_task, CIRCLE, "pills", body=pills())
print(f"1 item of each of 4 kinds; the same PUT again changed {again.sequence - task.sequence} things")


# 4. Many at once: one line of JSON each. Good lines are applied, and the others are named.

lines = [
    {"op": "put", "collection": "tasks", "id": f"walk-{number}",
     "value": TaskInput(title=f"Walk {number}", due_at=at(8 + number // 2, 30)).to_dict()}
    for number in range(24)]
lines.append({"op": "put", "collection": "tasks", "id": "walk-24", "value": {"dueAt": at(21).isoformat()}})
batch = File(payload=io.BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode()))
report, _ = call(post_batch, CIRCLE, body=batch)
print(f"batch: {report.applied + report.unchanged} of {len(lines)} lines are in the circle")
for line in report.rejected:
    for fault in line.errors:
        print(f"batch: line {line.line} ({line.id}): {fault.code} at {fault.pointer}")


# 5. Lists come in pages

tasks, pages, cursor = [], 0, UNSET
while cursor is not None:
    page, _ = call(list_tasks, CIRCLE, limit=10, cursor=cursor)
    tasks, pages, cursor = tasks + page.items, pages + 1, page.next_cursor
print(f"list: {len(tasks)} tasks in {pages} pages")


# 6. Refusals, by their code

try:
    feed, _ = call(create_feed, CIRCLE, body=FeedInput(user_id="ada", label="Phone"))
    feed_id, url = feed.id, feed.url
except Refused as refusal:
    if refusal.code != "label-taken":
        raise
    feed_id = refusal.problem.feed_id  # from an earlier run
    url = call(reveal_feed, feed_id)[0].url


class Form(dict):
    """What a form brings along, which has no place in the client's types: the server alone looks at it."""

    to_dict = dict.copy


try:
    call(put_task, CIRCLE, "wrong", body=Form({"titel": "Refill", "dueAt": "tomorrow"}))
except Refused as refusal:
    if refusal.code != "invalid-fields":
        raise
    faults = sorted(f"{fault.code} at {fault.pointer}" for fault in refusal.problem.errors)
    print("refused:", ", ".join(faults))

# Somebody else was faster: with If-Match nothing is overwritten unseen.
call(put_task, CIRCLE, "pills", body=pills(notes="Ben was here."), if_match=tag)
try:
    call(put_task, CIRCLE, "pills", body=pills(duration_minutes=45), if_match=tag)
except Refused as refusal:
    if refusal.code != "precondition-failed":
        raise
    latest, tag = call(get_task, CIRCLE, "pills")
    merged, _ = call(put_task, CIRCLE, "pills", body=pills(notes=latest.notes, duration_minutes=45), if_match=tag)
    both = f"{merged.duration_minutes}, {merged.notes}"
    print(f"refused: {refusal.code}; read again, and both changes are in: {both}")


# 7. A feed, as a calendar app reads it


def read(url, tag=None):
    """The status, the entity tag and the text of a calendar."""
    answer = httpx.get(url, headers={"If-None-Match": tag} if tag else {}, timeout=30)
    return answer.status_code, answer.headers.get("ETag"), answer.text


status, tag, text = read(url)
print(f"feed: {status} with {text.count('BEGIN:VEVENT')} events, then {read(url, tag)[0]}")
call(put_task, CIRCLE, "pills", body=pills(title="Refill pills and vitamins"))
status, tag, text = read(url, tag)
print(f"feed: after a change {status}, with the new title: {'Refill pills and vitamins' in text}")
renewed, _ = call(regenerate_feed, feed_id, body=Regeneration(grace_seconds=0))
print(f"feed: the old address {read(url)[0]}, the new one {read(renewed.url)[0]}")


# 8. What the webhook said, and what it may have missed

changes, since = [], 0
while since is not None:
    page, _ = call(list_changes, CIRCLE, since=int(since), limit=1000)
    changes, latest, since = changes + page.items, page.latest, page.next_cursor
deadline = time.monotonic() + 30
while Receiver.latest < latest and time.monotonic() < deadline:
    time.sleep(0.05)
heard = {item["number"] for items in Receiver.seen.values() for item in items}
missed = {change.number for change in changes if change.number > min(heard, default=0)} - heard
print(f"webhook: {len(Receiver.seen)} messages verified, {Receiver.refused} refused, {len(missed)} changes missed")
call(delete_webhook, webhook.id)
