#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the whole package under the sanitizers of addresses, of undefined behaviour and of threads.
#
#   sanitize.sh [address|undefined|thread]… [FILTER]
#
# FILTER is SwiftPM's, such as `ICalBridgeTests|BaseTests`; without one, every suite runs. Each sanitizer has a build of its
# own in .build-sanitize/NAME, of several GB, in which all packages are instrumented too.
#
# `address` and `thread` watch Swift and C. Swift has no `undefined` on Linux: what is undefined in C traps in Swift by the
# language itself (overflow, shifts, casts, nil, bounds). So `undefined` watches the C below it: BoringSSL, the HTTP parser,
# our own C targets; with `address` beside it, whose runtime brings the reports.
#
# No time bound is loosened: the tests that hold times measure what the processor does for their thread, and the
# sanitizers' share fits into them.
set -euo pipefail
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
sanitizers=()
filter=()
for word in "$@"; do
    case $word in
    address | undefined | thread) sanitizers+=("$word") ;;
    *) filter=(--filter "$word") ;;
    esac
done
if [ ${#sanitizers[@]} -eq 0 ]; then sanitizers=(address undefined thread); fi

folder=.build-sanitize
mkdir -p "$folder"
# A finding is told by the sanitizer; Swift's own report of it would wait for a terminal.
export SWIFT_BACKTRACE=enable=no
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$PWD/Scripts/tsan-suppressions.txt:history_size=4:exitcode=66}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

for sanitizer in "${sanitizers[@]}"; do
    run=()
    options=(--scratch-path "$folder/$sanitizer")
    case $sanitizer in
    address) options+=(--sanitize=address) ;;
    undefined)
        # Types of C++ objects are looked up in a library that the runtime is not linked with.
        options+=(--sanitize=address)
        for flag in -fsanitize=undefined -fno-sanitize=vptr,function -fno-sanitize-recover=all; do
            options+=(-Xcc "$flag")
        done
        ;;
    thread)
        options+=(--sanitize=thread)
        # The kernel must not put anything at random where the sanitizer's own memory has to lie.
        run=(setarch -R)
        ;;
    esac
    echo "Building the tests with the $sanitizer sanitizer."
    log=$folder/$sanitizer.log
    "$swift" build --build-tests --disable-index-store "${options[@]}" > "$log" 2>&1 || { tail -40 "$log"; exit 1; }
    # XCTest, for which there is no test here, leaks in its own runner.
    status=0
    "${run[@]}" "$swift" test --skip-build "${options[@]}" --disable-xctest "${filter[@]}" > "$log" 2>&1 || status=$?
    reports=$(grep -acE 'ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|runtime error: ' "$log" || true)
    echo "$sanitizer: $(grep -a 'Test run with' "$log" || echo 'the run ended early'); $reports reports"
    if [ "$status" -ne 0 ] || [ "$reports" -ne 0 ]; then
        grep -aE -A40 '^✘|ERROR: |WARNING: |runtime error: |Fatal error' "$log" | cut -c1-1000
        exit 1
    fi
done
