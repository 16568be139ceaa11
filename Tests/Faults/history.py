# SPDX-License-Identifier: Apache-2.0
"""What clients of several servers saw, and what of it cannot have happened where the servers keep their promises.

Times are those of one machine's monotonic clock, which all clients share. Each check takes the history alone, so that it can
be tried with histories that are known to be wrong:

    python3 Tests/Faults/history.py
"""

from collections import defaultdict
from typing import NamedTuple


# So many seconds after a network was joined again, what was sent before may come: TCP doubles the time between its tries.
LATE = 30


class Read(NamedTuple):
    feed: int
    sent: float
    # None where nothing came.
    received: float | None
    status: int | None
    # The server's number; -1 where it was asked through a balancer.
    server: int


class Delivery(NamedTuple):
    message: str
    circle: str
    numbers: tuple
    began: float
    ended: float
    is_taken: bool
    # The server that sent it, where that is known.
    sender: int | None = None


class Fetch(NamedTuple):
    calendar: int
    # Counted for each calendar, in the order in which the fetches began.
    answer: int
    began: float
    ended: float
    # Whether the calendar was given, to its last byte.
    is_whole: bool
    # Sorted, each with the number of the answer that has it like this.
    events: tuple
    # The server that fetched it, where that is known.
    sender: int | None = None


class Refresh(NamedTuple):
    """A server was asked to fetch a calendar now."""
    calendar: int
    sent: float
    received: float | None
    status: int | None
    # Whether the answer says that the calendar was stored.
    is_done: bool
    server: int


class Look(NamedTuple):
    """The events of a calendar that a server showed."""
    calendar: int
    sent: float
    received: float
    events: tuple
    server: int


def reads_after_end(reads, ended):
    """Reads that got content although they were sent after the answer to what ended their feed.

    `ended`: by feed, when that answer was there."""
    return [
        read for read in reads
        if read.status in (200, 304) and read.feed in ended and read.sent > ended[read.feed]]


def done_after_end(trials, ended):
    """Changes that were accepted although they were sent after the answer to what took away the right to them.

    `trials`: reads, with the number of a user for the feed. `ended`: by user, when that answer was there."""
    return [
        trial for trial in trials
        if trial.status in (200, 201) and trial.feed in ended and trial.sent > ended[trial.feed]]


def set_back(written, unanswered, found):
    """Writes that were acknowledged, and are not there any more.

    A write that was not answered may be done whenever its server goes on, also over a later one that another server
    acknowledged meanwhile: the client did not wait.

    `written`: by what was written, again and again by one client, the last number that was acknowledged.
    `unanswered`: by what was written, the numbers that got no answer.
    `found`: by what was written, the number that is there; none where nothing is."""
    return [
        (name, number, found.get(name)) for name, number in written.items()
        if found.get(name, -1) < number and found.get(name) not in unanswered.get(name, ())]


def overlaps(happened):
    """How many faults began while another one was going on.

    `happened`: when each began and ended."""
    return sum(any(other[0] < one[0] < other[1] for other in happened) for one in happened)


def miscounted(reads, counted):
    """Feeds, with their numbers, that break complete <= counted <= sent."""
    complete, sent = defaultdict(int), defaultdict(int)
    for read in reads:
        sent[read.feed] += 1
        complete[read.feed] += read.status in (200, 304)
    return [
        (feed, complete[feed], count, sent[feed]) for feed, count in sorted(counted.items())
        if not complete[feed] <= count <= sent[feed]]


def skipped_changes(lists):
    """Places where a reader of changes was shown another number than the next one.

    `lists`: by circle, the numbers in the order in which one reader was shown them."""
    return [
        (circle, expected, found) for circle, numbers in lists.items()
        for expected, found in enumerate(numbers, 1) if expected != found][:10]


def bad_deliveries(deliveries, due, cut_off=()):
    """What a receiver of webhooks must not see: a change that never came, changes out of order, one circle served twice at
    once.

    `due`: by circle, the numbers of the first and the last change that have to have come.
    `cut_off`: servers, with when each was cut off from the receiver and was joined again. What was under way then may come
    when it is joined again, beside the same message from another server: it comes twice, and is no second sender."""
    faults, circles = [], defaultdict(list)
    senders = defaultdict(set)
    for delivery in deliveries:
        senders[delivery.message].add(delivery.sender)

    def is_late(delivery):
        return len(senders[delivery.message]) > 1 and any(
            delivery.sender == server and began < delivery.began < ended + LATE for server, began, ended in cut_off)

    for delivery in sorted(deliveries, key=lambda delivery: delivery.began):
        circles[delivery.circle].append(delivery)
    for circle, all_of_it in circles.items():
        seen, highest, end = set(), 0, None
        for delivery in all_of_it:
            if end is not None and delivery.began < end.ended and not is_late(delivery) and not is_late(end):
                faults.append(f"{circle}: {delivery.message} and {end.message} were under way at once")
            end = delivery if end is None or delivery.ended > end.ended else end
            if not delivery.is_taken:
                continue
            new = [number for number in delivery.numbers if number not in seen]
            if any(number < highest for number in new):
                faults.append(f"{circle}: {min(new)} came for the first time after {highest}")
            seen.update(new)
            highest = max([highest, *new])
        first, last = due.get(circle, (1, 0))
        missing = set(range(first, last + 1)) - seen
        if missing:
            faults.append(f"{circle}: {len(missing)} changes never came, the first is {min(missing)}")
    faults += [f"{circle}: nothing came" for circle, (first, last) in due.items() if first <= last and circle not in circles]
    return faults


