# SPDX-License-Identifier: Apache-2.0
"""A server with something in it, for programs that know it by its OpenAPI document alone."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Faults"))

from server import Server, Violation  # noqa: E402

FILE = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Somebody else//Their program//EN
BEGIN:VEVENT
UID:one@else.example
DTSTAMP:20260101T000000Z
DTSTART;TZID=Europe/Berlin:20260302T093000
DTEND;TZID=Europe/Berlin:20260302T103000
SUMMARY:Physiotherapy
RRULE:FREQ=WEEKLY;COUNT=4
END:VEVENT
BEGIN:VEVENT
UID:two@else.example
DTSTAMP:20260101T000000Z
DTSTART;VALUE=DATE:20260310
SUMMARY:Birthday
END:VEVENT
END:VCALENDAR
"""

__all__ = ["FILE", "Violation", "seeded"]


def seeded(folder, environment=None):
    """The server, and ids of things in it by the names of path parameters."""
    server = Server(folder, folder, environment)
    server.start()
    server.wait()
    server.key = server.command("key", "create", "--name", "tests").strip()

    server.must("PUT", "/v1/circles/care", {"name": "Care", "timeZone": "Europe/Berlin"})
    server.must("PUT", "/v1/circles/care/members/jane", {"displayName": "Jane", "role": "owner"})
    server.must("PUT", "/v1/circles/care/patients/mom", {"displayName": "Mom"})
    server.must("PUT", "/v1/circles/care/appointments/a1", {
        "patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-01-22T10:00:00-08:00",
        "recurrence": {"rrule": "FREQ=WEEKLY;COUNT=6"}})
    feed = server.must("POST", "/v1/circles/care/feeds", {"userId": "jane"})
    return server, {"circle": "care", "user": "jane", "patient": "mom", "id": "a1", "feed": feed["id"]}
