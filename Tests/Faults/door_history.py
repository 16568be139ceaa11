# SPDX-License-Identifier: Apache-2.0
"""A history of the CalDAV door: a circle, its persons with their calendar apps and own calendars, and what they do."""

import random
import threading
import time
from datetime import datetime, timedelta, timezone
from urllib.parse import quote

from door_clients import (SPACES, ZONE, App, Down, changed_occurrence, components, content, edited, instant, made, timed,
                          uid_of, value)
from door_model import ANY, Cell, Item
from server import Violation

FIRST = (int(time.time()) // 86_400 + 3) * 86_400
# Names as apps make them, and such as people type.
NAMES = ["{}.ics", "{} ä.ics", "{}+1.ics", "{}%41", "{}@example.com.ics"]


def rfc3339(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(text):
    return None if text is None else int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


class History:
    def __init__(self, number, seed, server):
        self.chance, self.name, self.server, self.seed = random.Random(seed), f"h{number}", server, seed
        self.lock = threading.RLock()
        self.number, self.unanswered, self.last_change = 0, 0, 0
        self.trace, self.fault = [], None
        self.items, self.resources, self.calendars, self.looks = {}, {}, {}, {}
        # Moves without an answer: the resource is at one of both places.
        self.moves = []
        server.must("PUT", f"/v1/circles/{self.name}", {"name": f"Circle {self.name}", "timeZone": "Europe/Berlin"})
        self.users = {}
        for user, role in (("ann", "owner"), ("ben", "member"), ("vic", "viewer")):
            self.users[user] = f"{user}-{self.name}"
            server.must("PUT", f"/v1/circles/{self.name}/members/{self.users[user]}", {"displayName": user, "role": role})
        server.must("PUT", f"/v1/circles/{self.name}/patients/mom", {"displayName": "Mom"})
        self.apps = [App(self, self.users[user], f"{user} {device} of {self.name}") for user, device in
                     (("ann", "phone"), ("ann", "laptop"), ("ben", "phone"), ("vic", "phone"))]
        self.lost_app = App(self, self.users["ben"], f"ben's lost phone of {self.name}")
        for _ in range(4):
            self.create_item()
        for app in self.apps:
            app.synchronize()

    # Notes

    def note(self, text):
        with self.lock:
            self.trace.append(text)

    def broken(self, text):
        raise Violation(f"{self.name} (seed {self.seed}): {text}\n  " + "\n  ".join(self.trace[-150:]))

    def fresh(self):
        """A number that nothing else of this history has."""
        with self.lock:
            self.number += 1
            return self.number

    def moment(self):
        """A minute of its own, in about five months that a change of the clock is in."""
        number = self.fresh()
        return FIRST + self.chance.randrange(150) * 86_400 + (number % 1440) * 60

    def chosen(self, values):
        values = list(values)
        return self.chance.choice(values) if values else None

    # The API

    def call(self, method, path, document=None, user=None):
        """Status and document; raises Down when there is no answer."""
        for _ in range(200):
            try:
                status, found = self.server.call(method, path, document, timeout=60, user=user)
            except OSError as error:
                raise Down(isinstance(error, ConnectionRefusedError)) from None
            if status != 429 and not (status == 503 and method == "GET"):
                break
            time.sleep(0.1)
        if status >= 500 and status != 503:
            self.broken(f"{method} {path} was answered {status}: {found}")
        return status, found

    # What is known at a quiet moment, for a backup

    def state(self):
        return [
            [(key, (cell.identifier, cell.uid, cell.state())) for key, cell in self.items.items()],
            *([(key, cell.state()) for key, cell in cells.items()] for cells in self.cells),
            [app.password.state() for app in (*self.apps, self.lost_app)]]

    @property
    def cells(self):
        return self.resources, self.calendars, self.looks

    def put_back(self, state):
        """What was written since is gone; the apps keep their copies, as they know nothing of it."""
        self.note("restored")
        self.last_change = 0
        items, *others, passwords = state
        kept = self.items
        self.items = {}
        for key, (identifier, uid, fields) in items:
            self.items[key] = kept[key]
            kept[key].identifier, kept[key].uid, kept[key].fields = identifier, uid, fields
        for cells, known in zip(self.cells, others):
            cells.clear()
            for key, fields in known:
                cells[key] = Cell()
                cells[key].fields = fields
        for app, password in zip((*self.apps, self.lost_app), passwords):
            app.password.put_back(password)

    def write(self, cells, work):
        """Writes to cells, by their changes; the answer's status and what came with it."""
        writes = [cell.begin(**changes) for cell, changes in cells]
        try:
            status, found, values = work()
        except Down as down:
            self.unanswered += not down.is_unsent
            for one in writes:
                one.end(False if down.is_unsent else None)
            raise
        is_done = None if status >= 500 else status < 300
        for one in writes:
            one.end(is_done, values if is_done else None)
        return status, found

    def create_item(self):
        self.put_item(None)

    def put_item(self, item):
        kind = item.collection if item else self.chance.choice(
            ["tasks", "tasks", "appointments", "appointments", "follow-ups", "shifts"])
        number, start = self.fresh(), self.moment()
        identifier = item.identifier if item else f"{kind[0]}{number}"
        word, notes = f"word{number}", self.chance.choice([None, f"note{number}"])
        changes = {"gone": False, "start": start, "notes": notes}
        if kind in ("tasks", "follow-ups"):
            status = self.chance.choice(["open", "open", "completed", "cancelled"])
            changes |= {"title": word, "status": status}
            if kind == "tasks" and self.chance.random() < 0.15:
                changes["start"] = None
            document = {"title" if kind == "tasks" else "description": word, "status": status, "notes": notes,
                        "dueAt": None if changes["start"] is None else rfc3339(start)}
        elif kind == "appointments":
            rule = self.chance.choice([None, "FREQ=DAILY;COUNT=5", "FREQ=WEEKLY;COUNT=6"])
            changes |= {"title": word, "status": "confirmed", "rrule": rule, "part": None}
            document = {"patientId": "mom", "provider": word, "startAt": rfc3339(start), "endAt": rfc3339(start + 1800),
                        "notes": notes, "recurrence": {"rrule": rule} if rule else None}
        else:
            document = {"patientId": "mom", "ownerId": self.users[self.chance.choice(["ann", "ben"])],
                        "startAt": rfc3339(start), "endAt": rfc3339(start + 1800), "notes": notes}
        path = f"/v1/circles/{self.name}/{kind}/{identifier}"
        is_new = item is None
        if is_new:
            item = Item(kind, None, identifier)
            with self.lock:
                self.items[kind, identifier] = item
        self.note(f"API: PUT {kind} {identifier} {word} {rfc3339(start)}")

        def work():
            status, found = self.call("PUT", path, document, self.users["ann"])
            if status == 503:
                return status, found, None
            if status >= 300:
                self.broken(f"PUT {path} of {document} was answered {status}: {found}")
            item.uid = found["uid"]
            return status, found, None
        self.write([(item, changes)], work)

    def api_step(self):
        way = self.chance.random()
        live = [item for item in list(self.items.values()) if item.identifier and item.only("gone") is False]
        if way < 0.3 or not live:
            self.create_item()
        elif way < 0.65:
            self.put_item(self.chosen(live))
        elif way < 0.8:
            item = self.chosen(live)
            self.note(f"API: DELETE {item.collection} {item.identifier}")
            path = f"/v1/circles/{self.name}/{item.collection}/{item.identifier}"
            self.write([(item, {"gone": True})], lambda: (*self.call("DELETE", path, user=self.users["ann"]), None))
        else:
            self.undo()

    def undo(self):
        """Undoes one of the last changes of an item, whoever made it."""
        since = max(0, self.last_change - 15)
        status, found = self.call("GET", f"/v1/circles/{self.name}/activity?since={since}&limit=200")
        if status != 200:
            self.broken(f"the activity since {since} was answered {status}: {found}")
        rows = [row for row in found["items"] if row["type"] == "item" and row["undoableUntil"]][-12:]
        self.last_change = max([self.last_change, *(row["number"] for row in found["items"])])
        row = self.chosen(rows)
        item = row and self.known(row["collection"], row["id"])
        if not item:
            return
        self.note(f"API: undo {row['number']} of {row['collection']} {row['id']} {row['change']}")

        def work():
            status, after = self.call(
                "POST", f"/v1/circles/{self.name}/activity/{row['number']}/undo", {}, self.users["ann"])
            if status >= 300:
                return status, after, None
            values = {} if row["occurrence"] else self.values(row["collection"], after["after"])
            return status, after, {name: value for name, value in unknown.items() if name not in fields} | values
        fields = () if row["occurrence"] else ("gone", "start", "title", "status", "notes", "rrule")
        unknown = {"part": ANY, **{name: ANY for name in fields}}
        if fields:
            unknown |= {f"mark:{user}": ANY for user in self.users.values()}
        self.write([(item, unknown)], work)

    def known(self, collection, identifier):
        return next((one for one in list(self.items.values())
                     if one.collection == collection and one.identifier == identifier), None)

    @staticmethod
    def values(collection, document):
        """The fields of an item that a document of the API shows, which may be of some of them."""
        if document is None:
            return {"gone": True}
        found = {"gone": False}
        for name, field in (("dueAt", "start"), ("startAt", "start"), ("notes", "notes"), ("status", "status"),
                            ("title", "title"), ("description", "title"), ("provider", "title")):
            if name in document:
                found[field] = seconds(document[name]) if field == "start" else document[name]
        if "recurrence" in document:
            found["rrule"] = (document["recurrence"] or {}).get("rrule")
        return found

    # The apps in the circle

    def circle_step(self, app):
        segment = self.chance.choice([self.name, f"{self.name}~tasks"])
        own = app.copies.get(segment)
        if own is None:
            return
        if not own or self.chance.random() < 0.25:
            self.new_in_circle(app, segment)
            return
        name = self.chosen(name for name, (etag, _) in own.items() if etag)
        if name is None:
            return
        text = own[name][1]
        item = next((one for one in list(self.items.values()) if one.uid == uid_of(text)), None)
        if item is None:
            return
        if self.chance.random() < 0.15:
            self.put(app, segment, name, None, "DELETE", [(item, {"gone": True})])
            return
        sent, changes = self.edit(app, item, text)
        if sent is not None:
            self.put(app, segment, name, sent, f"PUT {sorted(changes)}", [(item, changes)])

    def edit(self, app, item, text):
        """Another text of an item, and what it changes."""
        main = components(text)[0]
        number, start = self.fresh(), self.moment()
        own = {f"mark:{app.user}": f"mark{number}"}
        way = self.chance.choice(["own", "notes", "move", "move", "status", "title", "part", "part", "end"])
        if way == "own":
            return edited(text, X_DOOR_MARK=f"X-DOOR-MARK:mark{number}"), own
        if item.collection == "appointments" and "STATUS:CANCELLED" in main:
            # One that does not take place stays as it is.
            return edited(text, DESCRIPTION=f"DESCRIPTION:note{number}", DTSTART=timed("DTSTART", start),
                          DTEND=timed("DTEND", start + 1800)), {}
        if way == "notes":
            return edited(text, DESCRIPTION=f"DESCRIPTION:note{number}"), {"notes": f"note{number}"}
        if item.collection in ("tasks", "follow-ups"):
            if way == "status":
                status = self.chance.choice(["open", "completed", "cancelled"])
                word = {"open": "NEEDS-ACTION", "completed": "COMPLETED", "cancelled": "CANCELLED"}[status]
                done = "20261120T100000Z" if status == "completed" else None
                return edited(text, STATUS=f"STATUS:{word}", COMPLETED=done and f"COMPLETED:{done}"), {"status": status}
            if way == "title":
                old = item.only("title")
                line = value(main, "SUMMARY")
                if old is None or old not in line:
                    return None, {}
                return edited(text, SUMMARY=line.replace(old, f"word{number}")), {"title": f"word{number}"}
            return edited(text, DUE=timed("DUE", start)), {"start": start}
        moved = edited(text, DTSTART=timed("DTSTART", start), DTEND=timed("DTEND", start + 1800))
        if item.collection == "shifts":
            is_owner = app.user == self.users["ann"]
            return moved, {"start": start} if is_owner else {}
        rule = value(main, "RRULE")
        if way == "title":
            # It is made from the patient and the provider, and stays.
            return edited(text, SUMMARY=f"SUMMARY:Nobody{number}"), {}
        if rule is None:
            if way == "status":
                return edited(text, STATUS="STATUS:CANCELLED"), {"status": "cancelled"}
            return moved, {"start": start}
        first = instant(value(main, "DTSTART"))
        count = int(content(main, "RRULE").split("COUNT=")[1].split(";")[0]) if "COUNT=" in rule else 0
        if way == "end" and count > 2 and len(components(text)) == 1:
            ended = rule.split(":", 1)[1].replace(f"COUNT={count}", f"COUNT={count - 1}")
            return edited(text, RRULE=f"RRULE:{ended}"), {"rrule": ended, "part": None}
        if way == "part" and count > 1:
            days = (7 if "WEEKLY" in rule else 1) * self.chance.randrange(count)
            at = self.wall(first, days)
            return changed_occurrence(text, at, at + 7200), {"part": (at, at + 7200)}
        if way == "move" and len(components(text)) == 1:
            return moved, {"start": start, "part": None}
        return None, {}

    @staticmethod
    def wall(moment, days):
        """The same time of day some days later, on the circle's clock."""
        clock = datetime.fromtimestamp(moment, ZONE).replace(tzinfo=None) + timedelta(days=days)
        return int(clock.replace(tzinfo=ZONE).timestamp())

    def new_in_circle(self, app, segment):
        number, start = self.fresh(), self.moment()
        uid, word, name = f"made-{self.name}-{number}", f"word{number}", self.chance.choice(NAMES).format(f"new{number}")
        is_task = segment.endswith("~tasks")
        item = Item("tasks" if is_task else "appointments", uid)
        if is_task:
            text = made("VTODO", uid, f"SUMMARY:{word}", timed("DUE", start))
            changes = {"gone": False, "start": start, "title": word, "status": "open", "notes": None}
        else:
            rule = self.chance.choice([None, "FREQ=DAILY;COUNT=4"])
            text = made("VEVENT", uid, f"SUMMARY:{word}", timed("DTSTART", start), timed("DTEND", start + 1800),
                        *([f"RRULE:{rule}"] if rule else []), "STATUS:CONFIRMED")
            changes = {"gone": False, "start": start, "title": word, "status": "confirmed", "notes": None, "rrule": rule,
                       "part": None}
        with self.lock:
            self.items[item.collection, uid] = item
        self.put(app, segment, name, text, f"PUT new {uid}", [(item, changes)], is_new=True)

    def put(self, app, segment, name, text, about, cells, is_new=False):
        """Sends a text, or deletes without one, as an app that knows what it has; its copy follows the answer."""
        own = app.copies.get(segment, {})
        conditions = {"If_None_Match": "*"} if is_new else {"If_Match": own[name][0]}
        path = f"{app.home}{segment}/{name}"
        kind = {"Content_Type": "text/calendar; charset=utf-8"} if text is not None else {}
        method = "DELETE" if text is None else "PUT"

        def work():
            answer = app.send(method, path, text, **conditions, **kind)
            return answer.status, answer, None
        begun = len(self.trace)
        self.note(f"{app.label}: {about} {segment}/{name}")
        try:
            status, answer = self.write(cells, work)
        except Down:
            self.note(f"  no answer to {about} {segment}/{name}")
            raise
        if status >= 300:
            self.note(f"  {status} to {about} {segment}/{name}")
        writes_here = app.user != self.users["vic"] or not segment.startswith(self.name)
        if status == 403 and (writes_here or b"need-privileges" not in answer.body):
            self.broken(f"{app.label}: {about} of {path} was refused: {answer.body}\n{text} (after {begun})")
        if status < 300 and not writes_here:
            self.broken(f"{app.label}: {about} of {path} was answered {status}")
        if status < 300 and text is None:
            own.pop(name, None)
        elif status < 300:
            own[name] = (answer.etag, text)
            # Else it is read again when the app next synchronizes: it must be among the changes, although it may be as
            # it was before.
            if not answer.etag and self.chance.random() < 0.5:
                app.read(segment, [name])
        elif status in (404, 410):
            own.pop(name, None)
        elif status not in (403, 409, 412, 503, 507):
            self.broken(f"{app.label}: {about} of {path} was answered {status}: {answer.body}\n{text}")
        return status

    # Own calendars

    def own_step(self, app):
        mine = [segment for segment in app.copies if not segment.startswith(self.name)]
        way = self.chance.random()
        if not mine or way < 0.06:
            return self.make_calendar(app)
        segment = self.chosen(mine)
        own = app.copies[segment]
        if way < 0.1:
            return self.remove_calendar(app, segment)
        name = self.chosen(name for name, (etag, _) in own.items() if etag)
        if name is None or way < 0.35:
            return self.put_own(app, segment, None)
        if way < 0.6:
            return self.put_own(app, segment, name)
        if way < 0.7:
            cell = self.resource(app, segment, name)
            self.put(app, segment, name, None, "DELETE", [(cell, {"text": None})])
            return
        self.move_own(app, segment, name, self.chosen(mine))

    def resource(self, app, segment, name):
        with self.lock:
            return self.resources.setdefault((app.user, segment, name), Cell())

    def calendar(self, user, segment):
        with self.lock:
            return self.calendars.setdefault((user, segment), Cell(there=False))

    def put_own(self, app, segment, name):
        """A text with properties and parameters that nobody knows, which is kept to the byte."""
        number = self.fresh()
        is_new = name is None
        name = self.chance.choice(NAMES).format(f"own{number}") if is_new else name
        uid = f"own-{app.user}-{number}" if is_new else uid_of(app.copies[segment][name][1])
        kind = "VEVENT" if is_new else components(app.copies[segment][name][1])[0][0].removeprefix("BEGIN:")
        time_ = "DTSTART" if kind == "VEVENT" else "DUE"
        text = made(kind, uid, f"SUMMARY:Own {number} ä", f"{time_}:20261205T{number % 24:02}0000Z",
                    f"X-ODD;X-P=\"a;b\":{'long ' * self.chance.randrange(9)}{number}")
        # A calendar that comes or goes meanwhile has the text or has it not.
        is_blurred = self.calendar(app.user, segment).under_way > 0
        cell = self.resource(app, segment, name)
        self.put(app, segment, name, text, f"PUT own {number}", [(cell, {"text": ANY if is_blurred else text})], is_new)

    def make_calendar(self, app):
        number = self.fresh()
        gone = [segment for (user, segment), cell in list(self.calendars.items())
                if user == app.user and cell.only("there") is False]
        segment = self.chosen(gone) if gone and self.chance.random() < 0.5 else f"cal{number} ö"
        cell = self.calendar(app.user, segment)
        self.note(f"{app.label}: MKCALENDAR {segment}")

        def work():
            answer = app.send("MKCALENDAR", f"{app.home}{segment}/")
            return answer.status, answer, None
        status, answer = self.write([(cell, {"there": True})], work)
        if status == 201:
            app.copies.setdefault(segment, {})
        # The other device may have made it.
        elif status not in (403, 405, 503):
            self.broken(f"{app.label}: MKCALENDAR {segment} was answered {status}: {answer.body}")

    def remove_calendar(self, app, segment):
        self.note(f"{app.label}: DELETE calendar {segment}")
        cells = [(cell, {"text": None}) for (user, where, _), cell in list(self.resources.items())
                 if (user, where) == (app.user, segment)]
        looks = [(cell, {"value": None}) for (user, where, _), cell in list(self.looks.items())
                 if (user, where) == (app.user, segment)]

        def work():
            answer = app.send("DELETE", f"{app.home}{segment}/")
            return answer.status, answer, None
        status, answer = self.write([(self.calendar(app.user, segment), {"there": False}), *cells, *looks], work)
        if status < 300 or status == 404:
            app.copies.pop(segment, None)
            app.tokens.pop(segment, None)
        elif status != 503:
            self.broken(f"{app.label}: DELETE of {segment} was answered {status}: {answer.body}")

    def move_own(self, app, segment, name, target):
        etag, text = app.copies[segment][name]
        new = self.chance.choice(NAMES).format(f"moved{self.fresh()}")
        cells = [(self.resource(app, segment, name), {"text": None}), (self.resource(app, target, new), {"text": text})]
        if any(self.calendar(app.user, where).under_way > 0 for where in (segment, target)):
            return
        self.note(f"{app.label}: MOVE {segment}/{name} to {target}/{new}")

        def work():
            answer = app.send("MOVE", f"{app.home}{segment}/{name}", If_Match=etag, Overwrite="F",
                              Destination=self.server.origin + quote(f"{app.home}{target}/{new}"))
            return answer.status, answer, None
        try:
            status, answer = self.write(cells, work)
        except Down:
            self.moves.append((app.user, cells))
            raise
        if status == 201:
            app.copies[segment].pop(name, None)
            app.copies[target][new] = (None, text)
        elif status == 503:
            self.moves.append((app.user, cells))
        elif status not in (404, 409, 412):
            self.broken(f"{app.label}: MOVE of {segment}/{name} to {target}/{new} was answered {status}: {answer.body}")

    def look_step(self, app):
        """Names or colours a calendar, one's own or a circle's, for oneself."""
        segment = self.chosen(app.copies)
        if segment is None:
            return
        tag, word = self.chance.choice([("displayname", f"Name {self.fresh()} ü"), ("A:calendar-color", f"#{self.fresh():06d}FF")])
        with self.lock:
            cell = self.looks.setdefault((app.user, segment, tag), Cell())
        calendar = self.calendars.get((app.user, segment))
        if calendar and calendar.under_way > 0:
            return
        body = f"<propertyupdate {SPACES}><set><prop><{tag}>{word}</{tag}></prop></set></propertyupdate>"
        self.note(f"{app.label}: PROPPATCH {segment} {tag} {word}")

        def work():
            answer = app.send("PROPPATCH", f"{app.home}{segment}/", body, Content_Type="application/xml")
            return answer.status, answer, None
        status, answer = self.write([(cell, {"value": word})], work)
        if status not in (207, 404, 503) or (status == 207 and b" 200 " not in answer.body):
            self.broken(f"{app.label}: PROPPATCH of {segment} was answered {status}: {answer.body}")

    # Everybody at once

    def act(self, who, steps):
        """What one of them does until the server is gone."""
        try:
            for _ in range(steps):
                if self.fault:
                    return
                who()
        except Down:
            pass
        except BaseException as error:
            self.fault = self.fault or error

    def app_step(self, app):
        way = self.chance.random()
        if way < 0.45:
            self.circle_step(app)
        elif way < 0.72:
            self.own_step(app)
        elif way < 0.8:
            self.look_step(app)
        else:
            app.synchronize()

    def lost_step(self):
        """Asks with a password that ends meanwhile."""
        app = self.lost_app
        answer = app.send("PROPFIND", app.home, Depth="1")
        if answer.status not in (207, 401, 503):
            self.broken(f"a lost phone was answered {answer.status}")

    def end_lost(self):
        password = self.lost_app.password
        if self.chance.random() < 0.6 or password.has_ended:
            return
        self.note("the lost phone's password ends")
        password.is_ending = True
        if self.call("DELETE", f"/v1/app-passwords/{password.identifier}")[0] in (204, 404):
            password.has_ended = True

    def begin(self):
        works = [(self.api_step, self.chance.randrange(1, 8)), (self.lost_step, 12), (self.end_lost, 1)]
        works += [(lambda app=app: self.app_step(app), self.chance.randrange(8)) for app in self.apps]
        self.threads = [threading.Thread(target=self.act, args=work, daemon=True) for work in works]
        for thread in self.threads:
            thread.start()

    def finish(self):
        for thread in self.threads:
            thread.join(180)
            if thread.is_alive():
                self.broken("a request has no end")
        if self.fault:
            raise self.fault
