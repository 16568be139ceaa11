# SPDX-License-Identifier: Apache-2.0
"""One request of each POST that may have an `Idempotency-Key`, and the things that it may change."""

import base64
import hashlib
import hmac
import json
import re
import struct
import time
from typing import NamedTuple

from sync_sides import exchange

# To where a browser is sent back from a provider. Nobody listens there.
BACK = "http://127.0.0.1:9/back"
PASSWORD = "correct horse battery"
DAY = "2026-03-02"


class Request(NamedTuple):
    path: str
    # A document, text as it is, or nothing.
    body: object = None
    user: str = None
    kind: str = "application/json"
    # Where what it makes is listed, if it is; and whether this is asked for as the user.
    listed: str = None

    @property
    def bytes(self):
        if self.body is None:
            return b""
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()

    @property
    def other(self):
        """Another request of the operation: with another body, or of another thing where it has none."""
        if isinstance(self.body, str):
            return self._replace(body=self.body + "\n")
        if self.body is not None:
            return self._replace(body=self.body | {"other": 1})
        # The last part with a digit is an id; words of the path have none.
        parts = self.path.split("/")
        place = max(index for index, part in enumerate(parts) if re.search("[0-9]", part) and part != "v1")
        parts[place] += "0"
        return self._replace(path="/".join(parts))


