// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Testing

@testable import ServerTestSupport

@Suite("The life of a feed")
struct FeedLifeTests {
    @Test("A feed is created with its address, shown once, and shown again to its owner only by reveal")
    func creation() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.call(.post, "/v1/circles/c/feeds", [:], as: "ben").expect(201).json
            let token = try #require(made["token"]?.string)
            #expect(token.utf8.count == 43)
            #expect(made["url"]?.string == "http://calendar.example/feeds/\(token)/Our-family.ics")
            #expect(made["webcalUrl"]?.string == "webcal://calendar.example/feeds/\(token)/Our-family.ics")
            #expect(made["userId"] == "ben")
            #expect(made["config"]?["pastDays"] == 90)
            let id = try #require(made["id"]?.string)
            let read = try await server.call(.get, "/v1/feeds/\(id)", as: "ben").expect(200)
            #expect(!read.text.contains(token))
            let shown = try await server.call(.post, "/v1/feeds/\(id)/reveal", as: "ben").expect(200).json
            #expect(shown["url"] == made["url"])
            for other in ["ann", "vic", "stranger"] {
                try await server.call(.get, "/v1/feeds/\(id)", as: other).expect(404)
                try await server.call(.post, "/v1/feeds/\(id)/reveal", as: other).expect(404)
                try await server.call(.post, "/v1/feeds/\(id)/revoke", as: other).expect(404)
                try await server.call(.delete, "/v1/feeds/\(id)", as: other).expect(404)
            }
        }
    }

    @Test("A second feed with the same label, or none, is 409 and names the first")
    func labels() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let first = try await server.makeFeed()
            let second = try await server.call(.post, "/v1/circles/c/feeds", ["userId": "ann"]).expect(409)
            #expect(second.json["feedId"]?.string == first.id)
            let phone = try await server.makeFeed(label: "phone")
            try await server.call(.post, "/v1/circles/c/feeds", ["userId": "ann", "label": "phone"]).expect(409)
            try await server.call(.patch, "/v1/feeds/\(phone.id)", ["label": .null]).expect(409)
            _ = try await server.makeFeed(user: "ben")
        }
    }

    @Test("Regenerate gives a new address and the old one ends at the next request")
    func regenerate() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            try await server.raw(.get, feed.path).expect(200)
            let path = try TestServer.path(try await server.call(.post, "/v1/feeds/\(feed.id)/regenerate").expect(200))
            #expect(path != feed.path)
            try await server.raw(.get, feed.path).expect(410)
            try await server.raw(.get, path).expect(200)
            let count = try await server.call(.get, "/v1/feeds/\(feed.id)").json["accessCount"]
            #expect(count == 2)
        }
    }

    @Test("With a grace the old address goes on for its time and no longer")
    func grace() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            #expect(try await server.call(.get, "/v1/feeds/\(feed.id)").json["formerUntil"] == .null)
            let body: JSONValue = ["graceSeconds": 60]
            let made = try await server.call(.post, "/v1/feeds/\(feed.id)/regenerate", body).expect(200)
            let until = Instant(seconds: server.clock.now / 1000 + 60).description
            #expect(made.json["formerUntil"] == .string(until))
            let listed = try await server.call(.get, "/v1/circles/c/feeds").json["items"]?.array?.first
            #expect(listed?["formerUntil"] == .string(until))
            server.clock.advance(milliseconds: 59_999)
            try await server.raw(.get, feed.path).expect(200)
            server.clock.advance(milliseconds: 1)
            try await server.raw(.get, feed.path).expect(410)
            // Without a grace nothing of the former addresses is left.
            let again = try await server.call(.post, "/v1/feeds/\(feed.id)/regenerate").expect(200)
            #expect(again.json["formerUntil"] == .null)
        }
    }

    @Test("A revoked feed ends at the next request, for good, and makes room for a new one")
    func revoke() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let etag = try #require(try await server.raw(.get, feed.path).expect(200).headers[.eTag])
            try await server.call(.post, "/v1/feeds/\(feed.id)/revoke").expect(200)
            try await server.raw(.get, feed.path, headers: [.ifNoneMatch: etag]).expect(410)
            try await server.raw(.head, feed.path).expect(410)
            try await server.call(.post, "/v1/feeds/\(feed.id)/regenerate").expect(409)
            try await server.call(.post, "/v1/feeds/\(feed.id)/reveal").expect(409)
            try await server.call(.post, "/v1/feeds/\(feed.id)/revoke").expect(200)
            _ = try await server.makeFeed()
        }
    }

    @Test("Deleted feeds, deleted circles and left circles answer 410, and coming back revives none")
    func otherEnds() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let (deleted, left, orphaned) = (
                try await server.makeFeed(), try await server.makeFeed(user: "ben"),
                try await server.makeFeed(user: "vic")
            )
            try await server.call(.delete, "/v1/feeds/\(deleted.id)").expect(204)
            try await server.call(.get, "/v1/feeds/\(deleted.id)").expect(404)
            try await server.raw(.get, deleted.path).expect(410)
            try await server.call(.delete, "/v1/circles/c/members/ben").expect(204)
            try await server.raw(.get, left.path).expect(410)
            try await server.call(.put, "/v1/circles/c/members/ben", ["displayName": "Ben", "role": "member"]).expect(
                201)
            try await server.raw(.get, left.path).expect(410)
            try await server.raw(.get, orphaned.path).expect(200)
            try await server.call(.delete, "/v1/circles/c").expect(204)
            try await server.raw(.get, orphaned.path).expect(410)
        }
    }

    @Test("A feed expires by the clock, without any write, and comes back when its expiry is put later")
    func expiry() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.call(
                .post, "/v1/circles/c/feeds", ["userId": "ann", "expiresAt": "2026-03-02T12:01:00Z"]
            ).expect(201)
            let (id, path) = (try #require(made.json["id"]?.string), try TestServer.path(made))
            server.clock.advance(milliseconds: 59_999)
            try await server.raw(.get, path).expect(200)
            server.clock.advance(milliseconds: 1)
            try await server.raw(.get, path).expect(410)
            try await server.call(.post, "/v1/feeds/\(id)/regenerate").expect(409)
            try await server.call(.patch, "/v1/feeds/\(id)", ["expiresAt": "2026-03-02T11:00:00Z"]).expect(422)
            try await server.call(.patch, "/v1/feeds/\(id)", ["expiresAt": .null]).expect(200)
            try await server.raw(.get, path).expect(200)
        }
    }

    @Test("A feed's tag is over what a client can change and not over its count")
    func etag() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let etag = try #require(try await server.call(.get, "/v1/feeds/\(feed.id)").headers[.eTag])
            try await server.raw(.get, feed.path).expect(200)
            try await server.call(.get, "/v1/feeds/\(feed.id)", headers: [.ifNoneMatch: etag]).expect(304)
            try await server.call(
                .patch, "/v1/feeds/\(feed.id)", ["label": "x"], headers: [.ifMatch: etag]
            ).expect(200)
            try await server.call(.patch, "/v1/feeds/\(feed.id)", ["label": "y"], headers: [.ifMatch: etag]).expect(412)
        }
    }

    @Test("Accesses are listed newest first with client, status and shortened network")
    func accesses() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let first = try await server.raw(.get, feed.path, headers: [.userAgent: "Google-Calendar-Importer"]).expect(
                200)
            server.clock.advance(seconds: 5)
            let etag = try #require(first.headers[.eTag])
            let agent = "iOS/16.5.1 (20F75) dataaccessd/1.0"
            try await server.raw(.get, feed.path, headers: [.userAgent: agent, .ifNoneMatch: etag]).expect(304)
            try await server.raw(.head, feed.path).expect(200)
            let list =
                try await server.call(.get, "/v1/feeds/\(feed.id)/accesses").expect(200).json["items"]?.array ?? []
            #expect(list.map { $0["status"] } == [304, 200])
            #expect(list.map { $0["client"] } == ["Apple Calendar (iOS)", "Google Calendar"])
            let read = try await server.call(.get, "/v1/feeds/\(feed.id)").json
            #expect(read["accessCount"] == 2)
            #expect(read["lastAccessedAt"] == "2026-03-02T12:00:05Z")
            #expect(read["clients"]?.array?.count == 2)
        }
    }

    @Test("The configuration is checked whole, with a pointer for each fault")
    func configuration() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await server.call(
                .post, "/v1/circles/c/feeds",
                [
                    "userId": "ann", "label": 3,
                    "config": [
                        "includeTasks": "yes", "detail": "all", "pastDays": 3661, "futureDays": -1,
                        "patientIds": ["a b"],
                        "colour": "red",
                    ],
                ]
            ).expect(422)
            #expect(
                Set(answer.pointers) == [
                    "/label", "/config/includeTasks", "/config/detail", "/config/pastDays", "/config/futureDays",
                    "/config/patientIds/0", "/config/colour",
                ])
        }
    }
}
