#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Does what somebody new does first: `make run`, then a look at the feed whose address it prints. Ends with 1 unless that address
# answers with a calendar.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
setsid make run PORT="${PORT:-18980}" >"$log" 2>&1 &
run=$!
trap 'kill -TERM -- -"$run" 2>/dev/null || true; wait "$run" 2>/dev/null || true; rm -f "$log"' EXIT
while kill -0 "$run" 2>/dev/null && ! grep -q '^  http.*\.ics$' "$log"; do sleep 1; done
feed=$(grep -m1 '^  http.*\.ics$' "$log" | tr -d ' ') || { cat "$log"; echo "make run printed no feed." >&2; exit 1; }
events=$(curl -sS --fail "$feed" | grep -c '^BEGIN:VEVENT')
# A mirror of a package counts as local, and SwiftPM then names the files in it that are not sources. Of ours it names none.
! grep -n "^ *$PWD/\(Benchmarks\|Samples\|Sources\|Tests\)/" "$log" || { echo "make run warned of files of ours." >&2; exit 1; }
! grep -n 'warning:' "$log" | grep -v 'found [0-9]* file(s) which are unhandled' || { echo "make run warned." >&2; exit 1; }
echo "make run: a feed with $events events after $SECONDS s"
