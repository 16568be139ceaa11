#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Feeds inputs that learn from the code's branches to the calendar reader, with AddressSanitizer.
#
#   fuzz.sh [RUNS] [LIBFUZZER-OPTION…]
#
# The reader and the target are compiled as one module beside `Base`: only what is compiled with the fuzzer's flags is
# watched, and the package itself has none of them. What was learnt stays in .build-fuzz/corpus, so a next call goes on from there.
# A finding ends with a status other than 0 and lies in .build-fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-1000000}
shift || true
work=.build-fuzz
mkdir -p "$work/corpus" "$work/seeds" "$work/findings"

sources=$(find Sources/ICalBridge Tests/Fuzz -name '*.swift' | sort)
changed() {
    find Sources/Base Sources/ICalBridge Sources/CLibical Tests/Fuzz Scripts/fuzz.sh -type f -newer "$work/fuzz" -print -quit
}
compile() {
    "${SWIFTC:-swiftc}" -O -whole-module-optimization -num-threads 2 -swift-version 6 -strict-memory-safety \
        -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault \
        -enable-upcoming-feature MemberImportVisibility -parse-as-library -package-name kalends -gline-tables-only \
        -sanitize=fuzzer,address -I "$work" "$@" 2> "$work/build.log" || { cat "$work/build.log"; exit 1; }
}
if [ ! -x "$work/fuzz" ] || [ -n "$(changed)" ]; then
    echo "Building the reader with the fuzzer's instrumentation."
    # shellcheck disable=SC2046 # a list of files
    compile -module-name Base -emit-module -emit-module-path "$work/Base.swiftmodule" -emit-library -static \
        -o "$work/libBase.a" $(find Sources/Base -name '*.swift' | sort)
    # shellcheck disable=SC2086
    compile -module-name Fuzz -I Sources/CLibical $sources "$work/libBase.a" -o "$work/fuzz"
fi

# Files that are longer than an input may be are cut by libFuzzer; what is after the cut brings nothing.
longest=${LONGEST:-4096}
rm -rf "$work/seeds" && mkdir -p "$work/seeds"
number=0
while IFS= read -r -d '' file; do
    number=$((number + 1))
    cp "$file" "$work/seeds/$number-$(basename "$file")"
done < <(find Samples $([ -d ../shared/corpora ] && echo ../shared/corpora) -type f -size -"$((longest / 512 + 1))" \
    \( -name '*.ics' -o -name '*.vcs' -o -name '*.jcal' -o -name '*.json' -o -name '*.xml' -o -name '*.csv' \) -print0)

status=0
# A crash is told by libFuzzer; Swift's own report of it would wait for a terminal. Stacks of allocations and a large
# quarantine cost a third of the time; the input that is kept can be run again with both.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=0:quarantine_size_mb=8:thread_local_quarantine_size_kb=64}
"$work/fuzz" -runs="$runs" -max_len="$longest" -timeout=5 -rss_limit_mb=2048 \
    -dict=Tests/Fuzz/calendar.dict -artifact_prefix="$work/findings/" -print_final_stats=1 "$@" \
    "$work/corpus" "$work/seeds" || status=$?
if [ "$status" -ne 0 ]; then
    echo "Found something (status $status). The input is the newest file in $work/findings:"
    ls -t "$work/findings" | head -1
    echo "Once more: ASAN_OPTIONS= SWIFT_BACKTRACE=enable=no $work/fuzz $work/findings/FILE; smaller: with -minimize_crash=1 -runs=10000"
fi
exit "$status"
