// SPDX-License-Identifier: Apache-2.0

import Base
import HTTPTypes
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Quotas of a service key")
struct KeyQuotaTests {
    private static func key(_ server: TestServer, _ quotas: JSONValue, _ more: JSONValue = [:]) async throws -> String {
        let body = (more.object ?? [:]).merging(["name": "tenant", "quotas": quotas]) { $1 }
        return try #require(try await server.call(.post, "/v1/keys", .object(body)).expect(201).json["key"]?.string)
    }

    private static let circle: JSONValue = ["name": "C", "timeZone": "UTC"]

    @Test func `a key with a quota gets so many answers within a minute, and others as many as before`() async throws {
        try await TestServer.run { server in
            let key = try await Self.key(server, ["requestsPerMinute": 3])
            for _ in 0..<2 { try await server.bearing(key, .get, "/v1/circles").expect(200) }
            // What is refused is a request, too.
            try await server.bearing(key, .get, "/v1/circles/none").expect(404)
            let refused = try await server.bearing(key, .get, "/v1/circles").expect(429)
            #expect(refused.headers[.retryAfter] == "60")
            try await server.call(.get, "/v1/circles").expect(200)
            server.clock.advance(seconds: 59)
            #expect(try await server.bearing(key, .get, "/v1/circles").expect(429).headers[.retryAfter] == "1")
            server.clock.advance(seconds: 1)
            try await server.bearing(key, .get, "/v1/circles").expect(200)
        }
    }

    @Test func `a quota of feeds and circles counts those that the key reaches`() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let key = try await Self.key(server, ["feeds": 1, "circles": 1], ["circlePrefix": "acme-"])
            try await server.bearing(key, .put, "/v1/circles/acme-1", Self.circle).expect(201)
            let second = try await server.bearing(key, .put, "/v1/circles/acme-2", Self.circle).expect(409)
            #expect(second.json["code"] == "limit-reached")
            // The one that there is may change.
            try await server.bearing(key, .put, "/v1/circles/acme-1", Self.circle).expect(200)
            let member: JSONValue = ["displayName": "Ann", "role": "owner"]
            try await server.bearing(key, .put, "/v1/circles/acme-1/members/ann", member).expect(201)
            _ = try await server.makeFeed()
            let feeds = "/v1/circles/acme-1/feeds"
            let first = try await server.bearing(key, .post, feeds, ["userId": "ann", "label": "a"]).expect(201)
            let more = try await server.bearing(key, .post, feeds, ["userId": "ann", "label": "b"]).expect(409)
            #expect(more.json["code"] == "limit-reached" && more.text.contains("at most 1 "))
            let id = try #require(first.json["id"]?.string)
            try await server.bearing(key, .delete, "/v1/feeds/\(id)").expect(204)
            try await server.bearing(key, .post, feeds, ["userId": "ann", "label": "b"]).expect(201)
            // Another key is not limited.
            try await server.call(.post, feeds, ["userId": "ann", "label": "c"]).expect(201)
        }
    }

    @Test func `the list shows quotas, a key with quotas makes no keys, and a quota that is none is named`()
        async throws
    {
        try await TestServer.run { server in
            let key = try await Self.key(server, ["requestsPerMinute": 600])
            let listed = try await server.call(.get, "/v1/keys").expect(200).json["items"]?.array ?? []
            #expect(
                listed.first { $0["name"] == "tenant" }?["quotas"]
                    == ["requestsPerMinute": 600, "feeds": .null, "circles": .null])
            try await server.bearing(key, .post, "/v1/keys", ["name": "k"]).expect(403)
            for (name, value) in [("requestsPerMinute", 0), ("feeds", -1), ("circles", 1_000_001), ("others", 1)] {
                let refused = try await server.call(
                    .post, "/v1/keys", ["name": "k", "quotas": .object([ByteString(name): .integer(value)])]
                ).expect(422)
                #expect(refused.pointers == ["/quotas/\(name)"])
            }
        }
    }
}
