# SPDX-License-Identifier: Apache-2.0
"""What Google's discovery document says about requests and answers; a short list of it where it is not at hand."""

import datetime
import json
import pathlib
import re

from corpora import find

COMMON = {"alt", "fields", "key", "oauth_token", "prettyPrint", "quotaUser", "userIp"}


class Invalid(Exception):
    def __init__(self, message, reason="invalid", place=None):
        super().__init__(message)
        self.message, self.reason, self.place = message, reason, place


def _string(**more):
    return {"type": "string", **more}


def _own_document():
    """Methods, parameters and fields that a calendar client uses; the types are those of the discovery document."""
    integer = {"type": "integer", "minimum": "1"}
    flag = {"type": "boolean"}
    time = _string(format="date-time")
    updates = _string(enum=["all", "externalOnly", "none"])
    listing = {
        "maxResults": integer, "pageToken": _string(), "syncToken": _string(), "showDeleted": flag,
        "singleEvents": flag, "timeMin": time, "timeMax": time, "updatedMin": time, "q": _string(),
        "iCalUID": _string(), "orderBy": _string(enum=["startTime", "updated"]), "timeZone": _string(),
        "privateExtendedProperty": _string(repeated=True), "sharedExtendedProperty": _string(repeated=True),
        "maxAttendees": integer, "showHiddenInvitations": flag, "eventTypes": _string(repeated=True),
    }
    event, channel = {"$ref": "Event"}, {"$ref": "Channel"}
    write = {
        "sendUpdates": updates, "sendNotifications": flag, "maxAttendees": integer,
        "conferenceDataVersion": {"type": "integer", "minimum": "0"}}
    methods = {
        ("calendarList", "list"): ("GET", "users/me/calendarList", {
            "maxResults": integer, "pageToken": _string(), "syncToken": _string(), "showDeleted": flag,
            "showHidden": flag, "minAccessRole": _string(enum=["freeBusyReader", "owner", "reader", "writer"])}, None),
        ("calendars", "insert"): ("POST", "calendars", {}, {"$ref": "Calendar"}),
        ("calendars", "delete"): ("DELETE", "calendars/{calendarId}", {}, None),
        ("events", "list"): ("GET", "calendars/{calendarId}/events", listing, None),
        ("events", "insert"): ("POST", "calendars/{calendarId}/events", write, event),
        ("events", "import"): ("POST", "calendars/{calendarId}/events/import", {}, event),
        ("events", "watch"): ("POST", "calendars/{calendarId}/events/watch", listing, channel),
        ("events", "get"): ("GET", "calendars/{calendarId}/events/{eventId}", {
            "timeZone": _string(), "maxAttendees": integer}, None),
        ("events", "update"): ("PUT", "calendars/{calendarId}/events/{eventId}", write, event),
        ("events", "patch"): ("PATCH", "calendars/{calendarId}/events/{eventId}", write, event),
        ("events", "delete"): ("DELETE", "calendars/{calendarId}/events/{eventId}", write, None),
        ("events", "instances"): ("GET", "calendars/{calendarId}/events/{eventId}/instances", {
            "maxResults": integer, "pageToken": _string(), "originalStart": _string(), "showDeleted": flag,
            "timeMin": time, "timeMax": time, "timeZone": _string()}, None),
        ("channels", "stop"): ("POST", "channels/stop", {}, channel),
    }
    resources = {}
    for (resource, name), (verb, path, parameters, request) in methods.items():
        resources.setdefault(resource, {"methods": {}})["methods"][name] = {
            "httpMethod": verb, "path": path,
            "parameters": {key: {**value, "location": "query"} for key, value in parameters.items()},
            **({"request": request} if request else {}),
        }
    moment = {"type": "object", "properties": {
        "date": _string(format="date"), "dateTime": time, "timeZone": _string()}}
    texts = {"type": "object", "additionalProperties": _string()}
    person = {"type": "object", "properties": {
        "email": _string(), "displayName": _string(), "self": flag, "id": _string()}}
    schemas = {
        "Event": {"type": "object", "properties": {
            **{name: _string() for name in (
                "kind", "etag", "id", "status", "htmlLink", "summary", "description", "location", "iCalUID",
                "recurringEventId", "transparency", "visibility", "eventType", "colorId")},
            "created": time, "updated": time, "sequence": {"type": "integer"}, "start": moment, "end": moment,
            "originalStartTime": moment, "recurrence": {"type": "array", "items": _string()}, "creator": person,
            "organizer": person, "endTimeUnspecified": flag, "attendees": {"type": "array", "items": person},
            "extendedProperties": {"type": "object", "properties": {"private": texts, "shared": texts}},
            "conferenceData": {"type": "object", "properties": {
                "conferenceId": _string(), "conferenceSolution": {"type": "object", "properties": {
                    "key": {"type": "object", "properties": {"type": _string()}}}},
                "entryPoints": {"type": "array", "items": {"type": "object", "properties": {
                    "entryPointType": _string(), "uri": _string()}}}}},
            "reminders": {"type": "object", "properties": {"useDefault": flag, "overrides": {
                "type": "array", "items": {"type": "object", "properties": {
                    "method": _string(), "minutes": {"type": "integer"}}}}}},
        }},
        "Calendar": {"type": "object", "properties": {name: _string() for name in (
            "kind", "etag", "id", "summary", "description", "location", "timeZone", "dataOwner")}},
        "Channel": {"type": "object", "properties": {
            **{name: _string() for name in ("kind", "id", "resourceId", "resourceUri", "token", "type", "address")},
            "expiration": _string(format="int64"), "params": texts, "payload": flag}},
    }
    return {"resources": resources, "schemas": schemas}


