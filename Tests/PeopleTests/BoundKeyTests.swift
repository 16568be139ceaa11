// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport
@testable import Storage

@Suite("Keys that are bound to circles")
struct BoundKeyTests {
    private static func bound(_ server: TestServer, _ fields: JSONValue) async throws -> String {
        var body = fields.object ?? [:]
        body["name"] = "bound"
        return try #require(try await server.call(.post, "/v1/keys", .object(body)).expect(201).json["key"]?.string)
    }

    private static func ids(_ answer: Answer) -> [String] {
        answer.json["items"]?.array?.compactMap { $0["id"]?.string } ?? []
    }

    @Test("A key makes circles only within its bound, and lists only those")
    func circles() async throws {
        try await TestServer.run { server in
            let circle: JSONValue = ["name": "C", "timeZone": "UTC"]
            for id in ["acme-1", "acme-2", "other", "acme"] {
                try await server.call(.put, "/v1/circles/\(id)", circle).expect(201)
            }
            let listed = try await Self.bound(server, ["circles": ["acme-2", "new", "acme-2"]])
            let begun = try await Self.bound(server, ["circlePrefix": "acme-"])
            #expect(Self.ids(try await server.bearing(listed, .get, "/v1/circles")) == ["acme-2"])
            #expect(Self.ids(try await server.bearing(begun, .get, "/v1/circles")) == ["acme-1", "acme-2"])
            let first = try await server.bearing(begun, .get, "/v1/circles?limit=1").expect(200)
            let cursor = try #require(first.json["nextCursor"]?.string)
            let second = try await server.bearing(begun, .get, "/v1/circles?limit=1&cursor=\(cursor)").expect(200)
            #expect(Self.ids(first) + Self.ids(second) == ["acme-1", "acme-2"])
            #expect(second.json["nextCursor"] == .null)
            try await server.bearing(listed, .put, "/v1/circles/new", circle).expect(201)
            try await server.bearing(begun, .put, "/v1/circles/acme-3", circle).expect(201)
            // What exists elsewhere and what does not look the same.
            let there = try await server.bearing(begun, .put, "/v1/circles/other", circle).expect(404)
            let missing = try await server.bearing(begun, .put, "/v1/circles/none", circle).expect(404)
            #expect(there.body == missing.body)
            try await server.bearing(begun, .get, "/v1/circles/acme").expect(404)
        }
    }

    @Test("A key gives no more than it has, and a body that says it in two ways is refused")
    func given() async throws {
        try await TestServer.run { server in
            let key = try await Self.bound(server, ["circlePrefix": "acme-"])
            func make(_ body: JSONValue) async throws -> Answer {
                try await server.bearing(key, .post, "/v1/keys", body)
            }
            #expect(try await make(["name": "k"]).expect(201).json["circlePrefix"] == "acme-")
            try await make(["name": "k", "circlePrefix": "acme-a"]).expect(201)
            #expect(try await make(["name": "k", "circles": ["acme-1"]]).expect(201).json["circles"] == ["acme-1"])
            try await make(["name": "k", "circlePrefix": "acm"]).expect(404)
            try await make(["name": "k", "circles": ["acme-1", "other"]]).expect(404)
            for bad: JSONValue in [
                ["name": "k", "circles": []], ["name": "k", "circles": ["a b"]], ["name": "k", "circlePrefix": ""],
                ["name": "k", "circles": ["a"], "circlePrefix": "a"],
            ] {
                try await server.call(.post, "/v1/keys", bad).expect(422)
            }
            let own = try await server.bearing(key, .get, "/v1/keys").expect(200)
            #expect(own.json["items"]?.array?.count == 4)
        }
    }

