// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import NIOHTTP1
import Storage
import Testing

@testable import FeedServer

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