class Checks:
    def __init__(self, path=None):
        place = path or find("google_calendar_v3_discovery.json")
        self.is_complete = place is not None
        document = json.loads(pathlib.Path(place).read_text()) if place else _own_document()
        self.schemas = document["schemas"]
        self.methods = []
        for resource, value in document["resources"].items():
            for name, method in value["methods"].items():
                path = re.sub(r"\\?\{(\w+)\\?\}", r"(?P<\1>[^/]+)", method["path"])
                self.methods.append((f"{resource}.{name}", method, re.compile(path)))
        # `events/import` is no event.
        self.methods.sort(key=lambda entry: "{eventId}" in entry[1]["path"])

    def method(self, verb, path):
        """The method's name, its description and the parameters in the path; None for no method of the API."""
        for name, method, pattern in self.methods:
            found = pattern.fullmatch(path)
            if found and method["httpMethod"] == verb:
                return name, method, found.groupdict()
        return None

    def query(self, method, pairs):
        """The parameters of a query by name, lists for repeated ones; raises Invalid."""
        known = {k: v for k, v in method.get("parameters", {}).items() if v.get("location") == "query"}
        values = {}
        for name, value in pairs:
            if name in COMMON:
                if name == "alt" and value != "json":
                    raise Invalid("alt", place=name)
                continue
            if name not in known:
                raise Invalid(f"Unknown parameter {name}", place=name)
            kind = known[name]
            if kind.get("repeated"):
                values.setdefault(name, []).append(value)
            elif name in values:
                raise Invalid(f"Repeated parameter {name}", place=name)
            else:
                values[name] = self._parameter(name, kind, value)
        return values

    def _parameter(self, name, kind, value):
        if kind["type"] == "integer":
            if not re.fullmatch(r"\d{1,9}", value) or int(value) < int(kind.get("minimum", 0)):
                raise Invalid(f"Invalid integer {name}", place=name)
            return int(value)
        if kind["type"] == "boolean":
            if value not in ("true", "false"):
                raise Invalid(f"Invalid boolean {name}", place=name)
            return value == "true"
        if "enum" in kind and value not in kind["enum"]:
            raise Invalid(f"Invalid value {name}", place=name)
        if kind.get("format") == "date-time" and not is_time(value, offset=True):
            raise Invalid(f"Invalid time {name}", place=name)
        return value

    def value(self, schema, value, path, nulls=False):
        """Raises Invalid when a value is not of its schema, or has a field that the schema does not know."""
        while "$ref" in schema:
            schema = self.schemas[schema["$ref"]]
        if value is None and nulls:
            return
        kind = schema.get("type")
        if kind == "object":
            if not isinstance(value, dict):
                raise Invalid(f"{path} is no object", "parseError")
            for name, member in value.items():
                inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
                if inner is None:
                    raise Invalid(f"Unknown field {path}.{name}", "parseError")
                self.value(inner, member, f"{path}.{name}", nulls)
        elif kind == "array":
            if not isinstance(value, list):
                raise Invalid(f"{path} is no array", "parseError")
            for place, item in enumerate(value):
                self.value(schema["items"], item, f"{path}.{place}")
        elif kind == "string":
            if not isinstance(value, str) or not _is_format(schema.get("format"), value):
                raise Invalid(f"{path} is no such text", "parseError")
            if "enum" in schema and value not in schema["enum"]:
                raise Invalid(f"{path} is none of the values", "parseError")
        elif kind == "boolean":
            if not isinstance(value, bool):
                raise Invalid(f"{path} is no boolean", "parseError")
        elif kind in ("integer", "number"):
            if isinstance(value, bool) or not isinstance(value, int if kind == "integer" else (int, float)):
                raise Invalid(f"{path} is no number", "parseError")


def _is_format(name, value):
    if name == "int64":
        return re.fullmatch(r"-?\d{1,19}", value) is not None
    if name == "date":
        try:
            return datetime.date.fromisoformat(value) is not None and len(value) == 10
        except ValueError:
            return False
    return name != "date-time" or is_time(value)


def is_time(value, offset=False):
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?", value):
        return False
    if offset and not re.search(r"(Z|[+-]\d\d:\d\d)$", value):
        return False
    try:
        datetime.datetime.fromisoformat(re.sub(r"\.\d+", "", value).replace("Z", "+00:00"))
    except ValueError:
        return False
    return True
