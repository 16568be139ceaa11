// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import TestSupport
import Testing

@testable import ICalBridge

@Suite(
    "CalDAV reports, against another reader",
    .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
struct ReportOracleTests {
    /// Files whose objects the other reader (recurring-ical-events 3.8) finds otherwise, and why ours are right.
    private static let differences: [String: String] = [
        "Samples/inbound/all-day-by-microsoft-flag.ics": "the flag makes it a whole day",
        "Samples/inbound/date-without-value.ics": "a day without VALUE=DATE is a day",
        "Samples/inbound/exclusion-rule.ics": "EXRULE is followed; it does not know it",
        "Samples/inbound/rules-with-odd-parts.ics": "parts that the frequency forbids are left out",
        "Samples/inbound/two-rules.ics": "an exception to a day that two rules name leaves the day out",
        "Samples/inbound/until-as-date.ics": "the day that UNTIL names is the last one",
        "Samples/malformed/end-before-start.ics": "what ends before it begins has its start",
    ]

    @Test("What a time range finds and expands to is what another reader finds")
    func windows() async throws {
        // Its rules never end there.
        let files = CalendarFile.samples.filter { $0.path != "Samples/malformed/endless-rules.ics" }
        var objects: [(key: String, text: [UInt8])] = []
        for file in files {
            for (index, text) in ReportOracle.objects(in: try file.bytes).enumerated() {
                objects.append(("\(file.path)#\(index)", text))
            }
        }
        let theirs = try await Self.expandedElsewhere(objects)
        var (compared, differing) = (0, Set<ByteString>())
        for (key, text) in objects {
            guard let theirs = theirs[ByteString(key)] else { continue }
            let object = try #require(ReportedObject(text, floatingIn: FixedOffset.utc))
            let ours = try ReportOracle.starts(of: object)
            // The filter and the expansion are two ways to the same occurrences.
            #expect(ReportOracle.matches(of: object) == ours.map { !$0.isEmpty }, "\(key)")
            let file = String(key.parted(at: "#")?.before ?? "")
            if Self.differences[file] == nil {
                #expect(ours == theirs, "\(key)")
            } else if ours != theirs {
                differing.insert(ByteString(file))
            }
            compared += theirs.reduce(0) { $0 + $1.count }
        }
        for (file, reason) in Self.differences {
            #expect(differing.contains(ByteString(file)), "\(file) differs no longer: \(reason)")
        }
        #expect(compared > 400)
    }

    private static func expandedElsewhere(
        _ objects: [(key: String, text: [UInt8])]
    ) async throws -> [ByteString: [[String]]] {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Oracles/reports.py")
        let lines = objects.map { "\($0.key)\t\(Data($0.text).base64EncodedString())\n" }
        let text = try await runProgram(
            try #require(Programs.python), ["-W", "ignore", script.path], input: lines.joined(), in: packageRoot
        ).output
        var found: [ByteString: [[String]]] = [:]
        for line in text.split(separator: "\n") {
            let row = try JSONValue(parsing: line.utf8).array ?? []
            let key = ByteString(try #require(row.first?.string))
            guard row.count == 2 else { continue }
            found[key] = row[1].array?.map { $0.array?.compactMap(\.string) ?? [] }
        }
        return found
    }
}