    @Test("A key finds its changes and acts among very many of others, by reads that are each short")
    func amongMany() async throws {
        try await TestServer.run { server in
            let circle: JSONValue = ["name": "C", "timeZone": "UTC"]
            for id in ["other", "acme-1"] { try await server.call(.put, "/v1/circles/\(id)", circle).expect(201) }
            let key = try await Self.bound(server, ["circlePrefix": "acme-"])
            let store = server.services.store
            let last = try await store.read { try $0.latestChange() }
            try await store.record { transaction in
                let columns = CircleChange.schema.columns
                let values = columns.map { column in
                    switch column {
                    case "sequence": "\(last) + numbers.n"
                    case "number": "1000 + numbers.n"
                    default: column
                    }
                }
                let next = try transaction.nextChangeSequences(25_000)
                #expect(next.lowerBound == last + 1)
                try transaction.execute(
                    """
                    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 25000)
                    INSERT INTO changes (\(columns.joined(separator: ", ")))
                    SELECT \(values.joined(separator: ", ")) FROM changes CROSS JOIN numbers
                    WHERE circle_id = $1 AND number = 1
                    """, [.text("other")])
                let acts = AuditEntry.schema.columns
                let entry = acts.map { $0.isSameText(as: "number") ? "1000 + numbers.n" : $0 }
                try transaction.execute(
                    """
                    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 25000)
                    INSERT INTO audit_trail (\(acts.joined(separator: ", ")))
                    SELECT \(entry.joined(separator: ", ")) FROM audit_trail CROSS JOIN numbers
                    WHERE number = (SELECT MIN(number) FROM audit_trail WHERE circle_id = $1)
                    """, [.text("other")])
            }
            try await server.call(.put, "/v1/circles/acme-2", circle).expect(201)
            let changes = try await server.bearing(key, .get, "/v1/changes?since=0").expect(200)
            let found = changes.json["items"]?.array?.compactMap { $0["circleId"]?.string }
            #expect(found == ["acme-1", "acme-2"] && changes.json["nextCursor"] == .null)
            let first = try await server.bearing(key, .get, "/v1/changes?since=0&limit=1").expect(200)
            let cursor = try #require(first.json["nextCursor"]?.string)
            let rest = try await server.bearing(key, .get, "/v1/changes?cursor=\(cursor)&limit=1").expect(200)
            #expect(rest.json["items"]?.array?.compactMap { $0["circleId"]?.string } == ["acme-2"])
            let acts = try await server.bearing(key, .get, "/v1/audit").expect(200)
            #expect(acts.json["items"]?.array?.compactMap { $0["circleId"]?.string } == ["acme-2", "acme-1"])
            // One read passes so many rows and no more, however many there are.
            let bound = CircleBound.prefix("acme-")
            let (foreign, end) = try await store.read { try $0.changes(afterSequence: last, within: bound, limit: 100) }
            #expect(foreign.isEmpty && end == last + 10_000)
            let (none, before) = try await store.read { try $0.auditEntries(before: 26_000, within: bound, limit: 100) }
            #expect(none.isEmpty && before == 16_000)
        }
    }

    @Test("A key sees nothing of a user's own calendar, though the user is in its circle")
    func ownCalendars() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let key = try await Self.bound(server, ["circles": ["c"]])
            let shows: JSONValue = ["includePersonal": true]
            let feed = try await server.makeFeed(user: "ann", label: "own", config: shows)
            let plain = try await server.makeFeed(user: "ann", label: "plain")
            for (id, status) in [(feed.id, 404), (plain.id, 200)] {
                try await server.bearing(key, .get, "/v1/feeds/\(id)").expect(status)
                try await server.bearing(key, .post, "/v1/feeds/\(id)/reveal").expect(status)
                try await server.bearing(key, .get, "/v1/feeds/\(id)/preview").expect(status)
            }
            // Lists leave it out, too, and a page is full all the same.
            let second = try await server.makeFeed(user: "ben", label: "plain")
            let list = try await server.bearing(key, .get, "/v1/circles/c/feeds").expect(200)
            #expect(Set(Self.ids(list)) == [plain.id, second.id])
            let first = try await server.bearing(key, .get, "/v1/circles/c/feeds?limit=1").expect(200)
            let cursor = try #require(first.json["nextCursor"]?.string)
            let last = try await server.bearing(key, .get, "/v1/circles/c/feeds?limit=1&cursor=\(cursor)").expect(200)
            #expect(Set(Self.ids(first) + Self.ids(last)) == [plain.id, second.id])
            #expect(last.json["nextCursor"] == .null)
            // So do the circle's changes, those of all circles, what happened, and the audit trail.
            for path in [
                "/v1/circles/c/changes?limit=1000", "/v1/changes?limit=1000", "/v1/circles/c/activity?limit=1000",
                "/v1/audit?limit=1000", "/v1/audit?circle=c&limit=1000",
            ] {
                for user in [nil, "ann"] where user == nil || path.hasPrefix("/v1/circles") {
                    var headers: HTTPFields = [.authorization: "Bearer \(key)"]
                    headers[.kalendsUser] = user
                    let text = try await server.raw(.get, path, headers: headers).expect(200).text
                    #expect(!text.contains(feed.id) && text.contains(plain.id), "\(path)")
                }
                #expect(try await server.call(.get, path).expect(200).text.contains(feed.id), "\(path)")
            }
            // So does what says who has a change.
            try await server.put("tasks", "t", ["title": "Pills", "dueAt": "2026-03-07T09:00:00-08:00"])
            for path in [feed.path, plain.path] { try await server.raw(.get, path).expect(200) }
            try await server.services.counter.fold()
            let reach = "/v1/circles/c/tasks/t/reach"
            let all = try await server.call(.get, reach).expect(200)
            let known = try await server.bearing(key, .get, reach).expect(200)
            #expect(all.json["of"] == 2 && known.json["of"] == 1)
            try await server.bearing(key, .patch, "/v1/feeds/\(plain.id)", ["config": shows]).expect(422)
            try await server.bearing(
                key, .post, "/v1/circles/c/feeds", ["userId": "ann", "label": "new", "config": shows]
            ).expect(422)
            try await server.bearing(key, .get, "/v1/users/ann/events").expect(404)
            try await server.bearing(key, .post, "/v1/users/ann/sign-in-links").expect(404)
        }
    }
}
