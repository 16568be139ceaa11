# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks, and keeps their figures in Scripts/performance.json, with which later ones are compared.

usage: bench.py [show]           shows what is kept
       bench.py run [PART…]      measures these parts, or all but the long ones, and keeps what comes of it
       bench.py check [PART…]    measures again, and ends with 1 where a ratio or a count of instructions is worse than kept

--programs FOLDER has kalends and kalends-bench (.build-release/release); --python is one with icalendar and Radicale.
--commit is the commit of the programs, where they are not of the sources that are here.
"""

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Callable, NamedTuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import figures

KEPT = Path("Scripts/performance.json")


# Peers that are measured where a variable of the environment says where they are.
OPTIONAL = {", to calcard": "CALCARD_READ", ", to DAViCal": "DAVICAL"}


class Part(NamedTuple):
    name: str
    title: str
    # What is run, so often, with {programs} and {python} filled in.
    command: str
    rounds: int
    take: Callable
    # Programs that have to be on the machine.
    needs: tuple
    # What has to be reached, by the figure's name: a share of the peer at least ("ratio"), so many times the peer's time at
    # most ("time"), or a value at most ("value").
    goals: dict
    note: str
    # Not measured unless it is named.
    is_long: bool = False


POLLS = ("the server counts each answer durably and logs it; nginx has two workers and a buffered log, and counts nothing. "
         "`wrk` has 32 connections, and shares the two processors with whoever answers. ")
PARTS = [
    Part("polls", "Polls, counted so that they survive a power cut", "ROUNDS=5 SECONDS_EACH=3 Scripts/bench-feeds.sh", 1, figures.polls,
         ("nginx", "wrk", "bc"),
         {"unchanged polls, to nginx": ("ratio", 0.5), "full reads, to nginx": ("ratio", 0.7)},
         f"A feed of 200 events, 85 kB, `accessDurability=power`: {POLLS}The disk is flushed for each group of answers."),
    Part("polls-process", "Polls, counted so that they survive the end of the process",
         "KALENDS_ACCESS_DURABILITY=process ROUNDS=5 SECONDS_EACH=3 Scripts/bench-feeds.sh", 1, figures.polls, ("nginx", "wrk", "bc"),
         {"unchanged polls, to nginx": ("ratio", 0.8), "full reads, to nginx": ("ratio", 0.9),
          "processor time of unchanged polls, to nginx": ("time", 1.5),
          "processor time of full reads, to nginx": ("time", 1.3)},
         f"The same with `accessDurability=process`: {POLLS}"),
    Part("growth", "Polls at more connections, fewer processors and with TLS", "python3 -B Scripts/bench-growth.py {programs}/kalends",
         1, figures.growth, ("nginx", "wrk", "openssl"), {},
         "The same feed, `accessDurability=power`; each row is the median of three rounds. On one processor the server, or "
         "nginx with one worker, may use only the first, and `wrk` both."),
    Part("read", "Reading a calendar file", "{programs}/kalends-bench read --runs 3", 3, figures.beside_libical, (),
         {"values and problems, one thread": ("ratio", 4), "values and problems, two threads": ("ratio", 7.2)}
         | {f"{name} in every event, one thread": ("ratio", 1) for name in [
             "A second STATUS", "A number that is not valid", "A delivery report", "A title that begins with a space",
             "A day without VALUE=DATE"]},
         "50,000 events as Google exports them, and 10,000 with something odd in each. libical only parses, on one thread; "
         "Kalends gives values and problems."),
    Part("read-others", "Reading, beside other languages' libraries",
         "{programs}/kalends-bench read --runs 3 --events 20000 --peers Scripts/read-peers --python {python}", 3,
         figures.reading_of_others, (), {"values and problems, one thread, to calcard": ("ratio", 1)}, "20,000 events; one run of each library that the machine has. calcard, which is "
         "in Rust, has the median of as many runs as Kalends; it is there when `CALCARD_READ` names its program, and "
         "`Scripts/read-peers/calcard/src/main.rs` says how to build that."),
    Part("occurrences", "Occurrences of rules", "{programs}/kalends-bench expand --runs 3", 3, figures.beside_libical, (),
         {f"{zone}: {what}": ("ratio", 32) for zone in ("UTC", "Europe/Berlin")
          for what in ("instants", "occurrences of events")},
         "1,000 rules FREQ=WEEKLY;BYDAY=MO,WE,FR over five years, beside libical's iterator, which gives instants."),
    Part("write", "Writing a calendar",
         "{programs}/kalends-bench render --runs 5 --peers Scripts/render-peers --python {python}", 3, figures.writing, (),
         {"items to values to text": ("ratio", 0.4), "one event changed, all joined": ("ratio", 50)},
         "10,000 events. libical prints a tree that it has; Kalends makes the values first. The others write the same lines, "
         "without the series."),
    Part("feeds", "A feed in the server after a change", "CHANGES=20 Scripts/bench-render.sh", 1, figures.renderings, (), {},
         "10,000 events in the database, by the server's own metrics."),
    Part("cold", "Reads that memory cannot answer",
         "python3 -B Scripts/bench-cold.py {programs}/kalends {programs}/kalends-bench", 1, figures.cold, (), {},
         "4,000 feeds of 1,000 circles with 30 items, each asked for once after a start; and 1,000 feeds of a circle with 200 "
         "items, each asked for once after one of them changed; beside unchanged polls of the same feeds, which memory answers. "
         "`--before PROGRAM` compares with another program."),
    Part("import", "Imports", "python3 -B Scripts/bench-import.py {programs}/kalends --lines 20000 --mebibytes 0", 3,
         figures.imports, (), {"mode=commit in one call": ("value", 0.5)},
         "A file of 15,000 events of several exporters' kinds, 7.9 MB, through HTTP into the database, beside "
         "`kalends parse --json` of the same file, which stores nothing."),
    Part("caldav", "Calendars in step",
         "python3 -B Scripts/bench-caldav.py {programs}/kalends-bench --python {python}", 1, figures.steps, ("vdirsyncer",), {},
         "1,000 events and one Radicale, whose own time is most of a first sync."),
    Part("door", "Calendar apps at the door",
         "python3 -B Scripts/bench-door.py {programs}/kalends --python {python}", 1, figures.door, ("git",),
         {"large: PROPFIND of the home": ("value", 5), "large: sync without a change": ("value", 2),
          "large: sync with one change": ("value", 5), "large: multiget of 100": ("value", 20),
          "large: query of a month": ("value", 50), "large: GET": ("value", 10),
          "large: first sync of 1,000, by 50": ("value", 1000), "large: PUT of a new one, 99 of 100": ("value", 25),
          "large: PUT of a change, 99 of 100": ("value", 25), "large: PROPFIND of 10,000 ETags": ("value", 100)},
         "2,000 events in a circle, and the same texts in an own calendar and in each peer, which all take the same "
         "requests over one connection. A large circle has 100,000 items. Accounts ask for their home every 15 minutes, as "
         "Apple's programs do. DAViCal is there when `--davical` or `DAVICAL` names a folder with Debian's packages.", True),
    Part("streams", "Streams of changes", "python3 -B Scripts/bench-streams.py {programs}/kalends", 1, figures.streams, (),
         {"10,000 streams: from commit to receipt, 99 of 100": ("value", 250)},
         "10,000 streams of 100 circles, of which one changes every 100 ms; a change's time begins before its write is sent. "
         "Beside them 100 readers take too little of long streams, and are ended. The client shares the two processors.", True),
    Part("instructions", "Instructions", "python3 -B Scripts/bench-instructions.py {programs}/kalends", 1, figures.instructions,
         (), {}, "The program's own instructions, without the kernel's. Polls are counted where the machine has counters for "
         "`perf`; they are left out where it has none."),
    Part("million", "A million feeds", "python3 -B Scripts/bench-million.py {programs}/kalends {programs}/kalends-bench", 1,
         figures.large, ("wrk",), {}, "Polls at very many feeds beside a few of them, of the same server program.", True),
]


def machine():
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    memory = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) >> 20
    return (f"{os.cpu_count()} processors ({model[1] if model else platform.machine()}), {memory} GiB, "
            f"Linux {platform.release().partition('-')[0]}")


def commit():
    """The last commit that changed what is measured."""
    places = ["--", "Sources", "Benchmarks", "Package.swift", "Package.resolved"]

    def git(*words):
        return subprocess.run(["git", *words, *places], capture_output=True, text=True).stdout.strip()

    return git("log", "-1", "--format=%h", "--abbrev=12") + ("+" if git("status", "--porcelain") else "")


def missing(part):
    return [program for program in part.needs if not shutil.which(program)]


def measured(part, options):
    """The figures of a part now; what it prints is shown as it comes."""
    python = options.python
    beside = Path(python).parent / "radicale"
    environment = os.environ | {
        "PROGRAM": f"{options.programs}/kalends", "BENCH": f"{options.programs}/kalends-bench",
        "RADICALE": str(beside) if beside.exists() else "radicale"}
    command = part.command.format(programs=options.programs, python=python)
    samples = []
    for _ in range(part.rounds):
        print(f"== {command}", flush=True)
        lines = []
        with subprocess.Popen(
                command, shell=True, env=environment, stdout=subprocess.PIPE, text=True, errors="replace") as process:
            for line in process.stdout:
                print(line, end="", flush=True)
                lines.append(line)
        if process.returncode:
            raise SystemExit(f"bench: {part.name} ended with {process.returncode}")
        samples += part.take("".join(lines))
    return figures.gathered(samples)


def run(kept, parts, options):
    for part in parts:
        if lacking := missing(part):
            print(f"bench: {part.name} is left out, because {', '.join(lacking)} is not on this machine", flush=True)
            continue
        load = os.getloadavg()[0]
        found = measured(part, options)
        if not found:
            print(f"bench: {part.name} gave no figure, and what is kept of it stays as it is", flush=True)
            continue
        kept[part.name] = {
            "command": part.command.format(programs=".build-release/release", python=".tools/python/bin/python"), "machine": machine(),
            "load": round(load, 1), "commit": options.commit or commit(), "day": time.strftime("%Y-%m-%d", time.gmtime()),
            "figures": found}
        KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def check(kept, parts, options):
    """Sentences on what is worse twice: a figure that is worse once is measured again, because others use machines too."""
    found = []
    for part in parts:
        if part.name not in kept:
            print(f"bench: {part.name} is not compared, because no figure of it is kept", flush=True)
        elif lacking := missing(part):
            print(f"bench: {part.name} is not compared, because {', '.join(lacking)} is not on this machine", flush=True)
        else:
            worse = regressions(kept[part.name]["figures"], measured(part, options))
            found += worse and regressions(kept[part.name]["figures"], measured(part, options), set(worse)).values()
    return found


def regressions(kept, now, names=None):
    """By the figures' names, of all or of those that are named."""
    found = {}
    for name, figure in kept.items():
        # A count by another counter, or of what this machine cannot count, is no regression; nor is a peer that is not built.
        if "counter" in figure and (name not in now or now[name].get("counter") != figure["counter"]):
            print(f"bench: {name} is not compared, because this machine has no counts by {figure['counter']}", flush=True)
        elif lacking := [variable for end, variable in OPTIONAL.items() if name.endswith(end) and not os.environ.get(variable)]:
            print(f"bench: {name} is not compared, because {lacking[0]} names nothing", flush=True)
        elif (names is None or name in names) and (sentence := figures.regression(name, figure, now.get(name))):
            found[name] = sentence
    return found


