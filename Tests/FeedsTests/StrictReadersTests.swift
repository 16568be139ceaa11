// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import ServerTestSupport

/// Every feed here is read by four libraries in their strictest mode, which have to find the same events in it and must
/// not report any problem.
@Suite("Strict readers that nobody here wrote")
struct StrictReadersTests {
    @Test("Our own reader has no complaint, and finds what was put in")
    func ours() async throws {
        let feeds = try await GoldenFeeds.all.value
        #expect(feeds.count > 20)
        for feed in feeds {
            let reading = CalendarReader().read(feed.bytes)
            // What a title says that its author wrote is no fault of the feed.
            let reported: Set<Problem.Code> = ["cancelled-by-title", "orphan-override"]
            let problems = reading.problems.filter { !reported.contains($0.code) }
            #expect(problems.isEmpty && reading.refusal == nil, "\(feed.name)")
        }
        let full = try #require(feeds.first { $0.name == "full" })
        let events = try GoldenEvent.expected(full)
        #expect(GoldenFeeds.items.count > 60)
        for item in GoldenFeeds.items {
            let found = events.contains {
                $0.summary == item.summary && $0.start == item.start.description && $0.end == item.end.description
            }
            #expect(found, "\(item.summary) \(item.start)")
        }
    }

    @Test(
        "libical alone reads every feed as it is meant",
        .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
    func libical() async throws {
        try await expect(script: "libical_reader.py") { feed in
            // RFC 5546 asks an ORGANIZER of what is published, whose address would be a person's: nobody sends one,
            // and Outlook would show the event as an invitation. Without the METHOD all has to be right.
            feed.bytes = Array(feed.text.replacing("METHOD:PUBLISH\r\n", with: "").utf8)
        }
    }

    @Test(
        "icalendar reads every feed as it is meant",
        .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
    func icalendar() async throws {
        try await expect(script: "icalendar_reader.py")
    }

    @Test(
        "Home Assistant's ical reads every feed as it is meant",
        .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
    func ical() async throws {
        // It reads a VTIMEZONE only of a zone that it does not know by name, and there forgets changes without a rule.
        try await expect(script: "ical_reader.py", withUnknownZoneNames: false)
    }

    @Test(
        "ical.js reads every feed as it is meant",
        .enabled(if: Programs.node != nil, "There is no node"),
        .enabled(if: Programs.icaljs != nil, "KALENDS_ICALJS names no ical.js, nor is it in .tools/node_modules"))
    func icaljs() async throws {
        let script = packageRoot.appending(path: "Tests/Readers/icaljs.mjs").path
        try await expect(try #require(Programs.node), [script, try #require(Programs.icaljs)])
    }

    private func expect(
        script: String, withUnknownZoneNames: Bool = true, editing edit: (inout GoldenFeed) -> Void = { _ in }
    ) async throws {
        let path = packageRoot.appending(path: "Tests/Readers/\(script)").path
        try await expect(try #require(Programs.python), [path], withUnknownZoneNames, edit)
    }

    /// Passes every feed to a reader, and expects its events and no complaint.
    private func expect(
        _ program: String, _ arguments: [String],
        _ withUnknownZoneNames: Bool = true, _ edit: (inout GoldenFeed) -> Void = { _ in }
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "golden-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var expected: [String: [GoldenEvent]] = [:]
        var files: [String] = []
        for var feed in try await GoldenFeeds.all.value {
            let events = try GoldenEvent.expected(feed)
            edit(&feed)
            for form in withUnknownZoneNames ? [feed, feed.withUnknownZoneNames] : [feed] {
                let file = folder.appending(path: form.name)
                try Data(form.bytes).write(to: file)
                files.append(file.path)
                expected[form.name] = events
            }
        }
        let window = [GoldenFeeds.from.description, GoldenFeeds.to.description]
        // The machine's own libical reads for itself, whichever one these tests are linked with.
        let result = try await runProgram(program, arguments + window + files, environment: ["LD_LIBRARY_PATH": ""])
        #expect(result.status == 0, "\(result.error)")
        var read: [String: [GoldenEvent]] = [:]
        for line in result.output.split(separator: "\n") {
            let answer = try JSONDecoder().decode(GoldenAnswer.self, from: Data(line.utf8))
            #expect(answer.complaint == nil, "\(answer.feed)")
            if let event = answer.event { read[answer.feed, default: []].append(event) }
        }
        for (name, events) in expected.sorted(by: { $0.key < $1.key }) {
            let theirs = Dictionary(grouping: read[name] ?? [], by: \.key)
            #expect(read[name]?.count ?? 0 == events.count, "\(name)")
            for our in events {
                let their = theirs[our.key] ?? []
                let differences = their.count == 1 ? their[0].differences(from: our) : ["\(their.count) times"]
                #expect(differences.isEmpty, "\(name): \(our.key)")
            }
        }
    }
}

/// An event in the terms of `Tests/Readers/shape.py`.
private struct GoldenEvent: Codable, Hashable {
    var kind: String
    var uid: String
    var recurrenceID: String
    var start: String
    var end: String
    var summary: String
    var description: String
    var location: String
    var status: String
    /// The first occurrences in the window; nil from a reader that cannot expand.
    var occurrences: [String]?

    var key: String { "\(kind) \(uid) \(recurrenceID) \(start)" }

    /// Returns the differences that help a person who looks for a fault.
    func differences(from other: GoldenEvent) -> [String] {
        var pairs = [
            ("end", end, other.end), ("summary", summary, other.summary), ("status", status, other.status),
            ("description", description, other.description), ("location", location, other.location),
        ]
        if let occurrences, let others = other.occurrences {
            pairs.append(("number of occurrences", "\(occurrences.count)", "\(others.count)"))
            pairs += zip(occurrences, others).map { ("occurrence", $0, $1) }
        }
        return pairs.filter { $1 != $2 }.map { "\($0) is \($1) and not \($2)" }
    }

    /// Returns the events of a feed, with every zone's rules taken from the system and not from the feed.
    static func expected(_ feed: GoldenFeed) throws -> [GoldenEvent] {
        let utc = FixedOffset.utc
        func text(_ time: EventTime?) -> String {
            guard let time else { return "" }
            if case .date(let date) = time { return date.description }
            return time.instant(floatingIn: utc).description
        }
        let events = CalendarReader().read(feed.bytes).events
        var series: [String: Series] = [:]
        for one in Series.group(events) { if let master = one.master { series[master.uid] = one } }
        return events.map { event in
            var golden = GoldenEvent(
                kind: event.kind.rawValue, uid: event.uid, recurrenceID: text(event.recurrenceID),
                start: text(event.start), end: text(event.effectiveEnd), summary: event.summary ?? "",
                description: event.description ?? "", location: event.location ?? "", status: event.status ?? "",
                occurrences: [])
            let recurrence = event.recurrence
            if event.recurrenceID == nil, !recurrence.rules.isEmpty || !recurrence.additions.isEmpty {
                let all = series[event.uid]?.occurrences(from: GoldenFeeds.from, to: GoldenFeeds.to, floatingIn: utc)
                golden.occurrences = (all?.occurrences ?? [])
                    .filter { $0.start.instant(floatingIn: utc) >= GoldenFeeds.from }
                    .prefix(20).map { "\(text($0.start))/\(text($0.end)) \($0.event.summary ?? "")" }
            }
            return golden
        }.sorted { $0.key < $1.key }
    }
}

/// A line that a reader printed, with an event or a complaint.
private struct GoldenAnswer: Decodable {
    var feed: String
    var complaint: String?
    var event: GoldenEvent?

    private enum Keys: String, CodingKey {
        case feed, complaint
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        feed = try container.decode(String.self, forKey: .feed)
        complaint = try container.decodeIfPresent(String.self, forKey: .complaint)
        event = complaint == nil ? try GoldenEvent(from: decoder) : nil
    }
}
