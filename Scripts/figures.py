# SPDX-License-Identifier: Apache-2.0
"""Figures of benchmarks: taken from what the benchmarks print, gathered over rounds, and compared with those that are kept.

A ratio is Kalends to its peer in the same round, and more of it is better: rates are divided as they are, times the other
way around. A count is of instructions, and less of it is better. Times and rates themselves are never compared.
"""

import re
import statistics
from typing import NamedTuple

# A ratio may be lower by this share, or by three spreads of the kept rounds where that is more, but never by more than the last.
TOLERANCE, SPREADS, MOST_TOLERANCE = 0.15, 3, 0.4
# Fewer rounds say nothing about the spread: such a ratio is shown, and not compared.
FEWEST_ROUNDS = 3
# A count may be higher by this share.
COUNT_TOLERANCE = 0.05


class Sample(NamedTuple):
    """What one round says about one figure."""

    name: str
    unit: str
    value: float
    peer: str | None = None
    theirs: float | None = None
    ratio: float | None = None
    counter: str | None = None


def number(text):
    return float(text.replace(",", ""))


def milliseconds(text):
    """Each labelled time of `kalends-bench`."""
    return {found[1]: float(found[2]) for found in re.finditer(r"^(.+?) +([\d.]+) ms\b", text, re.M)}


def polls(text):
    """Of `bench-feeds.sh`: each round of each server and answer."""
    rates, times = {}, {}
    for found in re.finditer(r"^(\d+) +(kalends|bare|nginx|radicale) +(304|200) +(\d+) +([\d.]+)$", text, re.M):
        rates[found[1], found[2], found[3]] = float(found[4])
        times[found[1], found[2], found[3]] = float(found[5])
    peers = {"nginx": "nginx", "bare": "a bare Hummingbird route", "radicale": "Radicale"}
    kinds = {"304": "unchanged polls", "200": "full reads"}
    return [
        Sample(f"{kinds[answer]}, to {peers[server]}", "a second", ours, peers[server], theirs, ours / theirs)
        for (around, server, answer), theirs in rates.items() if server != "kalends" and theirs
        for ours in [rates[around, "kalends", answer]]] + [
        Sample(f"processor time of {kinds[answer]}, to nginx", "µs each", ours, "nginx", theirs, theirs / ours)
        for (around, server, answer), theirs in times.items() if server == "nginx" and theirs
        for ours in [times[around, "kalends", answer]] if ours]


def growth(text):
    """Of `bench-growth.py`: a row for each setting, number of connections and answer."""
    kinds = {"304": "unchanged polls", "200": "full reads"}
    return [
        Sample(f"{found[1].strip()}, {int(found[2]):,} connections: {kinds[found[3]]}", "a second", float(found[4]), "nginx",
               float(found[6]), float(found[8]))
        for found in re.finditer(
            r"^(\S.*?) +(\d+) (304|200) +(\d+) +([\d.]+) +(\d+) +([\d.]+) +([\d.]+) \(", text, re.M)]


def beside_libical(text):
    """Of `kalends-bench read` and `expand`, which print how many times as fast a way is as libical's."""
    samples = []
    for found in re.finditer(r"^(.*\S) +([\d.]+) ms +([\d.]+) times as fast", text, re.M):
        if "libical" not in found[1]:
            name = re.sub(r"Kalends[:,] |, \d+$", "", found[1])
            ours, ratio = float(found[2]), float(found[3])
            samples.append(Sample(name, "ms", ours, "libical", ours * ratio, ratio))
    return samples


def reading_of_others(text):
    """Of `kalends-bench read --peers`: other libraries' readers beside one thread."""
    times = milliseconds(text)
    ours = times.get("Kalends: values and problems, one thread")
    samples = []
    for label, theirs in times.items():
        if found := re.fullmatch(r"((.+) \S+): \d+ events with their starts", label):
            # Python's figure keeps the name that it had when it was the only one.
            peer = "" if found[2] == "python icalendar" else f", to {found[2]}"
            samples.append(Sample(f"values and problems, one thread{peer}", "ms", ours, found[1], theirs, theirs / ours))
    return samples


def writing(text):
    """Of `kalends-bench render`."""
    times = milliseconds(text)
    rows = [
        ("items to values to text", "cold: items to values to text", "libical, which prints its own tree",
         "libical prints its own tree of the same calendar"),
        ("one event changed, all joined", "one event changed, its piece made, all joined", "all of it made cold",
         "cold: items to values to text")]
    for label in times:
        if found := re.fullmatch(r"((?!cold).+): values to text", label):
            rows.append((f"values to text, to {found[1]}", "cold: values to text", found[1], label))
    return [
        Sample(name, "ms", times[ours], peer, times[theirs], times[theirs] / times[ours])
        for name, ours, peer, theirs in rows if ours in times and theirs in times]


def renderings(text):
    """Of `bench-render.sh`: a whole rendering and one change, by the server's own metrics."""
    return [
        Sample("a feed after one change", "ms", float(found[2]), "the same made whole", float(found[1]), float(found[3]))
        for found in re.finditer(r"^\d+ +([\d.]+) +([\d.]+) +([\d.]+)$", text, re.M)]


def cold(text):
    """Of `bench-cold.py`: each round of each kind of read."""
    return [
        Sample(found[1], "a second", float(found[2]), "unchanged polls", float(found[3]), float(found[2]) / float(found[3]))
        for found in re.finditer(r"^  (.+), round: (\d+) and (\d+) a second$", text, re.M)]


