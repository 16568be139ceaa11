# SPDX-License-Identifier: Apache-2.0
"""A host of calendars that notes what was fetched, by whom, and when."""

import http.server
import multiprocessing
import pickle
import random
import re
import select
import signal
import threading
import time
from collections import defaultdict
from pathlib import Path

from history import Fetch
from ports import free_port

forked = multiprocessing.get_context("fork")

# Servers fetch only from hosts on the public Internet, and limit how often they do so from each. So each calendar has an
# address of its own that looks like one, and exists in a network of namespaces only.
ADDRESSES = [f"93.184.215.{14 + number}" for number in range(8)]
# Of these, the last ones take longer than a lease lasts now and then.
SLOW = 2
LONGER_THAN_A_LEASE = (11, 13)
EVENTS = 12
TITLE = re.compile(rb"SUMMARY:(?:CK: )?Calendar (\d+) answer (\d+) event (\d+)")


def circle_of(calendar):
    """Two are followed by each circle, so that they meet where its events are changed."""
    return f"c{calendar // 2}"


def events_of(answer):
    """The events of an answer, each with the number of the answer that has it like this: one is always the same, and of the
    others each is missing from every fourth answer."""
    return ((0, 0), *((event, answer) for event in range(1, EVENTS + 1) if (event + answer) % 4))


def calendar(number, events):
    day = time.strftime("%Y%m%d")
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//faults//calendars//EN"]
    for event, answer in events:
        lines += ["BEGIN:VEVENT", f"UID:{event}-of-{number}@example.com", "DTSTAMP:20260101T000000Z",
                  f"DTSTART:{day}T{event:02}0000Z", f"SUMMARY:Calendar {number} answer {answer} event {event}", "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""]).encode()


def shown(text):
    """The events that a text shows, by their calendar."""
    found = defaultdict(list)
    for number, answer, event in TITLE.findall(text):
        found[int(number)].append((int(event), int(answer)))
    return found


class Calendars:
    """Gives calendars that change with every answer, slowly enough that two fetches at once are seen; refuses a few, and
    breaks a few off."""

    def __init__(self, folder, seed, senders):
        """`senders`: the numbers of servers, by their addresses."""
        self.port, self.file = free_port(), Path(folder) / "fetches"
        self.is_kind, self.under_way = forked.RawValue("b", 0), forked.RawValue("i", 0)
        self._seed, self._senders = seed, senders
        self._process = forked.Process(target=self._run, daemon=True)
        self._process.start()

    def address(self, calendar):
        return f"http://{ADDRESSES[calendar]}:{self.port}/{calendar}.ics"

    def _run(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        file, lock, chance = open(self.file, "ab"), threading.Lock(), random.Random(self._seed)
        answers, senders, is_kind, under_way = defaultdict(int), self._senders, self.is_kind, self.under_way

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                number = int(self.path[1:].split(".")[0])
                with lock:
                    answers[number] += 1
                    answer, began = answers[number], time.monotonic()
                    under_way.value += 1
                    is_long = not is_kind.value and number >= len(ADDRESSES) - SLOW and chance.random() < 0.3
                    seconds = chance.uniform(*LONGER_THAN_A_LEASE) if is_long else chance.uniform(0.02, 0.4)
                    fate = 1 if is_kind.value else chance.random()
                events, is_whole = events_of(answer), False
                # Nothing more is asked on this connection: what can be read from it is its end.
                if not select.select([self.connection], [], [], seconds)[0]:
                    try:
                        is_whole = self._give(calendar(number, events), fate)
                    except OSError:
                        pass
                with lock:
                    under_way.value -= 1
                    pickle.dump(
                        Fetch(number, answer, began, time.monotonic(), is_whole, events,
                              senders.get(self.client_address[0])), file)
                    file.flush()

            def _give(self, body, fate):
                if fate < 0.03:
                    self.send_error(500)
                    return False
                self.send_response(200)
                self.send_header("content-type", "text/calendar")
                # Without a length, the end of the connection is the end of the calendar.
                if fate >= 0.045:
                    self.send_header("content-length", str(len(body)))
                self.end_headers()
                is_whole = fate >= 0.06
                self.wfile.write(body if is_whole else body[:body.index(b"BEGIN:VEVENT", len(body) // 2)])
                return is_whole

            def log_message(self, *words):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            def handle_error(self, *words):
                """A server that is killed resets its connection."""

        Quiet(("", self.port), Handler).serve_forever()

    def fetches(self):
        found = []
        with open(self.file, "rb") as file:
            while True:
                try:
                    found.append(pickle.load(file))
                except EOFError:
                    return found

    def close(self):
        self._process.kill()
        self._process.join()
