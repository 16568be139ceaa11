# SPDX-License-Identifier: Apache-2.0
"""Tries what `Scripts/bench.py` takes from the benchmarks' output, and what it calls worse, with lines that they printed.

    python3 -B Tests/Benchmarks/figures.py
"""

import argparse
import contextlib
import copy
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Scripts"))
import bench
import figures

POLLS = """\
85350 bytes, 200 events, wrk with 32 connections, 2 rounds of 5 s, in turn
accessDurability=process
round  server     answer     requests/s CPU µs each
1      kalends       304          28000         24.3
1      nginx         304          40000         11.5
1      kalends       200          13000         44.6
1      nginx         200          13000         32.7
1      radicale      304             35      28918.9
2      kalends       304          24000         30.3
2      nginx         304          40000         12.4
2      kalends       200          13617         46.0
2      nginx         200          13617         34.4
medians    answer     requests/s CPU µs each  kalends to it
nginx         304          41026         11.5     0.64 (0.64 to 0.69)
"""
EXPAND = """\
1,000 rules FREQ=WEEKLY;BYDAY=MO,WE,FR over five years (at least 32 is wanted)
UTC: libical's iterator, 783000                           1001.064 ms   1.0 times as fast (1.0 to 1.0)
UTC: Kalends, instants, 783000                            7.629 ms   131.2 times as fast (128.7 to 147.5)
UTC: Kalends, occurrences of events, 783000               29.918 ms   33.5 times as fast (30.6 to 36.3)
"""
READ = """\
20000 events, 8894141 bytes, median of 3 runs
libical: icalparser_parse_string alone, one thread        235.346 ms
Kalends: values and problems, one thread                  60.034 ms   3.92 times as fast (2.6 to 4.02)
A title that begins with a space in every event, one thread 40.825 ms   1.14 times as fast (1.12 to 1.16)
python icalendar 7.3.0: 20000 events with their starts    7417 ms
calcard 0.3.7: 20000 events with their starts             97.0 ms
Kalends: streaming 95 MB, 215000 events                   1112.85 ms   16 MiB over idle (at most 64 is wanted)
"""
RENDER = """\
10000 events, 5740365 bytes, median of 9 runs
cold: items to values to text                             72.832 ms
cold: values to text                                      56.085 ms
libical prints its own tree of the same calendar          60.03 ms
joining alone                                             0.338 ms   16.98 GB/s
one event changed, its piece made, all joined             0.511 ms
python icalendar 7.3.0: values to text                    3956.6 ms   the same: 9807 lines and components of the calendar
PHP sabre/vobject: did not run (  thrown in render-peers/vobject_render.php on line 27)
"""
IMPORT = """\
A batch of 20,000 lines in one call:
  new tasks                             2.88 s        6,946 lines/s     79 →    83 MiB
A file of 15,000 events, 7.9 MB:
  kalends parse --json, best of 3       0.40 s       40,292 events/s
  mode=commit in one call               2.00 s        7,389 events/s     92 →    95 MiB    5.5 × parse
  a page of its report                  0.00 s          275 pages/s     94 →    94 MiB
"""
IN_STEP = """\
200 events               vdirsyncer                  Kalends   times as fast                     bare   of Kalends' time
first             4988 ms, 201 requests    3278 ms, 201 requests             1.5    2898 ms, 200 requests   88 %
one change there                      -        61 ms, 3 requests                                        -
"""
LARGE = """\
unchanged polls a second: 21000 at 100 feeds, 20160 at 1000000 feeds: ratio 0.96; processor time each: 40.0 and 37.0 microseconds
"""
GROWTH = """\
one processor     100 304     43210    22.1     60700    10.5   0.712 (0.701 to 0.744)
TLS             10000 200      9000    99.0      9009    98.2   0.999 (0.900 to 1.100)
"""
DOOR = """\
ratio GET: 0.500 ms, 0.250 ms own; Radicale 2.000 ms; 4.000 and 8.000 times as fast; processor 0.1 ms, 0.1 ms own; 2.000 ms
large, the first multiget of 1: 2.500 ms
large, PUT of a change: 3.000 ms, p99 9.000 ms
accounts of one core: 900000; 55000 take 6.1 % of it
"""
STREAMS = """\
streams: 10000 open after 12.3 s; memory: 20.5 KiB each
changes: 300 written, 10.0 a second, p99 9.0 ms; 33000 of 33000 received
from commit to receipt: p50 61.0 ms, p99 140.5 ms, longest 200.0 ms
"""
COUNTS = "an event read: 173768 instructions (cachegrind)\nan event read: 173591 instructions (cachegrind)\n"


def ratios(take, text):
    return {name: figure.get("ratios") for name, figure in figures.gathered(take(text)).items()}


