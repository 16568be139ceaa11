# SPDX-License-Identifier: Apache-2.0
"""Speaks to Evolution's data server, inside a bus session of its own, for account_evolution.py.

Reads a line of JSON, the name of a function below and its values, and answers a line of JSON.
"""

import json
import sys
import time
from datetime import datetime, timezone
from urllib.parse import unquote

import gi

gi.require_version("ECal", "2.0")
gi.require_version("EDataServer", "1.2")
gi.require_version("ICalGLib", "3.0")
from gi.repository import ECal, EDataServer, GLib, ICalGLib  # noqa: E402

KINDS = {"Calendar": ECal.ClientSourceType.EVENTS, "Task List": ECal.ClientSourceType.TASKS}
# Without flags: no messages to attendees.
FLAGS = ECal.OperationFlags.NONE
# The password is given after the connection to the data server, and not before.
NO_WAIT = 0xFFFFFFFF


class Account:
    def __init__(self):
        self.registry = EDataServer.SourceRegistry.new_sync(None)
        self.clients = {}

    def open(self, user, password):
        credentials = EDataServer.NamedParameters.new()
        credentials.set(EDataServer.SOURCE_CREDENTIAL_USERNAME, user)
        credentials.set(EDataServer.SOURCE_CREDENTIAL_PASSWORD, password)
        account = self.registry.ref_source("kalends")
        # What a window asks its user for.
        account.invoke_authenticate_sync(credentials, None)
        end, found = time.monotonic() + 40, {}
        while time.monotonic() < end and len(found) < 4:
            context = GLib.MainContext.default()
            while context.pending():
                context.iteration(False)
            found = {source.get_uid(): source for source in self.registry.list_sources(None)
                     if source.get_parent() == "kalends" and any(source.has_extension(kind) for kind in KINDS)}
            time.sleep(0.2)
        for source in found.values():
            path = source.get_extension("WebDAV Backend").dup_resource_path()
            kind = next(kind for kind in KINDS if source.has_extension(kind))
            client = ECal.Client.connect_sync(source, KINDS[kind], NO_WAIT, None)
            source.invoke_authenticate_sync(credentials, None)
            self.clients[unquote(path.rstrip("/").split("/")[-1])] = client
        return sorted(self.clients)

    def refresh(self):
        for client in self.clients.values():
            try:
                client.refresh_sync(None)
            except GLib.Error:
                # It is not online with this one yet, or no more.
                pass

    def begin_refresh(self):
        # When it is let in no more, it waits for a password.
        for client in self.clients.values():
            client.refresh(None, lambda *_: None)
        context, end = GLib.MainContext.default(), time.monotonic() + 2
        while time.monotonic() < end:
            context.iteration(False)
            time.sleep(0.01)

    def list(self):
        found = []
        for name, client in self.clients.items():
            for component in client.get_object_list_sync("#t")[1]:
                if component.get_first_property(ICalGLib.PropertyKind.RECURRENCEID_PROPERTY):
                    continue
                moment = component.get_due()
                if moment is None or moment.is_null_time():
                    moment = component.get_dtstart()
                found.append([name, component.get_uid(), component.get_summary() or "", text(client, component, moment),
                              component.get_status() == ICalGLib.PropertyStatus.COMPLETED])
        return found

    def _find(self, uid):
        for client in self.clients.values():
            try:
                return client, client.get_object_sync(uid, None, None)[1]
            except GLib.Error:
                continue
        raise ValueError(f"Evolution has nothing with the UID {uid}")

    def move(self, uid, start):
        client, component = self._find(uid)
        shift(component, start)
        client.modify_object_sync(component, ECal.ObjModType.ALL, FLAGS, None)

    def _occurrence(self, client, component, original):
        """How the engine expands a series, and Evolution shows it, for one time."""
        found = []

        def one(instance, *_):
            moment = instance.get_recurrenceid()
            instant = moment.as_timet_with_zone(zone_of(client, component))
            if instance.get_uid() == component.get_uid() and instant == seconds(original):
                found.append(instance.clone())
            return True

        day = 86_400
        client.generate_instances_sync(seconds(original) - day, seconds(original) + day, None, one, None)
        return found[0]

    def move_occurrence(self, uid, original, start):
        client, component = self._find(uid)
        occurrence = self._occurrence(client, component, original)
        # As its window does with an occurrence that is dragged.
        occurrence.remove_property(occurrence.get_first_property(ICalGLib.PropertyKind.RRULE_PROPERTY))
        shift(occurrence, start)
        client.modify_object_sync(occurrence, ECal.ObjModType.THIS, FLAGS, None)

    def delete_occurrence(self, uid, start):
        client, component = self._find(uid)
        occurrence = self._occurrence(client, component, start)
        identifier = ECal.Component.new_from_icalcomponent(occurrence).get_recurid_as_string()
        client.remove_object_sync(uid, identifier, ECal.ObjModType.THIS, FLAGS, None)

    def copy(self, uid, other):
        client, component = self._find(uid)
        component.set_uid(other)
        client.create_object_sync(component, FLAGS, None)

    def complete(self, uid):
        client, component = self._find(uid)
        # As a click on the box of a task does.
        ECal.util_mark_task_complete_sync(component, -1, client, None)
        client.modify_object_sync(component, ECal.ObjModType.ALL, FLAGS, None)

    def make_task(self, collection, uid, title):
        component = ICalGLib.Component.new_from_string(
            f"BEGIN:VTODO\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:{title}\r\nEND:VTODO\r\n")
        self.clients[collection].create_object_sync(component, FLAGS, None)

    def delete(self, uid):
        client, _ = self._find(uid)
        client.remove_object_sync(uid, None, ECal.ObjModType.ALL, FLAGS, None)


def seconds(moment):
    return int(datetime.fromisoformat(moment).timestamp())


def shift(component, start):
    """Moves an event, which is then written in UTC."""
    length = component.get_dtend().as_timet() - component.get_dtstart().as_timet()
    for moment, put in ((seconds(start), component.set_dtstart), (seconds(start) + length, component.set_dtend)):
        put(ICalGLib.Time.new_from_timet_with_zone(moment, False, ICalGLib.Timezone.get_utc_timezone()))


def zone_of(client, component):
    kinds = (ICalGLib.PropertyKind.DUE_PROPERTY, ICalGLib.PropertyKind.DTSTART_PROPERTY)
    first = next(filter(None, map(component.get_first_property, kinds)))
    parameter = first.get_first_parameter(ICalGLib.ParameterKind.TZID_PARAMETER)
    if parameter is None:
        return ICalGLib.Timezone.get_utc_timezone()
    return client.get_timezone_sync(parameter.get_tzid(), None)[1]


def text(client, component, moment):
    if moment is None or moment.is_null_time():
        return ""
    if moment.is_date():
        return f"{moment.get_year():04}-{moment.get_month():02}-{moment.get_day():02}"
    instant = moment.as_timet_with_zone(zone_of(client, component))
    return datetime.fromtimestamp(instant, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def main():
    account = Account()
    for line in sys.stdin:
        word, *values = json.loads(line)
        try:
            answer = getattr(account, word)(*values)
        except Exception as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


main()
