# SPDX-License-Identifier: Apache-2.0
"""Google's OAuth and Calendar API v3 on loopback, strict, with faults that a test switches on.

    python3 -B Tests/Providers/google_emulator.py [--port N] [--ready FILE] [--discovery PATH]

Prints its address, or writes it to a file, and serves until the process that started it is gone. Requests are
checked against Google's discovery document when it is at hand, and against a short list of the same otherwise.

Paths: `/o/oauth2/v2/auth` (consents by itself), `/token`, `/revoke`, `/calendar/v3/…`, `/batch/calendar/v3`, and for
tests POST `/control/…` with JSON: `reset`, `person` (an access token for who edits as a person), `fault`, `clear`,
`calendar` (knobs), `restore`, `clock`, `oauth`, `push`; GET `/control/state`, `/control/log` and `/control/received`, which shows
the notifications that came to POST `/control/received`.

A fault: {"method": "events.insert", "skip": 0, "times": 1, …} with one of `status` (with `reason`, `domain`, `message`,
`retryAfter`), `body` and `type` (an answer as it is), `empty` (a listing without events), `unanswered`: "before" or
"after" the call was carried out (in a batch, the part is left out), `cut` (the answer's connection ends in its middle).
`method` may be `batch`, `token`, or end with `*`. The fault {"method": "batch", "hold": true} carries the batch out and
keeps its answer back until `clear`: whoever sent it waits in the middle of its work; `held` in the state says how many do.
"""

import argparse
import base64
import copy
import email.utils
import hashlib
import http.client
import json
import os
import pathlib
import re
import secrets
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import google_checks
from google_store import Refused, Store, invalid, not_found

SCOPE = "https://www.googleapis.com/auth/"
WRITES_EVENTS = {"calendar", "calendar.events", "calendar.events.owned", "calendar.app.created"}
READS_EVENTS = WRITES_EVENTS | {"calendar.readonly", "calendar.events.readonly"}
LISTS = {"calendar", "calendar.readonly", "calendar.calendarlist", "calendar.calendarlist.readonly"}
CREATES = {"calendar", "calendar.calendars", "calendar.app.created"}
LONGEST_CHANNEL = 604_800
MOST_CALLS = 50


class Unanswered(Exception):
    """The connection ends without an answer."""


