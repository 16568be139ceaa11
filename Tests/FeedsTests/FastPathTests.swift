// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("The fast path from a connection to a feed")
struct FastPathTests {
    private static let task: JSONValue = ["title": "Refill pills", "dueAt": "2026-03-03T09:00:00-08:00"]
    /// An unusual header field, which makes the request go through the router.
    private static let detour = "Connection: keep-alive, x"

    private static func fromMemory(_ server: TestServer) -> Int { server.services.metrics.fromMemory.count }

    @Test(
        "Its answers are those of the router, byte for byte",
        arguments: [
            ["GET"], ["HEAD"], ["GET", "If-None-Match: *"], ["GET", "If-None-Match: W/ETAG"],
            ["GET", "If-None-Match: \"a,b\", ETAG"], ["GET", "If-None-Match: \"other\""],
            ["HEAD", "If-None-Match: ETAG"],
            ["GET", "If-Modified-Since: DATE"], ["GET", "If-Modified-Since: Sun, 01 Mar 2026 00:00:00 GMT"],
            ["GET", "If-None-Match: \"x\"", "If-Modified-Since: DATE"],
            ["GET", "If-None-Match: \"x\"", "If-None-Match: ETAG"], ["GET", "Accept: text/calendar, */*;q=0.9"],
            ["GET", "Accept: application/calendar+json"], ["GET", "Accept: text/csv", "If-None-Match: *"],
            ["GET", "Accept-Encoding: gzip, deflate"], ["HEAD", "Accept-Encoding: gzip"],
            ["GET", "Accept-Encoding: gzip", "If-None-Match: *"], ["GET", "Accept-Encoding: gzip;q=0"],
            ["GET", "Accept-Encoding: gzip", "User-Agent: Microsoft Office/16.0 (Microsoft Outlook 16.0.17126)"],
            ["GET", "Accept-Encoding: gzip", "If-None-Match: ETAG"],
        ])
    func sameBytes(lines: [String]) async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            try await server.put("tasks", "t1", Self.task)
            let feed = try await server.makeFeed()
            server.clock.advance(seconds: 10)
            let port = try #require(server.client.port)
            let known = try await server.raw(.get, feed.path).expect(200)
            let (etag, date) = (try #require(known.headers[.eTag]), try #require(known.headers[.lastModified]))
            let fields = lines.dropFirst().map {
                $0.replacing("ETAG", with: etag).replacing("DATE", with: date)
            }
            for path in [feed.path, "/feeds/\(feed.path.split(separator: "/")[1])"] {
                let start = (["\(lines[0]) \(path) HTTP/1.1"] + fields).joined(separator: "\r\n")
                let routed = try await RawConnection.ask(port: port, start, Self.detour)
                let before = Self.fromMemory(server)
                let fast = try await RawConnection.ask(port: port, start)
                #expect(fast.hasPrefix("HTTP/1.1 "))
                #expect(fast == routed)
                #expect(Self.fromMemory(server) == before + 1, "it went through the router")
            }
        }
    }

    @Test("Pipelined requests are answered in order, whichever way each one takes, and each is counted")
    func pipelined() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let etag = try #require(try await server.raw(.get, feed.path).expect(200).headers[.eTag])
            let port = try #require(server.client.port)
            func get(_ path: String, _ fields: String...) -> String {
                (["GET \(path) HTTP/1.1", "Host: x"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
            }
            let kinds: [(request: String, status: Int, isCounted: Bool)] = [
                (get(feed.path, "If-None-Match: \(etag)"), 304, true), (get(feed.path), 200, true),
                (get(feed.path, "If-None-Match: \(etag)", Self.detour), 304, true),
                (get(feed.path, Self.detour), 200, true), (get("/healthz"), 200, false), (get("/nowhere"), 404, false),
                ("HEAD \(feed.path) HTTP/1.1\r\nHost: x\r\nIf-None-Match: \(etag)\r\n\r\n", 304, false),
                ("PUT \(feed.path) HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 403, false),
            ]
            var random = SystemRandomNumberGenerator()
            var counted = 1
            for _ in 0..<30 {
                let chosen = (0..<20).map { _ in kinds[Int.random(in: 0..<kinds.count, using: &random)] }
                // The last says that it is the last, so that the end of the connection tells that all is there.
                let text = chosen.map(\.request).joined() + get("/healthz", "Connection: close")
                let answers = try await RawConnection(port: port).exchange(text) { _ in false }
                let statuses = answers.components(separatedBy: "HTTP/1.1 ").dropFirst().compactMap { Int($0.prefix(3)) }
                #expect(statuses == chosen.map(\.status) + [200])
                counted += chosen.count(where: \.isCounted)
            }
            #expect(try await server.call(.get, "/v1/feeds/\(feed.id)").json["accessCount"] == .integer(counted))
        }
    }

    @Test("A journal without room for all polls of a turn takes as many as fit, and says that it is full")
    func lastPlaces() async throws {
        var settings = ServerSettings()
        settings.accessJournalBytes = 1 << 16
        try await TestServer.run(live: true, settings: settings, folds: false) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            try await server.raw(.get, feed.path).expect(200)
            let journal = server.services.counter.journal
            let free = journal.capacity - journal.pending
            let poll = "GET \(feed.path) HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n"
            let last = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            let text = String(repeating: poll, count: free + 100) + last
            let answers = try await RawConnection(port: try #require(server.client.port)).exchange(text) { _ in false }
            let statuses = answers.components(separatedBy: "HTTP/1.1 ").dropFirst().compactMap { Int($0.prefix(3)) }
            #expect(statuses.count == free + 101)
            let polls = statuses.dropLast()
            #expect(polls.count { $0 == 304 } == free && polls.count { $0 == 503 } == 100)
            #expect(journal.pending == journal.capacity && journal.failure == .full)
        }
    }

    @Test("Its requests are in the metrics and in the log by their route, and no token is")
    func metrics() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            for _ in 0..<5 { try await server.raw(.get, feed.path).expect(200) }
            let line = "kalends_requests_total{method=\"GET\",route=\"/feeds/{token}/{name}\",status=\"200\"} 5"
            #expect(server.services.metrics.exposition.contains(line))
            #expect(server.log.text.components(separatedBy: "/feeds/{token}/{name}").count - 1 >= 5)
            #expect(!server.log.text.contains(feed.path.split(separator: "/")[1]))
        }
    }

    @Test("A write that concerns one circle leaves the others' feeds on the short way; what it ends is ended at once")
    func otherCircles() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let (one, other) = (try await server.makeFeed(), try await server.makeFeed(user: "ben"))
            let marks = ["c", "d", "e", "f"].map { WriteClock.Slot(circle: $0) }
            let elsewhere = try #require(zip(["d", "e", "f"], marks.dropFirst()).first { $0.1 != marks[0] }?.0)
            try await server.raw(.get, one.path).expect(200)
            try await server.call(
                .put, "/v1/circles/\(elsewhere)", ["name": "Other", "timeZone": "UTC"]
            ).expect(201)
            let before = Self.fromMemory(server)
            try await server.raw(.get, one.path).expect(200)
            #expect(Self.fromMemory(server) == before + 1)
            try await server.call(.post, "/v1/feeds/\(one.id)/revoke").expect(200)
            try await server.raw(.get, one.path).expect(410)
            try await server.raw(.get, other.path).expect(200)
        }
    }
}
