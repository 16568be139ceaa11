// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Testing

@testable import ServerTestSupport

@Suite("A phone's connection after one whose events stayed")
struct PhoneReconnectTests {
    private static func marks(_ events: [JSONValue]) -> [String] { events.compactMap { $0["mark"]?.string }.sorted() }

    @Test("The next connection's events have the marks of those that stayed, and the phone links them")
    func same() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            for number in 0..<5 { try await bench.appointment("a\(number)", "2026-03-06T1\(number):00:00-08:00") }
            let first = try await bench.connect()
            let (kept, since) = try await phone.changes()
            for event in kept { try await phone.upsert(bench.sent(event, as: "X-\(event["itemId"]?.string ?? "")")) }
            let then = try await phone.changes(since: since).nextSince
            try await server.call(.delete, "/v1/connections/\(first)?events=keep", as: "ann").expect(204)
            #expect(try await phone.changes(since: then).events.isEmpty)
            server.clock.advance(seconds: 3600)
            let second = try await bench.connect()
            let events = try await phone.changes(since: then).events
            #expect(Self.marks(events) == Self.marks(kept) && events.count == 5)
            #expect(events.allSatisfy { $0["connectionId"] == .string(second) && $0["syncState"] == "pending" })
            // The phone found its events by these marks, and says what it calls them.
            for event in events {
                let name = "X-\(event["itemId"]?.string ?? "")"
                let answer = try await phone.upsert(bench.sent(event, as: name, ["turn": event["turn"] ?? .null]))
                #expect(answer["updated"] == 1 && answer["created"] == 0)
            }
            let linked = try await phone.changes(path: "/sync/apple/events/changes").events
            #expect(linked.count == 5 && Set(linked.compactMap { $0["externalId"]?.string }).count == 5)
            let own = try await server.call(.get, "/v1/users/ann/events", as: "ann").expect(200).json
            #expect(own["items"] == [])
            // With them removed, all go, under the marks that the phone knows.
            try await server.call(.delete, "/v1/connections/\(second)?events=remove", as: "ann").expect(204)
            let gone = try await phone.changes(since: then).events.filter { $0["syncState"] == "deleted" }
            #expect(Self.marks(gone) == Self.marks(kept))
        }
    }

    @Test("Two connections at a time never have the same marks, and each that ended is followed once")
    func several() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            try await bench.appointment("a", "2026-03-06T10:00:00-08:00")
            func end(_ id: String) async throws {
                server.clock.advance(seconds: 60)
                try await server.call(.delete, "/v1/connections/\(id)?events=keep", as: "ann").expect(204)
            }
            func mark(_ id: String) async throws -> String {
                let all = try await phone.changes().events
                return try #require(all.first { $0["connectionId"] == .string(id) }?["mark"]?.string)
            }
            let (one, two) = (try await bench.connect(), try await bench.connect(label: "two"))
            let (first, second) = (try await mark(one), try await mark(two))
            #expect(first != second)
            try await end(one)
            try await end(two)
            // The one that ended last is followed first.
            let three = try await bench.connect()
            #expect(try await mark(three) == second)
            let four = try await bench.connect(label: "four")
            #expect(try await mark(four) == first)
            let five = try await bench.connect(label: "five")
            #expect(![first, second].contains(try await mark(five)))
            // Another person's connection of the same circle has nothing to do with them.
            try await end(four)
            let other = try await Phone(server, of: "ben", named: "phone-b")
            _ = try await bench.connect(user: "ben")
            let theirs = try #require(try await other.changes().events.first?["mark"]?.string)
            #expect(![first, second].contains(theirs))
            let six = try await bench.connect(label: "six")
            #expect(try await mark(six) == first)
        }
    }
}