class Emulator:
    def __init__(self, checks):
        self.checks = checks
        self.lock = threading.RLock()
        self.cleared = threading.Condition(self.lock)
        self.reset({})

    def reset(self, body):
        with self.lock:
            self.skew = 0
            self.store = Store(self.now)
            self.clients = {"our-client.apps.googleusercontent.com": "GOCSPX-x"}
            self.codes, self.grants, self.access = {}, {}, {}
            self.denies, self.withheld, self.before, self.rotates, self.lifetime = False, [], [], False, 3599
            self.faults, self.log, self.holding = [], [], 0
            self.push, self.held, self.received = "once", [], []

    def now(self):
        return time.time() + self.skew

    # Control

    def control(self, name, body):
        with self.lock:
            return getattr(self, "control_" + name)(body)

    def control_reset(self, body):
        self.reset(body)

    def control_person(self, body):
        scopes = body.get("scopes", [SCOPE + "calendar"])
        return {"token": self.issue(body.get("account", "alice@example.test"), scopes, None)}

    def control_fault(self, body):
        self.faults.append({"skip": 0, "times": 1, **body})

    def control_clear(self, body):
        self.faults = []
        self.cleared.notify_all()

    def hold(self):
        """Waits until the faults are cleared, with the lock given up meanwhile."""
        self.holding += 1
        self.cleared.wait()
        self.holding -= 1

    def control_calendar(self, body):
        calendar = self.store.calendar(body.get("account", "alice@example.test"), body["id"])
        for name in ("role", "lag", "rewrites", "revival", "description", "summary"):
            if name in body:
                setattr(calendar, name, body[name])
        calendar.empty_pages = body.get("emptyPages", calendar.empty_pages)
        calendar.page_size = body.get("pageSize", calendar.page_size)
        if body.get("expireTokens"):
            self.store.version += 1
            calendar.oldest_token = self.store.version
        if body.get("vanish"):
            calendar.vanished |= {e["id"] for e in calendar.events.values() if e["status"] == "cancelled"}
        if body.get("newEtags"):
            for event in list(calendar.events.values()):
                self.store.touch(calendar, copy.deepcopy(event), quietly=True)
        if "insertBetweenPages" in body:
            insertion = body["insertBetweenPages"]
            calendar.between_pages.append(lambda: self.store.insert("alice@example.test", calendar, insertion))
        if body.get("hide"):
            self.store.account(body.get("account", "alice@example.test")).pop(calendar.id)

    def control_restore(self, body):
        """A person takes an event out of the bin, with the occurrences that went with it."""
        calendar = self.store.calendar(body.get("account", "alice@example.test"), body["id"])
        self.store.restore(calendar, calendar.events[body["event"]])

    def control_clock(self, body):
        self.skew = body["skew"]

    def control_oauth(self, body):
        self.denies = body.get("denies", self.denies)
        self.withheld = body.get("withheld", self.withheld)
        # Scopes that the account has granted to this application earlier.
        self.before = body.get("before", self.before)
        self.rotates = body.get("rotates", self.rotates)
        self.lifetime = body.get("lifetime", self.lifetime)
        if body.get("expireAccess"):
            self.access.clear()
        if body.get("revokeAll"):
            self.access.clear()
            self.grants.clear()

    def control_push(self, body):
        """`once`, `twice`, `lost`, or `held` until `release`, which sends what was held in reverse."""
        self.push = body.get("mode", self.push)
        if body.get("release"):
            held, self.held = self.held[::-1], []
            for channel, headers in held:
                threading.Thread(target=deliver, args=(channel, headers), daemon=True).start()

    def receive(self, headers):
        with self.lock:
            self.received.append({k: v for k, v in headers.items() if k.startswith("x-goog-")})
        return 200, {}, {}

    def state(self):
        with self.lock:
            return {"accounts": {
                account: [{
                    "id": calendar.id, "summary": calendar.summary, "description": calendar.description,
                    "events": list(calendar.events.values()),
                } for calendar in calendars.values()] for account, calendars in self.store.accounts.items()},
                "channels": [{k: v for k, v in c.items() if k != "token"} for c in self.store.channels.values()],
                "held": self.holding,
            }

    def fault(self, method):
        for fault in self.faults:
            pattern = fault["method"]
            if pattern != method and not (pattern.endswith("*") and method.startswith(pattern[:-1])):
                continue
            if fault["skip"] > 0:
                fault["skip"] -= 1
                continue
            fault["times"] -= 1
            if fault["times"] <= 0:
                self.faults.remove(fault)
            return fault
        return None

    # OAuth

    def authorize(self, query):
        fields = dict(query)
        if len(fields) != len(query):
            return 400, {"error": "invalid_request"}, {}
        needed = ("client_id", "redirect_uri", "response_type", "scope", "state")
        if any(not fields.get(name) for name in needed) or fields["response_type"] != "code":
            return 400, {"error": "invalid_request"}, {}
        if fields["client_id"] not in self.clients:
            return 401, {"error": "invalid_client"}, {}
        answer = {"state": fields["state"]}
        if self.denies:
            answer["error"] = "access_denied"
        else:
            if fields.get("code_challenge") and fields.get("code_challenge_method") != "S256":
                return 400, {"error": "invalid_request"}, {}
            scopes = [s for s in fields["scope"].split(" ") if s not in self.withheld]
            if fields.get("include_granted_scopes") == "true":
                scopes += [s for s in self.before if s not in scopes]
            code = "4/0A" + secrets.token_urlsafe(30)
            self.codes[code] = {
                "challenge": fields.get("code_challenge"), "redirect": fields["redirect_uri"], "scopes": scopes,
                "offline": fields.get("access_type") == "offline", "client": fields["client_id"],
                "account": fields.get("login_hint", "alice@example.test"),
            }
            answer.update({"code": code, "scope": " ".join(scopes)})
        separator = "&" if "?" in fields["redirect_uri"] else "?"
        return 302, None, {"Location": fields["redirect_uri"] + separator + urllib.parse.urlencode(answer)}

    def issue(self, account, scopes, grant):
        token = "ya29." + secrets.token_urlsafe(40)
        self.access[token] = {
            "account": account, "scopes": scopes, "expires": self.now() + self.lifetime, "grant": grant}
        return token

    def token(self, fields, authorization):
        client, secret = fields.get("client_id"), fields.get("client_secret")
        if authorization and authorization.startswith("Basic "):
            client, _, secret = base64.b64decode(authorization[6:]).decode().partition(":")
            client, secret = urllib.parse.unquote(client), urllib.parse.unquote(secret)
        if self.clients.get(client) != secret:
            return 401, {"error": "invalid_client", "error_description": "The OAuth client was not found."}
        dead = {"error": "invalid_grant", "error_description": "Token has been expired or revoked."}
        if fields.get("grant_type") == "authorization_code":
            code = self.codes.pop(fields.get("code"), None)
            verifier = hashlib.sha256(fields.get("code_verifier", "").encode()).digest()
            challenge = base64.urlsafe_b64encode(verifier).decode().rstrip("=")
            if code is None or code["client"] != client or code["redirect"] != fields.get("redirect_uri") or (
                    code["challenge"] and code["challenge"] != challenge):
                return 400, {"error": "invalid_grant", "error_description": "Malformed auth code."}
            grant = "1//0" + secrets.token_urlsafe(30)
            answer = self.answer(code["account"], code["scopes"], grant)
            if code["offline"]:
                self.grants[grant] = {"account": code["account"], "scopes": code["scopes"]}
                answer["refresh_token"] = grant
            return 200, answer
        if fields.get("grant_type") == "refresh_token":
            grant = self.grants.get(fields.get("refresh_token"))
            if grant is None:
                return 400, dead
            name = fields["refresh_token"]
            if self.rotates:
                name = "1//0" + secrets.token_urlsafe(30)
                self.grants[name] = self.grants.pop(fields["refresh_token"])
            answer = self.answer(grant["account"], grant["scopes"], name)
            if self.rotates:
                answer["refresh_token"] = name
            return 200, answer
        return 400, {"error": "unsupported_grant_type", "error_description": "Invalid grant_type."}

    def answer(self, account, scopes, grant):
        return {
            "access_token": self.issue(account, scopes, grant), "expires_in": self.lifetime,
            "scope": " ".join(scopes), "token_type": "Bearer"}

    def revoke(self, token):
        grant = self.access.get(token, {}).get("grant") or token
        if grant not in self.grants and token not in self.access:
            return 400, {"error": "invalid_token", "error_description": "Token expired or revoked"}
        self.grants.pop(grant, None)
        self.access = {t: a for t, a in self.access.items() if a["grant"] != grant and t != token}
        return 200, {}

    # The API

    def bearer(self, authorization):
        access = self.access.get((authorization or "").removeprefix("Bearer "))
        if access is None or access["expires"] <= self.now():
            raise Refused(401, "authError", "Invalid Credentials", locationType="header", location="Authorization")
        return access

    def allow(self, access, scopes):
        if not any(s.removeprefix(SCOPE) in scopes for s in access["scopes"]):
            raise Refused(403, "insufficientPermissions", "Request had insufficient authentication scopes.")

    def call(self, verb, target, headers, body, in_batch=False):
        """One call: (status, body, headers). The lock is held by the caller."""
        path, _, query = target.partition("?")
        below = path.removeprefix("/calendar/v3/")
        found = self.checks.method(verb, below) if below != path else None
        name = found[0] if found else "unknown"
        self.log.append(name + (" in a batch" if in_batch else ""))
        fault = self.fault(name) or {}
        if fault.get("unanswered") == "before":
            raise Unanswered
        try:
            if "status" in fault:
                raise Refused(
                    fault["status"], fault.get("reason", "backendError"), fault.get("message", "A fault of a test"),
                    fault.get("domain", "global"), retry_after=fault.get("retryAfter"))
            answer = self.carry_out(found, query, headers, body)
            if fault.get("empty"):
                answer[1]["items"] = []
        except Refused as refused:
            extra = {"Retry-After": str(refused.retry_after)} if refused.retry_after is not None else {}
            answer = (refused.status, refused.body, extra)
        except google_checks.Invalid as problem:
            answer = (400, invalid(problem.message, problem.place).body, {})
        if fault.get("unanswered") == "after":
            raise Unanswered
        if "body" in fault:
            return 200, fault["body"].encode(), {"Content-Type": fault.get("type", "application/json")}
        if fault.get("cut"):
            return answer[0], answer[1], {**answer[2], "X-Cut": "yes"}
        return answer

    def carry_out(self, found, query, headers, body):
        if found is None:
            raise not_found()
        name, method, places = found
        values = self.checks.query(method, urllib.parse.parse_qsl(query, keep_blank_values=True))
        places = {key: urllib.parse.unquote(value) for key, value in places.items()}
        resource = None
        if "request" in method:
            if not headers.get("content-type", "").startswith("application/json"):
                raise invalid("The body is no JSON.")
            try:
                resource = json.loads(body)
            except ValueError:
                raise Refused(400, "parseError", "Parse Error") from None
            self.checks.value(method["request"], resource, name, nulls=name == "events.patch")
        elif body:
            raise invalid("This method takes no body.")
        access = self.bearer(headers.get("authorization"))
        handler = getattr(self, "do_" + name.replace(".", "_"), None)
        if handler is None:
            raise Refused(501, "notImplemented", "This emulator does not have this method.")
        status, answer = handler(access, places, values, resource, headers)
        if self.checks.is_complete and answer is not None:
            self.checks.value(method["response"], answer, "answer of " + name)
        extra = {"ETag": answer["etag"]} if answer and answer.get("kind") == "calendar#event" else {}
        return status, answer, extra

    def do_calendarList_list(self, access, places, query, body, headers):
        self.allow(access, LISTS)
        return 200, self.store.calendar_list(access["account"], query)

    def do_calendars_insert(self, access, places, query, body, headers):
        self.allow(access, CREATES)
        return 200, self.store.create_calendar(access["account"], body)

    def do_calendars_delete(self, access, places, query, body, headers):
        self.allow(access, CREATES)
        calendar = self.store.calendar(access["account"], places["calendarId"])
        if calendar.primary:
            raise invalid("A primary calendar cannot be deleted.")
        self.store.account(access["account"]).pop(calendar.id)
        return 204, None

    def reading(self, access, places):
        self.allow(access, READS_EVENTS)
        return self.store.calendar(access["account"], places["calendarId"])

    def writing(self, access, places):
        self.allow(access, WRITES_EVENTS)
        calendar = self.store.calendar(access["account"], places["calendarId"])
        if calendar.role not in ("owner", "writer"):
            raise Refused(403, "requiredAccessLevel", "You need to have writer access to this calendar.", "calendar")
        return calendar

    def do_events_list(self, access, places, query, body, headers):
        return 200, self.store.listing(self.reading(access, places), query, access["account"])

    def do_events_get(self, access, places, query, body, headers):
        event = self.store.event(self.reading(access, places), places["eventId"])
        return (304, None) if headers.get("if-none-match") == event["etag"] else (200, event)

    def do_events_insert(self, access, places, query, body, headers):
        return 200, self.store.insert(access["account"], self.writing(access, places), body)

    def do_events_import(self, access, places, query, body, headers):
        return 200, self.store.insert(access["account"], self.writing(access, places), body, imported=True)

    def conditional(self, access, places, headers):
        calendar = self.writing(access, places)
        event = self.store.event(calendar, places["eventId"])
        wanted = headers.get("if-match")
        if wanted not in (None, "*", event["etag"]):
            raise Refused(412, "conditionNotMet", "Precondition Failed", locationType="header", location="If-Match")
        return calendar, event

    def do_events_update(self, access, places, query, body, headers):
        calendar, event = self.conditional(access, places, headers)
        if not body.get("start") or not body.get("end"):
            raise Refused(400, "required", "Missing start or end.")
        return 200, self.store.replace(calendar, event, body, is_patch=False)

    def do_events_patch(self, access, places, query, body, headers):
        calendar, event = self.conditional(access, places, headers)
        # Who does not say that it knows conferences does not change them.
        if query.get("conferenceDataVersion") != 1:
            body.pop("conferenceData", None)
        return 200, self.store.replace(calendar, event, body, is_patch=True)

    def do_events_delete(self, access, places, query, body, headers):
        calendar, event = self.conditional(access, places, headers)
        self.store.delete(calendar, event)
        return 204, None

    def do_events_instances(self, access, places, query, body, headers):
        calendar = self.reading(access, places)
        master = self.store.event(calendar, places["eventId"])
        wanted = query.get("originalStart")
        items = []
        for identifier, at in self.store.instances(calendar, master):
            event = self.store.instance(calendar, master, identifier, at)
            if wanted is not None and at.strftime("%Y-%m-%dT%H:%M:%SZ") != wanted:
                continue
            if event["status"] != "cancelled" or query.get("showDeleted"):
                items.append(event)
        return 200, {
            "kind": "calendar#events", "etag": '"i"', "summary": calendar.summary, "updated": self.store.stamp(),
            "timeZone": calendar.zone, "accessRole": calendar.role, "defaultReminders": [],
            "items": items[:query.get("maxResults", 250)]}

    def do_events_watch(self, access, places, query, body, headers):
        calendar = self.reading(access, places)
        address = urllib.parse.urlsplit(body.get("address", ""))
        if body.get("type") != "web_hook" or not re.fullmatch(r"[A-Za-z0-9\-_+/=]{1,64}", body.get("id", "")):
            raise Refused(400, "required", "A channel has a type and an id.", "global")
        if address.scheme != "https" and address.hostname not in ("127.0.0.1", "::1", "localhost"):
            raise Refused(400, "push.webhookUrlNotHttps", "WebHook callback must be HTTPS: " + body["address"])
        if len(body.get("token", "")) > 256:
            raise invalid("Too long a token.")
        if body["id"] in self.store.channels:
            raise Refused(400, "channelIdNotUnique", "Channel id " + body["id"] + " not unique")
        lifetime = min(int(body.get("params", {}).get("ttl", LONGEST_CHANNEL)), LONGEST_CHANNEL)
        resource = hashlib.sha256(calendar.id.encode()).hexdigest()[:27]
        channel = {
            "id": body["id"], "resourceId": resource, "address": body["address"], "token": body.get("token"),
            "calendar": calendar.id, "expires": self.now() + lifetime, "number": 0, "account": access["account"],
            "uri": f"https://www.googleapis.com/calendar/v3/calendars/{calendar.id}/events?alt=json",
        }
        self.store.channels[channel["id"]] = channel
        self.notify(channel, "sync")
        answer = {
            "kind": "api#channel", "id": channel["id"], "resourceId": resource, "resourceUri": channel["uri"],
            "expiration": str(int(channel["expires"] * 1000))}
        return 200, answer | ({"token": channel["token"]} if channel["token"] else {})

    def do_channels_stop(self, access, places, query, body, headers):
        channel = self.store.channels.get(body.get("id"))
        if channel is None or channel["resourceId"] != body.get("resourceId"):
            raise not_found()
        if channel["account"] != access["account"]:
            raise not_found()
        del self.store.channels[channel["id"]]
        return 204, None

    def notify(self, channel, state):
        # Numbers rise, with gaps.
        channel["number"] = 1 if state == "sync" else channel["number"] + 1 + channel["number"] % 3
        headers = {
            "User-Agent": "APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)",
            "X-Goog-Channel-ID": channel["id"], "X-Goog-Message-Number": str(channel["number"]),
            "X-Goog-Resource-ID": channel["resourceId"], "X-Goog-Resource-State": state,
            "X-Goog-Resource-URI": channel["uri"], "Content-Type": "application/json; utf-8",
            "X-Goog-Channel-Expiration": email.utils.formatdate(channel["expires"], usegmt=True),
        }
        if channel["token"]:
            headers["X-Goog-Channel-Token"] = channel["token"]
        if self.push == "lost":
            return
        if self.push == "held":
            self.held.append((channel, headers))
            return
        for _ in range(2 if self.push == "twice" else 1):
            threading.Thread(target=deliver, args=(channel, headers), daemon=True).start()

    def notify_changes(self):
        changed, self.store.changed = set(self.store.changed), []
        for channel in list(self.store.channels.values()):
            if channel["calendar"] in changed and channel["expires"] > self.now():
                self.notify(channel, "exists")

    # Batches

    def batch(self, headers, body):
        found = re.search(r'^multipart/mixed\s*;.*boundary="?([^";]+)"?', headers.get("content-type", ""))
        if found is None:
            return invalid("No boundary.").body, 400
        calls = []
        for part in re.split(rb"(?:^|\r?\n)--" + re.escape(found[1].encode()), body)[1:]:
            if part.startswith(b"--"):
                break
            head, _, message = part.lstrip(b"\r\n").replace(b"\r\n", b"\n").partition(b"\n\n")
            fields = fields_of(head)
            if fields.get("content-type") != "application/http" or not fields.get("content-id"):
                return invalid("Part without an HTTP request or a Content-ID.").body, 400
            calls.append((fields["content-id"], message))
        else:
            return invalid("No closing delimiter.").body, 400
        if not 1 <= len(calls) <= MOST_CALLS:
            return invalid("The batch has too many calls, or none.").body, 400
        out = b""
        for identifier, message in calls:
            head, _, content = message.partition(b"\n\n")
            line, _, rest = head.partition(b"\n")
            verb, target, *_ = line.decode().split(" ")
            own = {k: v for k, v in headers.items() if k == "authorization"} | fields_of(rest)
            try:
                status, answer, extra = self.call(verb, target, own, content.strip(), in_batch=True)
            except Unanswered:
                continue
            text = b"" if answer is None else json.dumps(answer, indent=1).encode()
            text = answer if isinstance(answer, bytes) else text
            lines = ["--batch_of_answers\r\nContent-Type: application/http",
                     f"Content-ID: <response-{identifier[1:-1]}>",
                     f"\r\nHTTP/1.1 {status} {http.client.responses.get(status, '')}"]
            lines += [f"{k}: {v}" for k, v in extra.items() if k != "X-Cut"]
            lines += ["Content-Type: application/json; charset=UTF-8", f"Content-Length: {len(text)}", "", ""]
            out += "\r\n".join(lines).encode() + text + b"\r\n"
        return out + b"--batch_of_answers--\r\n", 200


