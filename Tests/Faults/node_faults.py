# SPDX-License-Identifier: Apache-2.0
"""What happens to several servers: one or two at a time, so that one at least serves."""

import random
import signal
import threading
import time
from typing import NamedTuple

from node import DATABASE

# Longer than a lease lasts.
LONG = 13
CLOCKS = {"clock +1 h": "+1h", "clock -1 h": "-1h", "clock +7 s": "+7s", "clock -7 s": "-7s"}


class Fault(NamedTuple):
    kind: str
    server: int
    began: float
    ended: float


def known(nodes):
    """The kinds that can happen to these servers."""
    kinds = ["kill", "stop", "stop long", "part", "part long", "cut"]
    if nodes[0].network:
        kinds += ["unplug", "unplug long", "loss", "apart"]
    if nodes[0].offset:
        kinds += CLOCKS
    return kinds


def coming(nodes, chance):
    """What happens, one after the other: a kill first, and everything as often as everything else."""
    yield "kill"
    kinds = known(nodes)
    while True:
        yield from chance.sample(kinds, len(kinds))


def happen(node, kind, chance, nodes):
    seconds = LONG if kind.endswith("long") else chance.uniform(0.2, 3)
    # Whose clock is wrong, or who is cut off from the other servers only, is asked as often as the others.
    node.is_faulty.value = kind not in CLOCKS and kind != "apart"
    began = time.monotonic()
    if kind == "kill":
        node.kill()
    elif kind.startswith("stop"):
        node.process.send_signal(signal.SIGSTOP)
    elif kind == "cut":
        node.cut()
    elif kind.startswith("part"):
        node.part()
    elif kind.startswith("unplug"):
        node.network.unplug(node.name)
    elif kind == "loss":
        node.network.lose(node.name, [DATABASE], 30)
        seconds += 2
    elif kind == "apart":
        node.network.part(node.name, [other.name for other in nodes if other is not node])
    else:
        node.move_clock(CLOCKS[kind])
        seconds += 3
    time.sleep(seconds)
    ended = time.monotonic()
    node.heal()
    return Fault(kind, node.number, began, ended)


def faults(nodes, seconds, chance):
    """Lets faults happen for so long; what there was."""
    done, busy, deadline = [], {}, time.monotonic() + seconds
    failures, kinds = [], coming(nodes, chance)

    def one(node, kind):
        try:
            done.append(happen(node, kind, random.Random(chance.random()), nodes))
        except BaseException as error:
            failures.append(error)

    while time.monotonic() < deadline and not failures:
        for number in [number for number, thread in busy.items() if not thread.is_alive()]:
            del busy[number]
        if len(busy) < len(nodes) - 1 and (not busy or chance.random() < 0.4):
            node = chance.choice([node for node in nodes if node.number not in busy])
            busy[node.number] = threading.Thread(target=one, args=(node, next(kinds)))
            busy[node.number].start()
        time.sleep(chance.uniform(0.3, 2))
    for thread in busy.values():
        thread.join()
    if failures:
        raise failures[0]
    return done
