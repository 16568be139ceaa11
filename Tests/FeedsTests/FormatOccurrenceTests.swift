// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import ICalBridge
import KalendsCore
import TestSupport
import Testing

@Suite(
    "Occurrences in the strict form of files, against other readers",
    .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
struct FormatOccurrenceTests {
    private typealias Differences = FormatOccurrenceDifferences
    private typealias Occurrence = OccurrenceReader.Occurrence
    private typealias Years = OccurrenceReader.Years

    @Test("What a file expands to is what each reader makes of its strict form", arguments: OccurrenceReader.installed)
    func strictForm(reader: OccurrenceReader) async throws {
        // Its rules never end there.
        let files = CalendarFile.samples.filter { $0.path != "Samples/malformed/endless-rules.ics" }
        let readings = try files.map { (path: $0.path, reading: try $0.read()) }
        let compared = try await compare(
            readings, to: readings.map { $0.reading.strictForm }, by: reader, in: Years(first: 2024, end: 2029),
            but: Differences.samples[reader] ?? [:])
        #expect(compared.occurrences > 400)
        #expect(compared.refused.isEmpty)
    }

    @Test(
        "What another project's file expands to is what each reader makes of its strict form",
        .needsCorpora("ical4j"), arguments: OccurrenceReader.installed)
    func foreign(reader: OccurrenceReader) async throws {
        let readings = try CalendarFile.foreign.map { (path: $0.path, reading: try $0.read()) }
        let compared = try await compare(
            readings, to: readings.map { $0.reading.strictForm }, by: reader, in: Years(first: 1990, end: 2031),
            but: Differences.forms[reader] ?? [:])
        #expect(compared.occurrences > 100_000)
        #expect(compared.refused == Differences.refusedForms[reader]?.keys.sorted() ?? [])
    }

    @Test("What another project's file expands to is what icalendar makes of the file itself", .needsCorpora("ical4j"))
    func unrepaired() async throws {
        let readings = try CalendarFile.foreign.map { (path: $0.path, reading: try $0.read()) }
        // It refuses a whole file for one value or for an event without a start.
        let differences = (Differences.forms[.icalendar] ?? [:]).merging(Differences.files) { $1 }
        let compared = try await compare(
            readings, to: try CalendarFile.foreign.map { try $0.bytes }, by: .icalendar,
            in: Years(first: 1990, end: 2031), withEnds: false, but: differences)
        #expect(compared.occurrences > 90_000 && compared.refused.count < 100)
    }

    @Test(
        "An app whose reader expands a file otherwise does so for a reason that its verdict names",
        arguments: [(OccurrenceReader.ical, CalendarClient.homeAssistant), (.icaljs, .thunderbird)])
    func verdicts(reader: OccurrenceReader, client: CalendarClient) async throws {
        guard OccurrenceReader.installed.contains(reader) else { return }
        let years = Years(first: 1990, end: 2031)
        // Their rules never end there, those of the zone neither.
        let endless = ["endless-rules", "endless-time-zone"].map { "Samples/malformed/\($0).ics" }
        let files = CalendarFile.all.filter { !endless.contains($0.path) }
        let theirs = try await reader.expand(try files.map { (name: $0.path, bytes: try $0.bytes) }, in: years)
        let differences = Differences.verdicts[reader] ?? [:]
        var named = 0
        for file in files {
            let (bytes, reading) = (try file.bytes, try file.read())
            guard let verdict = reading.verdicts(of: bytes).first(where: { $0.client == client }),
                let expansion = theirs[ByteString(file.path)], verdict.outcome != .refuses
            else { continue }
            let our = Self.occurrences(reading, in: years).filter { !expansion.doubtful.contains($0.uid) }
            func times(_ all: [Occurrence]) -> Set<String> { Set(all.map { "\($0.start)/\($0.end)" }) }
            guard times(our) != times(expansion.occurrences) else { continue }
            if let reason = differences[file.path] {
                #expect(verdict.outcome == .takes, "\(file) is named now: \(reason)")
            } else {
                #expect(
                    verdict.reasons.contains { Self.changing.contains($0.rule) },
                    "\(file): \(verdict.reasons.map(\.rule))")
                named += 1
            }
        }
        #expect(named > 0)
    }

    /// The rules of verdicts that speak of occurrences that an app shows or leaves out.
    private static let changing: Set<String> = ["start-not-named", "exclusion-rule", "duplicate-uid"]

    /// Compares what files expand to with what another reader makes of calendars.
    ///
    /// - Parameter differences: the files that differ, with the reasons.
    /// - Returns: how many occurrences were compared, and the files whose calendars it refuses, sorted.
    private func compare(
        _ readings: [(path: String, reading: CalendarReading)], to calendars: [[UInt8]], by reader: OccurrenceReader,
        in years: Years, withEnds: Bool = true, but differences: [String: String]
    ) async throws -> (occurrences: Int, refused: [String]) {
        let named = zip(readings, calendars).map { (name: $0.path, bytes: $1) }
        let theirs = try await reader.expand(named, in: years)
        func seen(_ all: [Occurrence]) -> [String] {
            all.map { withEnds ? $0.description : "\($0.start) \($0.uid)" }.sorted()
        }
        var compared = 0
        var refused: [String] = []
        for (path, reading) in readings where !reading.calendars.isEmpty {
            guard let expansion = theirs[ByteString(path)] else {
                refused.append(path)
                continue
            }
            let our = seen(Self.occurrences(reading, in: years).filter { !expansion.doubtful.contains($0.uid) })
            let their = seen(expansion.occurrences)
            compared += our.count
            if let reason = differences[path] {
                #expect(our != their, "\(path) differs no longer: \(reason)")
            } else {
                let differing = Set(our).symmetricDifference(their).sorted().prefix(5)
                #expect(our == their, "\(path): \(differing)")
            }
        }
        return (compared, refused.sorted())
    }

    private static func occurrences(_ reading: CalendarReading, in years: Years) -> [Occurrence] {
        let utc = FixedOffset.utc
        let bounds = [years.first, years.end].compactMap { CivilDate(iso: "\($0)-01-01") }.map {
            utc.instant(of: CivilDateTime(startOf: $0))
        }
        func text(_ time: EventTime) -> String {
            switch time {
            case .date(let date): date.description
            case .floating(let wall): wall.description
            case .utc, .zoned: time.instant(floatingIn: utc).description
            }
        }
        var budget = RecurrenceBudget(steps: 10_000_000)
        var found: [Occurrence] = []
        for calendar in reading.calendars {
            for series in Series.group(calendar.events.filter { $0.kind == .event }) {
                let expansion = series.occurrences(
                    from: bounds[0], to: bounds[1], floatingIn: utc, maximum: 20_000, budget: &budget)
                found += expansion.occurrences.map {
                    Occurrence(start: text($0.start), end: text($0.end), uid: $0.event.uid)
                }
            }
        }
        return found.filter { years.compare($0.start) }
    }
}

extension CalendarFile {
    fileprivate func read() throws -> CalendarReading { CalendarReader().read(try bytes) }
}

extension CalendarReading {
    fileprivate var strictForm: [UInt8] { calendars.flatMap { $0.agreed.bytes(as: .iCalendar) } }
}
