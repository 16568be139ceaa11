// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ICalBridge
import NIOCore
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Feeds and exports of circles that are never in memory as a whole")
struct SpooledFeedTests {
    /// Fills a circle with more bytes than are read at once: long tasks, series with long changed occurrences, and imported
    /// events.
    private static func fill(_ server: TestServer) async throws {
        try await server.makeCircle()
        let notes = String(repeating: "n ", count: 30_000)
        for number in 0..<70 {
            try await server.call(
                .put, "/v1/circles/c/tasks/t\(number)",
                ["title": "T", "dueAt": .string("2026-03-0\(number % 9 + 1)T09:00:00Z"), "notes": .string(notes)]
            ).expect(201)
        }
        for series in 0..<3 {
            let path = "/v1/circles/c/appointments/a\(series)"
            try await server.call(
                .put, path,
                [
                    "patientId": "mom", "provider": "A", "startAt": "2026-03-02T09:00:00Z",
                    "endAt": "2026-03-02T10:00:00Z",
                    "timeZone": "UTC", "recurrence": ["rrule": "FREQ=DAILY;COUNT=20"],
                ]
            ).expect(201)
            for day in 3..<12 {
                let original = "202603\(day < 10 ? "0" : "")\(day)T090000Z"
                try await server.call(
                    .put, "\(path)/occurrences/\(original)", ["provider": .string("B\(day)"), "notes": .string(notes)]
                ).expect(201)
            }
        }
        try await server.raw(
            .post, "/v1/circles/c/imports?mode=commit",
            headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
            body: ByteBuffer(string: NumberedEvents.calendar(150))
        ).expect(201)
    }

    @Test("A feed has the same bytes, hash and size as one that is made of everything at once")
    func feed() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let feed = try await server.makeFeed(config: ["futureDays": 400])
            let (context, now) = (server.services.feedContext, server.clock.now)
            try await context.store.read { transaction in
                #expect(try transaction.itemUsage(of: "c").bytes > 4 << 20)
                let stored = try #require(try transaction.feed(feed.id))
                let circle = try #require(try transaction.circle("c"))
                let live = try LiveFeedParts(feed: stored, circle: circle, settings: context.settings)
                let (_, window) = live.window(now: now)
                let whole = try context.renderer.render(live, window: window, in: transaction)
                let spooled = try context.renderer.renderSpooled(live, window: window, in: transaction, room: nil)
                #expect(try spooled.text.bytes == whole.text.bytes && spooled.hash == whole.hash)
                #expect(spooled.text.parts.count == 1 && spooled.text.count == whole.text.count)
                #expect(try context.renderer.size(of: live, window: window, in: transaction) == whole.text.count)
            }
        }
    }

    @Test("An export has all of it, in a spool for as long as somebody reads it")
    func export() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let file = try await CircleExport.file(of: "c", for: .operatorAtHand, server.services.feedContext)
            let held = server.services.memory.spooled.used
            #expect(held > FeedText.mostJoined && held <= file.count)
            let answer = try await server.raw(
                .get, "/v1/circles/c/export.ics", headers: [.authorization: "Bearer \(server.key)"]
            ).expect(200)
            #expect(answer.body == (try file.bytes))
            let reading = CalendarReader(options: .init()).read(answer.body)
            #expect(reading.events.count == 70 + 3 + 27 + 150 && reading.problems.isEmpty)
        }
    }
}
