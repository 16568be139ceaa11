# SPDX-License-Identifier: Apache-2.0
"""What clients of several servers do: each writes, follows or ends something until it is stopped; what it saw."""

import multiprocessing
import pickle
import random
import signal
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path

from calendars import circle_of, shown
from history import Look, Read, Refresh
from server import Violation

forked = multiprocessing.get_context("fork")
# What a server or a balancer says that cannot serve now. It may have done what it was asked, or may do it yet, where it is
# a balancer that says so.
REFUSALS = (502, 503, 504)
TASKS = 25
WAYS = ["revoke", "regenerate", "delete", "leave"]


class Client:
    """A process that asks servers until it is stopped, and what it saw."""

    def __init__(self, folder, name, work, *arguments):
        self.file = Path(folder) / name
        self._running = forked.RawValue("b", 1)
        self._process = forked.Process(target=self._run, args=(work, arguments))
        self._process.start()

    def _run(self, work, arguments):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        seen = work(lambda: self._running.value, *arguments)
        with open(self.file, "wb") as file:
            pickle.dump(seen, file)

    def stop(self):
        self._running.value = 0

    def seen(self):
        self._process.join(180)
        if self._process.is_alive() or self._process.exitcode != 0:
            self._process.kill()
            raise Violation(f"the client {self.file.name} did not come to an end: {self._process.exitcode}")
        with open(self.file, "rb") as file:
            return pickle.load(file)


def chosen(nodes):
    """A server; one that is in trouble is asked seldom, so that what happens meanwhile is more than waiting for it."""
    good = [node for node in nodes if not node.is_faulty.value]
    return random.choice(good if good and random.random() < 0.9 else nodes)


def write(goes_on, nodes, name, circles, pause):
    """Writes the same tasks again and again, each with a number; how many writes it sent, and by circle and task the number
    that was acknowledged last, and the numbers that got no answer."""
    written, unanswered, number = {}, {}, 0
    while goes_on():
        number += 1
        circle, task = f"c{random.randrange(circles)}", f"{name}-{random.randrange(TASKS)}"
        try:
            status = chosen(nodes).put_task(circle, task, timeout=5, title=f"{task} {number}")
        except OSError:
            status = None
        if status in (200, 201):
            written[circle, task] = number
        elif status in (None, 502, 504):
            # Nor has the balancer an answer, that waits for a server for 4 seconds.
            unanswered.setdefault((circle, task), set()).add(number)
        time.sleep(pause)
    return number, written, unanswered


def number_of(node, circle, task):
    """The number in a task's title; -1 where there is no such task."""
    status, document = node.call("GET", f"/v1/circles/{circle}/tasks/{task}")
    return int(document["title"].split()[1]) if status == 200 else -1


ALL = "all"


def follow(goes_on, nodes, circles):
    """Follows the changes of each circle, and of all of them together (ALL), each time on another server; how often it asked,
    and their numbers in the order in which they came."""
    lists, count = defaultdict(list), 0
    while goes_on():
        circle = random.choice([ALL, *(f"c{number}" for number in range(circles))])
        last = lists[circle][-1] if lists[circle] else 0
        path, name = ("/v1/changes", "sequence") if circle == ALL else (f"/v1/circles/{circle}/changes", "number")
        count += 1
        try:
            status, document = chosen(nodes).call("GET", f"{path}?since={last}&limit=200", timeout=5)
        except OSError:
            continue
        if status == 200:
            lists[circle] += [item[name] for item in document["items"]]
        time.sleep(0.02)
    return count, dict(lists)


def insist(nodes, method, path, value=None, gone=()):
    """Asks servers, most often one that serves, until one has done it; what it was answered.

    `gone`: answers that say that it was done before."""
    began = time.monotonic()
    while time.monotonic() - began < 60:
        try:
            status, document = chosen(nodes).call(method, path, value, timeout=4)
        except OSError:
            # It may have been done, or may be done yet.
            continue
        if status in (200, 201, 204, *gone):
            return status
        if status not in REFUSALS:
            raise Violation(f"{method} {path} was answered {status}: {document}")
        time.sleep(0.1)
    raise Violation(f"{method} {path} was not done for a minute")


def end(goes_on, nodes, feeds, position, interval):
    """Ends one feed after the other; when the answer to each end was there, by feed."""
    ended, ways = {}, Counter()
    for place, (number, feed, user, circle) in enumerate(feeds):
        position.value = place
        if not goes_on():
            break
        way = WAYS[place % len(WAYS)]
        if way == "revoke":
            insist(nodes, "POST", f"/v1/feeds/{feed}/revoke", {}, gone=(409,))
        elif way == "regenerate":
            insist(nodes, "POST", f"/v1/feeds/{feed}/regenerate", {})
        elif way == "delete":
            insist(nodes, "DELETE", f"/v1/feeds/{feed}", gone=(404,))
        else:
            insist(nodes, "DELETE", f"/v1/circles/{circle}/members/{user}", gone=(404,))
        ended[number] = time.monotonic()
        ways[way] += 1
        time.sleep(interval)
    return ended, ways


