// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Synchronization
import Testing

@testable import FeedServer

/// Every feed here is read by four libraries in their strictest form, which have to find the same events in it and
/// nothing to complain of.
@Suite("Strict readers that nobody here wrote")
struct StrictReadersTests {
    @Test("Our own reader has no complaint, and finds what was put in")
    func ours() async throws {
        let feeds = try await GoldenFeeds.all.value
        #expect(feeds.count > 20)
        for feed in feeds {
            let reading = CalendarReader().read(feed.bytes)
            // What a title says that its author wrote is no fault of the feed.
            let problems = reading.problems.filter { $0.code != "cancelled-by-title" }
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
        .enabled(if: ICalJS.node != nil, "There is no node"),
        .enabled(if: ICalJS.package != nil, "KALENDS_ICALJS names no ical.js, nor is it in .tools/node_modules"))
    func icaljs() async throws {
        let script = packageRoot.appending(path: "Tests/Readers/icaljs.mjs").path
        try await expect(try #require(ICalJS.node), [script, try #require(ICalJS.package)])
    }

    private func expect(
        script: String, withUnknownZoneNames: Bool = true, editing edit: (inout GoldenFeed) -> Void = { _ in }
    ) async throws {
        let path = packageRoot.appending(path: "Tests/Readers/\(script)").path
        try await expect(try #require(Programs.python), [path], withUnknownZoneNames, edit)
    }

    /// Gives every feed to a reader and expects the events that are in it, and no complaint.
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
        let result = try await runProgram(program, arguments + window + files)
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

/// Where ical.js is, when it is there.
private enum ICalJS {
    static let node = ["/usr/bin/node", "/usr/local/bin/node"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    static let package = [
        ProcessInfo.processInfo.environment["KALENDS_ICALJS"],
        packageRoot.appending(path: ".tools/node_modules/ical.js").path,
    ].compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0) }
}

/// An event in the words of `Tests/Readers/shape.py`.
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
    /// The first ones in the window; nil from a reader that cannot expand.
    var occurrences: [String]?

    var key: String { "\(kind) \(uid) \(recurrenceID) \(start)" }

    /// What a person who looks for a fault wants to see of another reading.
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

    /// What a feed says, with every zone's rules from the system and not from the feed.
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

/// A line that a reader printed: an event or a complaint.
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

/// The bytes that a server answered.
private struct GoldenFeed: Sendable {
    var name: String
    var bytes: [UInt8]

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The same with names for its zones that no reader knows, so that each has to go by the feed's VTIMEZONEs.
    var withUnknownZoneNames: GoldenFeed {
        var text = text
        for line in text.components(separatedBy: "\r\n") where line.hasPrefix("TZID:") {
            let name = line.dropFirst("TZID:".count)
            let unknown = "Own-" + name.replacing("/", with: "-")
            text = text.replacing(";TZID=\(name):", with: ";TZID=\(unknown):")
                .replacing("\r\n\(line)\r\n", with: "\r\nTZID:\(unknown)\r\n")
        }
        return GoldenFeed(name: name + ", unknown zone names", bytes: Array(text.utf8))
    }
}

/// Feeds of every form, made once for all readers.
private enum GoldenFeeds {
    struct Item: Sendable {
        var summary: String
        var start: Instant
        var end: Instant
    }

    /// The window in which occurrences are compared; within that of the feeds, because zones are explained for that.
    static let from = instant("2025-12-05T00:00:00Z")
    static let to = instant("2027-04-05T00:00:00Z")

    /// With rules of every kind: on half hours, of half an hour, by the moon, around the year's end, none, changed of
    /// late, negative daylight saving time.
    static let zones = [
        "America/Los_Angeles", "Africa/Casablanca", "Asia/Kathmandu", "Pacific/Apia", "America/Nuuk", "Europe/Dublin",
        "Australia/Lord_Howe", "America/St_Johns", "Africa/Cairo", "Asia/Tehran", "Pacific/Chatham", "Asia/Gaza",
        "Antarctica/Troll", "America/Santiago", "UTC",
    ]

    static let titles = [
        "Plain", "Comma, semicolon; colon: backslash \\ \"quote\" 'n' ^caret", "Ärzte 👩🏽‍⚕️ および 医者; שלום, مرحبا",
        "\\n is no line break, nor is \\, a comma", String(repeating: "Überlänge, größer; ", count: 40) + "👨‍👩‍👧‍👦",
        "Tab\there",
        "Line one\nline two", "BEGIN:VEVENT", "=?utf-8?Q?no?= %20 &amp; <b>bold</b>",
    ]

    /// A task for each title and season, each in one of the zones.
    static let tasks: [(id: String, value: JSONValue, item: Item)] = {
        var tasks: [(String, JSONValue, Item)] = []
        // On both sides of spring's and autumn's changes, and within Ramadan.
        let days = ["2025-12-20", "2026-03-05", "2026-03-20", "2026-04-15", "2026-09-29", "2026-11-20", "2027-02-20"]
        for (index, zone) in zones.enumerated() {
            for (number, day) in days.enumerated() {
                let title = titles[(index + number) % titles.count]
                let start = instant("\(day)T15:30:00Z")
                let value: JSONValue = [
                    "title": .string(title), "dueAt": .string(start.description), "timeZone": .string(zone),
                    "durationMinutes": 45, "reminders": [0, 10, 1440],
                    "notes": .string("Notes: \(title)\r\nmore\n\nend"),
                ]
                let item = Item(summary: "CK: \(title)", start: start, end: start.adding(seconds: 45 * 60))
                tasks.append(("\(index)-\(number)", value, item))
            }
        }
        return tasks
    }()

    static let items = tasks.map(\.item)

    static let series: [(zone: String, start: String, rule: String)] = [
        ("America/Los_Angeles", "2026-02-17T09:00:00-08:00", "FREQ=WEEKLY;COUNT=12"),
        ("Africa/Casablanca", "2026-01-06T08:00:00Z", "FREQ=WEEKLY;BYDAY=TU,TH"),
        ("Asia/Kathmandu", "2026-01-06T08:00:00Z", "FREQ=DAILY;INTERVAL=3;UNTIL=20270101T000000Z"),
        ("Pacific/Apia", "2026-01-30T20:00:00Z", "FREQ=MONTHLY;BYDAY=-1SA"),
        ("America/Nuuk", "2026-01-29T08:00:00Z", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2"),
        ("Europe/Dublin", "2025-11-30T08:00:00Z", "FREQ=MONTHLY;BYMONTHDAY=-1,30"),
        ("Australia/Lord_Howe", "2026-01-06T22:15:00Z", "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=WE,SU"),
        ("America/St_Johns", "2024-02-29T15:30:00Z", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1"),
        ("Africa/Cairo", "2026-01-06T08:00:00Z", "FREQ=WEEKLY"),
        ("Europe/Berlin", "2026-03-20T23:30:00+01:00", "FREQ=DAILY;COUNT=15"),
        ("UTC", "2026-01-06T08:00:00Z", "FREQ=HOURLY;INTERVAL=100"),
        // A start that the rule does not give, which readers count differently when they are left alone with it.
        ("America/New_York", "2026-02-10T09:00:00-05:00", "FREQ=WEEKLY;BYDAY=FR;COUNT=9"),
        ("Europe/Berlin", "2026-02-10T09:00:00+01:00", "FREQ=MONTHLY;BYMONTHDAY=15"),
    ]

    static let imports = ["exports", "inbound", "malformed"]

    static let configurations: [(name: String, value: JSONValue)] = [
        ("full", [:]), ("titles", ["detail": "titles"]), ("busy", ["detail": "busy"]),
        ("minimal", ["showMinimalDetails": true]), ("no reminders", ["includeReminders": false]),
        ("to-dos", ["tasksAs": "todos"]), ("to-dos kept", ["tasksAs": "todos", "completedTasks": "keep"]),
        ("to-dos busy", ["tasksAs": "todos", "completedTasks": "keep", "detail": "busy"]),
        ("kept", ["completedTasks": "keep", "color": "teal"]), ("one patient", ["patientIds": ["mom"]]),
        ("wide", ["pastDays": 3660, "futureDays": 3660]),
    ]

    /// Made by the first who asks.
    static let all = Task {
        let made = Mutex<[GoldenFeed]>([])
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            try await fill(server)
            for (name, value) in configurations {
                let feed = try await server.raw(.get, try await server.makeFeed(label: name, config: value).path)
                    .expect(200)
                made.withLock { $0.append(GoldenFeed(name: name, bytes: feed.body)) }
            }
            for folder in imports {
                let files = try FileManager.default.contentsOfDirectory(
                    at: packageRoot.appending(path: "Samples/\(folder)"), includingPropertiesForKeys: nil)
                for file in files.sorted(by: { $0.path < $1.path })
                where file.pathExtension == "ics" {
                    let name = "\(folder) \(file.lastPathComponent)"
                    // Rules that never give another date are legal, and keep three of the readers busy for ever.
                    guard name != "malformed endless-rules.ics" else { continue }
                    // What holds nothing readable is refused.
                    guard let bytes = try await imported(Data(contentsOf: file), server) else { continue }
                    made.withLock { $0.append(GoldenFeed(name: name, bytes: bytes)) }
                }
            }
            let empty = try #require(try await imported(nil, server))
            made.withLock { $0.append(GoldenFeed(name: "empty", bytes: empty)) }
        }
        return made.withLock { $0 }
    }

    private static let settings: ServerSettings = {
        var settings = ServerSettings()
        settings.linkTemplate = "https://app.example/{circle}/{collection}/{id}?a=1,2;b"
        return settings
    }()

    private static func fill(_ server: TestServer) async throws {
        for task in tasks { try await server.put("tasks", task.id, task.value) }
        for status in ["completed", "cancelled"] {
            let value: JSONValue = [
                "title": .string("Was \(status)"), "dueAt": "2026-03-03T10:00:00-08:00", "status": .string(status),
                "reminders": [5],
            ]
            try await server.put("tasks", status, value)
        }
        // In the hour that comes twice, and across it.
        for (id, due) in [("first", "2026-11-01T01:30:00-07:00"), ("second", "2026-11-01T01:30:00-08:00")] {
            try await server.put("tasks", id, ["title": .string(id), "dueAt": .string(due), "durationMinutes": 90])
        }
        for (id, first, last) in [
            ("day", "2026-03-08", "2026-03-08"), ("days", "2026-10-30", "2026-11-03"),
            ("leap", "2025-12-28", "2026-01-02"),
        ] {
            try await server.put(
                "shifts", id,
                ["patientId": "mom", "ownerId": "ben", "startDate": .string(first), "endDate": .string(last)])
        }
        try await server.put(
            "shifts", "night",
            ["patientId": "dad", "startAt": "2026-03-07T22:00:00-08:00", "endAt": "2026-03-08T06:00:00-07:00"])
        try await server.put(
            "follow-ups", "ask",
            [
                "description": "Ask, about; dosage", "dueAt": "2026-03-04T09:00:00+13:00",
                "timeZone": "Pacific/Apia", "reminders": [60],
            ])
        try await server.put(
            "appointments", "visit", Family.visit(location: "Straße 5;\nHof, „links“", reminders: [30]))
        try await server.put("appointments", "off", Family.visit(status: "cancelled", reminders: [30]))
        try await server.put(
            "appointments", "dates",
            [
                "patientId": "mom", "provider": "No rule", "startAt": "2026-03-10T09:00:00-07:00",
                "recurrence": ["rdates": ["2026-03-12T09:00:00-07:00", "2026-11-20T10:00:00-08:00"]],
            ])
        for (index, series) in series.enumerated() { try await put(series, "series-\(index)", server) }
    }

    /// A series with an extra time, an exception, a moved, a renamed and a cancelled occurrence.
    private static func put(
        _ series: (zone: String, start: String, rule: String), _ id: String, _ server: TestServer
    ) async throws {
        let start = instant(series.start)
        let rules = try #require(TimeZoneReference(series.zone)).rules
        var master = Event(uid: id, start: .zoned(rules.civil(at: start), try #require(TimeZoneReference(series.zone))))
        master.recurrence.rules = [try RecurrenceRule(series.rule)]
        let starts = Series(master: master, overrides: []).occurrences(from: from, to: to, floatingIn: rules)
            .occurrences.map { $0.start.instant(floatingIn: rules) }.filter { $0 > start }
        func exception(_ place: Int) -> [Instant] { starts.indices.contains(place) ? [starts[place]] : [] }
        // Where a rule gives only few, they stay.
        let excluded = starts.count > 6 ? exception(1) + exception(5) : []
        let added = start.adding(seconds: 100 * 86_400 + 3600)
        try await server.put(
            "appointments", id,
            [
                "patientId": "mom", "provider": .string("Dr. \(series.rule)"), "startAt": .string(series.start),
                "durationMinutes": 90, "timeZone": .string(series.zone), "reminders": [30],
                "recurrence": [
                    "rrule": .string(series.rule), "exdates": .array(excluded.map { .string($0.description) }),
                    "rdates": [.string(added.description)],
                ],
            ])
        guard starts.count > 6 else { return }
        let moved = starts[4].adding(seconds: 30 * 3600)
        let changes: [(Int, JSONValue)] = [
            (2, ["location": "Room 2, “left”; upstairs", "provider": "Dr. Else"]), (3, ["status": "cancelled"]),
            (4, ["startAt": .string(moved.description)]),
        ]
        for (place, change) in changes {
            let original = starts[place].basic
            let path = "/v1/circles/c/appointments/\(id)/occurrences/\(original)"
            try await server.call(.put, path, change).expect(201)
        }
    }

    /// The feed of a circle that holds nothing but a file's events.
    private static func imported(_ file: Data?, _ server: TestServer) async throws -> [UInt8]? {
        let circle = "/v1/circles/i\(UUID().uuidString.prefix(8))"
        try await server.call(.put, circle, ["name": "Import", "timeZone": "Europe/Vienna"]).expect(201)
        try await server.call(.put, "\(circle)/members/ann", ["displayName": "Ann", "role": "owner"]).expect(201)
        if let file {
            let headers: HTTPFields = [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"]
            let answer = try await server.raw(
                .post, "\(circle)/imports?mode=commit", headers: headers, body: ByteBuffer(bytes: file))
            guard answer.status != 422 else { return nil }
            #expect(answer.status == 201, "\(answer.text.prefix(2000))")
        }
        let config: JSONValue = ["pastDays": 3660, "futureDays": 3660]
        let feed = try await server.call(.post, "\(circle)/feeds", ["userId": "ann", "config": config]).expect(201)
        return try await server.raw(.get, try TestServer.path(feed)).expect(200).body
    }

    private static func instant(_ text: String) -> Instant { Instant(rfc3339: text) ?? Instant(seconds: 0) }
}
