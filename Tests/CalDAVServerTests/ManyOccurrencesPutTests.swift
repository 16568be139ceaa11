// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// Series with thousands of changed occurrences, which a calendar app sends at once.
@Suite struct ManyOccurrencesPutTests {
    private static let first = "20260303T090000Z"

    private static func starts(_ count: Int) -> [Instant] {
        let first = Instant(basic: first) ?? Instant(seconds: 0)
        return (0..<count).map { first.adding(seconds: $0 * 86_400) }
    }

    /// Runs a server with a daily appointment, whose text at an address an app has read.
    private static func withSeries(
        _ rule: String = "FREQ=DAILY",
        _ test: @escaping @Sendable (DAVClient, _ address: String, _ text: String) async throws -> Void
    ) async throws {
        try await TestServer.run { server in
            try await server.makeCircle(zone: "UTC")
            try await server.put(
                "appointments", "a",
                [
                    "patientId": "mom", "provider": "Dr", "startAt": "2026-03-03T09:00:00Z",
                    "recurrence": ["rrule": .string(rule)],
                ])
            let app = try await DAVClient(server, "ben")
            let found = try await app.properties("\(app.home)c/", ["D:getetag"], depth: "1")
            let address = try #require(found.hrefs.first { $0.hasSuffix(".ics") })
            try await test(app, address, try await app.send("GET", address).expect(200).text)
        }
    }

    private static func leaving(_ starts: some Sequence<Instant>, outOf text: String) -> String {
        let dates = starts.map { "EXDATE:\($0.basic)\r\n" }.joined()
        return text.replacing("END:VEVENT", with: dates + "END:VEVENT", maxReplacements: 1)
    }

    private struct Stored {
        let version, sequence, count: Int
        let usage: Usage
    }

    private static func stored(_ app: DAVClient) async throws -> Stored {
        try await app.server.services.store.read { transaction in
            Stored(
                version: try #require(try transaction.circle("c")).version,
                sequence: try #require(try transaction.item("a", .appointments, in: "c")).sequence,
                count: try transaction.occurrenceUsage(of: "a", in: "c").count,
                usage: try transaction.itemUsage(of: "c"))
        }
    }

    @Test("More occurrences than a series may have are refused at once, and nothing of them is stored")
    func tooMany() async throws {
        try await Self.withSeries { app, address, text in
            let before = try await Self.stored(app)
            for rule in ["FREQ=DAILY", "FREQ=SECONDLY", "FREQ=HOURLY;BYHOUR=9;COUNT=20000"] {
                let sent = Self.leaving(Self.starts(2_002).dropFirst(), outOf: text)
                    .replacing("RRULE:FREQ=DAILY", with: "RRULE:\(rule)")
                #expect(sent.contains(rule))
                let answer = try await app.put(address, sent)
                #expect(answer.status == 507, "\(rule): \(answer.text)")
            }
            let after = try await Self.stored(app)
            #expect(after.version == before.version && after.count == 0)
        }
    }

    @Test(
        "A series with long occurrences is read and changed only once there is room for it, and others need none",
        .timeLimit(.minutes(1)), arguments: ["GET", "PUT", "DELETE"])
    func room(_ method: String) async throws {
        try await Self.withSeries { app, address, text in
            let server = app.server
            try await server.put(
                "appointments", "b", ["patientId": "mom", "provider": "Dr", "startAt": "2026-03-03T09:00:00Z"])
            for start in Self.starts(6).dropFirst() {
                try await server.call(
                    .put, "/v1/circles/c/appointments/a/occurrences/\(start.basic)",
                    ["notes": .string(String(repeating: "n", count: 60_000))]
                ).expect(201)
            }
            let budget = method == "GET" ? server.services.memory.answers : server.services.memory.edits
            let taken = MemoryShare(budget)
            #expect(taken.holdNow(budget.counted(.max, for: nil)))
            async let answer = app.send(
                method, address, method == "PUT" ? text : nil, headers: [.contentType: "text/calendar"])
            while budget.waiting == 0 { try await Task.sleep(for: .milliseconds(5)) }
            try await app.send("GET", address.replacing("a.ics", with: "b.ics")).expect(200)
            taken.keep(0)
            #expect(try await (200...204).contains(answer.status))
            while budget.used > 0 { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    @Test("Thousands of occurrences are written in steps of five hundred, each a single revision of their series")
    func steps() async throws {
        try await Self.withSeries { app, address, text in
            let before = try await Self.stored(app)
            let left = Self.starts(1_251).dropFirst()
            try await app.put(address, Self.leaving(left, outOf: text)).expect(204)
            let after = try await Self.stored(app)
            #expect(after.count == 1_250)
            #expect(after.version - before.version == 3 && after.sequence - before.sequence == 3)
            // Each counts in its circle, so that room for it is taken before it is read.
            #expect(after.usage.bytes - before.usage.bytes > 1_250 * 700)

            // All of them come back in the same way.
            try await app.put(address, text).expect(204)
            let back = try await Self.stored(app)
            #expect(back.count == 0 && back.usage == before.usage)
            #expect(back.sequence - after.sequence == 3)
        }
    }

    @Test("A series that moves loses the occurrences that it no longer has, and an undo brings all of them back")
    func moved() async throws {
        try await Self.withSeries("FREQ=DAILY;COUNT=2000") { app, address, text in
            try await app.put(address, Self.leaving(Self.starts(1_501).dropFirst(), outOf: text)).expect(204)
            let before = try await Self.stored(app)
            let series: JSONValue = [
                "patientId": "mom", "provider": "Dr", "startAt": "2026-03-03T10:00:00Z",
                "recurrence": ["rrule": "FREQ=DAILY;COUNT=2000"],
            ]
            try await app.server.call(.put, "/v1/circles/c/appointments/a", series, as: "ben").expect(200)
            let after = try await Self.stored(app)
            #expect(after.count == 0 && after.sequence == before.sequence + 1)
            #expect(before.usage.bytes - after.usage.bytes > 1_500 * 700)
            let number = try await app.server.services.store.read { transaction in
                try #require(
                    try transaction.latestChanges(in: "c", before: .max, seenBy: nil, limit: 2_000)
                        .first { $0.subject == .item }
                ).number
            }
            try await app.server.call(.post, "/v1/circles/c/activity/\(number)/undo", as: "ben").expect(200)
            let back = try await Self.stored(app)
            #expect(back.count == 1_500 && back.usage == before.usage)
            #expect(back.sequence == after.sequence + 2)
            try await app.server.call(.delete, "/v1/circles/c/appointments/a", as: "ben").expect(204)
            let used = try await app.server.services.store.read { try $0.itemUsage(of: "c") }
            #expect(before.usage.bytes - used.bytes > 1_500 * 700)
        }
    }
}
