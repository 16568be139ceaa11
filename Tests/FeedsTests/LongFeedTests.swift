// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Long feeds and the memory for answers")
struct LongFeedTests {
    /// Returns the path of a feed: one of about 150 kB is served from memory, a longer one piece by piece.
    private static func feed(_ server: TestServer, kilobytes: Int) async throws -> String {
        try await server.makeCircle()
        let notes = String(repeating: "n", count: 50_000)
        for id in 0..<kilobytes / 50 {
            try await server.put(
                "tasks", "t\(id)", ["title": "T", "dueAt": "2026-03-03T09:00:00Z", "notes": .string(notes)])
        }
        return try await server.makeFeed().path
    }

    @Test("Without room a long feed is 503 and no access; with room it is given and counted", arguments: [150, 600])
    func room(_ kilobytes: Int) async throws {
        try await TestServer.run(live: true) { server in
            let path = try await Self.feed(server, kilobytes: kilobytes)
            let feed = try await server.call(.get, "/v1/circles/c/feeds").expect(200).json["items"]?.array?.first
            let id = try #require(feed?["id"]?.string)
            func count() async throws -> Int? {
                try await server.call(.get, "/v1/feeds/\(id)").expect(200).json["accessCount"]?.integer
            }
            let first = try await server.raw(.get, path).expect(200)
            #expect(first.body.count > kilobytes * 1000)
            let budget = server.services.memory.feeds
            try await eventually("The budget is given back.") { budget.used == 0 }
            #expect(budget.used == 0)
            budget.force(64 << 20, for: nil)
            try await server.raw(.get, path).expect(503)
            let tag = try #require(first.headers[.eTag])
            // What takes no room is given as ever.
            try await server.raw(.get, path, headers: [.ifNoneMatch: tag]).expect(304)
            try await server.raw(.head, path).expect(200)
            budget.give(64 << 20, of: nil)
            #expect(try await count() == 2)
            #expect(try await server.raw(.get, path).expect(200).body == first.body)
            #expect(try await count() == 3)
        }
    }

    @Test("Many requests for a long feed behind each other are answered in full and in order, and hold nothing after")
    func pipelined() async throws {
        try await TestServer.run(live: true) { server in
            let path = try await Self.feed(server, kilobytes: 150)
            let length = try await server.raw(.get, path).expect(200).body.count
            let port = try #require(server.client.port)
            let one = "GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n"
            let last = "GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            let answer = try await RawConnection(port: port).exchange(String(repeating: one, count: 9) + last) { _ in
                false
            }
            let parts = answer.split(separator: "HTTP/1.1 200 OK\r\n")
            #expect(parts.count == 10)
            #expect(parts.allSatisfy { $0.utf8.count > length && $0.contains("END:VCALENDAR") })
            let budget = server.services.memory.feeds
            try await eventually("The budget is given back.") { budget.used == 0 }
            #expect(budget.used == 0)
        }
    }
}