class Taking(unittest.TestCase):
    def test_polls_are_compared_within_their_round(self):
        self.assertEqual(ratios(figures.polls, POLLS), {
            "unchanged polls, to nginx": [0.7, 0.6], "full reads, to nginx": [1, 1], "unchanged polls, to Radicale": [800],
            "processor time of unchanged polls, to nginx": [0.4733, 0.4092],
            "processor time of full reads, to nginx": [0.7332, 0.7478]})

    def test_a_goal_of_time_is_a_share_of_the_peers(self):
        figure = {"unit": "µs each", "values": [15], "theirs": [10], "ratios": [0.6667]}
        self.assertEqual(bench.judged(("time", 1.5), figure), ("at most 1.5 × its time", True))
        self.assertEqual(bench.judged(("time", 1.4), figure), ("at most 1.4 × its time", False))

    def test_polls_at_more_connections(self):
        self.assertEqual(ratios(figures.growth, GROWTH), {
            "one processor, 100 connections: unchanged polls": [0.712], "TLS, 10,000 connections: full reads": [0.999]})

    def test_the_door_beside_its_peers_and_alone(self):
        found = figures.gathered(figures.door(DOOR))
        self.assertEqual(ratios(figures.door, DOOR), {
            "GET, to Radicale": [4], "own calendar: GET, to Radicale": [8], "large: the first multiget of 1": None,
            "large: PUT of a change": None, "large: PUT of a change, 99 of 100": None, "accounts that one core answers": None})
        goals = next(part for part in bench.PARTS if part.name == "door").goals
        self.assertEqual(
            bench.judged(goals["large: PUT of a change, 99 of 100"], found["large: PUT of a change, 99 of 100"]),
            ("at most 25 ms", True))

    def test_ways_beside_libical(self):
        self.assertEqual(
            ratios(figures.beside_libical, EXPAND), {"UTC: instants": [131.2], "UTC: occurrences of events": [33.5]})
        self.assertEqual(ratios(figures.beside_libical, READ), {
            "values and problems, one thread": [3.92], "A title that begins with a space in every event, one thread": [1.14]})
        self.assertEqual(figures.beside_libical(READ)[0].theirs, 60.034 * 3.92)

    def test_times_are_divided_the_other_way_around(self):
        self.assertEqual(ratios(figures.reading_of_others, READ), {
            "values and problems, one thread": [123.5467], "values and problems, one thread, to calcard": [1.6158]})
        self.assertEqual(ratios(figures.writing, RENDER), {
            "items to values to text": [0.8242], "one event changed, all joined": [142.5284],
            "values to text, to python icalendar 7.3.0": [70.5465]})
        self.assertEqual(ratios(figures.imports, IMPORT), {"mode=commit in one call": [0.2]})
        self.assertEqual(ratios(figures.steps, IN_STEP), {"first sync": [1.5217]})
        self.assertEqual(ratios(figures.renderings, "1            363.259        2.498   145.41\n"),
                         {"a feed after one change": [145.41]})

    def test_cold_reads_are_compared_with_unchanged_polls(self):
        self.assertEqual(
            ratios(figures.cold, "first polls after a start: 1259 a second, 1280 µs each; unchanged polls: 50905 a second, 20 µs "
                   "each; ratio 0.025 (0.025 to 0.025)\n  first polls after a start, round: 1303 and 52120 a second\n"
                   "  first polls after a start, round: 1200 and 48000 a second\n"),
            {"first polls after a start": [0.025, 0.025]})

    def test_others(self):
        self.assertEqual(ratios(figures.large, LARGE), {"unchanged polls at 1000000 feeds": [0.96]})
        self.assertEqual(figures.gathered(figures.instructions(COUNTS)), {"an event read": {
            "unit": "instructions", "peer": None, "values": [173768, 173591], "theirs": [], "counter": "cachegrind"}})

    def test_each_goal_has_a_figure(self):
        """A goal under a name that no benchmark prints would never be judged."""
        for part, text in [("polls", POLLS), ("occurrences", EXPAND), ("write", RENDER), ("import", IMPORT),
                           ("streams", STREAMS)]:
            part = next(one for one in bench.PARTS if one.name == part)
            names = set(figures.gathered(part.take(text)))
            self.assertLessEqual({name for name in part.goals if "Berlin" not in name}, names)


def figure(*ratios):
    return {"unit": "ms", "peer": "libical", "values": [1] * len(ratios), "theirs": [1] * len(ratios), "ratios": list(ratios)}


