# SPDX-License-Identifier: Apache-2.0
"""One table a harness, and its exit status."""

import sys
import tempfile
import time
import traceback

from server import Violation


def run(title, columns, rounds):
    """Prints a line for each row that `rounds(folder)` yields; ends with 1 when a promise was not kept."""
    print(title)
    print("  ".join(f"{name:>{width}}" for name, width in columns), flush=True)
    try:
        with tempfile.TemporaryDirectory(prefix="kalends-faults-") as folder:
            for row in rounds(folder):
                print("  ".join(f"{value:>{width}}" for value, (_, width) in zip(row, columns)), flush=True)
    except Violation as violation:
        print(f"VIOLATED: {violation}")
        sys.exit(1)
    except Exception:
        traceback.print_exc()
        sys.exit(1)
    print("kept.", flush=True)


def skip(title, reason):
    print(f"{title}\nskipped: {reason}")
    sys.exit(0)


def check_bracket(server, load, numbers=None):
    """Complete at the client ≤ recorded ≤ sent, feed by feed; returns the three sums.

    `numbers`: what was complete at another moment than now."""
    sums = [0, 0, 0]
    for index, feed in enumerate(load.feeds):
        complete = (numbers or load.completes())[index]
        recorded, sent = server.counted(feed), load.sent(index)
        if not complete <= recorded <= sent:
            raise Violation(f"feed {index}: complete {complete}, recorded {recorded}, sent {sent}")
        sums = [sums[0] + complete, sums[1] + recorded, sums[2] + sent]
    if load.unexpected:
        raise Violation(f"a reader was answered {load.unexpected}")
    return sums


def check_brackets(server, loads):
    """Complete at the clients <= counted <= sent, over all servers; the reads of another server come a little later."""
    sums = [0, 0, 0]
    deadline = time.monotonic() + 20
    for index, feed in enumerate(loads[0].feeds):
        complete, sent = sum(load.complete(index) for load in loads), sum(load.sent(index) for load in loads)
        while (counted := server.counted(feed)) < complete and time.monotonic() < deadline:
            time.sleep(0.2)
        if not complete <= counted <= sent:
            raise Violation(f"feed {index}: complete {complete}, counted {counted}, sent {sent}")
        sums = [sums[0] + complete, sums[1] + counted, sums[2] + sent]
    for load in loads:
        if load.unexpected:
            raise Violation(f"a reader was answered {load.unexpected}")
    return sums


def check_written(server, load):
    """Everything that the server acknowledged is there; returns how much that is."""
    names = load.acknowledged
    for name in names:
        if not server.has_task(load.circle, name):
            raise Violation(f"the task {name} was acknowledged and is not there")
    return len(names)
