// SPDX-License-Identifier: Apache-2.0

import Base
import HTTPTypes
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Who may do what")
struct IdentityTests {
    @Test(
        "Without a valid key every route of the API is 401",
        arguments: ["", "Bearer x", "Basic abc", "Bearer kal_sk_AAAA"])
    func unauthenticated(header: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for path in [
                "/v1/circles", "/v1/circles/c", "/v1/circles/c/tasks", "/v1/keys", "/v1/feeds/x", "/v1/imports/x",
            ] {
                let answer = try await server.raw(.get, path, headers: header.isEmpty ? [:] : [.authorization: header])
                try answer.expect(401)
                let challenge = header.isEmpty ? "Bearer" : #"Bearer error="invalid_token""#
                #expect(answer.headers[.wwwAuthenticate] == challenge)
            }
        }
    }

    @Test("A revoked key opens nothing from the next request on")
    func revokedKey() async throws {
        try await TestServer.run { server in
            let made = try await server.call(.post, "/v1/keys", ["name": "app"]).expect(201).json
            let (id, key) = (try #require(made["id"]?.string), try #require(made["key"]?.string))
            #expect(key.hasPrefix("kal_sk_"))
            try await server.raw(.get, "/v1/circles", headers: [.authorization: "Bearer \(key)"]).expect(200)
            try await server.call(.post, "/v1/keys/\(id)/revoke").expect(200)
            try await server.raw(.get, "/v1/circles", headers: [.authorization: "Bearer \(key)"]).expect(401)
            let list = try await server.call(.get, "/v1/keys").expect(200)
            #expect(!list.text.contains(key))
        }
    }

    @Test("Roles decide in their own circle, and a foreign circle is not there")
    func roles() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let task: JSONValue = ["title": "a", "dueAt": "2026-03-03T09:00:00Z"]
            let person: JSONValue = ["displayName": "New", "role": "viewer"]
            let expected: [(user: String, read: Int, write: Int, manage: Int)] = [
                ("ann", 200, 201, 201), ("ben", 200, 201, 403), ("vic", 200, 403, 403), ("stranger", 404, 404, 404),
            ]
            for (user, read, write, manage) in expected {
                try await server.call(.get, "/v1/circles/c/tasks", as: user).expect(read)
                try await server.call(.put, "/v1/circles/c/tasks/of-\(user)", task, as: user).expect(write)
                try await server.call(.put, "/v1/circles/c/members/new-\(user)", person, as: user).expect(manage)
                try await server.call(.put, "/v1/circles/c/patients/new-\(user)", ["displayName": "P"], as: user)
                    .expect(manage)
                try await server.call(.post, "/v1/keys", ["name": "x"], as: user).expect(403)
                try await server.call(.put, "/v1/circles/of-\(user)", ["name": "x", "timeZone": "UTC"], as: user)
                    .expect(404)
            }
            #expect(try await server.call(.get, "/v1/circles", as: "stranger").json["items"]?.array?.isEmpty == true)
            #expect(try await server.call(.get, "/v1/circles", as: "vic").json["items"]?.array?.count == 1)
            try await server.call(.delete, "/v1/circles/c/members/ben", as: "vic").expect(403)
            try await server.call(.delete, "/v1/circles/c/members/vic", as: "vic").expect(204)
            try await server.call(.get, "/v1/circles/c", as: "vic").expect(404)
        }
    }

    @Test("No user leaves members behind without an owner; the host application decides by itself")
    func lastOwner() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let path = "/v1/circles/c/members"
            func put(_ user: String, _ role: String, as caller: String?) async throws -> Answer {
                try await server.call(
                    .put, "\(path)/\(user)", ["displayName": .string(user), "role": .string(role)], as: caller)
            }
            func refused(_ answer: Answer) throws {
                #expect(try answer.expect(409).json["code"] == "last-owner")
            }
            try refused(try await server.call(.delete, "\(path)/ann", as: "ann"))
            for role in ["member", "viewer"] { try refused(try await put("ann", role, as: "ann")) }
            #expect(try await server.call(.get, "\(path)/ann").json["role"] == "owner")
            try await put("ann", "owner", as: "ann").expect(200)
            // With a second owner the first may go, and the second is the last then.
            try await put("ben", "owner", as: "ann").expect(200)
            try await put("ann", "member", as: "ben").expect(200)
            try refused(try await server.call(.delete, "\(path)/ben", as: "ben"))
            try await put("ann", "owner", as: "ben").expect(200)
            try await server.call(.delete, "\(path)/ben", as: "ann").expect(204)
            try refused(try await server.call(.delete, "\(path)/ann", as: "ann"))
            for member in ["vic"] { try await server.call(.delete, "\(path)/\(member)", as: "ann").expect(204) }
            // Nobody is left behind.
            try refused(try await put("ann", "viewer", as: "ann"))
            try await server.call(.delete, "\(path)/ann", as: "ann").expect(204)
            // The host application goes through states that a user may not bring about.
            try await put("ann", "owner", as: nil).expect(201)
            try await put("vic", "viewer", as: nil).expect(201)
            try await put("ann", "viewer", as: nil).expect(200)
            try await put("vic", "owner", as: nil).expect(200)
            try await server.call(.delete, "\(path)/vic").expect(204)
        }
    }

    @Test("Of the last two owners who leave at the same moment, one stays")
    func simultaneousOwners() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.call(.put, "/v1/circles/c/members/ben", ["displayName": "Ben", "role": "owner"]).expect(
                200)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for user in ["ann", "ben"] {
                    group.addTask { try await server.call(.delete, "/v1/circles/c/members/\(user)", as: user).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }.sorted()
            }
            #expect(statuses == [204, 409])
        }
    }

    @Test("X-Forwarded-For counts only from trusted proxies, from the right")
    func networks() throws {
        #expect(IPAddress("192.0.2.77")?.network == "192.0.2.0/24")
        #expect(IPAddress("::ffff:192.0.2.77")?.network == "192.0.2.0/24")
        #expect(IPAddress("[2001:db8:1:2::5]")?.network == "2001:db8:1::/48")
        #expect(IPAddress("300.1.1.1") == nil)
        let range = try #require(AddressRange("10.16.0.0/12"))
        #expect(range.contains(try #require(IPAddress("10.31.255.255"))))
        #expect(!range.contains(try #require(IPAddress("10.32.0.0"))))
        #expect(AddressRange("10.0.0.0/33") == nil)
        #expect(AddressRange("ten") == nil)
    }
}
