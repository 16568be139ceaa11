# SPDX-License-Identifier: Apache-2.0
"""Rounds of changes to a calendar view: each remembers which version of each event it has served."""

import uuid
from urllib.parse import quote

from graph_store import Refused


class Delta:
    """The rounds of one account, by the name that is in their links."""

    def __init__(self, api):
        self.api = api
        self.rounds = {}

    def first(self, calendar, query, prefer):
        for name in ("$select", "$expand", "$filter", "$orderby", "$search"):
            if name in query:
                raise Refused(400, "ErrorInvalidUrlQuery", f"The query parameter {name} is not supported with delta.")
        token = {name.lower(): value for name, value in query.items()}
        dead = Refused(
            410, "SyncStateNotFound",
            "The sync state generation is not found; generation=149;[highest=157][157][155][156].")
        if "$skiptoken" in token:
            name, _, offset = token["$skiptoken"].partition(".")
            if name not in self.rounds:
                raise dead
            return self.page(calendar, name, int(offset), prefer)
        if "$deltatoken" in token:
            old = self.rounds.get(token["$deltatoken"])
            if old is None:
                raise dead
            low, high, known, since = old["low"], old["high"], old["served"], old["since"]
        else:
            (low, high), known, since = self.api.span(query), None, None
        items, seen = [], {}
        for ident, version, event, day in self.api.mailbox.view(calendar, low, high):
            seen[ident] = version
            if known is None or known.get(ident) != version:
                items.append(ident)
        if known is not None:
            for ident in known:
                event = self.api.mailbox.events.get(ident.partition(".OCC.")[0])
                if ident in seen or event is not None and not self.api.mailbox.shown(event):
                    continue
                if ".OCC." in ident and event is not None and self.api.settings["silentCancellations"]:
                    continue
                items.append("-" + ident)
            if self.api.settings["outside"]:
                # Whatever changed outside the range is reported as removed, known or not.
                for key, where, ident in self.api.mailbox.log:
                    if key > since and where == calendar and ident not in seen and ident not in known:
                        items.append("-" + ident)
        name = uuid.uuid4().hex
        self.rounds[name] = {
            "low": low, "high": high, "items": list(dict.fromkeys(items)), "seen": seen, "served": dict(known or {}),
            "since": self.api.mailbox.log[-1][0] if self.api.mailbox.log else 0}
        return self.page(calendar, name, 0, prefer)

    def page(self, calendar, name, offset, prefer):
        one = self.rounds[name]
        size = min(int(prefer.get("odata.maxpagesize", "50")), self.api.settings["pageSize"])
        value = []
        if offset == 0 and self.api.settings["emptyPages"]:
            size = 0
        elif offset > 0 and (change := self.api.settings["betweenPages"]):
            self.api.settings["betweenPages"] = None
            event, day = self.api.mailbox.find(change["id"])
            if change.get("delete"):
                self.api.mailbox.delete(event, day)
            else:
                self.api.mailbox.patch(event, day, change["body"])
        if offset < 0:
            offset = 0
        for ident in one["items"][offset:offset + size]:
            if ident.startswith("-"):
                one["served"].pop(ident[1:], None)
                value.append({"@odata.type": "#microsoft.graph.event", "id": self.api.given(ident[1:], prefer), "@removed": {"reason": "deleted"}})
                continue
            one["served"][ident] = one["seen"][ident]
            try:
                event, day = self.api.mailbox.find(ident, calendar)
            except Refused:
                continue
            shown = self.api.shown(event, day, (None, None, False), prefer)
            if shown["type"] == "occurrence":
                shown = {k: shown[k] for k in ("@odata.etag", "id", "start", "end", "type", "seriesMasterId")}
            value.append({"@odata.type": "#microsoft.graph.event", **shown})
        if self.api.settings["repeats"] and value:
            value.append(dict(value[0]))
        answer = {"@odata.context": f"{self.api.base}/$metadata#Collection(event)", "value": value}
        where = f"{self.api.settings['linkBase'] or self.api.base}/me/calendars/{quote(calendar)}/calendarView/delta"
        if size == 0:
            answer["@odata.nextLink"] = f"{where}?$skiptoken={name}.-1"
        elif offset + size < len(one["items"]):
            answer["@odata.nextLink"] = f"{where}?$skiptoken={name}.{offset + size}"
        else:
            for ident in [i for i in one["served"] if i not in one["seen"]]:
                one["served"].pop(ident)
            answer["@odata.deltaLink"] = f"{where}?$deltatoken={name}"
        return 200, answer, {"Preference-Applied": f"odata.track-changes, odata.maxpagesize={size}"}
