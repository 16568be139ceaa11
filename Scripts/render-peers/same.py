# SPDX-License-Identifier: Apache-2.0
"""Says whether two calendars are the same up to the order of properties, PRODID, and the spelling of a length.

Usage: same.py ONE.ics OTHER.ics

Each component becomes the sorted list of its unfolded lines and of its parts, so that a line in another event is a
difference. Ends with 1 and prints the first lines that one has and the other has not.
"""

import collections
import re
import sys

LENGTH = re.compile(r"^([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$")


def canonical(line):
    name, _, value = line.partition(":")
    length = LENGTH.match(value)
    if length and name.split(";")[0] in ("TRIGGER", "DURATION", "REFRESH-INTERVAL", "X-PUBLISHED-TTL"):
        # A day and 24 hours before are two spellings in all but the nights when clocks change.
        parts = [int(part or 0) for part in length.groups()[1:]]
        seconds = sum(a * b for a, b in zip(parts, (604800, 86400, 3600, 60, 1)))
        value = f"{'-' if length.group(1) == '-' and seconds else ''}{seconds} seconds"
    elif name == "RRULE":
        value = ";".join(sorted(value.split(";")))
    name = name.upper().split(";")[0] + "".join(";" + part for part in sorted(name.split(";")[1:]))
    return f"{name}:{value}"


def components(path):
    """The calendar as nested sorted tuples, and every event by its UID."""
    with open(path, "rb") as file:
        lines = file.read().decode().replace("\r\n ", "").split("\r\n")
    stack = [("", [])]
    for line in lines:
        if line.startswith("BEGIN:"):
            stack.append((line[6:], []))
        elif line.startswith("END:"):
            name, content = stack.pop()
            assert name == line[4:], line
            stack[-1][1].append((name, *sorted(content, key=repr)))
        elif line and not line.startswith("PRODID:"):
            stack[-1][1].append(canonical(line))
    assert len(stack) == 1, "cut short"
    return collections.Counter(part for calendar in stack[0][1] for part in calendar[1:])


def main():
    one, other = (components(path) for path in sys.argv[1:3])
    for label, difference in (("only in the first", one - other), ("only in the second", other - one)):
        if difference:
            print(f"{label}: {sum(difference.values())}")
            for part in list(difference)[:3]:
                print(" ", part)
    if one != other:
        sys.exit(1)
    print(f"the same: {sum(one.values())} lines and components of the calendar")


main()
