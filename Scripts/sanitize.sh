#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the server's package, and then those of the companion's, under the sanitizers of addresses, of undefined behaviour and of threads.
#
#   sanitize.sh [address|thread]… [FILTER]
#
# FILTER is SwiftPM's, such as `ICalBridgeTests|BaseTests`; without one, every suite runs, and with one that names the
# companion, those of its package. Each of the two sanitizers has builds of its own, in .build-sanitize/NAME and NAME-companion,
# of several GB, in which all packages are instrumented too. Both run even when the first reports
# something. KALENDS_PYTHON is the Python with the packages that the tests need.
#
# `address` and `thread` watch Swift and C. Swift has no `undefined` on Linux: what is undefined in C traps in Swift by the
# language itself (overflow, shifts, casts, nil, bounds). So the C below it is watched for that (BoringSSL, the HTTP parser,
# our own C targets), in the build of `address`, whose runtime brings the reports. libical is built again with both, where its
# source can be had (Scripts/libical-sanitized.sh).
#
# Leaks are not looked for: Swift packs pointers with other bits, and what such a value refers to would be reported.
#
# The build of `address` is optimized and keeps its assertions, like that of `make test`, and takes half the time. That of
# `thread` is not: in optimized code the sanitizer takes what a continuation hands over, and the one empty array that the
# standard library has, for races (https://github.com/swiftlang/swift/issues/57803).
#
# The tests that hold times measure what the processor does for their thread, and the sanitizers' share fits into most
# bounds; the others look at KALENDS_SANITIZED.
set -euo pipefail
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
sanitizers=()
filter=()
for word in "$@"; do
    case $word in
    address | thread) sanitizers+=("$word") ;;
    *) filter=(--filter "$word") ;;
    esac
done
if [ ${#sanitizers[@]} -eq 0 ]; then sanitizers=(address thread); fi

folder=.build-sanitize
mkdir -p "$folder"
# The sanitizer reports a finding; Swift's own report of it would wait for a terminal.
export SWIFT_BACKTRACE=enable=no
# Tests of limits under which no sanitizer can start look at this.
export KALENDS_SANITIZED=1

failed=0
# Builds a package's tests and runs them: `watch NAME OPTION…`. NAME is that of its folder and its log.
watch() {
    local name=$1 log=$folder/$1.log reports=$PWD/$folder/$1-reports status=0 count
    shift
    set -- --scratch-path "$folder/$name" "$@" "${options[@]}"
    echo "Building the tests: $name."
    "$swift" build --build-tests "$@" > "$log" 2>&1 || { tail -40 "$log"; exit 1; }
    # Each process writes its reports to a file of its own: the programs that the tests start are watched as well, and
    # what they print is read by the tests.
    rm -rf "$reports" && mkdir -p "$reports"
    export TSAN_OPTIONS="suppressions=$PWD/Scripts/tsan-suppressions.txt:history_size=4:exitcode=66:log_path=$reports/thread"
    export ASAN_OPTIONS="detect_leaks=0:malloc_context_size=12:log_path=$reports/address"
    export UBSAN_OPTIONS="print_stacktrace=1:log_path=$reports/undefined"
    # XCTest, for which there is no test here, leaks in its own runner. Fewer tests at once than in Scripts/test.sh: each
    # takes several times the memory.
    Scripts/postgresql.sh "${run[@]}" "$swift" test --skip-build "$@" --disable-xctest \
        --experimental-maximum-parallelization-width 12 "${filter[@]}" > "$log" 2>&1 || status=$?
    count=$(cat "$log" "$reports"/* 2> /dev/null |
        grep -acE 'ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|runtime error: ' || true)
    echo "$name: $(grep -a 'Test run with' "$log" | tail -1 || echo 'the run ended early'); $count reports"
    if [ "$status" -ne 0 ] || [ "$count" -ne 0 ]; then
        grep -aE -A40 '^✘|ERROR: |WARNING: |runtime error: |Fatal error' "$log" | cut -c1-1000
        { cat "$reports"/* 2> /dev/null || true; } | { grep -aE '^SUMMARY|runtime error: ' || true; } |
            sort | uniq -c | sort -rn | head -40
        echo "The reports are in $reports."
        failed=1
    fi
}

for sanitizer in "${sanitizers[@]}"; do
    run=()
    options=()
    case $sanitizer in
    address)
        options+=(-c release -Xswiftc -enable-testing -Xswiftc -assert-config -Xswiftc Debug --sanitize=address)
        # Types of C++ objects are looked up in a library that the runtime is not linked with.
        for flag in -fsanitize=undefined -fno-sanitize=vptr,function; do options+=(-Xcc "$flag"); done
        if Scripts/libical-sanitized.sh "$folder/libical"; then
            run=(env "LD_LIBRARY_PATH=$PWD/$folder/libical/lib")
        fi
        ;;
    thread)
        options+=(--sanitize=thread)
        "${CLANG:-clang}" -O1 -Wall -shared -fPIC Scripts/tsan-mutex.c -o "$folder/tsan-mutex.so"
        # The kernel must not put anything at random where the sanitizer's own memory has to lie.
        run=(env "LD_PRELOAD=$PWD/$folder/tsan-mutex.so" setarch -R)
        ;;
    esac
    if [[ "${filter[*]-}" != *Companion* ]]; then watch "$sanitizer"; fi
    if [[ ${#filter[@]} -eq 0 || "${filter[*]}" == *Companion* ]]; then
        watch "$sanitizer-companion" --package-path Companion
    fi
done
exit "$failed"
