// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// The bytes that a server answered.
struct GoldenFeed: Sendable {
    var name: String
    var bytes: [UInt8]

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The same feed with zone names that no reader knows, so that each reader has to use the feed's VTIMEZONEs.
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
enum GoldenFeeds {
    struct Item: Sendable {
        var summary: String
        var start: Instant
        var end: Instant
    }

    /// The window in which occurrences are compared; it lies within that of the feeds, because their VTIMEZONEs cover
    /// that.
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

    /// The feeds, which are made when they are first needed.
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

    /// Stores a series with an extra time, an exception, and a moved, a renamed and a cancelled occurrence.
    private static func put(
        _ series: (zone: String, start: String, rule: String), _ id: String, _ server: TestServer
    ) async throws {
        let start = instant(series.start)
        let rules = try #require(TimeZoneReference(series.zone)).rules
        var master = Event(uid: id, start: .zoned(rules.civil(at: start), try #require(TimeZoneReference(series.zone))))
        master.recurrence.rules = [try RecurrenceRule(series.rule)]
        let starts = Series(master: master, overrides: []).occurrences(from: from, to: to, floatingIn: rules)
            .occurrences.map { $0.start.instant(floatingIn: rules) }.filter { $0 > start }
        func exception(_ index: Int) -> [Instant] { starts.indices.contains(index) ? [starts[index]] : [] }
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
        for (index, change) in changes {
            let original = starts[index].basic
            let path = "/v1/circles/c/appointments/\(id)/occurrences/\(original)"
            try await server.call(.put, path, change).expect(201)
        }
    }

    /// Returns the feed of a circle that has nothing but a file's events.
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