def expire(goes_on, nodes, feeds, position):
    """Lets one feed after the other expire in two seconds; from when on each is over, by feed.

    Its own clock is the database's. A server whose clock is ahead refuses, as it may: that feed does not end."""
    ended = {}
    for place, (number, feed, _, _) in enumerate(feeds):
        position.value = place
        if not goes_on():
            break
        moment = int(time.time()) + 2
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
        if insist(nodes, "PATCH", f"/v1/feeds/{feed}", {"expiresAt": at}, gone=(422, 409)) != 200:
            continue
        time.sleep(max(0, moment - time.time()) + 0.002)
        ended[number] = time.monotonic()
    return ended, Counter({"expire": len(ended)})


def demote(goes_on, nodes, users, position, interval):
    """Takes one user after the other the right to change anything; when the answer was there, by the user's number."""
    ended = {}
    for place, (number, user, circle) in enumerate(users):
        position.value = place
        if not goes_on():
            break
        insist(nodes, "PUT", f"/v1/circles/{circle}/members/{user}", {"displayName": "U", "role": "viewer"})
        ended[number] = time.monotonic()
        time.sleep(interval)
    return ended, Counter({"change role": len(ended)})


def attempt(goes_on, nodes, users, position, pause):
    """Changes something in the name of users near the one that loses the right to it next; what was answered."""
    trials = []
    while goes_on():
        place = min(len(users) - 1, max(0, position.value + random.randint(-3, 2)))
        number, user, circle = users[place]
        node, sent = chosen(nodes), time.monotonic()
        try:
            status = node.put_task(circle, "of-users", timeout=5, title=f"by {user}", user=user)
            trials.append(Read(number, sent, time.monotonic(), status, node.number))
        except OSError:
            trials.append(Read(number, sent, None, None, node.number))
        time.sleep(pause)
    return trials


def refresh(goes_on, nodes, subscriptions, pause):
    """Has each calendar fetched again and again, most often by two servers at once; what was answered."""
    refreshes = []

    def ask(calendar, node):
        path, sent = f"/v1/circles/{circle_of(calendar)}/subscriptions/{subscriptions[calendar]}/refresh", time.monotonic()
        try:
            # Some calendars take longer than a lease lasts, and whoever is asked meanwhile waits for that.
            status, document = node.call("POST", path, timeout=40)
        except OSError:
            status, document = None, None
        is_done = status == 200 and document["lastProblem"] is None
        refreshes.append(
            Refresh(calendar, sent, None if status is None else time.monotonic(), status, is_done, node.number))

    def keep_asking(calendar):
        while goes_on():
            beside = threading.Thread(target=ask, args=(calendar, chosen(nodes)))
            beside.start()
            time.sleep(random.uniform(0, 0.3))
            ask(calendar, chosen(nodes))
            beside.join()
            time.sleep(random.uniform(0, 2 * pause))

    threads = [threading.Thread(target=keep_asking, args=(calendar,)) for calendar in range(len(subscriptions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return refreshes


def looks_at(node, calendars, circle, timeout=5):
    """What a server shows of calendars that a circle follows; nothing where it cannot serve."""
    sent = time.monotonic()
    status, _, text = node.request(
        "GET", f"/v1/circles/{circle}/export.ics", headers={"Authorization": f"Bearer {node.key}"}, timeout=timeout)
    if status in REFUSALS:
        return []
    if status != 200:
        raise Violation(f"an export was answered {status}: {text[:300]}")
    received, found = time.monotonic(), shown(text)
    return [Look(calendar, sent, received, tuple(sorted(found[calendar])), node.number) for calendar in calendars]


def look(goes_on, nodes, calendars, pause):
    """Looks at the events of one circle after the other, each time on another server; what was shown of each calendar."""
    looks, circles = [], sorted({circle_of(calendar) for calendar in range(calendars)})
    while goes_on():
        circle = random.choice(circles)
        try:
            looks += looks_at(chosen(nodes), [one for one in range(calendars) if circle_of(one) == circle], circle)
        except OSError:
            pass
        time.sleep(pause)
    return looks


def hasten(goes_on, cluster, pause):
    """Makes some calendars due, so that the schedule fetches them, too; how many that were. It takes its turn, as servers do."""
    count = 0
    while goes_on():
        count += cluster.ask(
            "BEGIN; LOCK TABLE schema_migrations IN EXCLUSIVE MODE; "
            "UPDATE subscriptions SET next_at = 0 WHERE random() < 0.3 RETURNING 'due'; COMMIT").splitlines().count("due")
        time.sleep(pause)
    return count
