#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that were built with the options that are given, `test.sh [OPTION…]`; prints what failed and what was left out
# again at the end, with the runner's closing line last.
set -uo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# With all tests at once there are more than a thousand files open, and Foundation's start of a process reads beyond the
# end of the list of them.
"$(dirname "$0")/postgresql.sh" "${SWIFT:-swift}" test --skip-build "$@" --experimental-maximum-parallelization-width 16 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
echo
grep -a '^✘' "$log" | grep -av '^✘ Test run' | cut -c1-1000
# Of a suite that is left out its tests are listed too.
left_out() { sed -n "s/^➜ *Test \(.*\) skipped: \"$1.*/\1/p" "$log" | sed 's/^"\(.*\)"$/“\1”/' | sort | paste -sd ';' | sed 's/;/; /g'; }
for reason in KALENDS_CORPORA KALENDS_PYTHON KALENDS_ICALJS "There is no PostgreSQL"; do
    names=$(left_out "$reason")
    [ -z "$names" ] || echo "Left out ($reason): $names"
done
grep -a 'Test run with' "$log" | tail -1
exit "$status"