class World:
    """A circle of its own for one request, with a user and what the request is about."""

    def __init__(self, server, number, google):
        self.server, self.circle, self.user, self.number = server, f"d{number}", f"u{number}", number
        # The provider of its connections.
        self.google = google
        self.path = f"/v1/circles/{self.circle}"
        self.must("PUT", self.path, {"name": self.circle, "timeZone": "Europe/Vienna"})
        self.must("PUT", f"{self.path}/members/{self.user}", {"displayName": "Ann", "role": "owner"})

    def must(self, method, path, value=None, user=None, kind="application/json"):
        body = value.encode() if isinstance(value, str) else None if value is None else json.dumps(value).encode()
        headers = {"Authorization": f"Bearer {self.server.key}", "Content-Type": kind}
        if user:
            headers["Kalends-User"] = user
        status, _, text = self.server.request(method, path, body, headers, timeout=60)
        if status not in (200, 201, 202, 204):
            raise ValueError(f"{method} {path} was answered {status}: {text[:300]}")
        return json.loads(text) if text else None

    def feed(self):
        return self.must("POST", f"{self.path}/feeds", {"userId": self.user, "label": "there"})["id"]

    def preview(self):
        return self.must("POST", f"{self.path}/imports?mode=preview", self.file(), kind="text/calendar")["id"]

    def file(self):
        return ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\nBEGIN:VEVENT\r\n"
                f"UID:{self.number}@example.com\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20260302T090000Z\r\n"
                "SUMMARY:Once\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")

    def connection(self):
        return self.must("POST", f"{self.path}/connections", {"provider": "google", "userId": self.user})["id"]

    def code(self, own):
        """What the browser brings back from the provider to whatever began the sign-in."""
        begun = self.must("POST", f"/v1/connections/{own}/authorize", {"returnTo": BACK}, self.user)
        _, fields, _ = exchange("GET", begun["authorizeURL"])
        back = {name.lower(): value for name, value in fields.items()}["location"]
        _, fields, _ = self.server.request("GET", "/v1/connections/callback?" + back.split("?", 1)[1])
        place = {name.lower(): value for name, value in fields.items()}["location"]
        return place.rsplit("&code=", 1)[1]

    def linked(self, items):
        """A connection whose first run has made events of so many tasks."""
        for item in range(items):
            self.task(item)
        own = self.connection()
        self.must("POST", f"/v1/connections/{own}/redeem", {"code": self.code(own)}, self.user)
        self.must("PUT", f"/v1/connections/{own}/calendar", {"create": {}}, self.user)
        self.run(own, "done")
        return own

    def task(self, item, hour=9):
        due = time.strftime(f"%Y-%m-%dT{hour:02}:00:00Z", time.gmtime(time.time() + 86_400))
        self.must("PUT", f"{self.path}/tasks/t{item}", {"title": f"task {item}", "dueAt": due})

    def appointment(self, hour):
        day = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 86_400))
        self.must("PUT", f"{self.path}/appointments/a", {
            "patientId": "mom", "provider": "Dr. A", "startAt": f"{day}T{hour:02}:00:00Z", "endAt": f"{day}T{hour:02}:30:00Z"})

    def until(self, what, found):
        """What `found` finds, once it does."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if one := found():
                return one
            time.sleep(0.1)
        raise ValueError(f"no {what} within a minute")

    def run(self, own, state):
        """The id of the latest run, once it has a state."""
        def found():
            runs = self.must("GET", f"/v1/connections/{own}/runs?limit=1", user=self.user)["items"]
            return runs and runs[0]["state"] == state and runs[0]["id"]
        return self.until(f"run that is {state}", found)

    def held(self):
        """A run that waits for a person, because it would delete twelve events."""
        own = self.linked(12)
        for item in range(12):
            self.must("DELETE", f"{self.path}/tasks/t{item}")
        return self.run(own, "held")

    def conflict(self):
        """One about an appointment that was moved at both sides, which waits for a person."""
        self.must("PUT", f"{self.path}/patients/mom", {"displayName": "Mom"})
        self.appointment(9)
        own = self.linked(0)
        self.must("PATCH", f"/v1/connections/{own}", {"paused": True}, self.user)
        self.appointment(15)
        calendar = self.must("GET", f"/v1/connections/{own}", user=self.user)["calendarId"]
        event = self.google.events(calendar)[0]
        self.google.move(calendar, event, event["start"] + 7200, event["end"] + 7200)
        self.must("PATCH", f"/v1/connections/{own}", {"paused": False}, self.user)

        def found():
            all_ = self.must("GET", f"/v1/connections/{own}/conflicts", user=self.user)["items"]
            return next((one["id"] for one in all_ if one["state"] == "open"), None)
        return self.until("conflict", found)

    def office_days(self):
        """The path of a user's office days, two of which differ from the usual ones."""
        path, own = f"/v1/users/{self.user}/office-days", self.linked(0)
        self.must("PATCH", f"{path}/settings", {
            "enabled": True, "deviceTimeZone": "Europe/Vienna", "target": {"connectionId": own}, "officeTitle": "HQ"})
        for day in range(2):
            date = time.strftime("%Y-%m-%d", time.gmtime(time.time() + day * 86_400))
            self.must("PUT", f"{path}/days/{date}", {"status": "inOffice"})
        return path

    def webhook(self):
        # A port where nobody listens.
        return self.must("POST", "/v1/webhooks", {"url": "http://127.0.0.1:9/", "circles": ["nowhere"]})["id"]

    def followed(self):
        made = self.must("POST", f"{self.path}/subscriptions", self.subscription())["id"]
        # The server looks at once, and again when it is asked: nobody has this host, and it says so.
        self.until("look at the calendar", lambda: self.must(
            "GET", f"{self.path}/subscriptions/{made}")["lastProblem"])
        return made

    def subscription(self):
        # A host that nobody has (RFC 2606).
        return {"url": f"https://calendar{self.number}.invalid/c.ics"}

    def password(self):
        self.must("PUT", f"/v1/users/{self.user}/password", {"password": PASSWORD})

    def second_factor(self):
        """The code of an app with which a second factor that was begun is confirmed."""
        self.password()
        begun = self.must("POST", "/v1/second-factor", {"currentPassword": PASSWORD}, self.user)
        secret, step = base64.b32decode(begun["secret"]), int(time.time()) // 30
        digest = hmac.new(secret, struct.pack(">Q", step), getattr(hashlib, begun["algorithm"].lower().replace("-", ""))).digest()
        place = digest[-1] & 15
        return f"{(struct.unpack('>I', digest[place:place + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"

    def recovery_code(self):
        confirmed = self.must("POST", "/v1/second-factor/confirm", {"code": self.second_factor()}, self.user)
        return confirmed["recoveryCodes"][0]

    def changed(self):
        """The number of a change that can be undone."""
        self.must("PUT", f"{self.path}/tasks/t", {"title": "one", "dueAt": f"{DAY}T09:00:00Z"})
        return self.must("GET", f"{self.path}/changes?limit=1")["latest"]


def batch(world):
    value = {"title": "t", "dueAt": f"{DAY}T09:00:00Z"}
    lines = [{"op": "put", "collection": "tasks", "id": f"t{line}", "value": value} for line in range(3)]
    return Request(f"{world.path}/batch", "".join(json.dumps(line) + "\n" for line in lines), kind="application/x-ndjson")


def with_proof(world, path):
    return Request(path, {"currentPassword": PASSWORD, "code": world.recovery_code()}, world.user)


def signing_in(world):
    world.password()
    return Request("/v1/sessions", {"userId": world.user, "password": PASSWORD}, listed="/v1/sessions")


def beginning(world):
    world.password()
    return Request("/v1/second-factor", {"currentPassword": PASSWORD}, world.user)


def redeeming(world):
    own = world.connection()
    return Request(f"/v1/connections/{own}/redeem", {"code": world.code(own)}, world.user)


def syncing(world):
    own = world.linked(1)
    return Request(f"/v1/connections/{own}/sync", user=world.user, listed=f"/v1/connections/{own}/runs")


def committed(world):
    made = world.preview()
    world.must("POST", f"/v1/imports/{made}/commit", {})
    return made


