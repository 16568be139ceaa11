#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends a made-up week of planned events, as a phone's companion would, and prints what became of it.

    python3 Scripts/mock_apple_sync.py --base-url http://127.0.0.1:8080 --token T
"""

import argparse
import datetime
import json
import sys
import urllib.error
import urllib.request

WEEK = [
    # Days from today, start, minutes, title, calendar; no start is a whole day.
    (0, "09:00", 30, "Weekly sync", "Work Outlook"),
    (1, "12:30", 60, "Lunch with Sam", "Home"),
    (2, None, 0, "Company day", "Work Outlook"),
    (3, "16:00", 45, "Dentist", "Home"),
    (5, "18:15", 90, "Choir", "Home"),
]


def week(today):
    """The body for the past 7 and the next 30 days, from midnight of a day in its zone."""
    events = []
    for number, (day, start, minutes, title, calendar) in enumerate(WEEK):
        begin = today + datetime.timedelta(days=day)
        if start:
            hour, minute = map(int, start.split(":"))
            begin = begin.replace(hour=hour, minute=minute)
        length = datetime.timedelta(minutes=minutes) if start else datetime.timedelta(days=1)
        events.append({
            "external_id": f"mock-{number}", "title": title, "start_at": begin.isoformat(),
            "end_at": (begin + length).isoformat(), "is_all_day": start is None, "source_calendar_name": calendar,
        })
    return {
        "range_start": (today - datetime.timedelta(days=7)).isoformat(),
        "range_end": (today + datetime.timedelta(days=30)).isoformat(),
        "events": events,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base-url", required=True, help="where the server is: http://127.0.0.1:8080")
    parser.add_argument("--token", required=True, help="the companion's token, or another that opens the route")
    arguments = parser.parse_args()
    today = datetime.datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    request = urllib.request.Request(
        arguments.base_url.rstrip("/") + "/api/apple_sync/planned_upsert",
        data=json.dumps(week(today)).encode(), method="POST",
        headers={"Authorization": f"Bearer {arguments.token}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            report = json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 401:
            sys.exit("Invalid sync token")
        sys.exit("Server error. Try again later." if error.code >= 500 else f"The server refused with {error.code}.")
    except (urllib.error.URLError, TimeoutError):
        sys.exit("Offline. Sync will retry.")
    print(f"deleted: {report['deleted']}")
    print(f"upserted: {report['upserted']}")
    if report.get("failed"):
        sys.exit("Some events failed; retry scheduled.")


main()
