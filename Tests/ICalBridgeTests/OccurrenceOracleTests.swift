// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import TestSupport
import Testing

@testable import ICalBridge

@Suite(
    "Occurrences, against another reader",
    .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
struct OccurrenceOracleTests {
    /// Files whose occurrences the other reader (recurring-ical-events 3.8) finds otherwise, and why ours are right.
    private static let differences: [String: String] = [
        "Samples/inbound/rescheduled-without-its-series.ics":
            "days of a series that is not in the file are events, and it keeps one of them",
        "Samples/inbound/rescheduled-twice-without-its-series.ics":
            "days of a series that is not in the file are events, and it keeps one of them",
        "Samples/inbound/two-rules.ics": "an exception to a day that two rules name leaves the day out",
        "Samples/malformed/duplicate-uid.ics": "two events with one UID are two events, and it keeps the last",
    ]

    @Test("What a file expands to is what another reader makes of its strict form")
    func strictForm() async throws {
        // Its rules never end there.
        let files = CalendarFile.samples.filter { $0.path != "Samples/malformed/endless-rules.ics" }
        let readings = try files.map { (path: $0.path, reading: try $0.read()) }
        let theirs = try await Self.expandedElsewhere(
            readings.map { ($0.path, $0.reading.calendars.flatMap { $0.bytes(as: .iCalendar) }) })
        var compared = 0
        for (path, reading) in readings where !reading.calendars.isEmpty {
            guard let theirs = theirs[ByteString(path)] else { continue }
            let ours = Self.starts(reading)
            compared += ours.count
            if let reason = Self.differences[path] {
                #expect(ours != theirs, "\(path) differs no longer: \(reason)")
            } else {
                let differing = Set(ours).symmetricDifference(theirs).sorted().prefix(5)
                #expect(ours == theirs, "\(path): \(differing)")
            }
        }
        #expect(compared > 900)
    }

    /// The times that are compared: at the ends of the years, days of zones are in or out.
    private static func isCompared(_ start: String) -> Bool { start >= "2024-02" && start < "2028-12" }

    /// Returns `start UID` of each occurrence, sorted.
    private static func starts(_ reading: CalendarReading) -> [String] {
        let utc = FixedOffset.utc
        let bounds = [2024, 2029].compactMap { CivilDate(iso: "\($0)-01-01") }.map {
            utc.instant(of: CivilDateTime(startOf: $0))
        }
        var budget = RecurrenceBudget(steps: 1_000_000)
        var found: [String] = []
        for calendar in reading.calendars {
            for series in Series.group(calendar.events.filter { $0.kind == .event }) {
                let expansion = series.occurrences(
                    from: bounds[0], to: bounds[1], floatingIn: utc, maximum: 10_000, budget: &budget)
                for occurrence in expansion.occurrences {
                    let start =
                        switch occurrence.start {
                        case .date(let date): date.description
                        case .floating(let wall): wall.description
                        case .utc, .zoned: occurrence.start.instant(floatingIn: utc).description
                        }
                    if isCompared(start) { found.append("\(start) \(occurrence.event.uid)") }
                }
            }
        }
        return found.sorted()
    }

    private static func expandedElsewhere(
        _ files: [(path: String, bytes: [UInt8])]
    ) async throws
        -> [ByteString: [String]]
    {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Oracles/occurrences.py")
        let lines = files.map { "\($0.path)\t\(Data($0.bytes).base64EncodedString())\n" }
        let text = try await runProgram(
            try #require(Programs.python), ["-W", "ignore", script.path], input: lines.joined(), in: packageRoot
        ).output
        var found = Dictionary(uniqueKeysWithValues: files.map { (ByteString($0.path), [String]()) })
        for line in text.split(separator: "\n") {
            let row = try JSONValue(parsing: line.utf8).array ?? []
            let path = ByteString(try #require(row.first?.string))
            guard row.count == 3, let uid = row[1].string, let start = row[2].string else {
                found[path] = nil
                continue
            }
            if isCompared(start) { found[path]?.append("\(start) \(uid)") }
        }
        return found.mapValues { $0.sorted() }
    }
}
