#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Feeds inputs that learn from the code's branches to the readers of text from outside, with AddressSanitizer, and with
# UndefinedBehaviorSanitizer in what is C: the packages' and libical, which is built again for this where its source can be had.
#
#   fuzz.sh [TARGET] [RUNS] [LIBFUZZER-OPTION…]
#
# TARGET is one of
#   calendar   the calendar reader, in every form of a calendar file (Tests/Fuzz/*.swift)
#   readers    every other reader of text: JSON, queries, cursors, forms, multipart, gzip, header fields, addresses, DNS
#              answers, settings, providers' answers, what calendar apps send over CalDAV, and the bytes of a connection
#              (Tests/Fuzz/Readers)
#   mutate     the readers, with changed copies of real inputs, without learning
#   document   the readers, with what the OpenAPI document describes, with and without faults
#   keep       no new inputs: what `readers` reached is merged into the corpus in Tests/Fuzz/corpus, which `make test` replays
#
# KALENDS_CORPORA=FOLDER names files of other projects, from which `calendar` and the readers begin too.
#
# What was learnt stays in .build-fuzz/FOLDER/corpus, so a next call goes on from there; FOLDER is `calendar`, or `readers` for
# all other targets. A finding ends with a status other than 0 and lies in .build-fuzz/FOLDER/findings. SEED=N gives `mutate`
# and `document` other inputs; LONGEST=N is the length of an input at most; SCRATCH=PATH is SwiftPM's folder.
set -euo pipefail
cd "$(dirname "$0")/.."

target=calendar
case ${1:-} in [a-z]*) target=$1 && shift ;; esac
runs=${1:-1000000}
shift || true
folder=$target
case $target in
calendar | readers) ;;
mutate | document | keep) folder=readers ;;
*) echo "fuzz.sh knows calendar, readers, mutate, document and keep, not $target" >&2 && exit 64 ;;
esac
work=.build-fuzz/$folder
mkdir -p "$work/corpus" "$work/seeds" "$work/findings"

# libFuzzer reports a crash; Swift's own report of it would wait for a terminal. Stacks of allocations and a large
# quarantine cost a third of the time; the input that is kept can be run again with both.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:malloc_context_size=0:quarantine_size_mb=8:thread_local_quarantine_size_kb=64}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
# Files that are longer than an input may be are cut by libFuzzer; what is after the cut brings nothing.
longest=${LONGEST:-4096}

