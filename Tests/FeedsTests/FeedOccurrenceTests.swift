// SPDX-License-Identifier: Apache-2.0

import Base
import Calendar
import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import TestSupport
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite(
    "Occurrences of imported files in the feed, against other readers",
    .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
struct FeedOccurrenceTests {
    private typealias Occurrence = OccurrenceReader.Occurrence

    /// A clock, and the years that a feed shows whole which looks as far as it can.
    struct Look: Sendable {
        var clock: Int
        var years: OccurrenceReader.Years

        /// In June 2006 and November 2026.
        static let all = [
            Look(clock: 1_149_120_000_000, years: .init(first: 1997, end: 2016)),
            Look(clock: 1_795_910_400_000, years: .init(first: 2017, end: 2031)),
        ]
    }

    @Test("What a sample expands to is what each reader makes of the feed of its import")
    func samples() async throws {
        // Its rules never end there.
        let files = CalendarFile.samples.filter { $0.path != "Samples/malformed/endless-rules.ics" }
        #expect(try await compare(files, Look.all[1], FeedOccurrenceDifferences.samples) > 100)
    }

    @Test(
        "What another project's file expands to is what each reader makes of the feed of its import",
        .needsCorpora("ical4j"), arguments: Look.all)
    func foreign(look: Look) async throws {
        let differences = FeedOccurrenceDifferences.foreign[look.years.first] ?? [:]
        #expect(try await compare(CalendarFile.foreign, look, differences) > 20_000)
    }

    @Test("The days that an EXRULE without an end leaves out are left out in all years that a feed shows")
    func exclusionRule() async throws {
        let text = """
            BEGIN:VCALENDAR\r
            VERSION:2.0\r
            PRODID:-//Example//Plugin//EN\r
            BEGIN:VEVENT\r
            UID:lunch@example.com\r
            DTSTAMP:20150101T000000Z\r
            DTSTART;TZID=Europe/Vienna:20150105T120000\r
            DTEND;TZID=Europe/Vienna:20150105T123000\r
            RRULE:FREQ=DAILY\r
            EXRULE:FREQ=WEEKLY;BYDAY=SA,SU\r
            SUMMARY:Lunch on working days\r
            END:VEVENT\r
            END:VCALENDAR\r

            """
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).ics")
        try Data(text.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        #expect(try await compare([CalendarFile(path: "lunch.ics", url: url)], Look.all[1], [:]) > 3000)
    }

    /// Imports files into circles of their own, and compares what they expand to with what readers make of the feeds.
    ///
    /// - Parameter differences: the files that differ, by reader, with the reasons.
    /// - Returns: how many occurrences the first reader was compared with.
    private func compare(
        _ files: [CalendarFile], _ look: Look, _ differences: [OccurrenceReader: [String: String]]
    ) async throws -> Int {
        let compared = Counter()
        try await TestServer.run(clock: TestClock(look.clock)) { server in
            var feeds: [(name: String, bytes: [UInt8])] = []
            var ours: [ByteString: [Occurrence]] = [:]
            for (index, file) in files.enumerated() {
                guard let feed = try await Self.feed(of: try file.bytes, in: "c\(index)", server) else { continue }
                feeds.append((file.path, feed))
                ours[ByteString(file.path)] = Self.occurrences(
                    CalendarReader().read(anyForm: try file.bytes), in: look.years)
            }
            for reader in OccurrenceReader.installed {
                let theirs = try await reader.expand(feeds, in: look.years)
                for (name, bytes) in feeds {
                    let expansion = theirs[ByteString(name)]
                    #expect(expansion != nil, "\(reader) refuses the feed of \(name): \(bytes.count) bytes")
                    guard let expansion else { continue }
                    let our = ours[ByteString(name), default: []].filter { !expansion.doubtful.contains($0.uid) }
                    if reader == .icalendar { compared.add(our.count) }
                    if let reason = differences[reader]?[name] {
                        #expect(our != expansion.occurrences, "\(reader), \(name) differs no longer: \(reason)")
                    } else {
                        let differing = Set(our).symmetricDifference(expansion.occurrences).sorted().prefix(5)
                        #expect(our == expansion.occurrences, "\(reader), \(name): \(differing)")
                    }
                }
            }
        }
        return compared.count
    }

    /// Imports a file into a new circle on UTC, and returns the bytes of a feed of it; nil for a refused file.
    private static func feed(of file: [UInt8], in circle: String, _ server: TestServer) async throws -> [UInt8]? {
        let path = "/v1/circles/\(circle)"
        try await server.call(.put, path, ["name": "C", "timeZone": "UTC"]).expect(201)
        try await server.call(.put, "\(path)/members/ann", ["displayName": "Ann", "role": "owner"]).expect(201)
        // Only the one who imports private events sees them.
        let headers: HTTPFields = [
            .authorization: "Bearer \(server.key)", .kalendsUser: "ann", .contentType: "text/calendar",
        ]
        let imported = try await server.raw(
            .post, "\(path)/imports?mode=commit&limit=1000", headers: headers, body: ByteBuffer(bytes: file))
        guard imported.status == 201 else { return nil }
        let feed = try await server.call(
            .post, "\(path)/feeds", ["userId": "ann", "config": ["pastDays": 3660, "futureDays": 3660]]
        ).expect(201)
        return Array(try await server.raw(.get, try TestServer.path(feed)).expect(200).body)
    }

    /// Times without a zone are on the circle's clock, as in its feed.
    private static func occurrences(_ reading: CalendarReading, in years: OccurrenceReader.Years) -> [Occurrence] {
        let utc = FixedOffset.utc
        let bounds = [years.first, years.end].compactMap { CivilDate(iso: "\($0)-01-01") }.map {
            utc.instant(of: CivilDateTime(startOf: $0))
        }
        func text(_ time: EventTime) -> String {
            if case .date(let date) = time { return date.description }
            return time.instant(floatingIn: utc).description
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
        return found.filter { years.compare($0.start) }.sorted()
    }
}