def shown(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def judged(goal, figure):
    """A goal in words, and whether it is met."""
    kind, bound = goal
    if kind == "ratio":
        return f"at least {bound:g} ×", statistics.median(figure["ratios"]) >= bound
    if kind == "time":
        return f"at most {bound:g} × its time", statistics.median(figure["ratios"]) >= 1 / bound
    return f"at most {bound:g} {figure['unit']}", statistics.median(figure["values"]) <= bound


def rows(part, kept):
    for name, figure in kept["figures"].items():
        ours = f"{shown(statistics.median(figure['values']))} {figure['unit']}"
        peer = ratio = ""
        if "ratios" in figure:
            ratios = figure["ratios"]
            peer = f"{figure['peer']}: {shown(statistics.median(figure['theirs']))} {figure['unit']}"
            ratio = f"{shown(statistics.median(ratios))} ({shown(min(ratios))} to {shown(max(ratios))})"
        elif "counter" in figure:
            values = figure["values"]
            ours += f" ({shown(min(values))} to {shown(max(values))}; {figure['counter']})"
        goal = ""
        if name in part.goals:
            words, is_met = judged(part.goals[name], figure)
            goal = f"{words}: {'met' if is_met else '**missed**'}"
        yield f"| {name} | {ours} | {peer} | {ratio} | {goal} |"


def wrapped(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def goals(kept):
    """How many goals there are among the figures, and the names of those that are missed."""
    judgements = [
        (f"{part.title}: {name}", judged(goal, kept[part.name]["figures"][name])[1])
        for part in PARTS if part.name in kept for name, goal in part.goals.items() if name in kept[part.name]["figures"]]
    return len(judgements), [name for name, is_met in judgements if not is_met]


def page(kept):
    count, missed = goals(kept)
    lines = [
        "# Performance", "",
        wrapped(
            "Each figure has its peer in the same run. The peers' turns lie between ours, so that what else a machine does falls on "
            "all alike. A figure is the median of its rounds; the ratio says how many times as fast Kalends is, and in brackets "
            "the least and the most of the rounds."), "",
        f"{count} figures have a goal; " + (f"missed are {len(missed)}:" if missed else "all of them reach it."), ""]
    lines += [f"- {name}" for name in missed] + ([""] if missed else [])
    for part in PARTS:
        if part.name not in kept:
            continue
        one = kept[part.name]
        lines += [
            f"## {part.title}", "", wrapped(part.note), "",
            f"`{one['command']}`" + (f", {part.rounds} times" if part.rounds > 1 else "") + "; "
            f"{one['machine']}, load {one['load']} before; commit {one['commit']}, {one['day']}", "",
            "| what | Kalends | beside | ratio | goal |", "| --- | --- | --- | --- | --- |", *rows(part, one), ""]
    return "\n".join(lines)


def main(words):
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("act", nargs="?", choices=["show", "run", "check"], default="show")
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--programs", default=".build-release/release")
    parser.add_argument("--python", default=".tools/python/bin/python")
    parser.add_argument("--commit")
    options = parser.parse_args(words)
    named = {part.name: part for part in PARTS}
    if unknown := set(options.parts) - set(named):
        parser.error(f"{', '.join(sorted(unknown))}: PART is one of {', '.join(named)}")
    parts = [named[name] for name in options.parts] or [part for part in PARTS if not part.is_long]
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if options.act != "show" and (load := os.getloadavg()[0]) > os.cpu_count() / 2:
        print(f"bench: other work is on this machine (load {load:.1f}), and ratios may be worse by it", flush=True)
    if options.act == "check":
        worse = check(kept, parts, options)
        print("\n".join(f"REGRESSION {sentence}" for sentence in worse) or "bench: nothing is worse than what is kept")
        return int(bool(worse))
    if options.act == "run":
        run(kept, parts, options)
    print(page(kept))
    count, missed = goals(kept)
    print(f"bench: {count - len(missed)} of {count} goals are met" + (f"; missed: {'; '.join(missed)}" if missed else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