# Each by its name in the OpenAPI document.
KINDS = {
    "upsertPlannedEvents": lambda w: Request("/api/apple_sync/planned_upsert", {
        "range_start": f"{DAY}T00:00:00Z", "range_end": f"{DAY}T23:00:00Z", "events": [
            {"external_id": "e", "title": "t", "start_at": f"{DAY}T09:00:00Z", "end_at": f"{DAY}T10:00:00Z"}]}, w.user),
    "upsertAppleEvents": lambda w: Request(
        "/sync/apple/events/upsert", {"events": [{"externalId": "e", "title": "t", "date": DAY}]}, w.user,
        listed=f"/v1/users/{w.user}/events"),
    "registerDevice": lambda w: Request("/sync/devices/register", {"deviceId": f"phone{w.number}"}, w.user, listed="/v1/devices"),
    "createAppPassword": lambda w: Request(
        "/v1/app-passwords", {"label": "phone"}, w.user, listed="/v1/app-passwords"),
    "undoActivity": lambda w: Request(f"{w.path}/activity/{w.changed()}/undo"),
    "postBatch": batch,
    "createConnection": lambda w: Request(
        f"{w.path}/connections", {"provider": "caldav", "userId": w.user}, listed=f"{w.path}/connections"),
    "createFeed": lambda w: Request(f"{w.path}/feeds", {"userId": w.user}, listed=f"{w.path}/feeds"),
    "askFreeBusy": lambda w: Request(
        f"{w.path}/free-busy", {"userIds": [w.user], "from": f"{DAY}T00:00:00Z", "to": f"{DAY}T23:00:00Z"}),
    "createImport": lambda w: Request(
        f"{w.path}/imports?mode=commit", w.file(), kind="text/calendar", listed=f"{w.path}/imports"),
    "createSubscription": lambda w: Request(f"{w.path}/subscriptions", w.subscription(), listed=f"{w.path}/subscriptions"),
    "refreshSubscription": lambda w: Request(f"{w.path}/subscriptions/{w.followed()}/refresh"),
    "dismissConflict": lambda w: Request(f"/v1/conflicts/{w.conflict()}/dismiss", user=w.user),
    "resolveConflict": lambda w: Request(f"/v1/conflicts/{w.conflict()}/resolve", {"keep": "kalends"}, w.user),
    "authorizeConnection": lambda w: Request(f"/v1/connections/{w.connection()}/authorize", {}, w.user),
    "redeemAuthorization": redeeming,
    "syncConnection": syncing,
    "regenerateFeed": lambda w: Request(f"/v1/feeds/{w.feed()}/regenerate", {}),
    "revealFeed": lambda w: Request(f"/v1/feeds/{w.feed()}/reveal"),
    "revokeFeed": lambda w: Request(f"/v1/feeds/{w.feed()}/revoke"),
    "commitImport": lambda w: Request(f"/v1/imports/{w.preview()}/commit", {}),
    "undoImport": lambda w: Request(f"/v1/imports/{committed(w)}/undo"),
    "createKey": lambda w: Request("/v1/keys", {"name": f"k{w.number}"}, listed="/v1/keys"),
    "revokeKey": lambda w: Request(f"/v1/keys/{w.must('POST', '/v1/keys', {'name': 'gone'})['id']}/revoke"),
    "approveRun": lambda w: Request(f"/v1/runs/{w.held()}/approve", user=w.user),
    "undoRun": lambda w: Request(f"/v1/runs/{w.run(w.linked(2), 'done')}/undo", user=w.user),
    "beginSecondFactor": beginning,
    "confirmSecondFactor": lambda w: Request("/v1/second-factor/confirm", {"code": w.second_factor()}, w.user),
    "renewRecoveryCodes": lambda w: with_proof(w, "/v1/second-factor/recovery-codes"),
    "removeSecondFactor": lambda w: with_proof(w, "/v1/second-factor/remove"),
    "signIn": signing_in,
    "createPersonalEvent": lambda w: Request(
        f"/v1/users/{w.user}/events", {"title": "Run", "date": DAY}, listed=f"/v1/users/{w.user}/events"),
    "cleanUpOfficeDays": lambda w: Request(f"{w.office_days()}/cleanup"),
    "resetOfficeSettings": lambda w: Request(f"{w.office_days()}/settings/reset"),
    "createSignInLink": lambda w: Request(f"/v1/users/{w.user}/sign-in-links", {}),
    "createWebhook": lambda w: Request("/v1/webhooks", {"url": f"http://127.0.0.1:9/{w.number}"}, listed="/v1/webhooks"),
    "rotateWebhook": lambda w: Request(f"/v1/webhooks/{w.webhook()}/rotate", {}),
    "testWebhook": lambda w: Request(f"/v1/webhooks/{w.webhook()}/test"),
}
