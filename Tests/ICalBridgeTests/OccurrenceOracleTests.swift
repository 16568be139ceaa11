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
    private typealias Differences = OccurrenceDifferences

    /// The years that are compared.
    private struct Years {
        var first: Int
        /// The year after the last one.
        var end: Int

        /// Whether a start is compared: at the ends of the years, days of zones are in or out.
        func compare(_ start: String) -> Bool { start >= "\(first)-02" && start < "\(end - 1)-12" }
    }

    @Test("What a file expands to is what another reader makes of its strict form")
    func strictForm() async throws {
        // Its rules never end there.
        let files = CalendarFile.samples.filter { $0.path != "Samples/malformed/endless-rules.ics" }
        let readings = try files.map { (path: $0.path, reading: try $0.read()) }
        let compared = try await compare(
            readings, to: readings.map { $0.reading.strictForm }, in: Years(first: 2024, end: 2029),
            but: Differences.samples)
        #expect(compared.occurrences > 900)
    }

    @Test(
        "What another project's file expands to is what another reader makes of it, and of its strict form",
        .needsCorpora("ical4j"))
    func foreign() async throws {
        let readings = try CalendarFile.foreign.map { (path: $0.path, reading: try $0.read()) }
        let years = Years(first: 1990, end: 2031)
        let forms = try await compare(
            readings, to: readings.map { $0.reading.strictForm }, in: years, but: Differences.forms)
        #expect(forms.occurrences > 100_000)
        #expect(forms.refused == Differences.refusedForms.keys.sorted())
        // It refuses a whole file for one value or for an event without a start.
        let files = try await compare(
            readings, to: try CalendarFile.foreign.map { try $0.bytes }, in: years,
            but: Differences.forms.merging(Differences.files) { $1 })
        #expect(files.occurrences > 90_000 && files.refused.count < 100)
    }

    /// Compares what files expand to with what the other reader makes of calendars.
    ///
    /// - Parameter differences: the files that differ, with the reasons.
    /// - Returns: how many occurrences were compared, and the files whose calendars it refuses, sorted.
    private func compare(
        _ readings: [(path: String, reading: CalendarReading)], to calendars: [[UInt8]], in years: Years,
        but differences: [String: String]
    ) async throws -> (occurrences: Int, refused: [String]) {
        let theirs = try await Self.expandedElsewhere(zip(readings.map(\.path), calendars), in: years)
        var compared = 0
        var refused: [String] = []
        for (path, reading) in readings where !reading.calendars.isEmpty {
            guard let theirs = theirs[ByteString(path)] else {
                refused.append(path)
                continue
            }
            let ours = Self.starts(reading, in: years)
            compared += ours.count
            if let reason = differences[path] {
                #expect(ours != theirs, "\(path) differs no longer: \(reason)")
            } else {
                let differing = Set(ours).symmetricDifference(theirs).sorted().prefix(5)
                #expect(ours == theirs, "\(path): \(differing)")
            }
        }
        return (compared, refused.sorted())
    }

    /// Returns `start UID` of each occurrence, sorted.
    private static func starts(_ reading: CalendarReading, in years: Years) -> [String] {
        let utc = FixedOffset.utc
        let bounds = [years.first, years.end].compactMap { CivilDate(iso: "\($0)-01-01") }.map {
            utc.instant(of: CivilDateTime(startOf: $0))
        }
        var budget = RecurrenceBudget(steps: 10_000_000)
        var found: [String] = []
        for calendar in reading.calendars {
            for series in Series.group(calendar.events.filter { $0.kind == .event }) {
                let expansion = series.occurrences(
                    from: bounds[0], to: bounds[1], floatingIn: utc, maximum: 20_000, budget: &budget)
                for occurrence in expansion.occurrences {
                    let start =
                        switch occurrence.start {
                        case .date(let date): date.description
                        case .floating(let wall): wall.description
                        case .utc, .zoned: occurrence.start.instant(floatingIn: utc).description
                        }
                    if years.compare(start) { found.append(line(start, occurrence.event.uid)) }
                }
            }
        }
        return found.sorted()
    }

    /// A UID that was made for an event without one is as good as none.
    private static func line(_ start: String, _ uid: String) -> String {
        let uid = uid.hasPrefix("content-") ? "" : uid.withoutOuterBlanks
        return uid.isEmpty ? start : "\(start) \(uid)"
    }

    private static func expandedElsewhere(
        _ files: some Sequence<(String, [UInt8])>, in years: Years
    ) async throws
        -> [ByteString: [String]]
    {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Oracles/occurrences.py")
        let files = Array(files)
        let lines = files.map { "\($0)\t\(Data($1).base64EncodedString())\n" }
        let text = try await runProgram(
            try #require(Programs.python), ["-W", "ignore", script.path, "\(years.first)", "\(years.end)"],
            input: lines.joined(), in: packageRoot
        ).output
        var found = Dictionary(uniqueKeysWithValues: files.map { (ByteString($0.0), [String]()) })
        for line in text.split(separator: "\n") {
            let row = try JSONValue(parsing: line.utf8).array ?? []
            let path = ByteString(try #require(row.first?.string))
            guard row.count == 3, let uid = row[1].string, let start = row[2].string else {
                found[path] = nil
                continue
            }
            if years.compare(start) { found[path]?.append(Self.line(start, uid)) }
        }
        return found.mapValues { $0.sorted() }
    }
}

extension CalendarReading {
    fileprivate var strictForm: [UInt8] { calendars.flatMap { $0.bytes(as: .iCalendar) } }
}
