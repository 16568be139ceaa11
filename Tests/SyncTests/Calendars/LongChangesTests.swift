// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Server
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// Texts of megabytes of which a calendar app wants the tags.
@Suite("Long changes of circles")
struct LongChangesTests {
    private static func run(
        _ body: @escaping @Sendable (CalendarApp, CountingStore.Count) async throws -> Void
    ) async throws {
        let count = CountingStore.Count()
        let open: StoreOpening = { path, mustBeKalends in
            CountingStore(try Engine.open(path, mustBeKalends), count)
        }
        try await TestServer.run(folds: false, open: open) { server in
            try await server.makeCircle(zone: "UTC")
            try await body(CalendarApp(server: server), count)
        }
    }

    /// Makes a daily appointment with many long notes.
    private static func putSeries(_ id: String, _ server: TestServer) async throws {
        try await server.put(
            "appointments", id,
            [
                "patientId": "mom", "provider": "Dr", "startAt": "2026-03-03T09:00:00Z",
                "recurrence": ["rrule": "FREQ=DAILY"],
            ])
        let notes = JSONValue.string(String(repeating: "n", count: 60_000))
        for day in 10..<39 {
            let start = day < 32 ? "202603\(day)" : "2026040\(day - 31)"
            try await server.call(
                .put, "/v1/circles/c/appointments/\(id)/occurrences/\(start)T090000Z", ["notes": notes]
            ).expect(201)
        }
    }

    private static func changes(_ app: CalendarApp, _ number: Int) async throws -> CollectionChanges {
        try await app.source.changes(of: app.collection(), after: number, limit: 500)
    }

    @Test("Long series are followed a few at a time, and no transaction reads more of them", .timeLimit(.minutes(2)))
    func series() async throws {
        try await Self.run { app, count in
            let start = try await app.collection().number
            #expect(try await app.members().isEmpty)
            for id in ["a", "b", "c"] { try await Self.putSeries(id, app.server) }

            let first = try await Self.changes(app, start)
            #expect(first.isTruncated && first.changed.map(\.name).sorted() == ["a.ics", "b.ics"])
            let second = try await Self.changes(app, first.number)
            #expect(!second.isTruncated && second.changed.map(\.name) == ["c.ics"])
            #expect(try await Self.changes(app, second.number).changed.isEmpty)
            #expect(try await app.collection().number == second.number)

            // The index, which was there before, comes after in two steps.
            let collection = try await app.collection()
            func reads<Value>(_ body: () async throws -> Value) async throws -> (Value, Int) {
                let before = count.reads
                return (try await body(), count.reads - before)
            }
            let (listed, steps) = try await reads {
                try await app.source.members(of: collection, after: nil, limit: 9)
            }
            #expect(steps == 2 && Set(listed) == Set(first.changed + second.changed))
            #expect(try await reads { try await app.source.members(of: collection, after: nil, limit: 9) }.1 == 1)
            // By their names they are read one at a time, once their sizes are known.
            let names = ["a.ics", "none.ics", "b.ics", "c.ics"]
            let (named, times) = try await reads { try await app.source.members(of: collection, named: names) }
            #expect(named.map { $0?.name } == ["a.ics", nil, "b.ics", "c.ics"] && times == 5)
            #expect(Set(named.compactMap(\.self)) == Set(listed))
        }
    }

    @Test("Imported events come at once, and are read a few megabytes at a time", .timeLimit(.minutes(2)))
    func imported() async throws {
        try await Self.run { app, count in
            let start = try await app.collection().number
            #expect(try await app.members().isEmpty)
            let text = String(repeating: "d", count: 30_000)
            try await app.server.bring(
                (0..<200).map { OneCalendar.event("e\($0)", "Event", "DESCRIPTION:\($0)\(text)") }, as: "ann"
            ).expect(201)
            let bytes = try await app.server.services.store.read {
                try $0.importedBytes(of: (0..<200).map { "e\($0)" }, in: "c").values.reduce(0, +)
            }
            try #require(bytes > 5 << 20)
            let collection = try await app.collection()
            var before = count.reads
            let changes = try await app.source.changes(of: collection, after: start, limit: 500)
            #expect(changes.changed.count == 200 && !changes.isTruncated && changes.removed.isEmpty)
            #expect(count.reads - before == 2)
            before = count.reads
            let listed = try await app.source.members(of: collection, after: nil, limit: 500)
            #expect(Set(listed) == Set(changes.changed))
            #expect(count.reads - before == 2)
        }
    }

    @Test("What a person keeps of an imported event is among the changes, also where more follow")
    func kept() async throws {
        try await Self.run { app, _ in
            try await app.server.bring([OneCalendar.event("e", "Event")], as: "ann").expect(201)
            let start = try await app.collection().number
            let name = try #require(try await app.members().first?.name)
            try await app.edit(name, ("END:VEVENT", "X-OWN:1\r\nEND:VEVENT"))
            let own = try await app.collection().number
            try await app.server.put(
                "appointments", "a", ["patientId": "mom", "provider": "Dr", "startAt": "2026-03-03T09:00:00Z"])
            var (number, found): (Int, [String]) = (start, [])
            while true {
                let part = try await app.source.changes(of: app.collection(), after: number, limit: 1)
                found += part.changed.map(\.name)
                number = part.number
                guard part.isTruncated else { break }
            }
            #expect(own > start && Set(found) == [name, "a.ics"])
        }
    }
}
