# SPDX-License-Identifier: Apache-2.0
"""How several servers share the background work out: evenly, and soon after one ends or joins."""

import time
from collections import Counter

SHARDS = 64
# Seconds that a shard may be without a server that works, after one has ended, and until one that joins has its share.
AFTER_END, AFTER_JOIN = 15, 30
# Circles whose messages are counted, and the part of them that one server of three may send.
MESSAGES, PART = 1000, 0.4

HELD = ("SELECT holder, count(*) FROM leases WHERE name LIKE 'shard/%' AND "
        "ends_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint GROUP BY holder")


def held(cluster):
    """How many shards each server has, the most first."""
    return sorted((int(line.split("|")[1]) for line in cluster.ask(HELD).splitlines()), reverse=True)


def is_even(counts, servers):
    return len(counts) == servers and sum(counts) == SHARDS and counts[0] - counts[-1] <= 1


def wait(cluster, servers, limit):
    """Seconds until so many servers have equal shares; None when they do not have them in time. And what they have."""
    began = time.monotonic()
    while not is_even(counts := held(cluster), servers):
        if time.monotonic() - began > limit:
            return None, counts
        time.sleep(0.1)
    return time.monotonic() - began, counts


def unevenly_shared(cluster, nodes, receiver, counts_senders):
    """What is wrong with how servers share the work, and a sentence on how they did.

    `counts_senders`: whether the receiver knows who sent a message."""
    faults, said, servers = [], [], len(nodes)

    def look(what, servers, limit):
        seconds, counts = wait(cluster, servers, limit)
        shown = ", ".join(map(str, counts))
        if seconds is None:
            faults.append(f"{limit} s {what} servers have {shown} shards")
        else:
            said.append(f"{shown} {seconds:.1f} s {what}")

    look("after the last fault", servers, AFTER_JOIN)
    nodes[-1].kill()
    look("after one was killed", servers - 1, AFTER_END)
    nodes[-1].heal()
    look("after it joined", servers, AFTER_JOIN)
    if counts_senders:
        largest = largest_part(nodes[0], receiver)
        said.append(f"of {MESSAGES} messages one server sent {largest:.0%} at most")
        if largest > PART:
            faults.append(f"one server sent {largest:.0%} of {MESSAGES} messages")
    return faults, "; ".join(said)


def largest_part(node, receiver):
    """The part of the messages about new circles that the busiest server sent."""
    for circle in range(MESSAGES):
        node.must("PUT", f"/v1/circles/shared{circle}", {"name": "C", "timeZone": "UTC"})
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        senders = {one.circle: one.sender for one in receiver.deliveries() if one.circle.startswith("shared")}
        if len(senders) == MESSAGES:
            break
        time.sleep(0.5)
    return max(Counter(senders.values()).values(), default=0) / MESSAGES if len(senders) == MESSAGES else 1
