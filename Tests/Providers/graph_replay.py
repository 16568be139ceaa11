#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends the recorded requests of Microsoft's own clients to the emulator, and compares the answers' shape.

    python3 -B Tests/Providers/graph_replay.py ADDRESS TRACE

Ids, tokens and links of the recording are replaced by those that the emulator has given; where the recording's server stood
for something special (throttling, an id of its own), the emulator is asked for the same. Prints a line for each exchange
that differs, and ends with 1 when there is one.
"""

import http.client
import json
import re
import sys
from datetime import datetime, timedelta, timezone
from urllib.parse import parse_qs, urlsplit


def exchanges(path):
    """Each exchange: method, target, fields, body; status and answer."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for part in re.split(r"^===== exchange \d+\n", text, flags=re.M)[1:]:
        head = re.match(r">>> (\S+) (\S+) HTTP/1.1\n", part)
        fields = dict(re.findall(r"^>>> ([A-Za-z-]+): (.*)$", part, flags=re.M))
        body = re.search(r"^>>>\n(.*?)^<<< HTTP", part, flags=re.M | re.S)[1].strip()
        status = int(re.search(r"^<<< HTTP/1.1 (\d+)", part, flags=re.M)[1])
        answer = re.search(r"^<<<\n(.*)\Z", part, flags=re.M | re.S)[1].strip()
        yield head[1], head[2], fields, body, status, answer


class Replay:
    def __init__(self, address):
        self.root = address
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

    def control(self, name, body):
        self.ask("POST", f"/control/{name}", {"Content-Type": "application/json"}, json.dumps(body))

    def replaced(self, text):
        for old, new in sorted(self.names.items(), key=lambda pair: -len(pair[0])):
            text = text.replace(old, new)
        return text

    def learn(self, recorded, given):
        """Which of the emulator's values corresponds to which of the recording's."""
        for name in ("id", "@odata.etag", "access_token", "refresh_token"):
            old, new = recorded.get(name), given.get(name)
            if isinstance(old, str) and isinstance(new, str):
                self.names[old] = new
                self.names[json.dumps(old)[1:-1]] = json.dumps(new)[1:-1]
                if "=" in old:
                    self.names[old.replace("=", "%3D")] = new.replace("=", "%3D")
        for name in ("@odata.deltaLink", "@odata.nextLink"):
            old, new = recorded.get(name), given.get(name)
            if isinstance(old, str) and isinstance(new, str):
                self.names[urlsplit(old).path + "?" + urlsplit(old).query] = urlsplit(new).path + "?" + urlsplit(new).query

    def run(self, path):
        differs = 0
        for number, (method, target, fields, body, status, answer) in enumerate(exchanges(path), 1):
            recorded = json.loads(answer) if answer.startswith("{") else {}
            if status == 429:
                self.control("faults", {"method": method, "status": 429, "code": "ApplicationThrottled", "retryAfter": 1})
            if "/events/e0" in body:
                # The recording's server threw a die for each step.
                self.control("faults", {"level": "item", "path": "/events/e0", "status": 200, "answer": {"id": "x"}})
                self.control("faults", {"level": "item", "path": "/events/e1", "status": 429, "retryAfter": 1})
            body = self.replaced(body).replace("https://hooks.example.test/graph-lifecycle", f"{self.root}/hook")
            body = body.replace("https://hooks.example.test/graph", f"{self.root}/hook").replace(
                "http://127.0.0.1:18090", self.root)
            if "expirationDateTime" in body:
                soon = (datetime.now(timezone.utc) + timedelta(hours=20)).isoformat()
                body = re.sub(r'("expirationDateTime": ")[^"]*', rf"\g<1>{soon}", body)
            fields = {name: self.replaced(value) for name, value in fields.items()}
            got, headers, data = self.ask(method, self.replaced(target), fields, body)
            given = json.loads(data) if data.startswith("{") else {}
            faults = [] if got == status else [f"status {got} for {status}"]
            faults += [f"no {name}" for name in recorded if name not in given and name != "@odata.context"]
            if "error" in recorded:
                for name in ("error", "code"):
                    old = recorded if name == "error" else recorded["error"] if isinstance(recorded["error"], dict) else {}
                    new = given if name == "error" else given.get("error") if isinstance(given.get("error"), dict) else {}
                    if not isinstance(old.get(name), dict) and old.get(name) != new.get(name):
                        faults.append(f"{name} {new.get(name)} for {old.get(name)}")
            if "value" in recorded:
                pairs = list(zip(recorded["value"], given.get("value", [])))
                if len(recorded["value"]) != len(given.get("value", [])):
                    faults.append(f"{len(given.get('value', []))} items for {len(recorded['value'])}")
                for old, new in pairs:
                    faults += [f"no {name} in an item" for name in old if name not in new and name not in (
                        # The recording's server gave these with delta; Graph does not.
                        "singleValueExtendedProperties", "@odata.context")]
                    self.learn(old, new)
            if "responses" in recorded:
                old = {one["id"]: one["status"] for one in recorded["responses"]}
                new = {one["id"]: one["status"] for one in given.get("responses", [])}
                faults += [] if old == new else [f"{new} for {old}"]
            if "Location" in headers and "redirect_uri" in target:
                self.names["M.C5_BAY.2.U.stub"] = parse_qs(urlsplit(headers["Location"]).query)["code"][0]
            # A created event does not give its properties back.
            faults = [one for one in faults if one != "no singleValueExtendedProperties" and one != "no @odata.type"]
            self.learn(recorded, given)
            if faults:
                differs += 1
                print(f"exchange {number:03d} {method} {target[:80]}: {'; '.join(faults)}")
        return number, differs


if __name__ == "__main__":
    count, wrong = Replay(sys.argv[1]).run(sys.argv[2])
    print(f"{count} exchanges, {wrong} differ")
    sys.exit(1 if wrong or not count else 0)
