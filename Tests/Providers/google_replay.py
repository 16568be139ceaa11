# SPDX-License-Identifier: Apache-2.0
"""Sends the recorded requests of Google's own Python client to the emulator, and compares the answers' shape.

    python3 -B Tests/Providers/google_replay.py ADDRESS TRACE

Tokens, ids and versions of the recording are replaced by those that the emulator has given; where the recording's
server stood for something special (a dead sync token, throttling), the emulator is asked for the same. Prints a line
for each exchange that differs, and ends with 1 when there is one.
"""

import http.client
import json
import re
import sys
import urllib.parse
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

LEARNED = ("id", "etag", "access_token", "refresh_token", "resourceId", "nextSyncToken", "nextPageToken")


def exchanges(path):
    """Each exchange: method, target, fields, body; status, fields and answer."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for part in re.split(r"^===== exchange \d+\n", text, flags=re.M)[1:]:
        head = re.match(r">>> (\S+) (\S+) HTTP/1.1\n", part)
        fields = dict(re.findall(r"^>>> ([A-Za-z-]+): (.*)$", part, flags=re.M))
        body = re.search(r"^>>>\n(.*?)^<<< HTTP", part, flags=re.M | re.S)[1].rstrip("\n")
        status = int(re.search(r"^<<< HTTP/1.1 (\d+)", part, flags=re.M)[1])
        answered = dict(re.findall(r"^<<< ([A-Za-z-]+): (.*)$", part, flags=re.M))
        answer = re.search(r"^<<<\n(.*)\Z", part, flags=re.M | re.S)[1].strip()
        yield head[1], head[2], fields, body, status, answered, answer


class Replay:
    def __init__(self, address):
        self.host = urlsplit(address).netloc
        self.names = {}

    def ask(self, method, target, fields, body):
        connection = http.client.HTTPConnection(self.host, timeout=20)
        keep = {name: value for name, value in fields.items() if name.lower() not in (
            "host", "content-length", "connection", "accept-encoding")}
        connection.request(method, target, body.encode() if body else None, keep)
        answer = connection.getresponse()
        data = answer.read().decode()
        connection.close()
        return answer.status, dict(answer.getheaders()), data

    def control(self, name, **body):
        self.ask("POST", f"/control/{name}", {}, json.dumps(body))

    def text(self, text):
        """With every name of the recording that is too long to be there by chance."""
        for old, new in sorted(self.names.items(), key=lambda pair: -len(pair[0])):
            if len(old) >= 8:
                for form in (str, urllib.parse.quote_plus, lambda value: urllib.parse.quote(value, safe="")):
                    text = text.replace(form(old), form(new))
        return text

    def target(self, target):
        path, mark, query = target.partition("?")
        pairs = [(name, self.names.get(value, value)) for name, value in parse_qsl(query, keep_blank_values=True)]
        return self.text(path) + mark + urlencode(pairs)

    def learn(self, recorded, given):
        """Which of the emulator's values corresponds to which of the recording's."""
        if isinstance(recorded, dict) and isinstance(given, dict):
            for name in LEARNED:
                old, new = recorded.get(name), given.get(name)
                if isinstance(old, str) and isinstance(new, str):
                    self.names[old] = new
            for old, new in zip(recorded.get("items", []), given.get("items", [])):
                self.learn(old, new)

    def prepare(self, target):
        """What the recording's server did without being asked."""
        query = parse_qs(urlsplit(target).query)
        token = query.get("syncToken", [""])[0]
        calendar = urllib.parse.unquote(self.text(urlsplit(target).path).split("/")[4]) if token else ""
        if token == "EXPIRED":
            self.names["EXPIRED"] = self.names["1004"]
            self.control("calendar", id=calendar, expireTokens=True)
        elif token == "LIMIT" and token not in self.names:
            path = self.text(urlsplit(target).path)
            fields = {"Authorization": "Bearer " + self.names["ya29.a0second"]}
            self.names["LIMIT"] = json.loads(self.ask("GET", path, fields, None)[2])["nextSyncToken"]
            self.control("fault", method="events.list", times=2, status=403, reason="rateLimitExceeded",
                         domain="usageLimits", message="Rate Limit Exceeded")

    def run(self, trace):
        self.control("oauth", before=["https://www.googleapis.com/auth/calendar.app.created"])
        self.control("push", mode="lost")
        count = differ = 0
        for method, target, fields, body, status, headers, answer in exchanges(trace):
            count += 1
            self.prepare(target)
            fields = {name: self.text(value) for name, value in fields.items()}
            found, got, data = self.ask(method, self.target(target), fields, self.text(body) or None)
            if "Location" in headers:
                old, new = (parse_qs(urlsplit(h["Location"]).query)["code"][0] for h in (headers, got))
                self.names[old] = new
            try:
                recorded, given = json.loads(answer or "null"), json.loads(data or "null")
            except ValueError:
                # The answer to a batch; the parts are compared by the Swift tests.
                recorded = given = None
            problems = [] if found == status else [f"status {found} for {status}"]
            problems += list(self.differences(recorded, given, "LIMIT" in target))
            self.learn(recorded, given)
            if problems:
                differ += 1
                print(f"exchange {count}: {method} {target}: {'; '.join(problems)}")
        print(f"{count} exchanges, {differ} differ")
        return differ == 0 and count > 0

    @staticmethod
    def differences(recorded, given, is_other_listing):
        if not isinstance(recorded, dict) or not isinstance(given, dict):
            if (recorded is None) != (given is None):
                yield "a body that is missing, or too much"
            return
        if "kind" in recorded and recorded["kind"] != given.get("kind"):
            yield f"kind {given.get('kind')} for {recorded['kind']}"
        if isinstance(recorded.get("error"), dict):
            old, new = (value["error"]["errors"][0] for value in (recorded, given))
            for name in ("domain", "reason", "message", "location", "locationType"):
                if old.get(name) != new.get(name):
                    yield f"{name} {new.get(name)} for {old.get(name)}"
        elif recorded.get("error") != given.get("error"):
            yield f"error {given.get('error')} for {recorded.get('error')}"
        if "items" in recorded and not is_other_listing:
            if len(recorded["items"]) != len(given["items"]):
                yield f"{len(given['items'])} items for {len(recorded['items'])}"
            for name in ("nextPageToken", "nextSyncToken"):
                if (name in recorded) != (name in given):
                    yield f"{name} is missing, or too much"
        # The emulator says the same about an event as the recording's server.
        if recorded.get("kind") == "calendar#event":
            for name in sorted(set(recorded) - set(given)):
                yield f"{name} is missing"


if __name__ == "__main__":
    sys.exit(0 if Replay(sys.argv[1]).run(sys.argv[2]) else 1)
