# SPDX-License-Identifier: Apache-2.0
"""Real calendar programs subscribe to a feed of Kalends, and must hold what was put in: first everything, then a
change and a removal. One line a program; the exit status is 1 when anything is missed, 2 when a program is missing.

    KALENDS=.build/debug/kalends python Tests/Clients/run.py [thunderbird evolution vdirsyncer khal]
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

try:
    import dateutil  # noqa: F401
    import icalendar  # noqa: F401
except ImportError as error:
    sys.exit(f"{error.name} not found; run `Tests/Harness clients`, or: pip install -r Tests/requirements.txt")

from evolution import Evolution
from kalends import Failure, Kalends
from khal import Khal
from programs import without_secrets
from schedule import Schedule
from thunderbird import Thunderbird
from vdirsyncer import Vdirsyncer

# Lines of a comparison that are printed. The first tell enough.
SHOWN = 24

NAMES = {"thunderbird": Thunderbird, "evolution": Evolution, "vdirsyncer": Vdirsyncer, "khal": Khal}


class Result:
    """What became of one program."""

    def __init__(self):
        self.version = "?"
        self.parts = []
        self.faults = []
        self.has_failed = False


def differences(expected, held):
    """Sentences on what one has and the other has not."""
    expected, held = sorted(expected), sorted(held)
    lines = []
    for occurrence in held:
        if held.count(occurrence) > expected.count(occurrence):
            lines.append(("held", occurrence))
    for occurrence in expected:
        if expected.count(occurrence) > held.count(occurrence):
            lines.append(("expected", occurrence))
    lines = sorted(set(lines), key=lambda line: (line[1].uid, line[1].start, line[0]))
    return [
        f"{word:>8} {o.start} to {o.end}  {o.title!r}" + (f" at {o.location!r}" if o.location else "")
        + (f", notes {o.notes!r}" if o.notes else "") for word, o in lines
    ]


def by_event(occurrences):
    events = {}
    for occurrence in sorted(occurrences):
        events.setdefault(occurrence.uid, []).append(occurrence)
    return events


def compare(result, program, schedule, views, stage):
    """The events for which the program holds every occurrence, and no other, however it is asked."""
    wanted = [program.comparable(occurrence) for occurrence in schedule.occurrences()]
    expected = by_event(wanted)
    right = set(expected)
    for name, occurrences in views.items():
        held = [program.comparable(occurrence) for occurrence in occurrences]
        got = by_event(held)
        right = {uid for uid in right if got.get(uid) == expected[uid]}
        lines = differences(wanted, held)
        if lines:
            result.faults.append(f"{stage}{', as ' + name if name else ''}:")
            result.faults += [f"  {line}" for line in lines[:SHOWN]]
            if len(lines) > SHOWN:
                result.faults.append(f"  and {len(lines) - SHOWN} lines more")
    return right, len(expected), len(wanted)


def attempt(result, action):
    """Runs one program's step; a failure is that program's own and does not end the others' turn."""
    if result.has_failed:
        return None
    try:
        return action()
    except Failure as failure:
        result.faults.append(f"failed: {failure}")
    except Exception:
        result.faults.append("failed: " + traceback.format_exc(limit=-3).strip().replace("\n", "\n    "))
    result.has_failed = True
    return None


def run(programs, schedule, feeds, results):
    def read(program):
        program.refresh()
        return program.views()

    for program in programs:
        result = results[program.name]

        def subscribe(program=program, result=result):
            result.version = program.version()
            # khal reads the folder of vdirsyncer and asks for no feed itself.
            program.subscribe(feeds.get(program.name))
            return read(program)

        views = attempt(result, subscribe)
        if views is not None:
            right, events, count = compare(result, program, schedule, views, "after subscribing")
            result.parts.append(f"{len(right)} of {events} events ({count} occurrences) to the second")

    changed, removed = schedule.change(), schedule.remove()
    schedule.uids()
    for program in programs:
        result = results[program.name]
        views = attempt(result, lambda program=program: read(program))
        if views is None:
            continue
        right, _, _ = compare(result, program, schedule, views, "after the change and the removal")
        result.parts.append("change seen" if changed in right else "CHANGE NOT SEEN")
        ending = attempt(result, program.finish)
        if ending:
            compare(result, program, schedule, ending, "after its end")
            views = {**views, **ending}
        held = {occurrence.uid for view in views.values() for occurrence in view}
        result.parts.append("removal seen" if removed.isdisjoint(held) else "REMOVAL NOT SEEN")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("programs", nargs="*", help=f"of {', '.join(NAMES)}; all by default")
    names = options.parse_args().programs or list(NAMES)
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        options.error(f"unknown: {', '.join(unknown)}")
    if "khal" in names and "vdirsyncer" not in names:
        names.insert(names.index("khal"), "vdirsyncer")
    names.sort(key=list(NAMES).index)
    binary = Path(os.environ.get("KALENDS") or ".build/debug/kalends")
    absent = [] if binary.is_file() else [f"kalends: no program at {binary}; build it, or name it in KALENDS"]
    absent += [f"{name}: {reason}" for name in names if (reason := NAMES[name].missing())]
    if absent:
        print("\n".join(absent), file=sys.stderr)
        return 2

    # A terminated run cleans up like a finished one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begun = time.monotonic()
    folder = tempfile.mkdtemp(prefix="kalends-clients-")
    server, programs = None, []
    results = {name: Result() for name in names}
    try:
        server = Kalends(binary, folder)
        schedule = Schedule(server)
        schedule.put()
        feeds = {name: server.make_feed(name) for name in names if name != "khal"}
        for name in names:
            if name == "khal":
                programs.append(Khal(folder, programs[-1]))
            else:
                programs.append(NAMES[name](folder))
            programs[-1].span, programs[-1].uids = schedule.span(), schedule.uids()
        run(programs, schedule, feeds, results)
    finally:
        for program in programs:
            program.stop()
        if server:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)

    for name, result in results.items():
        verdict = "FAULT " if result.faults else ""
        print(f"{name + ' ' + result.version:<24} {verdict}{' · '.join(result.parts)}")
        for line in result.faults:
            print(f"    {without_secrets(line)}")
    failed = [name for name, result in results.items() if result.faults]
    print(f"{len(names) - len(failed)} of {len(names)} programs are right, in {time.monotonic() - begun:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"failed: {without_secrets(str(failure))}", file=sys.stderr)
        sys.exit(1)
