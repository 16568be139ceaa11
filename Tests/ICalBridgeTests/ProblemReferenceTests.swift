// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import ICalBridge

@Suite("The references and places of problems")
struct ProblemReferenceTests {
    /// Problems that no standard covers: limits of this reader, and habits of programs without a standard.
    private static let ownRules: Set<String> = [
        "cancelled-by-title", "combining-marks", "form", "hidden-characters", "library-error", "line-too-long",
        "rule-too-costly", "too-deep", "too-many-components", "too-many-parameters", "too-many-properties",
    ]

    @Test("Every code names the section of a standard, or is a rule of our own")
    func references() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/ICalBridge")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var codes: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /\.(?:error|warning|repaired), (?:code: )?"([a-z0-9-]+)"/) {
                codes.insert(String(match.1))
            }
        }
        #expect(codes.count > 50)
        for code in codes {
            let reference = Problem.Code(rawValue: code).reference
            #expect((reference != nil) != Self.ownRules.contains(code), "\(code)")
        }
    }

    @Test("A problem is found at its line and column, also in a folded line and behind letters of several bytes")
    func places() {
        let text = Reading.calendar(
            Reading.event([
                "SUMMARY:Füße", "DTSTART:20260101T090000Z", "DTEND:2026010\r\n 1T080000Z", "RRULE:FREQ=DAILY;COUNT=x",
            ]))
        var reading = Reading.of(text)
        reading.locateProblems(in: Array(text.utf8))
        #expect(reading.codes == ["end-before-start", "rule-refused"])
        #expect(reading.problems.map(\.line) == [9, 11])
        #expect(reading.problems.map(\.column) == [7, 18])
    }
}
