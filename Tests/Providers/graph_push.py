# SPDX-License-Identifier: Apache-2.0
"""Subscriptions: addresses are tested before one is made, and called when something changes."""

import json
import re
import threading
import time
import urllib.error
import urllib.request
import uuid
from datetime import datetime, timedelta, timezone
from urllib.parse import quote

from graph_store import Refused


class Subscriptions:
    """All that are in force."""

    def __init__(self, settings):
        self.settings = settings
        self.all = {}
        self.sent = []

    def moment(self):
        return datetime.now(timezone.utc) + timedelta(seconds=self.settings["skew"])

    def expiry(self, text):
        try:
            wanted = datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            raise Refused(400, "BadRequest", "expirationDateTime cannot be read.") from None
        limit = self.settings["subscriptionMinutes"]
        if wanted <= self.moment():
            raise Refused(400, "InvalidRequest", "Subscription expiration must be in the future.")
        if wanted > self.moment() + timedelta(minutes=limit, seconds=5):
            raise Refused(400, "ExtensionError", f"Subscription expiration can only be {limit} minutes in the future.")
        return max(wanted, self.moment() + timedelta(minutes=45)).strftime("%Y-%m-%dT%H:%M:%S.0000000Z")

    def create(self, user, body, calendars):
        for name in ("changeType", "notificationUrl", "resource", "expirationDateTime"):
            if not body.get(name):
                raise Refused(400, "InvalidRequest", f"{name} is required.")
        if len(body.get("clientState") or "") > 128:
            raise Refused(400, "InvalidRequest", "clientState is longer than 128 characters.")
        kinds = set(body["changeType"].split(","))
        if not kinds <= {"created", "updated", "deleted"}:
            raise Refused(400, "InvalidRequest", "changeType is not known.")
        resource = re.fullmatch(r"/?(?:me|users/[^/]+)/(?:calendars/([^/]+)/)?events", body["resource"])
        if not resource or resource[1] and resource[1] not in calendars:
            raise Refused(404, "ResourceNotFound", "Resource not found for the segment.")
        expiry = self.expiry(body["expirationDateTime"])
        for address in {body["notificationUrl"], body.get("lifecycleNotificationUrl") or body["notificationUrl"]}:
            self.validate(address)
        made = {**body, "id": str(uuid.uuid4()), "expirationDateTime": expiry, "creatorId": user, "applicationId": "app",
                "latestSupportedTlsVersion": "v1_2"}
        self.all[made["id"]] = (user, made)
        return made

    def validate(self, address):
        token = f"Validation: Testing client application reachability for subscription Request-Id: {uuid.uuid4()}"
        separator = "&" if "?" in address else "?"
        request = urllib.request.Request(
            f"{address}{separator}validationToken={quote(token, safe='')}", data=b"", method="POST",
            headers={"Content-Type": "text/plain; charset=utf-8"})
        reason = None
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                kind = answer.headers.get("Content-Type", "")
                if answer.status != 200 or not kind.startswith("text/plain") or answer.read().decode() != token:
                    reason = "Notification endpoint must respond with 200 OK to validation request."
        except urllib.error.HTTPError as error:
            reason = f"HTTP '{error.code}'"
        except (OSError, ValueError) as error:
            reason = f"Notification endpoint is not reachable: {type(error).__name__}"
        if reason:
            raise Refused(400, "InvalidRequest", f"Subscription validation request failed. {reason}")

    def get(self, ident):
        if ident not in self.all:
            raise Refused(404, "ResourceNotFound", "The object was not found.")
        return self.all[ident][1]

    def notify(self, user, calendar, ident, change):
        """Calls everybody who wants to know, as often as the settings say, after the change is answered."""
        for owner, one in list(self.all.values()):
            if owner != user or change not in one["changeType"] or f"/{calendar}/" not in one["resource"] + "/" and "calendars" in one["resource"]:
                continue
            path = f"Users/{user}/Events/{ident}"
            item = {"id": str(uuid.uuid4()), "subscriptionId": one["id"], "changeType": change, "resource": path,
                    "subscriptionExpirationDateTime": one["expirationDateTime"], "tenantId": str(uuid.UUID(int=1)),
                    "clientState": one.get("clientState"),
                    "resourceData": {"@odata.type": "#Microsoft.Graph.Event", "@odata.id": path, "id": ident}}
            self.send(one["notificationUrl"], [item])

    def lifecycle(self, event):
        for _, one in list(self.all.values()):
            item = {"subscriptionId": one["id"], "lifecycleEvent": event, "tenantId": str(uuid.UUID(int=1)),
                    "subscriptionExpirationDateTime": one["expirationDateTime"], "clientState": one.get("clientState"),
                    "resource": one["resource"]}
            self.send(one.get("lifecycleNotificationUrl") or one["notificationUrl"], [item])

    def send(self, address, items):
        def run():
            time.sleep(self.settings["pushDelay"])
            for _ in range(self.settings["pushes"]):
                request = urllib.request.Request(
                    address, data=json.dumps({"value": items}).encode(), method="POST",
                    headers={"Content-Type": "application/json; charset=utf-8"})
                try:
                    with urllib.request.urlopen(request, timeout=3) as answer:
                        self.sent.append(answer.status)
                except urllib.error.HTTPError as error:
                    self.sent.append(error.code)
                except OSError:
                    self.sent.append(0)

        threading.Thread(target=run, daemon=True).start()