def fields_of(lines):
    fields = {}
    for line in lines.decode("latin-1").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            fields[name.strip().lower()] = value.strip()
    return fields


def deliver(channel, headers):
    """Sends a notification; 5xx answers are repeated twice."""
    address = urllib.parse.urlsplit(channel["address"])
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    for attempt in range(3):
        try:
            connection = kind(address.hostname, address.port, timeout=5)
            connection.request("POST", address.path or "/", body=b"", headers=headers)
            status = connection.getresponse().status
            connection.close()
            if status not in (500, 502, 503, 504):
                return
        except OSError:
            pass
        time.sleep(0.1 * 2 ** attempt)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    emulator = None

    def log_message(self, *arguments):
        pass

    def handle_one(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        try:
            status, answer, headers = self.route(body)
        except Unanswered:
            self.close_connection = True
            return
        if status is None:
            self.close_connection = True
            return
        text = answer if isinstance(answer, bytes) else b"" if answer is None else json.dumps(answer).encode()
        cut = headers.pop("X-Cut", None)
        self.send_response_only(status)
        self.send_header("Date", email.utils.formatdate(self.emulator.now(), usegmt=True))
        for name, value in {"Content-Type": "application/json; charset=UTF-8", **headers}.items():
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text[:len(text) // 2] if cut else text)
        if cut:
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one

    def route(self, body):
        emulator = self.emulator
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        if path.startswith("/control/"):
            if self.command == "GET":
                if path == "/control/received":
                    with emulator.lock:
                        received, emulator.received = emulator.received, []
                    return 200, {"notifications": received}, {}
                if path == "/control/log":
                    with emulator.lock:
                        log, emulator.log = emulator.log, []
                    return 200, {"calls": log}, {}
                return 200, emulator.state(), {}
            if path == "/control/received":
                return emulator.receive(headers)
            return 200, emulator.control(path.removeprefix("/control/"), json.loads(body or b"{}")) or {}, {}
        # A test whose server has no port gives the emulator's address as its own, and fetches what came.
        if path == "/v1/hooks/google":
            return emulator.receive(headers)
        with emulator.lock:
            try:
                return self.serve(emulator, path, query, headers, body)
            finally:
                emulator.notify_changes()

    def serve(self, emulator, path, query, headers, body):
        if path == "/o/oauth2/v2/auth":
            return emulator.authorize(urllib.parse.parse_qsl(query, keep_blank_values=True))
        if path in ("/token", "/revoke") and self.command == "POST":
            emulator.log.append(path[1:])
            fault = emulator.fault(path[1:]) or {}
            if fault.get("unanswered") == "before":
                raise Unanswered
            if "status" in fault:
                return fault["status"], {"error": fault.get("reason", "server_error")}, {}
            fields = dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
            if path == "/token":
                status, answer = emulator.token(fields, headers.get("authorization"))
            else:
                status, answer = emulator.revoke(fields.get("token", ""))
            if fault.get("unanswered") == "after":
                raise Unanswered
            return status, fault["body"].encode() if "body" in fault else answer, {}
        if path == "/batch/calendar/v3" and self.command == "POST":
            emulator.log.append("batch")
            fault = emulator.fault("batch") or {}
            if fault.get("unanswered") == "before":
                raise Unanswered
            if "status" in fault:
                refused = Refused(fault["status"], fault.get("reason", "backendError"), "A fault",
                                  fault.get("domain", "global"))
                wait = {"Retry-After": str(fault["retryAfter"])} if "retryAfter" in fault else {}
                return refused.status, refused.body, wait
            try:
                emulator.bearer(headers.get("authorization"))
            except Refused as refused:
                return refused.status, refused.body, {}
            answer, status = emulator.batch(headers, body)
            if fault.get("hold"):
                emulator.hold()
            if fault.get("unanswered") == "after":
                raise Unanswered
            if status != 200:
                return status, answer, {}
            extra = {"X-Cut": "yes"} if fault.get("cut") else {}
            answer = fault["body"].encode() if "body" in fault else answer
            return 200, answer, {"Content-Type": "multipart/mixed; boundary=batch_of_answers", **extra}
        return emulator.call(self.command, self.path, headers, body)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ready", type=pathlib.Path)
    parser.add_argument("--discovery")
    arguments = parser.parse_args()
    parent = os.getppid()
    Handler.emulator = Emulator(google_checks.Checks(arguments.discovery))
    server = ThreadingHTTPServer(("127.0.0.1", arguments.port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    if arguments.ready:
        part = arguments.ready.with_suffix(".part")
        part.write_text(address + "\n")
        part.rename(arguments.ready)
    else:
        print(address, flush=True)
    try:
        while os.getppid() == parent:
            time.sleep(0.5)
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
