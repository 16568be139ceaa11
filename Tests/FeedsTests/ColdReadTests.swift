// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Server
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// Reads that memory cannot answer: each look at the database is a way to another thread and back.
@Suite("Reads that memory cannot answer")
struct ColdReadTests {
    private static func run(
        _ body: @escaping @Sendable (TestServer, CountingStore.Count) async throws -> Void
    ) async throws {
        let count = CountingStore.Count()
        let open: StoreOpening = { path, mustBeKalends in CountingStore(try Engine.open(path, mustBeKalends), count) }
        try await TestServer.run(open: open) { server in
            try await server.makeCircle()
            try await server.put("tasks", "t", ["title": "Tea", "dueAt": "2026-03-03T09:00:00Z"])
            try await body(server, count)
        }
    }

    private static func looks(_ count: CountingStore.Count, _ work: () async throws -> Void) async throws -> Int {
        let before = count.reads
        try await work()
        return count.reads - before
    }

    private static func waits(_ count: CountingStore.Count, _ work: () async throws -> Void) async throws -> Int {
        let before = count.waits
        try await work()
        return count.waits - before
    }

    private static func renderings(_ server: TestServer) -> Int {
        server.services.metrics.wholeRenderings.count + server.services.metrics.changeRenderings.count
    }

    @Test("The first poll of a feed and the first after a change take one look at the database, and others take none")
    func oneLook() async throws {
        try await Self.run { server, count in
            let first = try await server.makeFeed()
            let second = try await server.makeFeed(user: "ben")
            for path in [first.path, second.path] {
                #expect(try await Self.looks(count) { _ = try await server.raw(.get, path).expect(200) } == 1)
                #expect(try await Self.looks(count) { _ = try await server.raw(.get, path).expect(200) } == 0)
            }
            try await server.put("tasks", "t", ["title": "Coffee", "dueAt": "2026-03-03T09:00:00Z"])
            for path in [first.path, second.path] {
                let looks = try await Self.looks(count) {
                    let answer = try await server.raw(.get, path).expect(200)
                    #expect(answer.text.contains("Coffee"))
                }
                #expect(looks == 1)
            }
        }
    }

    @Test("The first poll of a feed waits twice within its look, and so does the first after a change")
    func twoWaits() async throws {
        try await Self.run { server, count in
            let first = try await server.makeFeed()
            // Another look at the same circle, for which nothing is kept.
            let second = try await server.makeFeed(user: "ben", config: ["detail": "titles"])
            for path in [first.path, second.path] {
                #expect(try await Self.waits(count) { _ = try await server.raw(.get, path).expect(200) } == 2)
            }
            for round in 1...2 {
                try await server.put("tasks", "t\(round)", ["title": "Coffee", "dueAt": "2026-03-03T09:00:00Z"])
                for path in [first.path, second.path] {
                    let waits = try await Self.waits(count) {
                        let answer = try await server.raw(.get, path).expect(200)
                        #expect(answer.text.contains("Coffee"))
                    }
                    #expect(waits == 2)
                }
            }
            let unknown = "/feeds/\(String(repeating: "A", count: 43))/feed.ics"
            #expect(try await Self.waits(count) { _ = try await server.raw(.get, unknown).expect(404) } == 1)
            #expect(count.unused == 0)
        }
    }

    @Test("A new day takes one look too")
    func newDay() async throws {
        try await Self.run { server, count in
            let feed = try await server.makeFeed()
            _ = try await server.raw(.get, feed.path).expect(200)
            server.clock.advance(seconds: 86_400)
            #expect(try await Self.looks(count) { _ = try await server.raw(.get, feed.path).expect(200) } == 1)
        }
    }

    @Test("A change elsewhere, after which the feed is looked up again, makes no bytes again")
    func sameVersion() async throws {
        try await Self.run { server, count in
            let feed = try await server.makeFeed()
            let tag = try #require(try await server.raw(.get, feed.path).expect(200).headers[.eTag])
            // As a program does that changes the database in spite of the lock.
            server.services.store.clock.note(nil)
            let made = Self.renderings(server)
            let looks = try await Self.looks(count) {
                _ = try await server.raw(.get, feed.path, headers: [.ifNoneMatch: tag]).expect(304)
            }
            #expect(looks == 1)
            #expect(Self.renderings(server) == made)
        }
    }

    @Test("An address that has ended, and one that never was, take one look and make nothing")
    func ended() async throws {
        try await Self.run { server, count in
            let feed = try await server.makeFeed()
            try await server.call(.post, "/v1/feeds/\(feed.id)/revoke").expect(200)
            #expect(try await Self.looks(count) { _ = try await server.raw(.get, feed.path).expect(410) } == 1)
            let unknown = "/feeds/\(String(repeating: "A", count: 43))/feed.ics"
            #expect(try await Self.looks(count) { _ = try await server.raw(.get, unknown).expect(404) } == 1)
        }
    }

    @Test("All who ask at the same time get the same bytes, of the circle as it is", arguments: [false, true])
    func together(afterAChange: Bool) async throws {
        try await Self.run { server, _ in
            var paths: [String] = []
            for number in 0..<8 { paths.append(try await server.makeFeed(label: "\(number)").path) }
            if afterAChange {
                for path in paths { _ = try await server.raw(.get, path).expect(200) }
                try await server.put("tasks", "t", ["title": "Coffee", "dueAt": "2026-03-03T09:00:00Z"])
            }
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for path in paths + paths + paths {
                    group.addTask { try await server.raw(.get, path).expect(200).text }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(texts.count == 1)
            #expect(texts.first?.contains(afterAChange ? "Coffee" : "Tea") == true)
        }
    }

    @Test("A circle that several threads make into text is in the order of time")
    func manyItems() async throws {
        try await Self.run { server, _ in
            let lines = try (0..<1500).map { number in
                // Neither the order of the ids nor that of the lines is that of time.
                let minute = number * 7 % 1500
                let due = Instant(milliseconds: server.clock.now).adding(seconds: minute * 60)
                let task: JSONValue = [
                    "op": "put", "collection": "tasks", "id": .string("n\(number)"),
                    "value": ["title": .string("\(minute)"), "dueAt": .string(due.rfc3339(offset: 0))],
                ]
                return String(decoding: try task.serialized(), as: UTF8.self)
            }
            let sent = HTTPFields([
                HTTPField(name: .authorization, value: "Bearer \(server.key)"),
                HTTPField(name: .contentType, value: "application/x-ndjson"),
            ])
            try await server.raw(
                .post, "/v1/circles/c/batch", headers: sent, body: ByteBuffer(string: lines.joined(separator: "\n"))
            ).expect(200)
            let feed = try await server.makeFeed()
            let titles = try await server.raw(.get, feed.path).expect(200).eventValues("SUMMARY")
            #expect(titles.filter { $0 != "CK: Tea" } == (0..<1500).map { "CK: \($0)" })
        }
    }
}
