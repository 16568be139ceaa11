// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Feeds joined from pieces")
struct RenderedScheduleTests {
    private static let exports = packageRoot.appending(path: "Samples/exports")

    private static let configurations: [JSONValue] = [
        [:], ["detail": "titles", "completedTasks": "keep"], ["showMinimalDetails": true], ["detail": "busy"],
        ["patientIds": ["mom"]], ["includeTasks": false, "includeReminders": false],
        ["tasksAs": "todos", "pastDays": 3000, "futureDays": 3000], ["pastDays": 0, "futureDays": 2],
    ]

    /// Makes one random change of the circle through the API.
    private func change(_ server: TestServer, _ random: inout SplitMix) async throws {
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        func time(_ instant: Instant) -> JSONValue { JSONValue(milliseconds: instant.milliseconds) }
        let number = Int.random(in: 1...12, using: &random)
        let day = Instant(milliseconds: server.clock.now).adding(
            seconds: Int.random(in: -400...800, using: &random) * 86_400)
        let title = pick(["Pills", "Tea, with milk; hot", "Größe\nzwei", "✓ 😀"])
        switch Int.random(in: 0..<14, using: &random) {
        case 0...3:
            try await server.put(
                "tasks", "t\(number)",
                [
                    "title": .string(title), "dueAt": time(day), "reminders": [15],
                    "status": .string(pick(["open", "open", "completed", "cancelled"])),
                    "patientId": number % 2 == 0 ? "mom" : .null,
                ])
        case 4, 5:
            try await server.put(
                "shifts", "s\(number)",
                [
                    "patientId": .string(pick(["mom", "dad"])), "ownerId": .string(pick(["ann", "ben"])),
                    "startAt": time(day), "endAt": time(day.adding(seconds: 7200)),
                ])
        case 6, 7:
            try await server.put(
                "appointments", "a\(number)",
                [
                    "patientId": "mom", "provider": .string(title), "startAt": time(day),
                    "endAt": time(day.adding(seconds: 3600)),
                    "timeZone": .string(pick(["Europe/Berlin", "Asia/Tokyo"])),
                    "recurrence": pick([.null, ["rrule": "FREQ=WEEKLY;COUNT=10"], ["rrule": "FREQ=MONTHLY"]]),
                ])
        case 8:
            let answer = try await server.call(.get, "/v1/circles/c/appointments/a\(number)")
            guard answer.status == 200, let start = answer.json["startAt"]?.string.flatMap(Instant.init(rfc3339:)),
                answer.json["recurrence"] != .null
            else { return }
            let path = "/v1/circles/c/appointments/a\(number)/occurrences/\(start.basic)"
            let moved = start.adding(seconds: 1800)
            let put = try await server.call(
                .put, path,
                ["startAt": time(moved), "endAt": time(moved.adding(seconds: 900))])
            #expect(put.status < 300 || put.status == 422, "\(put.text)")
            if number % 3 == 0 { _ = try await server.call(.delete, path) }
        case 9:
            _ = try await server.call(
                .delete, "/v1/circles/c/\(pick(["tasks/t", "shifts/s", "appointments/a"]))\(number)")
        case 10:
            try await server.call(.put, "/v1/circles/c/patients/mom", ["displayName": .string("Mom \(number % 3)")])
                .expect(200)
        case 11:
            let zone = pick(["America/Los_Angeles", "Europe/Berlin"])
            try await server.call(
                .put, "/v1/circles/c", ["name": .string("C\(number % 2)"), "timeZone": .string(zone)]
            )
            .expect(200)
        case 12:
            let file = pick(["google-export.ics", "outlook-export.ics", "apple-export.ics"])
            let path = Self.exports.appending(path: file).path
            let bytes = try #require(FileManager.default.contents(atPath: path))
            let made = try await server.raw(
                .post, "/v1/circles/c/imports",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
                body: .init(bytes: bytes))
            let id = try #require(made.json["id"]?.string)
            try await server.call(.post, "/v1/imports/\(id)/commit", [:]).expect(200)
            if number % 2 == 0 { _ = try await server.call(.post, "/v1/imports/\(id)/undo", [:]) }
        default:
            server.clock.advance(seconds: number * 40_000)
        }
    }

    @Test("After any change a feed is what a first rendering makes of the same state", arguments: [1, 2, 3])
    func sameAsCold(_ seed: UInt64) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var random = SplitMix(seed: seed)
            var feeds: [(id: String, path: String)] = []
            for (index, configuration) in Self.configurations.enumerated() {
                feeds.append(
                    try await server.makeFeed(
                        user: index % 2 == 0 ? "ann" : "ben", label: "f\(index)", config: configuration))
            }
            for step in 0..<60 {
                server.clock.advance(milliseconds: 700)
                try await change(server, &random)
                let feed = feeds[step % feeds.count]
                if step % 17 == 16 {
                    try await server.call(
                        .patch, "/v1/feeds/\(feed.id)",
                        ["config": ["includeReminders": .bool(step % 2 == 0), "pastDays": .integer(step)]]
                    ).expect(200)
                }
                for feed in feeds where Bool.random(using: &random) || step == 59 {
                    let answer = try await server.raw(.get, feed.path).expect(200)
                    let now = server.clock.now
                    let settings = server.services.settings
                    let (cold, etag, plain) = try await server.services.store.read { transaction in
                        let stored = try #require(try transaction.feed(feed.id))
                        let circle = try #require(try transaction.circle("c"))
                        let live = try LiveFeedParts(feed: stored, circle: circle, settings: settings)
                        let today = FeedDay(try circle.zone, now: now).date
                        let window = FeedWindow(live.configuration, today: today, zone: live.zone)
                        let cold = try FeedRenderer().render(live, window: window, in: transaction)
                        let contents = try FeedContents(of: live, window: window, in: transaction)
                        let plain = FeedRenderer.calendar(live, events: contents.events)
                            .serialized(coverage: window.from...window.to)
                        return (try cold.text.bytes, "\"\(cold.hash.text)\"", plain)
                    }
                    #expect(answer.body == cold, "seed \(seed), step \(step)")
                    #expect(answer.headers[.eTag] == etag, "seed \(seed), step \(step)")
                    // Two ways that share the text of an event and nothing else.
                    #expect(answer.body == plain, "seed \(seed), step \(step)")
                }
            }
        }
    }

    @Test("A circle that is deleted and made again shows nothing of before")
    func circleAgain() async throws {
        try await TestServer.run { server in
            for title in ["Before", "After"] {
                try await server.makeCircle()
                try await server.put("tasks", "t1", ["title": .string(title), "dueAt": "2026-03-03T09:00:00Z"])
                let feed = try await server.makeFeed()
                #expect(try await server.raw(.get, feed.path).values("SUMMARY") == ["CK: \(title)"])
                try await server.call(.delete, "/v1/circles/c").expect(204)
            }
        }
    }
}
