// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import TestSupport
import Testing

/// A second opinion by python-dateutil, run with the interpreter that KALENDS_PYTHON names.
@Suite("Recurrence: python-dateutil agrees")
struct RecurrenceOracle {
    private static let environment = ProcessInfo.processInfo.environment
    private static let python = environment["KALENDS_PYTHON"]

    @Test("Random rules give the times that dateutil finds", .enabled(if: python != nil))
    func dateutil() async throws {
        let count = Self.environment["KALENDS_ORACLE_RULES"] ?? "2000"
        let seed = Self.environment["KALENDS_ORACLE_SEED"] ?? "20260121"
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Oracles/dateutil_rules.py")
        let result = try await runProgram("/usr/bin/env", [try #require(Self.python), script.path, seed, count])
        try #require(result.status == 0, "\(result.error)")
        var compared = 0
        for line in result.output.split(separator: "\n") {
            let fields = line.split(separator: "\t").map(String.init)
            var expected = Array(fields.dropFirst(2))
            let isWhole = expected.last == "END"
            if isWhole { expected.removeLast() }
            let start = try #require(CivilDateTime(basic: fields[1]))
            let rule = try RecurrenceRule(fields[0])
            let limits = ExpansionLimits(maximumOccurrences: isWhole ? 21 : 20, maximumSteps: 10_000_000)
            let times = rule.times(startingAt: .floating(start), startConvention: .ifItMatches, limits: limits)
            #expect(times.walls.map(\.basic) == expected, "\(fields[0]) from \(fields[1])")
            compared += 1
        }
        #expect(compared == Int(count))
    }
}
