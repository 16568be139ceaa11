# SPDX-License-Identifier: Apache-2.0
"""Times the CalDAV door against Radicale, Xandikos and DAViCal, which all have the same calendar.

usage: bench-door.py PROGRAM --python PYTHON [--items 2000] [--large 100000] [--seconds 1] [--davical FOLDER]
                     [--accounts 55000] [--setup 60] [--only servers|large|accounts]

PYTHON is an interpreter with Radicale and Xandikos. FOLDER has DAViCal, PHP and AWL, as Debian's packages hold them
(`dpkg -x PACKAGE FOLDER`), or is / where they are installed; without it DAViCal is left out.

A circle's items are made over the API. What the door shows of them is then an own calendar of another person and the
calendar of each peer. The servers are measured one after another, with the same requests, for so many seconds a kind, at
least three times each. "a second" is of four connections at once, for the kinds that are asked most. The processor time is
of the server and all of its processes; that of a sync with one change has the change in it. A circle of 100,000 items is
measured alone, and then so many accounts, of which each asks for its home every 15 minutes, as Apple's programs do; fewer
of them are made where --setup seconds are not enough.
"""

import argparse
import datetime
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Faults"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import door_accounts  # noqa: E402
import door_servers as servers  # noqa: E402
from running import call, make_key, memory, start  # noqa: E402

CONNECTIONS, LEAST, LISTED = 4, 3, 10_000
# Nine events a day, in a calendar of any length: a month has as many in each.
EACH_DAY, FIRST_DAY = 9, datetime.datetime(2026, 1, 1, 8)
NAMESPACES = b'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:S="http://calendarserver.org/ns/"'
ETAGS = b"<propfind %b><prop><getetag/></prop></propfind>" % NAMESPACES
STATE = b"<propfind %b><prop><S:getctag/><sync-token/></prop></propfind>" % NAMESPACES
HOME = (b"<propfind %b><prop><resourcetype/><displayname/><owner/><current-user-privilege-set/><S:getctag/><sync-token/>"
        b"<C:supported-calendar-component-set/><supported-report-set/></prop></propfind>" % NAMESPACES)
SYNC = (b"<sync-collection %b><sync-token>%%b</sync-token><sync-level>1</sync-level><prop><getetag/></prop></sync-collection>"
        % NAMESPACES)
MONTH = (b'<C:calendar-query %b><prop><getetag/></prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">'
         b'<C:time-range start="20260301T000000Z" end="20260401T000000Z"/></C:comp-filter></C:comp-filter></C:filter>'
         b"</C:calendar-query>" % NAMESPACES)
MULTIGET = b"<C:calendar-multiget %b><prop><getetag/><C:calendar-data/></prop>%%b</C:calendar-multiget>" % NAMESPACES


