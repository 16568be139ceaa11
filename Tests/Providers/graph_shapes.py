# SPDX-License-Identifier: Apache-2.0
"""What bodies of Microsoft Graph may hold: by the vendor's metadata where it is at hand, else by the list below."""

import re
import xml.etree.ElementTree as Tree
from datetime import datetime

from corpora import find

EDM = "{http://docs.oasis-open.org/odata/ns/edm}"


# Used without the metadata: what a client of calendars sends and gets.
OWN = {
    "event": {
        "id": "Edm.String", "changeKey": "Edm.String", "createdDateTime": "Edm.DateTimeOffset",
        "lastModifiedDateTime": "Edm.DateTimeOffset", "subject": "Edm.String", "body": "itemBody",
        "bodyPreview": "Edm.String", "start": "dateTimeTimeZone", "end": "dateTimeTimeZone", "isAllDay": "Edm.Boolean",
        "isCancelled": "Edm.Boolean", "isOrganizer": "Edm.Boolean", "isDraft": "Edm.Boolean",
        "isReminderOn": "Edm.Boolean", "reminderMinutesBeforeStart": "Edm.Int32", "showAs": "freeBusyStatus",
        "sensitivity": "sensitivity", "importance": "importance", "type": "eventType", "seriesMasterId": "Edm.String",
        "recurrence": "patternedRecurrence", "location": "location", "locations": "Collection(location)",
        "attendees": "Collection(attendee)", "categories": "Collection(Edm.String)", "iCalUId": "Edm.String",
        "originalStart": "Edm.DateTimeOffset", "originalStartTimeZone": "Edm.String",
        "originalEndTimeZone": "Edm.String", "transactionId": "Edm.String", "webLink": "Edm.String",
        "isOnlineMeeting": "Edm.Boolean", "cancelledOccurrences": "Collection(Edm.String)", "exceptionOccurrences": "Collection(event)",
        "singleValueExtendedProperties": "Collection(singleValueLegacyExtendedProperty)",
    },
    "calendar": {
        "id": "Edm.String", "name": "Edm.String", "color": "calendarColor", "hexColor": "Edm.String",
        "changeKey": "Edm.String", "canEdit": "Edm.Boolean", "canShare": "Edm.Boolean",
        "canViewPrivateItems": "Edm.Boolean", "isDefaultCalendar": "Edm.Boolean", "isRemovable": "Edm.Boolean",
        "owner": "emailAddress",
        "singleValueExtendedProperties": "Collection(singleValueLegacyExtendedProperty)",
    },
    "subscription": {
        "id": "Edm.String", "changeType": "Edm.String", "notificationUrl": "Edm.String",
        "lifecycleNotificationUrl": "Edm.String", "resource": "Edm.String", "clientState": "Edm.String",
        "expirationDateTime": "Edm.DateTimeOffset", "applicationId": "Edm.String", "creatorId": "Edm.String",
        "latestSupportedTlsVersion": "Edm.String",
    },
    "dateTimeTimeZone": {"dateTime": "Edm.String", "timeZone": "Edm.String"},
    "itemBody": {"content": "Edm.String", "contentType": "bodyType"},
    "location": {"displayName": "Edm.String", "locationType": "locationType"},
    "emailAddress": {"address": "Edm.String", "name": "Edm.String"},
    "attendee": {"emailAddress": "emailAddress", "type": "attendeeType"},
    "singleValueLegacyExtendedProperty": {"id": "Edm.String", "value": "Edm.String"},
    "patternedRecurrence": {"pattern": "recurrencePattern", "range": "recurrenceRange"},
    "recurrencePattern": {
        "type": "recurrencePatternType", "interval": "Edm.Int32", "month": "Edm.Int32", "dayOfMonth": "Edm.Int32",
        "daysOfWeek": "Collection(dayOfWeek)", "firstDayOfWeek": "dayOfWeek", "index": "weekIndex",
    },
    "recurrenceRange": {
        "type": "recurrenceRangeType", "startDate": "Edm.Date", "endDate": "Edm.Date",
        "recurrenceTimeZone": "Edm.String", "numberOfOccurrences": "Edm.Int32",
    },
}
OWN_WORDS = {
    "freeBusyStatus": "unknown free tentative busy oof workingElsewhere", "sensitivity": "normal personal private confidential",
    "importance": "low normal high", "eventType": "singleInstance occurrence exception seriesMaster", "bodyType": "text html",
    "calendarColor": "auto lightBlue lightGreen lightOrange lightGray lightYellow lightTeal lightPink lightBrown lightRed maxColor",
    "recurrencePatternType": "daily weekly absoluteMonthly relativeMonthly absoluteYearly relativeYearly",
    "recurrenceRangeType": "endDate noEnd numbered", "weekIndex": "first second third fourth last",
    "dayOfWeek": "sunday monday tuesday wednesday thursday friday saturday", "attendeeType": "required optional resource",
    "locationType": "default conferenceRoom homeAddress businessAddress geoCoordinates streetAddress hotel restaurant "
    "localBusiness postalAddress",
}


