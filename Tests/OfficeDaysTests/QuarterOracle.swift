// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import OfficeDays
import TestSupport
import Testing

/// A second opinion by a Python program that was written from the rules in words.
@Suite("Office days: an independent model agrees")
struct QuarterOracle {
    private static let environment = ProcessInfo.processInfo.environment

    @Test("Random quarters in twelve zones end with the same days, events and numbers of writes")
    func quarters() async throws {
        let count = Self.environment["KALENDS_OFFICE_QUARTERS"].flatMap(Int.init) ?? 1000
        let seed = Self.environment["KALENDS_OFFICE_SEED"].flatMap(UInt64.init) ?? 20_260_121
        var lines: [UInt8] = []
        var expected: [String] = []
        for index in 0..<count {
            let quarter = RandomQuarter(seed: seed &+ UInt64(index), zone: RandomQuarter.zones[index % 12])
            lines += try quarter.json.serialized() + [10]
            expected.append(try quarter.answer().text())
        }
        let answers = try await Self.ask(lines)
        try #require(answers.count == count)
        var differing = 0
        for (index, (mine, theirs)) in zip(expected, answers).enumerated() {
            let read = try JSONValue(parsing: Array(theirs.utf8)).text()
            if mine != read {
                differing += 1
                if differing <= 3 { Issue.record("Quarter \(index): \(Self.difference(mine, read))") }
            }
        }
        #expect(differing == 0)
    }

    /// Returns the program's answers, one line for each case.
    private static func ask(_ cases: [UInt8]) async throws -> [String] {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Oracles/office_days.py")
        let result = try await runProgram(
            "/usr/bin/env", [environment["KALENDS_PYTHON"] ?? "python3", "-B", script.path], input: Data(cases))
        try #require(result.status == 0, "\(result.error)")
        return result.output.split(separator: "\n").map(String.init)
    }

    /// Describes where two answers differ.
    private static func difference(_ mine: String, _ theirs: String) -> String {
        let (a, b) = (Array(mine.utf8), Array(theirs.utf8))
        let index = zip(a, b).prefix { $0 == $1 }.count
        func around(_ bytes: [UInt8]) -> String {
            String(decoding: bytes[max(0, index - 160)..<min(bytes.count, index + 240)], as: UTF8.self)
        }
        return "library …\(around(a))… model …\(around(b))…"
    }
}