def moment(number):
    return FIRST_DAY + datetime.timedelta(days=number // EACH_DAY, hours=number % EACH_DAY)


def event(uid, minute):
    return (f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//door//EN\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n"
            f"DTSTART:20260305T10{minute:02}00Z\r\nDTEND:20260305T11{minute:02}00Z\r\nSUMMARY:Dr. Weber\r\n"
            "LOCATION:Main St. 5\r\nDESCRIPTION:Bring the key\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n").encode()


class Timing:
    """What one kind of request takes at one server; times in milliseconds."""

    def __init__(self, times, processor, rate=None):
        self.middle, self.worst = statistics.median(times), sorted(times)[max(0, -(-len(times) * 99 // 100) - 1)]
        self.count, self.processor, self.rate = len(times), processor, rate


def timed(peer, act, seconds, count=None):
    """The times of an act with its number, one after another, for so long or so often."""
    times, connection = [], peer.connection()
    act(connection, 0)
    before, end = peer.processor(), time.monotonic() + seconds
    while (count is None or len(times) < count) and (len(times) < LEAST or time.monotonic() < end):
        begun = time.perf_counter()
        more = act(connection, len(times) + 1)
        # An act that prepares something says how long what is timed took.
        times.append((time.perf_counter() - begun if more is None else more) * 1000)
    used = peer.processor() - before
    connection.close()
    return Timing(times, used / len(times) * 1000)


def rate(peer, act, seconds):
    """Acts a second over several connections."""
    done, end = [0] * CONNECTIONS, time.monotonic() + seconds

    def work(index):
        connection = peer.connection()
        while time.monotonic() < end:
            act(connection, (done[index] + 1) * CONNECTIONS + index)
            done[index] += 1
        connection.close()

    begun = time.monotonic()
    threads = [threading.Thread(target=work, args=(index,)) for index in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.monotonic() - begun)


def measure(peer, seconds):
    """All kinds of requests at one server; a timing for each."""
    found, shuffled = {}, random.Random(1)
    connection = peer.connection()
    hrefs = peer.hrefs

    def ask(method, path, body, depth, *statuses):
        return lambda one, _: one.send(method, path, body, Depth=depth).must(*statuses or (207,)) and None

    def note(name, act, several=False, count=None):
        found[name] = timed(peer, act, seconds, count)
        if several:
            found[name].rate = rate(peer, act, seconds)
        one = found[name]
        print(f"  {name:<34} {peer.name:<18} {one.middle:9.2f} {one.worst:9.2f} "
              f"{'-' if one.rate is None else f'{one.rate:.0f}':>9} {one.processor:9.2f} {one.count:6}", flush=True)

    def token():
        return connection.send("REPORT", peer.calendar, SYNC % token.last, Depth="0").must(207).token().encode()

    def put(one, name, minute):
        one.send("PUT", f"{peer.calendar}{name}.ics", event(name, minute)).must(200, 201, 204)

    def change(one, number):
        put(one, "changing", number % 60)
        begun = time.perf_counter()
        answer = one.send("REPORT", peer.calendar, SYNC % token.last, Depth="0").must(207)
        took = time.perf_counter() - begun
        if not answer.hrefs():
            raise SystemExit(f"{peer.name} does not tell of a change")
        token.last = answer.token().encode()
        return took

    def get_many(count, each=None):
        def act(one, _):
            wanted = shuffled.sample(hrefs, min(count, len(hrefs)))
            for first in range(0, len(wanted), each or count):
                names = b"".join(b"<href>%b</href>" % href.encode() for href in wanted[first:first + (each or count)])
                one.send("REPORT", peer.calendar, MULTIGET % names, Depth="1").must(207)
        return act

    put(connection, "changing", 59)
    token.last = connection.send("PROPFIND", peer.calendar, STATE, Depth="0").must(207).token().encode()
    note("PROPFIND of the home", ask("PROPFIND", peer.home, HOME, "1"), True)
    note("PROPFIND of a ctag", ask("PROPFIND", peer.calendar, STATE, "0"), True)
    note("sync without a change", ask("REPORT", peer.calendar, SYNC % token.last, "0"), True)
    note("sync with one change", change)
    note("PROPFIND of all ETags", ask("PROPFIND", peer.calendar, ETAGS, "1"))
    note("query of a month", ask("REPORT", peer.calendar, MONTH, "1"))
    note("multiget of 100", get_many(100))
    note("first sync of 1,000, by 50", get_many(1000, 50))
    note("GET", lambda one, _: one.send("GET", shuffled.choice(hrefs)).must(200) and None, True)
    prefix = f"new{os.getpid()}"
    note("PUT of a new one", lambda one, number: put(one, f"{prefix}-{number}", 0), count=200)
    made = found["PUT of a new one"].count
    note("PUT of a change", lambda one, number: put(one, f"{prefix}-{number % made}", 1 + number // made % 58), True)
    note("DELETE", lambda one, number: one.send("DELETE", f"{peer.calendar}{prefix}-{number}.ics").must(200, 204) and None,
         count=made)
    connection.close()
    return found


def fill(port, key, circle, count):
    """Makes a circle with one member, one patient and so many appointments."""
    path = f"/v1/circles/{circle}"
    call(port, "PUT", path, key, json.dumps({"name": "Rossi family", "timeZone": "Europe/Rome"}))
    call(port, "PUT", f"{path}/members/ann", key, json.dumps({"displayName": "Ann", "role": "owner"}))
    call(port, "PUT", f"{path}/patients/oma", key, json.dumps({"displayName": "Oma"}))
    for first in range(0, count, 10_000):
        lines = "".join(json.dumps({"op": "put", "collection": "appointments", "id": f"a{number}", "value": {
            "patientId": "oma", "provider": f"Dr. {number}", "startAt": f"{moment(number):%Y-%m-%dT%H:%M:00Z}",
            "durationMinutes": 30, "notes": "Bring the key"}}) + "\n" for number in range(first, min(first + 10_000, count)))
        report = json.loads(call(port, "POST", f"{path}/batch", key, lines, "application/x-ndjson"))
        if report["rejected"]:
            raise SystemExit(f"the API rejected {report['rejected']} lines")


def account(port, key, user):
    return json.loads(call(port, "POST", "/v1/app-passwords", key, json.dumps({"userId": user, "label": "Bench"})))["password"]


def hrefs(peer):
    answer = peer.connection().send("PROPFIND", peer.calendar, ETAGS, Depth="1").must(207)
    return [href for href in answer.hrefs() if href.endswith(".ics")]


def texts(peer):
    """What a server has, by resource name."""
    found, connection = {}, peer.connection()
    for href in peer.hrefs:
        found[unquote(href.rsplit("/", 1)[1])] = connection.send("GET", href).must(200).body
    return found


def prepared(peer):
    """Has a server look at everything once, as it did long ago where it is used."""
    begun = time.monotonic()
    peer.wait()
    peer.hrefs = hrefs(peer)
    peer.connection().send("REPORT", peer.calendar, MONTH, Depth="1").must(207)
    print(f"  {peer.name}: {len(peer.hrefs)} resources, ready after {time.monotonic() - begun:.1f} s", flush=True)
    return peer


def heading(text):
    print(f"{text}\n  {'request':<34} {'server':<18} {'p50 ms':>9} {'p99 ms':>9} {'a second':>9} {'CPU ms':>9} {'times':>6}",
          flush=True)


def compared(ours, own, name, timings):
    for kind, one in timings.items():
        print(f"ratio {kind}: {ours[kind].middle:.3f} ms, {own[kind].middle:.3f} ms own; {name} {one.middle:.3f} ms; "
              f"{one.middle / ours[kind].middle:.3f} and {one.middle / own[kind].middle:.3f} times as fast; processor "
              f"{ours[kind].processor:.3f} ms, {own[kind].processor:.3f} ms own; {one.processor:.3f} ms")


def beside(options, folder, process, port, key):
    """Kalends and the peers with one calendar."""
    fill(port, key, "door", options.items)
    circle = prepared(servers.Peer(
        "Kalends", "/dav/calendars/ann/", "/dav/calendars/ann/door/", process, port, "ann", account(port, key, "ann")))
    contents = texts(circle)
    call(port, "PUT", "/v1/circles/other", key, json.dumps({"name": "Other", "timeZone": "Europe/Rome"}))
    call(port, "PUT", "/v1/circles/other/members/bob", key, json.dumps({"displayName": "Bob", "role": "owner"}))
    own = servers.Peer(
        "Kalends, own", "/dav/calendars/bob/", "/dav/calendars/bob/own~door/", process, port, "bob", account(port, key, "bob"))
    own.connection().send("MKCALENDAR", own.calendar).must(201)
    own.put_all(contents)
    prepared(own)
    size = sum(len(text) for text in contents.values())
    heading(f"{len(contents)} events, {size} bytes, one connection and {CONNECTIONS}")
    ours, owns = measure(circle, options.seconds), measure(own, options.seconds)
    peers = [lambda place: servers.radicale(options.python, place, contents),
             lambda place: servers.xandikos(options.python, place, contents)]
    if options.davical:
        import door_davical
        peers.append(lambda place: door_davical.davical(options.davical, place, contents))
    results = []
    for number, make in enumerate(peers):
        place = folder / f"peer{number}"
        place.mkdir()
        peer = make(place)
        try:
            results.append((peer.name, measure(prepared(peer), options.seconds)))
        finally:
            peer.stop()
    for name, timings in results:
        compared(ours, owns, name, timings)


def large(options, process, port, key):
    """A large circle, for which times have bounds."""
    begun = time.monotonic()
    fill(port, key, "large", options.large)
    print(f"a circle of {options.large} items, made in {time.monotonic() - begun:.1f} s", flush=True)
    peer = servers.Peer(
        "Kalends", "/dav/calendars/ann/", "/dav/calendars/ann/large/", process, port, "ann", account(port, key, "ann"))
    # What a phone asks for first after a start has no index yet.
    begun = time.monotonic()
    peer.connection().send(
        "REPORT", peer.calendar, MULTIGET % f"<href>{peer.calendar}a1.ics</href>".encode(), Depth="1").must(207)
    print(f"large, the first multiget of 1: {(time.monotonic() - begun) * 1000:.3f} ms", flush=True)
    prepared(peer)
    heading(f"{options.large} items in a circle")
    for kind, one in measure(peer, options.seconds).items():
        print(f"large, {kind}: {one.middle:.3f} ms, p99 {one.worst:.3f} ms")
    fill(port, key, "listed", LISTED)
    listed = "/dav/calendars/ann/listed/"
    one = timed(peer, lambda to, _: to.send("PROPFIND", listed, ETAGS, Depth="1").must(207) and None, options.seconds)
    print(f"large, PROPFIND of {LISTED:,} ETags: {one.middle:.3f} ms, p99 {one.worst:.3f} ms")
    print(f"memory of the server: {memory(process.pid)} MiB")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("program")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--davical", default=os.environ.get("DAVICAL"))
    parser.add_argument("--accounts", type=int, default=55_000)
    parser.add_argument("--setup", type=float, default=60)
    parser.add_argument("--only", choices=["servers", "large", "accounts"])
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kalends-bench-"))
    process = None
    try:
        for name in ("servers", "large", "accounts"):
            if options.only not in (None, name):
                continue
            place = folder / name
            place.mkdir()
            process, port = start(options.program, place)
            key = make_key(options.program, place)
            if name == "servers":
                beside(options, place, process, port, key)
            elif name == "large":
                large(options, process, port, key)
            else:
                door_accounts.run(options, process, port, key)
            process.terminate()
            process.wait()
    finally:
        if process and process.poll() is None:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