class Shapes:
    """Types by name, each with its properties, and enumerations."""

    def __init__(self):
        self.types, self.words, self.required = {}, {}, {}
        path = find("graph_calendar_v1.csdl.xml")
        if path:
            self.read(path)
        else:
            self.types = OWN
            self.words = {name: set(words.split()) for name, words in OWN_WORDS.items()}

    def read(self, path):
        root, bases = Tree.parse(path).getroot(), {}
        for enum in root.iter(EDM + "EnumType"):
            self.words[enum.get("Name")] = {member.get("Name") for member in enum.iter(EDM + "Member")}
        for kind in list(root.iter(EDM + "ComplexType")) + list(root.iter(EDM + "EntityType")):
            name = kind.get("Name")
            bases[name] = (kind.get("BaseType") or "").split(".")[-1]
            properties = list(kind.findall(EDM + "Property")) + list(kind.findall(EDM + "NavigationProperty"))
            self.types[name] = {
                one.get("Name"): one.get("Type").replace("microsoft.graph.", "").replace("graph.", "") for one in properties}
            self.required[name] = {one.get("Name") for one in kind.findall(EDM + "Property") if one.get("Nullable") == "false"}
        for name in self.types:
            base, merged = bases.get(name), dict(self.types[name])
            while base:
                merged.update({k: v for k, v in self.types.get(base, {}).items() if k not in merged})
                base = bases.get(base)
            self.types[name] = merged

    def fault(self, name, value, where=""):
        """What is wrong with a value of a type: a sentence, None when nothing is."""
        if name.startswith("Collection("):
            if not isinstance(value, list):
                return f"{where} is no collection"
            return next((f for i, one in enumerate(value) if (f := self.fault(name[11:-1], one, f"{where}[{i}]"))), None)
        if value is None:
            return None
        if name in self.words:
            return None if value in self.words[name] else f"{where}: {value!r} is not a member of {name}"
        if name in self.types:
            if not isinstance(value, dict):
                return f"{where} is no {name}"
            for key, one in value.items():
                if "@odata." in key or key == "@removed":
                    continue
                if key not in self.types[name]:
                    return f"The property '{key}' does not exist on type 'microsoft.graph.{name}'"
                if one is None and key in self.required.get(name, ()) and key != "id":
                    return f"{where}.{key} must not be null"
                if found := self.fault(self.types[name][key], one, f"{where}.{key}"):
                    return found
            return None
        checks = {
            "Edm.String": lambda: isinstance(value, str), "Edm.Boolean": lambda: isinstance(value, bool),
            "Edm.Int32": lambda: isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31,
            "Edm.Date": lambda: isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) and bool(
                datetime.strptime(value, "%Y-%m-%d")),
            "Edm.DateTimeOffset": lambda: isinstance(value, str) and re.fullmatch(
                r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", value),
            "Edm.Guid": lambda: isinstance(value, str) and re.fullmatch(r"[0-9a-fA-F-]{36}", value),
        }
        try:
            return None if name not in checks or checks[name]() else f"{where}: {value!r} is no {name}"
        except ValueError:
            return f"{where}: {value!r} is no {name}"
