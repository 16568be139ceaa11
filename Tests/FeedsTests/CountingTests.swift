// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import FeedTokens
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import NIOHTTP1
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Counting")
struct CountingTests {
    @Test("10,000 reads from 8 connections are counted as 10,000")
    func exact() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let port = try #require(server.client.port)
            let etag = try #require(try await server.raw(.head, feed.path).expect(200).headers[.eTag])
            var configuration = HTTPClient.Configuration()
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 8
            let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            let statuses = try await withThrowingTaskGroup(of: [UInt].self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        var statuses: [UInt] = []
                        for _ in 0..<1250 {
                            var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(feed.path)")
                            if worker % 2 == 0 { request.headers.add(name: "If-None-Match", value: etag) }
                            let response = try await http.execute(request, timeout: .seconds(30))
                            _ = try await response.body.collect(upTo: 1 << 20)
                            statuses.append(response.status.code)
                        }
                        return statuses
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            try await http.shutdown()
            #expect(statuses.count { $0 == 304 } == 5000)
            #expect(statuses.count { $0 == 200 } == 5000)
            let read = try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200).json
            #expect(read["accessCount"] == 10_000)
            #expect(read["clients"]?.array?.compactMap { $0["count"]?.integer }.reduce(0, +) == 10_000)
            let days = read["health"]?["days"]?.array ?? []
            #expect(days.compactMap { $0["count"]?.integer }.reduce(0, +) == 10_000)
            #expect(days.allSatisfy { $0["date"] == "2026-03-02" })
            // Of the list, the newest 1,000 at least, and twice as many at most.
            let numbers = try await server.services.store.read { try $0.accesses(of: feed.id, limit: 20_000) }
                .map(\.number)
            #expect(numbers == ((10_001 - numbers.count)...10_000).reversed())
            #expect((1000...2000).contains(numbers.count))
        }
    }

    @Test("What counts as an access, request by request")
    func requests() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let path = feed.path
            let token = try #require(path.split(separator: "/").dropFirst().first)
            let etag = try #require(try await server.raw(.head, path).expect(200).headers[.eTag])
            func counted() async throws -> Int? {
                try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200).json["accessCount"]?.integer
            }
            let range = try #require(HTTPField.Name("Range"))
            let cases: [(HTTPRequest.Method, String, HTTPFields, status: Int, counts: Int)] = [
                (.get, path, [:], 200, 1), (.get, path, [.ifNoneMatch: etag], 304, 1),
                (.get, path, [.ifNoneMatch: "W/\(etag), \"x\""], 304, 1), (.get, path, [.ifNoneMatch: "*"], 304, 1),
                (.get, path, [.ifNoneMatch: "\"x\""], 200, 1),
                (.get, path, [.ifModifiedSince: "Mon, 02 Mar 2099 12:00:00 GMT"], 304, 1),
                (.get, path, [.ifModifiedSince: "yesterday"], 200, 1), (.get, path, [range: "bytes=0-9"], 200, 1),
                (.get, path, [range: "bytes=9999999-"], 200, 1), (.get, path, [.accept: "text/csv"], 200, 1),
                (.get, path, [.accept: "application/calendar+json"], 200, 1), (.get, path + "?a=b", [:], 200, 1),
                (.get, "/feeds/\(token).ics", [:], 200, 1), (.get, "/functions/v1/ical-feed/\(token)", [:], 200, 1),
                (.head, path, [:], 200, 0), (.head, path, [.ifNoneMatch: etag], 304, 0), (.post, path, [:], 405, 0),
                (.put, path, [:], 403, 0), (.delete, path, [:], 403, 0), (.get, "/feeds/\(token)/x.txt", [:], 404, 0),
                (.get, "/feeds/\(token.dropLast())/x.ics", [:], 404, 0), (.get, "/feeds/\(token)", [:], 200, 1),
            ]
            for (method, path, headers, status, counts) in cases {
                let before = try #require(try await counted())
                try await server.raw(method, path, headers: headers).expect(status)
                let after = try await counted()
                #expect(after == before + counts, "\(method) \(headers)")
            }
            // Three at once over one connection, and one whose end never comes.
            let before = try #require(try await counted())
            let port = try #require(server.client.port)
            let script = #"""
                request="GET $1 HTTP/1.1\r\nHost: localhost\r\n"
                exec 3<>/dev/tcp/127.0.0.1/$0
                printf "$request\r\n$request\r\n${request}Connection: close\r\n\r\n" >&3
                grep -ac '^HTTP/1.1 200' <&3
                exec 3<>/dev/tcp/127.0.0.1/$0
                printf "$request" >&3
                """#
            let answer = try await runProgram("/usr/bin/bash", ["-c", script, "\(port)", path])
            #expect(answer.output == "3\n", "\(answer.error)")
            #expect(try await counted() == before + 3)
            try await server.call(.post, "/v1/feeds/\(feed.id)/revoke").expect(200)
            try await server.raw(.get, path).expect(410)
            #expect(try await counted() == before + 3)
        }
    }

    @Test("With a full journal a feed is refused with 503 and a reason; with a full database disk it is counted")
    func fullJournal() async throws {
        var settings = ServerSettings()
        settings.accessJournalBytes = 1 << 16
        try await TestServer.run(settings: settings, folds: false) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let journal = server.services.counter.journal
            for _ in 0..<journal.capacity { try await server.raw(.get, feed.path).expect(200) }
            let refused = try await server.raw(.get, feed.path).expect(503)
            #expect(refused.headers[.retryAfter] == "5")
            try await server.raw(.get, "/healthz").expect(503)
            // Whoever asks for the count makes room.
            let answer = try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200).json
            #expect(answer["accessCount"]?.integer == journal.capacity)
            try await server.raw(.get, "/healthz").expect(200)
            try await server.raw(.get, feed.path).expect(200)
        }
    }

    @Test("No read that starts after revoke was answered gets content, with readers at full speed")
    func revocationUnderLoad() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for round in 0..<20 {
                let feed = try await server.makeFeed(label: "r\(round)")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            while try await server.raw(.get, feed.path).status == 200 {}
                        }
                    }
                    try await server.call(.post, "/v1/feeds/\(feed.id)/revoke").expect(200)
                    for _ in 0..<5 { try await server.raw(.get, feed.path).expect(410) }
                    try await group.waitForAll()
                }
            }
        }
    }
}
