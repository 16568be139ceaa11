// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Many days of a series that a phone deletes")
struct PhoneManyDaysTests {
    private static let start = "2026-03-03T17:00:00Z"

    /// Stores a daily appointment, links it with a phone, and returns the event with a number of deleted days.
    private static func series(
        _ bench: PhoneBench, _ phone: Phone, days: Int, deleted: Int
    ) async throws -> (event: JSONValue, starts: [String]) {
        try await bench.appointment(
            "walk", start,
            ["timeZone": "Africa/Abidjan", "recurrence": ["rrule": .string("FREQ=DAILY;COUNT=\(days)")]])
        let event = try #require(try await phone.changes().events.first)
        try await phone.upsert(bench.sent(event, as: "X1"))
        let first = try instant(start)
        let starts = (1...deleted).map { first.adding(seconds: $0 * 86_400).rfc3339(offset: 0) }
        var recurrence = event["recurrence"]?.object ?? [:]
        recurrence["exdates"] = .array(starts.map(JSONValue.string))
        return (bench.sent(event, as: "X1", ["recurrence": .object(recurrence)]), starts)
    }

    @Test("Five hundred deleted days are one conflict, which lists a hundred of them and is decided at once")
    func decided() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            let id = try await bench.connect()
            let (event, starts) = try await Self.series(bench, phone, days: 600, deleted: 500)
            server.clock.advance(seconds: 600)
            let answer = try await phone.upsert(event)
            #expect(answer["events"]?.array?.first?["syncState"] == "conflict")
            let open = try await bench.open(id)
            let conflict = try #require(open.first)
            #expect(open.count == 1 && conflict["kind"] == "deletedThere")
            #expect(conflict["occurrence"] == .string(starts[0]) && conflict["occurrenceCount"] == 500)
            #expect(conflict["occurrences"] == .array(starts.prefix(100).map(JSONValue.string)))
            #expect(conflict["fields"]?.array?.count == 100)
            #expect(conflict["fields"]?.array?.last?["occurrence"] == .string(starts[99]))
            let shown = try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200).json
            #expect(shown["counts"]?["conflicts"] == 1)

            let path = "/v1/conflicts/\(conflict["id"]?.string ?? "")/resolve"
            let resolved = try await server.call(.post, path, ["keep": "calendar"], as: "ann").expect(200).json
            #expect(resolved["state"] == "resolved" && resolved["outcome"] == "calendar")
            let cancelled = try await server.services.store.read { try $0.occurrences(of: "walk", in: "c") }
            #expect(cancelled.count == 500 && cancelled.allSatisfy { $0.content.contains("cancelled") })
            #expect(try await bench.open(id).isEmpty)
        }
    }

    @Test("The texts of changed occurrences are not taken without end, from a person who may not write either")
    func texts() async throws {
        var settings = ServerSettings()
        settings.quotas.personalBytesPerUser = 50_000
        try await PhoneBench.run(settings) { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server, of: "vic"))
            try await bench.appointment(
                "walk", Self.start,
                ["timeZone": "Africa/Abidjan", "recurrence": ["rrule": .string("FREQ=DAILY;COUNT=60")]])
            let id = try await bench.connect(user: "vic")
            let series = try #require(try await phone.changes().events.first)
            try await phone.upsert(bench.sent(series, as: "X1"))
            try await server.call(.patch, "/v1/connections/\(id)", ["paused": true], as: "vic").expect(200)
            let first = try instant(Self.start)
            var refused = 0
            for day in 1...40 {
                let start = first.adding(seconds: day * 86_400).rfc3339(offset: 0)
                let answer = try await phone.upsert(
                    .sent(
                        "X1", "Walk",
                        [
                            "externalInstanceId": .string(start), "date": .string(String(start.prefix(10))),
                            "startTime": "18:00", "endTime": "19:00", "timeZone": "Africa/Abidjan",
                            "description": .string(String(repeating: "x", count: 2_000)),
                            "recurrence": series["recurrence"] ?? .null,
                        ]))
                if let rejected = answer["rejected"]?.array?.first {
                    refused += 1
                    #expect(try rejected.text().contains("show items have at most"), "\(rejected)")
                }
            }
            #expect(refused > 10 && refused < 30)
            let stored = try await server.services.store.read { try $0.itemEventBytes(of: "vic") }
            #expect(stored < 60_000)
        }
    }

    @Test("More deleted days join the conflict that is open; the series may be put back as a whole")
    func joined() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            let id = try await bench.connect()
            let (event, starts) = try await Self.series(bench, phone, days: 60, deleted: 40)
            for count in [1, 40] {
                server.clock.advance(seconds: 600)
                var recurrence = event["recurrence"]?.object ?? [:]
                recurrence["exdates"] = .array(starts.prefix(count).map(JSONValue.string))
                try await phone.upsert(bench.sent(event, as: "X1", ["recurrence": .object(recurrence)]))
            }
            let open = try await bench.open(id)
            #expect(open.count == 1 && open[0]["occurrenceCount"] == 40)
            let path = "/v1/conflicts/\(open[0]["id"]?.string ?? "")/resolve"
            try await server.call(.post, path, ["keep": "both"], as: "ann").expect(422)
            try await server.call(.post, path, ["keep": "kalends"], as: "ann").expect(200)
            server.clock.advance(seconds: 60)
            let again = try #require(try await phone.changes().events.last)
            #expect(again["recurrence"]?["exdates"] == [])
            #expect(try await bench.open(id).isEmpty)
        }
    }

    @Test("A connection with too many open conflicts waits until some of them are decided, and says so")
    func tooMany() async throws {
        var settings = ServerSettings()
        settings.quotas.conflictsPerConnection = 2
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let bench = PhoneBench(server: server)
            let phone = try await Phone(server)
            let id = try await bench.connect()
            for number in 0..<12 { try await bench.appointment("a\(number)", "2026-03-06T10:00:00-08:00") }
            let events = try await phone.changes().events
            func sent(_ number: Int, _ more: [ByteString: JSONValue] = [:]) -> JSONValue {
                bench.sent(events[number], as: "X\(number)", more)
            }
            for number in events.indices { try await phone.upsert(sent(number)) }
            for number in 0..<3 {
                server.clock.advance(seconds: 600)
                try await phone.upsert(sent(number, ["syncState": "deleted"]))
            }
            #expect(try await bench.open(id).count == 2)
            let shown = try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200).json
            #expect(shown["lastSyncStatus"] == "failed")
            #expect(shown["lastSyncError"]?.string?.contains("2 conflicts wait for a decision") == true)
            let first = try #require(try await bench.open(id).first?["id"]?.string)
            try await server.call(.post, "/v1/conflicts/\(first)/dismiss", as: "ann").expect(200)
            #expect(try await bench.look(id) == 1)
            // The third one is judged now.
            #expect(try await bench.open(id).count == 2)
        }
    }

    @Test("The oldest records of a connection make room when they have too many bytes")
    func trimmed() async throws {
        var settings = ServerSettings()
        settings.quotas.recordBytesPerConnection = 20_000
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let bench = PhoneBench(server: server)
            let phone = try await Phone(server)
            let id = try await bench.connect()
            try await bench.appointment("a", "2026-03-06T10:00:00-08:00")
            let event = try #require(try await phone.changes().events.first)
            for number in 0..<40 {
                server.clock.advance(seconds: 600)
                try await phone.upsert(bench.sent(event, as: "X", ["title": .string("Edited \(number)")]))
            }
            let (journal, conflicts) = try await server.services.store.read { transaction in
                (
                    try transaction.syncJournal(of: id, before: .max, limit: 1_000),
                    try transaction.syncConflicts(of: id, before: .max, limit: 1_000)
                )
            }
            let bytes = (journal.map(\.content) + conflicts.map(\.content)).reduce(0) { $0 + $1.utf8.count }
            #expect(bytes < 40_000 && !journal.isEmpty && !conflicts.isEmpty)
            #expect(conflicts.first?.content.contains("Edited 39") == true)
        }
    }
}
