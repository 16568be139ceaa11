#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the calendar language, with every file of the corpora, under the address and the thread sanitizer.
#
#   sanitize.sh [address|thread]…
#
# No time bound is loosened: the tests that hold times measure what the processor does for their thread, and the
# sanitizers' share fits into them.
set -euo pipefail
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
if [ $# -eq 0 ]; then set -- address thread; fi

# A package of these targets alone: the others need a hundred thousand lines of TLS and HTTP, which are not in question.
package=.build-sanitize
mkdir -p "$package"
ln -sfn ../Sources "$package/Sources"
ln -sfn ../Tests "$package/Tests"
ln -sfn ../Samples "$package/Samples"
cat > "$package/Package.swift" <<'SWIFT'
// swift-tools-version: 6.2
import PackageDescription

let features: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "kalends",
    targets: [
        .systemLibrary(name: "CLibical"),
        .target(name: "ICalBridge", dependencies: ["CLibical"], swiftSettings: features),
        .testTarget(name: "ICalBridgeTests", dependencies: ["ICalBridge"], exclude: ["Oracles"], swiftSettings: features),
    ],
    swiftLanguageModes: [.v6])
SWIFT

# A finding is told by the sanitizer; Swift's own report of it would wait for a terminal.
export SWIFT_BACKTRACE=enable=no
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$PWD/Scripts/tsan-suppressions.txt:history_size=4:exitcode=66}

for sanitizer in "$@"; do
    run=()
    case $sanitizer in
    address) ;;
    # The kernel must not put anything at random where the sanitizer's own memory has to lie.
    thread) run=(setarch -R) ;;
    *) echo "sanitize.sh knows address and thread, not $sanitizer" >&2 && exit 64 ;;
    esac
    echo "Building the tests with the $sanitizer sanitizer."
    log=$package/$sanitizer.log
    options=(--package-path "$package" --scratch-path "$package/$sanitizer" --sanitize="$sanitizer")
    "$swift" build --build-tests "${options[@]}" > "$log" 2>&1 || { tail -40 "$log"; exit 1; }
    # XCTest, for which there is no test here, leaks in its own runner.
    "${run[@]}" "$swift" test --skip-build "${options[@]}" --disable-xctest > "$log" 2>&1 \
        || { grep -aE -A40 '^✘|ERROR: |WARNING: |Fatal error' "$log" | cut -c1-1000; exit 1; }
    echo "$sanitizer: $(grep -a 'Test run with' "$log")"
done
