# SPDX-License-Identifier: Apache-2.0
"""What a host application does in a day, through the generated client alone."""

import datetime
import io
import sys
from http import HTTPStatus

from kalends_client import AuthenticatedClient
from kalends_client.api.circles import get_circle, list_circles, put_circle, put_member, put_patient
from kalends_client.api.feeds import create_feed, get_feed, preview_feed, read_feed, regenerate_feed, reveal_feed, revoke_feed
from kalends_client.api.imports import commit_import, create_import, get_import, undo_import
from kalends_client.api.keys import create_key, list_keys, revoke_key
from kalends_client.api.schedule import delete_task, get_task, list_tasks, post_batch, put_appointment, put_occurrence, put_task
from kalends_client.models import (
    AppointmentInput, AppointmentStatus, CircleInput, FeedInput, ImportCommit, MemberInput, MemberRole,
    OccurrenceInput, PatientInput, Problem, Regeneration, ServiceKeyInput, TaskInput)
from kalends_client.types import File

FILE = (b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VEVENT\r\nUID:u1\r\nDTSTAMP:20260101T000000Z\r\n"
        b"DTSTART:20260303T100000Z\r\nSUMMARY:Dentist\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
steps = 0


def step(answer, status=HTTPStatus.OK):
    """What the server said, as the generator's own type."""
    global steps
    steps += 1
    assert answer.status_code == status, f"{answer.status_code}: {answer.content!r}"
    assert answer.parsed is not None or status == HTTPStatus.NO_CONTENT or not answer.content, answer
    return answer.parsed


step(put_circle.sync_detailed("story", client=client, body=CircleInput(name="Story", time_zone="UTC")), HTTPStatus.CREATED)
assert step(get_circle.sync_detailed("story", client=client)).name == "Story"
assert any(circle.id == "story" for circle in step(list_circles.sync_detailed(client=client)).items)
step(put_member.sync_detailed(
    "story", "ann", client=client, body=MemberInput(display_name="Ann", role=MemberRole.OWNER)), HTTPStatus.CREATED)
step(put_patient.sync_detailed("story", "mom", client=client, body=PatientInput(display_name="Mom")), HTTPStatus.CREATED)
due = datetime.datetime(2026, 3, 3, 9, 0, tzinfo=datetime.timezone.utc)
step(put_task.sync_detailed(
    "story", "t1", client=client, body=TaskInput(title="Refill", due_at=due, reminders=[10])), HTTPStatus.CREATED)
assert step(get_task.sync_detailed("story", "t1", client=client)).due_at == due
step(put_appointment.sync_detailed("story", "a1", client=client, body=AppointmentInput.from_dict({
    "patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-03-04T10:00:00Z",
    "recurrence": {"rrule": "FREQ=WEEKLY;COUNT=3"}})), HTTPStatus.CREATED)
step(put_occurrence.sync_detailed("story", "a1", "20260311T100000Z", client=client, body=OccurrenceInput(
    status=AppointmentStatus.CANCELLED)), HTTPStatus.CREATED)
assert [task.id for task in step(list_tasks.sync_detailed("story", client=client)).items] == ["t1"]
lines = b'{"op": "put", "collection": "tasks", "id": "t2", "value": {"title": "b", "dueAt": "2026-03-05T09:00:00Z"}}\n{}\n'
batch = step(post_batch.sync_detailed("story", client=client, body=File(payload=io.BytesIO(lines))))
assert batch.applied == 1 and batch.rejected[0].line == 2, batch
step(delete_task.sync_detailed("story", "t2", client=client), HTTPStatus.NO_CONTENT)

feed = step(create_feed.sync_detailed("story", client=client, body=FeedInput.from_dict({
    "userId": "ann", "config": {"pastDays": 3660}})), HTTPStatus.CREATED)
assert step(reveal_feed.sync_detailed(feed.id, client=client)).url == feed.url
assert "Refill" in read_feed.sync_detailed(feed.token, "story.ics", client=client).content.decode()
assert len(step(preview_feed.sync_detailed(feed.id, client=client, from_="2026-03-01", to="2026-03-31")).events) == 3
new = step(regenerate_feed.sync_detailed(feed.id, client=client, body=Regeneration(grace_seconds=0)))
assert new.token != feed.token
assert read_feed.sync_detailed(feed.token, "story.ics", client=client).status_code == HTTPStatus.GONE

report = step(create_import.sync_detailed("story", client=client, body=File(payload=io.BytesIO(FILE), mime_type="text/calendar")), HTTPStatus.CREATED)
assert report.counts.created == 1 and report.items[0].summary == "Dentist", report
step(commit_import.sync_detailed(report.id, client=client, body=ImportCommit(exclude=[])))
assert "Dentist" in read_feed.sync_detailed(new.token, "story.ics", client=client).content.decode()
assert step(undo_import.sync_detailed(report.id, client=client)).kept == []
assert step(get_import.sync_detailed(report.id, client=client)).state.value == "undone"

step(revoke_feed.sync_detailed(new.id, client=client))
assert step(get_feed.sync_detailed(new.id, client=client)).revoked_at is not None
key = step(create_key.sync_detailed(client=client, body=ServiceKeyInput(name="second")), HTTPStatus.CREATED)
assert any(one.name == "second" for one in step(list_keys.sync_detailed(client=client)).items)
step(revoke_key.sync_detailed(key.id, client=client))
step(delete_task.sync_detailed("story", "t1", client=client), HTTPStatus.NO_CONTENT)
gone = get_task.sync_detailed("story", "t1", client=client)
assert gone.status_code == HTTPStatus.NOT_FOUND and isinstance(gone.parsed, Problem), gone
print(f"{steps} steps as the document says")
