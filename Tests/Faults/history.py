# SPDX-License-Identifier: Apache-2.0
"""What clients of several servers saw, and what of it cannot have happened where the servers keep their promises.

Times are those of one machine's monotonic clock, which all clients share. Each check takes the history alone, so that it can
be tried with histories that are known to be wrong:

    python3 Tests/Faults/history.py
"""

from collections import defaultdict
from typing import NamedTuple


class Read(NamedTuple):
    feed: int
    sent: float
    # None where nothing came.
    received: float | None
    status: int | None
    server: int


class Delivery(NamedTuple):
    message: str
    circle: str
    numbers: tuple
    began: float
    ended: float
    is_taken: bool


def reads_after_end(reads, ended):
    """Reads that got content although they were sent after the answer to what ended their feed.

    `ended`: by feed, when that answer was there."""
    return [
        read for read in reads
        if read.status in (200, 304) and read.feed in ended and read.sent > ended[read.feed]]


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


def bad_deliveries(deliveries, due):
    """What a receiver of webhooks must not see: a change that never came, changes out of order, one circle served twice at
    once.

    `due`: by circle, the numbers of the first and the last change that have to have come."""
    faults, circles = [], defaultdict(list)
    for delivery in sorted(deliveries, key=lambda delivery: delivery.began):
        circles[delivery.circle].append(delivery)
    for circle, all_of_it in circles.items():
        seen, highest, end = set(), 0, None
        for delivery in all_of_it:
            if end is not None and delivery.began < end.ended:
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
    assert bad_deliveries([message("m", [1], 0, 2), message("m", [1], 1, 3)], {"a": (1, 1)})
    print("the checks find what they are there for.")


if __name__ == "__main__":
    _try()