def imports(text):
    """Of `bench-import.py`: everything after the line of `kalends parse` is compared with it."""
    samples, base = [], None
    for found in re.finditer(r"^  (\S.*?) +([\d.]+) s +([\d,]+) \w+/s(.*)$", text, re.M):
        name, seconds = found[1], float(found[2])
        if name.startswith("kalends parse"):
            base = seconds
        elif "× parse" in found[4] and base and seconds:
            samples.append(Sample(name, "s", seconds, "`kalends parse` of the file", base, base / seconds))
    return samples


def steps(text):
    """Of `bench-caldav.py`."""
    return [
        Sample(f"{found[1]} sync", "ms", float(found[3]), "vdirsyncer", float(found[2]), float(found[2]) / float(found[3]))
        for found in re.finditer(
            r"^(first|unchanged|one change) +(\d+) ms, \d+ requests +(\d+) ms, \d+ requests", text, re.M)]


def large(text):
    """Of `bench-million.py`."""
    return [
        Sample(f"unchanged polls at {found[4]}", "a second", float(found[3]), found[2], float(found[1]), float(found[5]))
        for found in re.finditer(
            r"^unchanged polls a second: (\d+) at (.+?), (\d+) at (.+?): ratio ([\d.]+);", text, re.M)]


def door(text):
    """Of `bench-door.py`: a circle's and an own calendar beside the peers', a large circle's times, and what a core answers."""
    samples = []
    for found in re.finditer(r"^ratio (.+?): ([\d.]+) ms, ([\d.]+) ms own; (\S+) ([\d.]+) ms;", text, re.M):
        peer, theirs = found[4], float(found[5])
        for place, ours in (("", float(found[2])), ("own calendar: ", float(found[3]))):
            samples.append(Sample(f"{place}{found[1]}, to {peer}", "ms", ours, peer, theirs, theirs / ours))
    for found in re.finditer(r"^large, (.+?): ([\d.]+) ms(?:, p99 ([\d.]+) ms)?$", text, re.M):
        samples.append(Sample(f"large: {found[1]}", "ms", float(found[2])))
        if found[3]:
            samples.append(Sample(f"large: {found[1]}, 99 of 100", "ms", float(found[3])))
    for found in re.finditer(r"^accounts of one core: (\d+);", text, re.M):
        samples.append(Sample("accounts that one core answers", "accounts", float(found[1])))
    return samples


def streams(text):
    """Of `bench-streams.py`: how late changes are, and the memory of a stream."""
    opened = re.search(r"^streams: (\d+) open after [\d.]+ s; memory: ([\d.]+) KiB each$", text, re.M)
    late = re.search(r"^from commit to receipt: p50 ([\d.]+) ms, p99 ([\d.]+) ms", text, re.M)
    if not opened or not late:
        return []
    name = f"{int(opened[1]):,} streams"
    return [
        Sample(f"{name}: memory of each", "KiB", float(opened[2])),
        Sample(f"{name}: from commit to receipt, half of all", "ms", float(late[1])),
        Sample(f"{name}: from commit to receipt, 99 of 100", "ms", float(late[2]))]


def instructions(text):
    """Of `bench-instructions.py`."""
    return [
        Sample(found[1], "instructions", float(found[2]), counter=found[3])
        for found in re.finditer(r"^(.+): (\d+) instructions \((\w+)\)$", text, re.M)]


def gathered(samples):
    """The figures of all rounds by their names, as they are kept."""
    kept = {}
    for sample in samples:
        figure = kept.setdefault(sample.name, {"unit": sample.unit, "peer": sample.peer, "values": [], "theirs": []})
        figure["values"].append(sample.value)
        if sample.ratio is not None:
            figure["theirs"].append(round(sample.theirs, 3))
            figure.setdefault("ratios", []).append(round(sample.ratio, 4))
        if sample.counter:
            figure["counter"] = sample.counter
    return kept


def spread(values):
    """How far a round lies from the median, as a share of it: the median of all rounds, so that one odd round says little."""
    middle = statistics.median(values)
    return statistics.median(abs(value - middle) for value in values) / middle if middle else 0


def tolerance(ratios):
    return min(max(TOLERANCE, SPREADS * spread(ratios)), MOST_TOLERANCE)


def regression(name, kept, now):
    """A sentence when a figure is worse than the kept one by more than its tolerance, else nothing."""
    if now is None:
        return f"{name}: kept, but no longer measured"
    if len(kept.get("ratios", [])) >= FEWEST_ROUNDS:
        before, present = statistics.median(kept["ratios"]), statistics.median(now["ratios"])
        share = tolerance(kept["ratios"])
        if present < before * (1 - share):
            return (f"{name}: {present:.3g} times {kept['peer']}, where {before:.3g} is kept: "
                    f"{1 - present / before:.0%} less, and {share:.0%} is allowed")
    elif "counter" in kept and kept["counter"] == now.get("counter"):
        before, present = statistics.median(kept["values"]), statistics.median(now["values"])
        if present > before * (1 + COUNT_TOLERANCE):
            return (f"{name}: {present:,.0f} instructions, where {before:,.0f} are kept: "
                    f"{present / before - 1:.0%} more, and {COUNT_TOLERANCE:.0%} is allowed")
    return None
