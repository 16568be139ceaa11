# SPDX-License-Identifier: Apache-2.0
"""Google's own Python client, from consent to revocation, against the emulator.

    python3 -B Tests/Providers/google_client.py ADDRESS DISCOVERY

Needs google-api-python-client and google-auth-oauthlib. Ends with 1 and a traceback when the client takes something for
another thing than it is meant to be.
"""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

os.environ.update({
    "OAUTHLIB_INSECURE_TRANSPORT": "1", "OAUTHLIB_RELAX_TOKEN_SCOPE": "1", "GOOGLE_API_USE_MTLS_ENDPOINT": "never",
    "GOOGLE_API_USE_CLIENT_CERTIFICATE": "false"})

from google.auth.exceptions import RefreshError  # noqa: E402
from google.auth.transport.requests import Request  # noqa: E402
from google_auth_oauthlib.flow import Flow  # noqa: E402
from googleapiclient.discovery import build_from_document  # noqa: E402
from googleapiclient.errors import HttpError  # noqa: E402

SCOPES = ["https://www.googleapis.com/auth/" + name for name in (
    "calendar.events", "calendar.calendarlist.readonly", "calendar.app.created")]


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


def consent(base):
    flow = Flow.from_client_config({"installed": {
        "client_id": "our-client.apps.googleusercontent.com", "client_secret": "GOCSPX-x",
        "auth_uri": base + "/o/oauth2/v2/auth", "token_uri": base + "/token",
        "redirect_uris": ["http://127.0.0.1:9/cb"],
    }}, scopes=SCOPES, redirect_uri="http://127.0.0.1:9/cb")
    address, state = flow.authorization_url(access_type="offline", prompt="consent", include_granted_scopes="true")
    try:
        urllib.request.build_opener(NoRedirect).open(address)
        raise AssertionError("no redirect")
    except urllib.error.HTTPError as redirect:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(redirect.headers["Location"]).query)
    assert query["state"] == [state]
    flow.fetch_token(code=query["code"][0])
    return flow.credentials


def refusal(request):
    try:
        request.execute()
    except HttpError as error:
        return error.status_code, error.error_details[0]["reason"]
    raise AssertionError("it was not refused")


def main():
    base, discovery = sys.argv[1:]
    credentials = consent(base)
    credentials.refresh(Request())
    assert set(credentials.granted_scopes) == set(SCOPES)
    with open(discovery, encoding="utf-8") as file:
        document = json.load(file) | {"rootUrl": base + "/", "baseUrl": base + "/calendar/v3/"}
    document.pop("mtlsRootUrl", None)
    service = build_from_document(document, credentials=credentials)
    assert service.calendarList().list(minAccessRole="writer").execute()["items"][0]["primary"]
    calendar = service.calendars().insert(body={"summary": "Care", "timeZone": "Europe/Berlin"}).execute()["id"]
    events = service.events()
    body = {
        "id": "abcdefgh", "summary": "Walk", "recurrence": ["RRULE:FREQ=DAILY;COUNT=5"],
        "start": {"dateTime": "2026-12-03T09:00:00", "timeZone": "Europe/Berlin"},
        "end": {"dateTime": "2026-12-03T10:00:00", "timeZone": "Europe/Berlin"},
        "extendedProperties": {"private": {"appointmentId": "appt_42"}},
    }
    event = events.insert(calendarId=calendar, body=body, sendUpdates="none").execute()
    assert refusal(events.insert(calendarId=calendar, body=body)) == (409, "duplicate")
    assert refusal(events.insert(calendarId=calendar, body={**body, "id": "NOT"})) == (400, "invalid")
    first = events.list(calendarId=calendar, maxResults=250).execute()
    assert [item["id"] for item in first["items"]] == ["abcdefgh"]

    instances = events.instances(calendarId=calendar, eventId="abcdefgh").execute()["items"]
    assert [item["originalStartTime"]["dateTime"][:10] for item in instances] == [
        f"2026-12-{day:02}" for day in range(3, 8)]
    events.patch(calendarId=calendar, eventId=instances[1]["id"], body={"summary": "Long walk"}).execute()
    events.delete(calendarId=calendar, eventId=instances[2]["id"]).execute()
    stale = events.patch(calendarId=calendar, eventId="abcdefgh", body={"summary": "stale"})
    stale.headers["If-Match"] = '"1"'
    assert refusal(stale) == (412, "conditionNotMet")

    seen, request = [], events.list(calendarId=calendar, syncToken=first["nextSyncToken"], maxResults=1)
    while request is not None:
        page = request.execute()
        seen += [(item["id"], item["status"]) for item in page["items"]]
        request = events.list_next(request, page)
    assert seen == [(instances[1]["id"], "confirmed"), (instances[2]["id"], "cancelled")], seen
    assert "nextSyncToken" in page
    assert refusal(events.list(calendarId=calendar, syncToken=page["nextSyncToken"], q="x")) == (400, "invalid")

    answers = {}
    batch = service.new_batch_http_request(lambda name, answer, error: answers.update({name: answer or error}))
    for identifier in ("abcdefgh", "never00000", instances[1]["id"]):
        batch.add(events.get(calendarId=calendar, eventId=identifier), request_id=identifier)
    batch.execute()
    assert answers["abcdefgh"]["summary"] == "Walk" and answers[instances[1]["id"]]["summary"] == "Long walk"
    assert answers["never00000"].status_code == 404

    events.delete(calendarId=calendar, eventId="abcdefgh", sendUpdates="none").execute()
    assert refusal(events.delete(calendarId=calendar, eventId="abcdefgh")) == (410, "deleted")
    assert events.get(calendarId=calendar, eventId="abcdefgh").execute()["status"] == "cancelled"
    assert refusal(events.insert(calendarId=calendar, body=body)) == (409, "duplicate")
    assert event["iCalUID"] == "abcdefgh@google.com"

    urllib.request.urlopen(base + "/revoke", data=urllib.parse.urlencode({"token": credentials.refresh_token}).encode())
    try:
        credentials.refresh(Request())
        raise AssertionError("a revoked grant was renewed")
    except RefreshError as error:
        assert "invalid_grant" in str(error)
    print("Google's own client is content")


if __name__ == "__main__":
    main()