def fetched_at_once(fetches, held_up=()):
    """Pairs of fetches of one calendar that were under way at once; and how many of these were excused.

    `held_up`: servers, with from when until when each may have been unable to keep its lease, or to learn that it had lost
    it. What such a server fetched then is excused here, and not where it is stored."""
    faults, excused, calendars = [], 0, defaultdict(list)
    for fetch in sorted(fetches, key=lambda fetch: fetch.began):
        calendars[fetch.calendar].append(fetch)

    def is_held_up(fetch):
        return any(fetch.sender == server and fetch.began < until and began < fetch.ended for server, began, until in held_up)

    for all_of_it in calendars.values():
        under_way = []
        for fetch in all_of_it:
            under_way = [other for other in under_way if fetch.began < other.ended]
            for other in under_way:
                if is_held_up(fetch) or is_held_up(other):
                    excused += 1
                else:
                    faults.append((other, fetch))
            under_way.append(fetch)
    return faults, excused


def wrongly_stored(looks, fetches, refreshes, last=()):
    """Looks at a calendar's events that showed what must not be there: no answer that was given as a whole, or an older one
    than was there before; and of those, an older one than a refresh that was done before has stored.

    `last`: looks that were made when nothing was under way any more: they have to show the newest answer."""
    answers = {(fetch.calendar, fetch.events): fetch for fetch in fetches if fetch.is_whole}
    faults, looked, floors = [], defaultdict(list), defaultdict(list)
    for look in [*looks, *last]:
        fetch = answers.get((look.calendar, look.events))
        if look.events and (fetch is None or look.received < fetch.began):
            faults.append(f"calendar {look.calendar}: server {look.server} showed {_told(look.events)}")
            continue
        answer = fetch.answer if fetch else 0
        looked[look.calendar].append((look.sent, answer, look))
        floors[look.calendar].append((look.received, answer))
    given = defaultdict(list)
    for fetch in fetches:
        if fetch.is_whole:
            given[fetch.calendar].append(fetch)
    for refresh in refreshes:
        if refresh.is_done:
            # The run that it asked for, or joined, fetched this, or something later.
            floors[refresh.calendar].append((refresh.received, max(
                (fetch.answer for fetch in given[refresh.calendar]
                 if fetch.sender == refresh.server and fetch.ended < refresh.sent), default=0)))
    final = set(last)
    for calendar, all_of_it in looked.items():
        bounds, place, floor = sorted(floors[calendar]), 0, 0
        newest = max((fetch.answer for fetch in given[calendar]), default=0)
        for sent, answer, look in sorted(all_of_it, key=lambda one: one[0]):
            while place < len(bounds) and bounds[place][0] < sent:
                floor, place = max(floor, bounds[place][1]), place + 1
            if answer < floor:
                faults.append(f"calendar {calendar}: server {look.server} showed answer {answer} after {floor}")
            elif look in final and answer < newest:
                faults.append(f"calendar {calendar}: answer {answer} is stored at the end, and {newest} was given")
    return faults


def _told(events):
    """How many events have which answers."""
    parts = defaultdict(int)
    for _, answer in events:
        parts[answer] += 1
    told = ", ".join(f"{count} events of {answer}" for answer, count in sorted(parts.items()))
    return f"no answer that was given whole: {told}"


