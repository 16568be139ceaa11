#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Microsoft Graph's calendars and sign-in, on loopback, with faults to switch on.

    python3 -B Tests/Providers/graph_emulator.py [--port N]

Prints `ready http://127.0.0.1:PORT` and serves until its standard input ends. Graph is under /v1.0, the sign-in under
/{tenant}/oauth2/v2.0. Requests with `X-Person: 1` are those of a person in Outlook: they meet no fault and are not counted.
/hook takes notifications and answers tests of addresses, as an application does.

    POST   /control/faults    {"method", "path" (a pattern), "level": "http" | "item", "times", "after", and one of
                               "status" (with "code", "retryAfter", "apply"), "drop": "before" | "after", "delay": seconds,
                               "answer": a body}
    DELETE /control/faults
    POST   /control/settings  those of SETTINGS
    POST   /control/{expire-tokens|expire-deltas|lifecycle|reset}
    GET    /control/log | /control/events | /control/state | /control/hooks      DELETE /control/log
"""

import argparse
import json
import re
import socket
import sys
import threading
import time
import uuid
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

from graph_api import API
from graph_login import Login
from graph_push import Subscriptions
from graph_shapes import Shapes
from graph_store import Mailbox, Refused

SETTINGS = {
    # What Microsoft's documents leave open.
    "duplicateStatus": 400, "namesExisting": True, "resetsExceptions": True, "cancelledOccurrences": True,
    "silentCancellations": False, "outside": True, "subscriptionMinutes": 4230,
    # Sizes of pages, requests at once, seconds that a request takes.
    "pageSize": 50, "listSize": 1000, "concurrency": 4, "latency": 0,
    # Seconds for which a new event is missing from searches and views; the server's clock against ours.
    "lag": 0, "skew": 0,
    # Listings: an empty first page, an event twice, a change between two pages, links to another place.
    "emptyPages": False, "repeats": False, "betweenPages": None, "linkBase": None,
    # Notifications: how often each is sent (0: lost), and how late.
    "pushes": 1, "pushDelay": 0,
    # Sign-in.
    "clientSecret": None, "tokenSeconds": 3599, "revoked": False, "denies": False, "singleUse": False,
}


class Emulator:
    """Everything that all connections share."""

    def __init__(self):
        self.shapes, self.lock, self.base, self.root = Shapes(), threading.RLock(), "", ""
        self.reset()

    def reset(self):
        self.settings = dict(SETTINGS)
        self.login, self.pushes = Login(self.settings), Subscriptions(self.settings)
        self.mailboxes, self.faults, self.log, self.busy, self.hooks = {}, [], [], {}, []

    def api(self, user):
        if user not in self.mailboxes:
            self.mailboxes[user] = API(
                Mailbox(self.settings), self.shapes, self.pushes, user, self.base, self.settings)
        return self.mailboxes[user]

    def fault(self, level, method, path):
        """The fault that a request meets, once less often then."""
        for one in self.faults:
            if one.get("level", "http") != level or one.get("method", method) != method:
                continue
            if not re.search(one.get("path", ""), path):
                continue
            if one.get("after", 0) > 0:
                one["after"] -= 1
                continue
            one["times"] = one.get("times", 1) - 1
            if one["times"] <= 0:
                self.faults.remove(one)
            return one
        return None

    # Graph

    @staticmethod
    def error(status, code, message, headers=None, **more):
        inner = {"date": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()), "request-id": str(uuid.uuid4()),
                 "client-request-id": str(uuid.uuid4())}
        return status, {"error": {"code": code, "message": message, "innerError": inner, **more}}, headers or {}

    def planned(self, fault):
        """The answer of a fault that has a status."""
        wait = {"Retry-After": str(fault["retryAfter"])} if "retryAfter" in fault else {}
        if "answer" in fault:
            return fault.get("status", 200), fault["answer"], wait
        return self.error(fault["status"], fault.get("code", "UnknownError"), "A fault was switched on.", wait)

    def one(self, user, method, url, headers, body, level):
        """One request to Graph, alone or of a batch."""
        parts = urlsplit(url)
        path, query = unquote(parts.path), dict(parse_qsl(parts.query, keep_blank_values=True))
        fault = None if "x-person" in headers else self.fault(level, method, parts.path + "?" + unquote(parts.query))
        if fault and ("status" in fault or "answer" in fault) and not fault.get("apply"):
            return self.planned(fault)
        try:
            with self.lock:
                status, answer, more = self.api(user).handle(method, path, query, headers, body)
        except Refused as refused:
            status, answer, more = self.error(refused.status, refused.code, refused.message, **refused.more)
        if fault and "status" in fault:
            return self.planned(fault)
        if "outlook.timezone" in headers.get("prefer", ""):
            more.setdefault("Preference-Applied", 'outlook.timezone="UTC"')
        return status, answer, more

    def batch(self, user, headers, body, note):
        requests = body.get("requests") if isinstance(body, dict) else None
        if not isinstance(requests, list) or not requests:
            return self.error(400, "BadRequest", "The batch has no requests.")
        if len(requests) > 20:
            return self.error(400, "BadRequest", "Number of batch request steps exceeds the maximum value of 20.")
        ids = [one.get("id") for one in requests]
        if len(set(ids)) != len(ids) or not all(isinstance(one, str) and one for one in ids):
            return self.error(400, "BadRequest", "Each step of a batch has an id of its own.")
        answers = {}
        for one in requests:
            if any(name not in ("id", "method", "url", "headers", "body", "dependsOn", "depends_on") for name in one):
                return self.error(400, "BadRequest", "A step has a member that is not known.")
            if any(name not in ids for name in one.get("dependsOn") or []):
                return self.error(400, "BadRequest", "A step depends on one that is not in the batch.")
        for one in requests:
            own = {name.lower(): value for name, value in (one.get("headers") or {}).items()}
            own |= {"x-person": "1"} if "x-person" in headers else {}
            url = one["url"].removeprefix(self.base)
            if any(answers.get(name, (424,))[0] >= 400 for name in one.get("dependsOn") or []):
                answers[one["id"]] = self.error(424, "FailedDependency", "A request that this one depends on has failed.")
            elif not url.startswith("/"):
                answers[one["id"]] = self.error(400, "BadRequest", "The url is not relative.")
            elif "body" in one and "content-type" not in own:
                answers[one["id"]] = self.error(400, "BadRequest", "A body needs a Content-Type.")
            else:
                answers[one["id"]] = self.one(user, one["method"], url, own, one.get("body"), "item")
            note.append([one["method"], url, answers[one["id"]][0]])
        # In any order: the last one first.
        return 200, {"responses": [
            {"id": name, "status": status, "headers": {"Content-Type": "application/json", **more},
             **({} if answer is None else {"body": answer})}
            for name, (status, answer, more) in reversed(answers.items())]}, {}

    # Control

    def control(self, method, name, body):
        if name == "reset":
            self.reset()
        elif name == "faults":
            if method == "DELETE":
                self.faults.clear()
            else:
                self.faults.append(body)
        elif name == "settings":
            if unknown := set(body) - set(SETTINGS):
                return 400, {"unknown": sorted(unknown)}
            self.settings.update(body)
        elif name == "expire-tokens":
            self.login.expire()
        elif name == "expire-deltas":
            for api in self.mailboxes.values():
                api.delta.rounds.clear()
        elif name == "restore":
            with self.lock:
                for api in self.mailboxes.values():
                    api.mailbox.restore(body["id"])
        elif name == "move":
            # Another server has the mailbox: every event of a calendar gets another id.
            with self.lock:
                for api in self.mailboxes.values():
                    api.mailbox.move(body["calendar"])
                    api.delta.rounds.clear()
        elif name == "lifecycle":
            self.pushes.lifecycle(body["event"])
        elif name == "log":
            if method == "DELETE":
                self.log.clear()
            return 200, list(self.log)
        elif name == "hooks":
            return 200, list(self.hooks)
        elif name == "events":
            immutable = {"idtype": "ImmutableId", "outlook.body-content-type": "text"}
            with self.lock:
                return 200, [
                    {"user": user, "calendar": event.calendar, **api.shown(
                        event, None, (None, {key for key in event.extended}, True), immutable, True),
                        "cancelled": sorted(str(day) for day in event.cancelled)}
                    for user, api in self.mailboxes.items() for event in api.mailbox.events.values()]
        elif name == "state":
            return 200, {"refreshes": self.login.refreshes, "subscriptions": len(self.pushes.all), "sent": self.pushes.sent,
                         "settings": self.settings, "faults": self.faults}
        else:
            return 404, {}
        return 200, {}


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    emulator = None

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return formatdate((timestamp or time.time()) + self.emulator.settings["skew"], usegmt=True)

    def send(self, status, body, headers=None, kind="application/json; charset=utf-8"):
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if data:
            self.send_header("Content-Type", kind)
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def drop(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def run(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            if parts.path.startswith("/control/"):
                self.send(*self.emulator.control(self.command, parts.path[9:], json.loads(raw) if raw else {}))
            elif parts.path == "/hook":
                token = dict(parse_qsl(parts.query)).get("validationToken")
                self.emulator.hooks.append({"query": parts.query, "body": raw.decode("utf-8", "replace")})
                self.send(200 if token else 202, (token or "").encode(), kind="text/plain")
            elif parts.path.startswith("/v1.0/"):
                self.graph(parts, headers, raw)
            else:
                self.sign_in(parts, raw)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = run

    def sign_in(self, parts, raw):
        steps, login = parts.path.strip("/").split("/"), self.emulator.login
        query = dict(parse_qsl(parts.query))
        if steps[1:] == ["v2.0", ".well-known", "openid-configuration"]:
            place = f"{self.emulator.root}/{steps[0]}"
            return self.send(200, {
                "issuer": f"https://login.microsoftonline.com/{steps[0]}/v2.0", "token_endpoint": f"{place}/oauth2/v2.0/token",
                "authorization_endpoint": f"{place}/oauth2/v2.0/authorize",
                "device_authorization_endpoint": f"{place}/oauth2/v2.0/devicecode"})
        fault = self.emulator.fault("http", self.command, parts.path)
        if fault and "delay" in fault:
            time.sleep(fault["delay"])
        if fault and fault.get("drop") == "before":
            return self.drop()
        if fault and "status" in fault:
            return self.send(fault["status"], {"error": fault.get("code", "server_error")})
        if steps[1:] == ["oauth2", "v2.0", "authorize"] and self.command == "GET":
            status, place = login.authorize(query)
            if status == 302:
                return self.send(302, None, {"Location": place})
            return self.send(status, place.encode(), kind="text/html; charset=utf-8")
        if steps[1:] == ["oauth2", "v2.0", "token"] and self.command == "POST":
            status, answer = login.token(steps[0], login.form(raw))
            self.emulator.log.append([self.command, parts.path, status, []])
            if fault and fault.get("drop") == "after":
                return self.drop()
            return self.send(status, answer)
        self.send(404, {})
        return None

    def graph(self, parts, headers, raw):
        emulator, path, note = self.emulator, parts.path.removeprefix("/v1.0"), []
        is_person = "x-person" in headers
        user = "alice" if is_person else emulator.login.user(headers.get("authorization"))
        fault = None
        if not is_person and path == "/$batch":
            fault = emulator.fault("http", self.command, path)
        elif not is_person:
            # A fault that is not an answer is looked for here; answers are given where the request is carried out.
            fault = next((one for one in emulator.faults if ("drop" in one or "delay" in one)
                          and one.get("level", "http") == "http" and one.get("method", self.command) == self.command
                          and re.search(one.get("path", ""), path)), None)
            if fault:
                fault = emulator.fault("http", self.command, path)
        if fault and "delay" in fault:
            time.sleep(fault["delay"])
        if fault and fault.get("drop") == "before":
            emulator.log.append([self.command, path, 0, []])
            return self.drop()
        answer = self.answer(user, path, parts.query, headers, raw, note, fault, is_person)
        if not is_person:
            emulator.log.append([self.command, path + ("?" + parts.query if parts.query else ""), answer[0], note])
        if fault and fault.get("drop") == "after":
            return self.drop()
        status, body, more = answer
        kind = "application/json;odata.metadata=minimal;odata.streaming=true;IEEE754Compatible=false;charset=utf-8"
        return self.send(status, body, {"request-id": str(uuid.uuid4()), **more}, kind)

    def answer(self, user, path, query, headers, raw, note, fault, is_person):
        emulator = self.emulator
        if user is None:
            return emulator.error(401, "InvalidAuthenticationToken", "Access token has expired or is not yet valid.")
        if fault and ("status" in fault or "answer" in fault) and not fault.get("apply"):
            return emulator.planned(fault)
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            return emulator.error(400, "BadRequest", "Unable to read JSON request payload.")
        if raw and "json" not in headers.get("content-type", ""):
            return emulator.error(415, "RequestBodyRead", "A body is JSON here.")
        weight = min(4, len(body.get("requests") or [])) if path == "/$batch" and isinstance(body, dict) else 1
        with emulator.lock:
            busy = emulator.busy.get(user, 0)
            if not is_person and busy + weight > emulator.settings["concurrency"]:
                return emulator.error(
                    429, "ApplicationThrottled", "Application is over its MailboxConcurrency limit.", {"Retry-After": "1"})
            emulator.busy[user] = busy + weight
        try:
            time.sleep(emulator.settings["latency"])
            if path == "/$batch" and self.command == "POST":
                with emulator.lock:
                    found = emulator.batch(user, headers, body, note)
            else:
                level = "http"
                found = emulator.one(user, self.command, path + ("?" + query if query else ""), headers, body, level)
            return emulator.planned(fault) if fault and "status" in fault else found
        finally:
            with emulator.lock:
                emulator.busy[user] -= weight


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        if not isinstance(sys.exc_info()[1], (BrokenPipeError, ConnectionResetError)):
            super().handle_error(*_)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, default=0)
    Handler.emulator = emulator = Emulator()
    server = Server(("127.0.0.1", options.parse_args().port), Handler)
    emulator.root = f"http://127.0.0.1:{server.server_address[1]}"
    emulator.base = emulator.root + "/v1.0"
    print(f"ready {emulator.root}", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # Whoever started it holds the other end, so that nothing is left when that one ends in any way.
    sys.stdin.read()


if __name__ == "__main__":
    main()