# The calendar reader and its promises are compiled as one module next to `Base` and `Calendar`: only what is compiled with the
# fuzzer's flags is watched, and the package itself has none of them.
build_calendar() {
    local changed sources module
    changed=$(find Sources/Base Sources/Calendar Sources/ICalBridge Sources/CLibical Tests/Fuzz/*.swift Scripts/fuzz.sh \
        -type f -newer "$work/fuzz" -print -quit 2> /dev/null || echo new)
    [ -n "$changed" ] || return 0
    echo "Building the reader with the fuzzer's instrumentation."
    compile() {
        "${SWIFTC:-swiftc}" -O -whole-module-optimization -num-threads 2 -swift-version 6 -strict-memory-safety \
            -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault \
            -enable-upcoming-feature MemberImportVisibility -parse-as-library -package-name kalends -gline-tables-only \
            -sanitize=fuzzer,address -I "$work" "$@" 2> "$work/build.log" || { cat "$work/build.log"; exit 1; }
    }
    sources=$(find Sources/ICalBridge Tests/Fuzz/*.swift -name '*.swift' | sort)
    for module in Base Calendar; do
        # shellcheck disable=SC2046 # a list of files
        compile -module-name $module -emit-module -emit-module-path "$work/$module.swiftmodule" -emit-library -static \
            -o "$work/lib$module.a" $(find "Sources/$module" -name '*.swift' | sort)
    done
    # shellcheck disable=SC2086
    compile -module-name Fuzz -I Sources/CLibical $sources "$work/libCalendar.a" "$work/libBase.a" -o "$work/fuzz"
}

# libFuzzer without a `main` of its own, from the compiler's folder.
fuzzer() {
    local resources
    resources=$("${SWIFTC:-swiftc}" -print-target-info | sed -n 's/.*"runtimeResourcePath": *"\(.*\)".*/\1/p')
    find "$resources/clang/lib/linux/" "${resources%/swift}"/clang/*/lib/linux/ \
        -name "libclang_rt.fuzzer_no_main-$(uname -m).a" -print -quit 2> /dev/null
}

# The other readers need packages, so SwiftPM builds them, in a folder of its own and with a product that is in the package
# only for this.
build_readers() {
    local scratch=${SCRATCH:-.build-fuzz/package}
    echo "Building the readers with the fuzzer's instrumentation."
    KALENDS_FUZZER=$(fuzzer) "${SWIFT:-swift}" build --product kalends-fuzz --scratch-path "$scratch" --disable-index-store \
        -Xcc -fsanitize=undefined -Xcc -fno-sanitize=vptr,function > "$work/build.log" 2>&1 ||
        { tail -40 "$work/build.log"; exit 1; }
    cp "$scratch/debug/kalends-fuzz" "$work/fuzz"
}

calendar_seeds() {
    local number=0 file
    rm -rf "$work/seeds" && mkdir -p "$work/seeds"
    while IFS= read -r -d '' file; do
        number=$((number + 1))
        cp "$file" "$work/seeds/$number-$(basename "$file")"
    done < <(find Samples ${KALENDS_CORPORA:+"$KALENDS_CORPORA"} -type f -size -"$((longest / 512 + 1))" \
        \( -name '*.ics' -o -name '*.vcs' -o -name '*.jcal' -o -name '*.json' -o -name '*.xml' -o -name '*.csv' \) -print0)
}

# No sanitizer watches the machine's own libical.
if Scripts/libical-sanitized.sh .build-fuzz/libical; then export LD_LIBRARY_PATH=$PWD/.build-fuzz/libical/lib; fi

status=0
if [ "$target" = calendar ]; then
    build_calendar
    calendar_seeds
    "$work/fuzz" -runs="$runs" -max_len="$longest" -timeout=5 -rss_limit_mb=2048 \
        -dict=Tests/Fuzz/calendar.dict -artifact_prefix="$work/findings/" -print_final_stats=1 "$@" \
        "$work/corpus" "$work/seeds" || status=$?
else
    build_readers
    rm -rf "$work/seeds"
    python3 -B Tests/Fuzz/Readers/seeds.py "$work/seeds" ${KALENDS_CORPORA:+"$KALENDS_CORPORA"}
    kept=Tests/Fuzz/corpus/readers
    case $target in
    readers)
        "$work/fuzz" -runs="$runs" -max_len="$longest" -timeout=5 -rss_limit_mb=2048 \
            -dict=Tests/Fuzz/Readers/readers.dict -artifact_prefix="$work/findings/" -print_final_stats=1 "$@" \
            "$work/corpus" "$kept" "$work/seeds" || status=$?
        ;;
    mutate) "$work/fuzz" mutate "$work/seeds" "$runs" "${SEED:-1}" || status=$? ;;
    document) "$work/fuzz" document "$work/seeds" "$runs" "${SEED:-1}" || status=$? ;;
    keep) python3 -B Tests/Fuzz/Readers/keep.py "$work" "$kept" || status=$? ;;
    esac
fi
if [ "$status" -ne 0 ]; then
    echo "Found something (status $status). The input is the newest file in $work/findings:"
    ls -t "$work/findings" | head -1
    echo "Once more: ASAN_OPTIONS= SWIFT_BACKTRACE=enable=no $work/fuzz $work/findings/FILE; smaller: with -minimize_crash=1 -runs=10000"
fi
exit "$status"
