// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ICalBridge

/// Holds verdicts to the readers of the apps themselves.
@Suite("What calendar apps make of a file: their own readers agree")
struct VerdictOracleTests {
    /// `refuses`, `nothing` or `takes` by the paths of files, as an oracle prints them, with its reason.
    private static func outcomes(_ oracle: String, _ files: [CalendarFile]) async throws -> [(String, String)] {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Oracles/\(oracle)").path
        let isPython = oracle.hasSuffix(".py")
        let arguments = isPython ? ["-B", script] : [script, try #require(Programs.icaljs)]
        let result = try await runProgram(
            try #require(isPython ? Programs.python : Programs.node), arguments + files.map(\.url.path),
            in: packageRoot)
        try #require(result.status == 0, "\(result.error)")
        return result.output.split(separator: "\n").map { line in
            let parts = line.split(separator: "\t", maxSplits: 2).map(String.init)
            return (parts[0], parts.last ?? "")
        }
    }

    /// Compares verdicts with what a reader does.
    private func compare(_ client: CalendarClient, _ oracle: String) async throws {
        let files = CalendarFile.all
        let outcomes = try await Self.outcomes(oracle, files)
        try #require(outcomes.count == files.count)
        for (file, (outcome, reason)) in zip(files, outcomes) {
            // No rule covers vCalendar 1.0.
            guard let verdict = Verdicts.of(try file.bytes)[client] else { continue }
            let rules = verdict.reasons.map(\.rule)
            #expect((verdict.outcome == .refuses) == (outcome != "takes"), "\(file): \(outcome) \(reason), \(rules)")
        }
        // The samples alone have both.
        #expect(outcomes.contains { $0.0 == "takes" } && outcomes.contains { $0.0 == "refuses" })
    }

    @Test(
        "Home Assistant refuses a file, or shows nothing of it, exactly when the verdict says so",
        .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
    func homeAssistant() async throws { try await compare(.homeAssistant, "home_assistant.py") }

    @Test(
        "Thunderbird refuses a file, or shows nothing of it, exactly when the verdict says so",
        .enabled(if: Programs.node != nil, "There is no node"),
        .enabled(if: Programs.icaljs != nil, "KALENDS_ICALJS names no ical.js, nor is it in .tools/node_modules"))
    func thunderbird() async throws { try await compare(.thunderbird, "thunderbird.mjs") }

    @Test(
        "Evolution refuses a file exactly when the verdict says so",
        .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
    func evolution() async throws { try await compare(.evolution, "evolution.py") }
}
