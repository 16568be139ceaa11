# SPDX-License-Identifier: Apache-2.0
"""What the attackers of `bombs.py` have in common."""

import datetime
import json

from server import Violation

SERIES = 30


def must(server, method, path, value=None, user=None, token=None):
    headers = {"Authorization": token or f"Bearer {server.key}", "Content-Type": "application/json"}
    if user:
        headers["Kalends-User"] = user
    status, _, text = server.request(
        method, path, None if value is None else json.dumps(value).encode(), headers, timeout=600)
    if status >= 300:
        raise Violation(f"{method} {path.split('/')[1]}… was answered {status}: {text[:300]}")
    return json.loads(text) if text else None


def make_series(server, count, series=SERIES, notes=None):
    """So many daily appointments of so many days from tomorrow on, in a circle with a viewer, `vic`."""
    server.make_circle("series")
    server.must("PUT", "/v1/circles/series/members/vic", {"displayName": "Vic", "role": "viewer"})
    server.must("PUT", "/v1/circles/series/patients/mom", {"displayName": "Mom"})
    day = datetime.date.today() + datetime.timedelta(days=1)
    for number in range(series):
        server.must("PUT", f"/v1/circles/series/appointments/a{number}", {
            "patientId": "mom", "provider": f"Dr. {number}", "startAt": f"{day}T09:00:00Z", "endAt": f"{day}T09:30:00Z",
            "notes": notes, "recurrence": {"rrule": f"FREQ=DAILY;COUNT={count}"}})


class Attacker:
    """The name of an attacker is that of its class."""

    environment = {}

    def prepare(self, server):
        """Makes what the attack needs, as anybody could."""

    def strike(self, server, number):
        """One blow; may return why it counts for nothing."""

    def fault(self, server):
        """What is wrong with what the attack left, in words; nothing if it is as it should be."""

    def close(self):
        pass