def _try():
    """Each check finds what it is there for, and nothing else."""
    good = [Read(1, 1.0, 1.1, 200, 0), Read(1, 1.9, 2.5, 200, 1), Read(1, 2.1, 2.2, 410, 2), Read(2, 5.0, None, None, 0)]
    assert not reads_after_end(good, {1: 2.0})
    assert reads_after_end([*good, Read(1, 2.01, 2.02, 304, 0)], {1: 2.0})
    assert not miscounted(good, {1: 2, 2: 1}) and not miscounted(good, {1: 3, 2: 0})
    assert miscounted(good, {1: 1}) == [(1, 2, 1, 3)] and miscounted(good, {2: 2}) == [(2, 0, 2, 1)]
    assert not skipped_changes({"a": [1, 2, 3]})
    assert skipped_changes({"a": [1, 3]}) == [("a", 2, 3)] and skipped_changes({"a": [1, 1]})

    def message(name, numbers, began, ended, is_taken=True):
        return Delivery(name, "a", tuple(numbers), began, ended, is_taken)

    fine = [message("m", [1, 2], 0, 1, False), message("m", [1, 2], 2, 3), message("n", [3], 4, 5), message("m", [1], 6, 7)]
    assert not bad_deliveries(fine, {"a": (1, 3)})
    assert bad_deliveries(fine, {"a": (1, 4)}) and bad_deliveries([], {"a": (1, 1)})
    assert bad_deliveries([message("n", [2], 0, 1), message("m", [1], 2, 3)], {"a": (1, 2)})
    twice = [message("m", [1], 0, 2)._replace(sender=0), message("m", [1], 1, 3)._replace(sender=1)]
    assert bad_deliveries(twice, {"a": (1, 1)}) and bad_deliveries(twice, {"a": (1, 1)}, [(2, -9, 0), (0, -90, -60)])
    assert not bad_deliveries(twice, {"a": (1, 1)}, [(1, -9, 0)])
    other = [twice[0], twice[1]._replace(message="n")]
    assert bad_deliveries(other, {"a": (1, 1)}, [(1, -9, 0)])
    one = Fetch(0, 1, 1.0, 2.0, True, ((1, 1),), 0)
    other = Fetch(0, 2, 3.0, 4.0, True, ((1, 2), (2, 2)), 1)
    during = other._replace(began=1.5)
    assert fetched_at_once([one, other]) == ([], 0) == fetched_at_once([one, during._replace(calendar=1)])
    assert fetched_at_once([during, one]) == ([(one, during)], 0) and fetched_at_once([one, during._replace(sender=0)])[0]
    assert fetched_at_once([one, during, Fetch(0, 3, 3.5, 5.0, True, one.events)])[0] == [
        (one, during), (during, Fetch(0, 3, 3.5, 5.0, True, one.events))]
    assert fetched_at_once([one, during], [(0, 0.5, 1.2)]) == ([], 1) == fetched_at_once([one, during], [(1, 3.5, 9.0)])
    assert fetched_at_once([one, during], [(0, 0.5, 0.9), (1, 5.0, 9.0), (2, 0.0, 9.0)])[0]

    def look(at, events):
        return Look(0, at, at + 0.1, tuple(events), 2)

    both, seen = [one, other], [look(0.0, []), look(2.5, one.events), look(5.0, other.events)]
    assert not wrongly_stored(seen, both, [], [look(6.0, other.events)])
    assert wrongly_stored(seen, both, [], [look(6.0, one.events)]) and wrongly_stored(seen, both, [], [look(6.0, [])])
    assert wrongly_stored([], both, [], [look(6.0, one.events)]) and wrongly_stored(seen, both[:1], [])
    assert wrongly_stored([look(5.0, one.events + other.events)], both, []) and wrongly_stored([look(5.0, [(1, 2)])], both, [])
    assert wrongly_stored(seen, [one, other._replace(is_whole=False)], []) and wrongly_stored([look(0.0, one.events)], both, [])
    # Looks that were under way at once may show either.
    assert not wrongly_stored([seen[2], look(5.05, one.events)], both, [])
    assert wrongly_stored([seen[2], look(5.2, one.events)], both, [])
    done = Refresh(0, 4.1, 4.5, 200, True, 1)
    assert wrongly_stored([look(4.6, one.events)], both, [done]) and not wrongly_stored([look(4.4, one.events)], both, [done])
    for less in (done._replace(is_done=False), done._replace(server=0), done._replace(sent=3.9)):
        assert not wrongly_stored([look(4.6, one.events)], both, [less])
    trials = [Read(7, 1.0, 1.1, 200, 0), Read(7, 2.1, 2.2, 403, 1), Read(7, 1.9, 2.5, 201, 1)]
    assert not done_after_end(trials, {7: 2.0}) and done_after_end(trials, {7: 1.8}) == trials[2:]
    assert not set_back({"t": 4}, {}, {"t": 5}) and set_back({"t": 4}, {}, {"t": 3}) and set_back({"t": 0}, {}, {})
    assert not set_back({"t": 4}, {"t": {3}}, {"t": 3}) and set_back({"t": 4}, {"t": {3}}, {"t": 2})
    assert set_back({"t": 4}, {"u": {3}, "t": {1}}, {"t": 3}) and set_back({"t": 4}, {"t": {3}}, {})
    assert overlaps([(1, 3), (2, 4), (5, 6)]) == 1
    print("the checks find what they are there for.")


if __name__ == "__main__":
    _try()
