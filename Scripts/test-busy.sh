#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs all the tests that were built many times in a row next to processes that never wait, so that a test that depends on the
# machine's speed is found.
#
#   test-busy.sh ROUNDS [OPTION…]
#
# The options are those that the tests were built with, such as `--package-path Companion --scratch-path .build-companion`
# for those of the companion. LOOPS is the number of busy processes, three by default; with 0,
# something else is to keep the processors busy, such as three fuzzers: the lowest load of the machine is printed at the
# end. What failed is printed, and what each round printed is kept in .build-busy.
set -uo pipefail
cd "$(dirname "$0")/.."

rounds=$1
shift
kept=.build-busy
rm -rf "$kept" && mkdir -p "$kept"

busy=()
trap 'kill "${busy[@]}" 2> /dev/null' EXIT
for ((loop = 0; loop < ${LOOPS:-3}; loop++)); do
    (while :; do :; done) &
    busy+=($!)
done

passed=0
slowest=0
idlest=1000000
for ((round = 1; round <= rounds; round++)); do
    started=$SECONDS
    if Scripts/test.sh "$@" > "$kept/$round.log" 2>&1; then
        passed=$((passed + 1))
    else
        grep -a '^✘' "$kept/$round.log" | cut -c1-1000 | sort -u
    fi
    took=$((SECONDS - started))
    if [ "$took" -gt "$slowest" ]; then slowest=$took; fi
    # The mean number of running processes over about a quarter of an hour.
    load=$(cut -d ' ' -f 3 /proc/loadavg)
    if [ "${load%.*}" -lt "$idlest" ]; then idlest=${load%.*}; fi
    echo "round $round: $(grep -a 'Test run with' "$kept/$round.log" | tail -1), $took s in all, load $load"
done
beside="${LOOPS:-3} busy processes"
if [ "${LOOPS:-3}" -eq 0 ]; then beside="other programs"; fi
echo "busy: $passed of $rounds runs of the suite passed beside $beside, the slowest in $slowest s, a load of $idlest or more"
[ "$passed" -eq "$rounds" ]
