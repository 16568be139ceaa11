#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Checks the types of the phone app in Companion/App: against the library as it was just built, and against stubs of
# Apple's frameworks, which do not exist here.
#
#   Scripts/check-app.sh .build-companion/debug
set -eu

built=$1
stubs=$(mktemp -d)
trap 'rm -rf "$stubs"' EXIT

for stub in SwiftUI BackgroundTasks Security; do
    "${SWIFTC:-swiftc}" -swift-version 6 -parse-as-library -emit-module -module-name $stub \
        -emit-module-path "$stubs/$stub.swiftmodule" "Companion/Tests/AppStubs/$stub.swift" &
    jobs="${jobs:-} $!"
done
for job in $jobs; do wait "$job"; done

check() {
    "${SWIFTC:-swiftc}" -swift-version 6 -warnings-as-errors -parse-as-library -typecheck -module-name CompanionApp \
        -I "$stubs" -I "$built/Modules" "$@" Companion/App/Sources/*.swift
}

check
# A new app of Xcode 26 begins with these settings.
check -default-isolation MainActor -enable-upcoming-feature NonisolatedNonsendingByDefault \
    -enable-upcoming-feature InferIsolatedConformances -enable-upcoming-feature MemberImportVisibility
