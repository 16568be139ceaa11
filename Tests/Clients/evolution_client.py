# SPDX-License-Identifier: Apache-2.0
"""Speaks to Evolution's data server, inside a bus session of its own, for evolution.py.

Reads `refresh` or `list` a line, and answers a line of JSON. The occurrences are those that the data server's own
engine makes, as Evolution shows them.
"""

import json
import sys
from datetime import date, datetime, timezone

import gi

gi.require_version("ECal", "2.0")
gi.require_version("EDataServer", "1.2")
gi.require_version("ICalGLib", "3.0")
from gi.repository import ECal, EDataServer, ICalGLib  # noqa: E402


def say(value):
    print(json.dumps(value), flush=True)


def seconds(day):
    return int(datetime.fromisoformat(day).replace(tzinfo=timezone.utc).timestamp())


def text(moment):
    if moment.is_date():
        return date(moment.get_year(), moment.get_month(), moment.get_day()).isoformat()
    instant = moment.as_timet_with_zone(moment.get_timezone())
    return datetime.fromtimestamp(instant, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def timezone_of(client, component):
    """The zone of an event's end: it is named there, and described elsewhere."""
    parameter = component.get_first_property(ICalGLib.PropertyKind.DTEND_PROPERTY).get_first_parameter(
        ICalGLib.ParameterKind.TZID_PARAMETER)
    if parameter is None:
        return ICalGLib.Timezone.get_utc_timezone()
    return client.get_timezone_sync(parameter.get_tzid(), None)[1]


def occurrences(client, first, last):
    found = []

    def one(component, start, end, *_):
        kinds = (ICalGLib.PropertyKind.RRULE_PROPERTY, ICalGLib.PropertyKind.RECURRENCEID_PROPERTY)
        if not any(component.get_first_property(kind) for kind in kinds):
            # The engine adds the length in seconds to the wall clock (3.46 at least), so that an event over a change
            # of the clocks seems to end an hour off. What is held of a single event is in the event itself.
            end = component.get_dtend()
            if not end.is_date():
                end.set_timezone(timezone_of(client, component))
        found.append([
            component.get_uid(), text(start), text(end), component.get_summary() or "",
            component.get_description() or "", component.get_location() or "",
        ])
        return True

    client.generate_instances_sync(first, last, None, one, None)
    return sorted(found)


def main():
    zone, first, last = sys.argv[1], seconds(sys.argv[2]), seconds(sys.argv[3])
    registry = EDataServer.SourceRegistry.new_sync(None)
    source = registry.ref_source("kalends")
    if source is None:
        say({"error": "the source was not taken"})
        return
    # It waits the whole second for a word that a webcal source does not send.
    client = ECal.Client.connect_sync(source, ECal.ClientSourceType.EVENTS, 1, None)
    client.set_default_timezone(ICalGLib.Timezone.get_builtin_timezone(zone))
    say({"opened": True})
    for line in sys.stdin:
        if line.strip() == "refresh":
            client.refresh_sync(None)
            say({"asked": True})
        else:
            say(occurrences(client, first, last))


try:
    main()
except Exception as error:
    say({"error": str(error)})
