# SPDX-License-Identifier: Apache-2.0
"""Graph's calendar routes over a mailbox: what a request means, and what an event looks like in an answer."""

import json
import re
from datetime import datetime, timedelta, timezone
from urllib.parse import quote, unquote

import graph_series as series
from graph_delta import Delta
from graph_store import Refused

UTC = timezone.utc
# What stands before an id that would change when its item moves; both forms are taken.
MUTABLE = "AAMkMutable"


def preferences(header):
    """What a Prefer header asks for."""
    found = {}
    for part in re.findall(r'([\w.\-]+)\s*=\s*(?:"([^"]*)"|([^,;\s]+))', header or ""):
        found[part[0].lower()] = part[1] or part[2]
    return found


def stamp(seconds):
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f0Z")


def plain(markup):
    """The text of a body, with a line for each block, and the address of a link after its words."""
    text = re.sub(r'<a [^>]*href="([^"]*)"[^>]*>(.*?)</a>', r"\2<\1>", markup, flags=re.DOTALL)
    text = re.sub(r"<br ?/?>|</div>", "\n", text)
    text = re.sub(r"</?(?:html|body|div|span)[^>]*>", "", text)
    return text.replace("&lt;", "<").replace("&amp;", "&")


class API:
    """The routes of one account's mailbox."""

    def __init__(self, mailbox, shapes, pushes, user, base, settings):
        self.mailbox, self.shapes, self.pushes, self.user, self.settings = mailbox, shapes, pushes, user, settings
        self.base = base
        self.delta = Delta(self)

    # What a request asks for

    def handle(self, method, path, query, headers, body):
        """Status, body and header fields of an answer."""
        prefer = preferences(headers.get("prefer"))
        path = re.sub(r"^/users/[^/]+", "/me", path)
        path = re.sub(r"\('([^']+)'\)", r"/\1", path)
        parts = path.strip("/").split("/")
        if parts == ["me"] and method == "GET":
            return 200, {"id": self.user, "displayName": self.user.title(), "mail": f"{self.user}@example.test",
                         "userPrincipalName": f"{self.user}@example.test"}, {}
        if parts[0] == "subscriptions":
            return self.subscriptions(method, parts[1:], body)
        if parts[:2] == ["me", "calendars"]:
            if len(parts) == 2:
                return self.calendars(method, query, body)
            calendar = parts[2]
            if calendar not in self.mailbox.calendars:
                raise Refused(404, "ErrorItemNotFound", "The specified object was not found in the store.")
            if len(parts) == 3:
                return self.calendar(method, calendar, query, body)
            rest = parts[3:]
        elif parts[:2] in (["me", "events"], ["me", "calendarView"]):
            calendar, rest = None, parts[1:]
        else:
            raise Refused(404, "UnknownError", "Resource not found for the segment.")
        if rest[0] == "calendarView":
            return self.calendar_view(method, calendar, rest[1:], query, prefer)
        if rest == ["events"]:
            return self.events(method, calendar, query, prefer, body)
        if rest[0] == "events" and len(rest) == 2:
            return self.event(method, calendar, rest[1], query, prefer, headers, body)
        if rest[0] == "events" and len(rest) == 3 and rest[2] == "instances" and method == "GET":
            return self.instances(calendar, rest[1], query, prefer)
        raise Refused(404, "UnknownError", "Resource not found for the segment.")

    def check(self, kind, body):
        if not isinstance(body, dict):
            raise Refused(400, "RequestBodyRead", "The body is no JSON object.")
        if fault := self.shapes.fault(kind, body):
            raise Refused(400, "RequestBodyRead", fault)

    def options(self, query, kind="event"):
        """$select as a set or None, $expand as what is wanted of extended properties and exceptions."""
        select, wanted, exceptions = query.get("$select"), None, False
        names = [name.strip() for name in select.split(",")] if select else None
        for name in names or []:
            if name not in self.shapes.types[kind]:
                raise Refused(400, "BadRequest", f"Could not find a property named '{name}' on type 'microsoft.graph.{kind}'.")
        rest = query.get("$expand", "")
        while rest:
            found = re.match(r"singleValueExtendedProperties\(\$filter=(.*?)\)(?:,|$)", rest)
            if found:
                wanted = {one.lower() for one in re.findall(r"id eq '([^']+)'", found[1])}
            else:
                found = re.match(r"(exceptionOccurrences|calendar)(?:,|$)", rest)
                if not found or kind != "event":
                    raise Refused(400, "BadRequest", f"The $expand cannot be followed: {rest[:60]}")
                exceptions = exceptions or found[1] == "exceptionOccurrences"
            rest = rest[found.end():]
        return names, wanted, exceptions

    # Calendars and subscriptions

    def shown_calendar(self, one, wanted):
        shown = {k: v for k, v in one.items() if k != "_x"}
        values = [{"id": i, "value": v} for k, (i, v) in one["_x"].items() if wanted and k in wanted]
        return {**shown, "singleValueExtendedProperties": values} if values else shown

    def calendars(self, method, query, body):
        if method == "GET":
            _, wanted, _ = self.options(query, "calendar")
            found = [self.shown_calendar(one, wanted) for one in self.mailbox.calendars.values()]
            return 200, self.page("/me/calendars", query, found), {}
        if method != "POST":
            raise Refused(405, "Request_BadRequest", "The method is not allowed here.")
        self.check("calendar", body)
        if not (body.get("name") or "").strip():
            raise Refused(400, "ErrorInvalidRequest", "A calendar needs a name.")
        extended = {one["id"].lower(): (one["id"], one["value"]) for one in body.get("singleValueExtendedProperties") or []}
        return 201, self.shown_calendar(self.mailbox.add_calendar(body["name"], extended), None), {}

    def calendar(self, method, ident, query, body):
        one = self.mailbox.calendars[ident]
        if method == "PATCH":
            self.check("calendar", body)
            one["name"] = body.get("name", one["name"])
        elif method == "DELETE":
            del self.mailbox.calendars[ident]
            for event in [e for e in self.mailbox.events.values() if e.calendar == ident]:
                self.mailbox.delete(event, None)
            return 204, None, {}
        elif method != "GET":
            raise Refused(405, "Request_BadRequest", "The method is not allowed here.")
        return 200, self.shown_calendar(one, self.options(query, "calendar")[1]), {}

    def subscriptions(self, method, rest, body):
        if not rest and method == "POST":
            self.check("subscription", body)
            return 201, self.pushes.create(self.user, body, self.mailbox.calendars), {}
        if not rest:
            return 200, {"value": [one for owner, one in self.pushes.all.values() if owner == self.user]}, {}
        one = self.pushes.get(rest[0])
        if len(rest) == 2 and rest[1] == "reauthorize" and method == "POST":
            return 204, None, {}
        if method == "PATCH":
            self.check("subscription", body)
            one["expirationDateTime"] = self.pushes.expiry(body["expirationDateTime"])
        elif method == "DELETE":
            del self.pushes.all[rest[0]]
            return 204, None, {}
        return 200, one, {}

    # Events

    def moment(self, text):
        try:
            return datetime.fromisoformat(text.replace("Z", "+00:00").replace(" ", "+"))
        except (ValueError, AttributeError):
            raise Refused(400, "ErrorInvalidParameter", "startDateTime and endDateTime are required.") from None

    def span(self, query):
        lower = {name.lower(): value for name, value in query.items()}
        low, high = self.moment(lower.get("startdatetime")), self.moment(lower.get("enddatetime"))
        low, high = (one if one.tzinfo else one.replace(tzinfo=UTC) for one in (low, high))
        if high < low or (high - low).days > 1825:
            raise Refused(400, "ErrorInvalidRequest", "The range of a calendar view is at most 1825 days.")
        return low, high

    def events(self, method, calendar, query, prefer, body):
        if method == "POST":
            self.check("event", body)
            calendar = calendar or next(c["id"] for c in self.mailbox.calendars.values() if c["isDefaultCalendar"])
            if not self.mailbox.calendars[calendar]["canEdit"]:
                raise Refused(403, "ErrorAccessDenied", "Access is denied. Check credentials and try again.")
            event = self.mailbox.create(calendar, body)
            self.pushes.notify(self.user, calendar, event.id, "created")
            where = f"{self.base}/users('{self.user}')/calendars('{calendar}')/events('{event.id}')"
            return 201, self.shown(event, None, (None, None, False), prefer), {"Location": where}
        if method != "GET":
            raise Refused(405, "Request_BadRequest", "The method is not allowed here.")
        options, found = self.options(query), []
        wanted = re.fullmatch(
            r"singleValueExtendedProperties/[Aa]ny\(ep: ?ep/id eq '([^']+)' and ep/value eq '([^']*)'\)",
            query.get("$filter", ""))
        if query.get("$filter") and not wanted:
            raise Refused(400, "ErrorInvalidUrlQueryFilter", "The query filter contains one or more invalid nodes.")
        for event in self.mailbox.events.values():
            if calendar is not None and event.calendar != calendar:
                continue
            if wanted:
                value = event.extended.get(wanted[1].lower(), ("", None))[1]
                # A search goes to the index, which may lag; its comparison knows no case.
                if value is None or value.lower() != wanted[2].lower() or not self.mailbox.shown(event):
                    continue
            found.append(self.shown(event, None, (options[0], options[1], False), prefer))
        return 200, self.page(f"/me/calendars/{calendar}/events" if calendar else "/me/events", query, found), {}

    def page(self, path, query, found):
        top, skip = int(query.get("$top", "10")), int(query.get("$skip", "0"))
        if not 1 <= top <= 1000:
            raise Refused(400, "ErrorInvalidParameter", "The value of $top is from 1 to 1000.")
        top = min(top, self.settings["listSize"])
        answer = {"@odata.context": f"{self.base}/$metadata#Collection", "value": found[skip:skip + top]}
        if len(found) > skip + top:
            more = {**query, "$top": str(top), "$skip": str(skip + top)}
            answer["@odata.nextLink"] = (
                f"{self.settings['linkBase'] or self.base}{quote(path)}?"
                + "&".join(f"{name}={quote(value, safe='')}" for name, value in more.items()))
        return answer

    def event(self, method, calendar, ident, query, prefer, headers, body):
        ident = ident.removeprefix(MUTABLE)
        event, day = self.mailbox.find(ident, calendar)
        if method == "GET":
            return 200, self.shown(event, day, self.options(query), prefer, True), {}
        wanted = headers.get("if-match")
        if wanted and wanted != "*" and wanted != self.etag(event):
            raise Refused(
                412, "ErrorIrresolvableConflict",
                "The send or update operation could not be performed because the change key passed in the request does "
                "not match the current change key for the item.")
        if not self.mailbox.calendars[event.calendar]["canEdit"]:
            raise Refused(403, "ErrorAccessDenied", "Access is denied. Check credentials and try again.")
        if method == "DELETE":
            self.mailbox.delete(event, day)
            self.pushes.notify(self.user, event.calendar, ident, "deleted")
            return 204, None, {}
        if method != "PATCH":
            raise Refused(405, "Request_BadRequest", "The method is not allowed here.")
        self.check("event", body)
        self.mailbox.patch(event, day, body)
        self.pushes.notify(self.user, event.calendar, ident, "updated")
        return 200, self.shown(event, day, (None, None, False), prefer), {}

    def instances(self, calendar, ident, query, prefer):
        event, _ = self.mailbox.find(ident.removeprefix(MUTABLE), calendar)
        if not event.is_series:
            raise Refused(400, "ErrorInvalidRequest", "The event is not the master of a series.")
        low, high = self.span(query)
        names = self.options(query)
        found = []
        for day, begin, end in event.starts(low, high):
            change = event.changed.get(day)
            if change:
                begin, end = change["start"], change["end"]
            if begin < high and (end > low or begin >= low):
                found.append(self.shown(event, day, (names[0], None, False), prefer))
        return 200, self.page(f"/me/events/{ident}/instances", query, found), {}

    # What an event looks like

    def etag(self, event):
        return f'W/"{self.key(event)}"'

    @staticmethod
    def key(event):
        return f"ZlnW4RIAV06KYYwl{event.key:08d}=="

    def shown(self, event, day, options, prefer, by_id=False):
        names, wanted, exceptions = options
        props = dict(event.props)
        kind, start, end, original = "seriesMaster" if event.is_series else "singleInstance", event.start, event.end, None
        ident = event.id
        if day is not None:
            start, end = self.mailbox.planned(event, day)
            original, kind, ident = start, "occurrence", f"{event.id}.OCC.{day}"
            props.update(recurrence=None)
            if change := event.changed.get(day):
                kind, start, end = "exception", change["start"], change["end"]
                props.update(change["props"])
        name = prefer.get("outlook.timezone", "UTC")
        try:
            clock = series.zone(name)
        except LookupError:
            raise Refused(400, "TimeZoneNotSupportedException", f"A valid TimeZone value must be specified: {name}.") from None

        def time(moment):
            return {"dateTime": moment.astimezone(clock).strftime("%Y-%m-%dT%H:%M:%S.0000000"), "timeZone": name}

        body = dict(props["body"] or {"contentType": "text", "content": ""})
        markup = body.get("content") or ""
        text = plain(markup) if props.get("isOnlineMeeting") else markup
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
        if prefer.get("outlook.body-content-type") == "text":
            body = {"contentType": "text", "content": text}
        else:
            whole = markup if props.get("isOnlineMeeting") else f"<html><body><div>{text}</div></body></html>"
            body = {"contentType": "html", "content": whole}
        shown = {
            "@odata.etag": self.etag(event), "id": self.given(ident, prefer), "changeKey": self.key(event),
            "createdDateTime": stamp(event.created), "lastModifiedDateTime": stamp(event.modified),
            "iCalUId": "040000008200E00074C5B7101A82E008" + (ident.encode().hex().upper()[-32:]), "subject": props["subject"],
            "bodyPreview": text[:255], "body": body, "start": time(start), "end": time(end),
            "originalStartTimeZone": event.zone, "originalEndTimeZone": event.zone, "isAllDay": props["isAllDay"],
            "isCancelled": False, "isOrganizer": True, "isDraft": False, "isReminderOn": props["isReminderOn"],
            "reminderMinutesBeforeStart": props["reminderMinutesBeforeStart"], "showAs": props["showAs"],
            "isOnlineMeeting": bool(props.get("isOnlineMeeting")),
            "sensitivity": props["sensitivity"], "importance": props["importance"], "type": kind, "recurrence": props["recurrence"],
            "seriesMasterId": self.given(event.id, prefer) if day is not None else None, "attendees": props["attendees"],
            "categories": props["categories"], "location": props["location"], "locations": [],
            "webLink": "https://outlook.example/" + quote(ident)}
        if original is not None:
            shown["originalStart"] = original.strftime("%Y-%m-%dT%H:%M:%SZ")
        if "transactionId" in props and day is None:
            shown["transactionId"] = props["transactionId"]
        if fault := self.shapes.fault("event", shown):
            raise AssertionError(fault)
        if names is not None:
            shown = {k: v for k, v in shown.items() if k in names or k in ("id", "@odata.etag")}
        if wanted and day is None:
            values = [{"id": i, "value": v} for k, (i, v) in event.extended.items() if k in wanted]
            if values:
                shown["singleValueExtendedProperties"] = values
        if day is None and event.is_series and by_id and self.settings["cancelledOccurrences"]:
            if names is not None and "cancelledOccurrences" in names:
                shown["cancelledOccurrences"] = [f"OID.{shown['id']}.{one}" for one in sorted(event.cancelled)]
            if exceptions:
                shown["exceptionOccurrences"] = [
                    self.shown(event, one, (None, None, False), prefer) for one in sorted(event.changed)]
        return shown

    def given(self, ident, prefer):
        """An id in the form that was asked for."""
        return ident if prefer.get("idtype") == "ImmutableId" else MUTABLE + ident

    # Views and changes

    def calendar_view(self, method, calendar, rest, query, prefer):
        if method != "GET":
            raise Refused(405, "Request_BadRequest", "The method is not allowed here.")
        if rest and rest[0] in ("delta", "delta()", "microsoft.graph.delta()"):
            return self.delta.first(calendar, query, prefer)
        low, high = self.span(query)
        found = [self.shown(event, day, self.options(query), prefer) for _, _, event, day in
                 self.mailbox.view(calendar, low, high) if day is not None or not event.is_series]
        return 200, self.page(f"/me/calendars/{calendar}/calendarView", query, found), {}