class Comparing(unittest.TestCase):
    def test_the_tolerance_fits_the_spread(self):
        self.assertEqual(figures.tolerance([1, 1, 1]), 0.15)
        self.assertAlmostEqual(figures.tolerance([0.9, 1, 1.1]), 0.3)
        self.assertEqual(figures.tolerance([0.5, 1, 1.5]), 0.4)
        # One odd round.
        self.assertEqual(figures.tolerance([0.5, 0.87, 0.87, 0.88, 0.88]), 0.15)

    def test_a_ratio_is_worse_below_the_tolerance_only(self):
        kept = figure(4, 4, 4.1)
        self.assertIsNone(figures.regression("reading", kept, figure(3.5, 3.45, 3.6)))
        self.assertIsNone(figures.regression("reading", kept, figure(8)))
        self.assertEqual(
            figures.regression("reading", kept, figure(3, 3.2, 3.3)),
            "reading: 3.2 times libical, where 4 is kept: 20% less, and 15% is allowed")

    def test_a_ratio_of_too_few_rounds_is_not_compared(self):
        self.assertIsNone(figures.regression("reading", figure(4, 4), figure(1)))
        self.assertIsNotNone(figures.regression("reading", figure(4, 4, 4), figure(1)))

    def test_times_are_not_compared(self):
        slow = figure(4)
        slow["values"], slow["theirs"] = [1000], [4000]
        self.assertIsNone(figures.regression("reading", figure(4, 4, 4), slow))

    def test_a_count_is_worse_when_it_is_higher(self):
        kept = figures.gathered(figures.instructions(COUNTS))["an event read"]
        more = copy.deepcopy(kept)
        more["values"] = [value * 1.06 for value in kept["values"]]
        self.assertIn("6% more", figures.regression("an event", kept, more))
        more["values"] = [value * 1.04 for value in kept["values"]]
        self.assertIsNone(figures.regression("an event", kept, more))

    def test_a_figure_that_is_gone_is_reported(self):
        self.assertEqual(figures.regression("reading", figure(4), None), "reading: kept, but no longer measured")


class Checking(unittest.TestCase):
    """The whole way, with a benchmark that prints a file."""

    def checked(self, *texts, counted=False):
        """What a check says after the first text was kept; each measurement prints the next one, the last again and again."""
        with tempfile.TemporaryDirectory() as folder:
            for index, text in enumerate(texts[1:]):
                Path(folder, f"{index}").write_text(text)
            last = len(texts) - 2
            turn = f"cd {folder}; n=$(cat turn 2>/dev/null || echo 0); cat $n; echo $((n < {last} ? n + 1 : n)) > turn"
            take = figures.instructions if counted else figures.beside_libical
            part = bench.Part("tried", "Tried", turn, 1, take, (), {}, "")
            kept = {"tried": {"figures": figures.gathered(take(texts[0]) * figures.FEWEST_ROUNDS)}}
            options = argparse.Namespace(programs=folder, python="python3")
            with contextlib.redirect_stdout(io.StringIO()) as output:
                return list(bench.check(kept, [part], options)), output.getvalue()

    def test_what_stays_is_not_reported(self):
        self.assertEqual(self.checked(EXPAND, EXPAND)[0], [])

    def test_a_planted_regression_is_reported_with_both_ratios(self):
        slower = EXPAND.replace("33.5 times", "25.1 times")
        found, _ = self.checked(EXPAND, slower)
        self.assertEqual(found, [
            "UTC: occurrences of events: 25.1 times libical, where 33.5 is kept: 25% less, and 15% is allowed"])

    def test_a_figure_that_is_worse_once_is_measured_again(self):
        self.assertEqual(self.checked(EXPAND, EXPAND.replace("33.5 times", "25.1 times"), EXPAND)[0], [])

    def test_a_figure_that_is_no_longer_printed_is_reported(self):
        self.assertEqual(len(self.checked(EXPAND, "nothing\n")[0]), 2)

    def test_counts_of_another_counter_are_left_out_with_a_sentence(self):
        found, output = self.checked(COUNTS, COUNTS.replace("17", "99").replace("cachegrind", "perf"), counted=True)
        self.assertEqual(found, [])
        self.assertIn("an event read is not compared, because this machine has no counts by cachegrind", output)

    def test_a_planted_count_is_reported(self):
        self.assertEqual(len(self.checked(COUNTS, COUNTS.replace("17", "19"), counted=True)[0]), 1)


class Writing(unittest.TestCase):
    def test_a_goal_that_is_missed_is_on_the_page(self):
        one = {"command": "expand", "machine": "m", "load": 0, "commit": "c", "day": "2026-01-01",
               "figures": figures.gathered(figures.beside_libical(EXPAND.replace("33.5 times", "31.5 times")))}
        text = bench.page({"occurrences": one})
        self.assertIn("2 figures have a goal; missed are 1:", text)
        self.assertIn("- Occurrences of rules: UTC: occurrences of events", text)
        self.assertIn("| UTC: instants | 7.63 ms | libical: 1,001 ms | 131 (131 to 131) | at least 32 ×: met |", text)
        self.assertIn("31.5 (31.5 to 31.5) | at least 32 ×: **missed** |", text)


if __name__ == "__main__":
    unittest.main()
