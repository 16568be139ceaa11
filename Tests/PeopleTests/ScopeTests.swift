// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Scopes of service keys")
struct ScopeTests {
    /// One call for each scope, which the scope permits.
    private static let calls: [(scope: Scope, method: HTTPRequest.Method, path: String, body: JSONValue?)] = [
        (.readSchedule, .get, "/v1/circles", nil), (.readSchedule, .get, "/v1/circles/c", nil),
        (.readSchedule, .head, "/v1/circles/c/tasks", nil), (.readSchedule, .get, "/v1/circles/c/members", nil),
        (.readSchedule, .get, "/v1/circles/c/export.ics", nil),
        (.writeSchedule, .put, "/v1/circles/c/tasks/t", ["title": "a", "dueAt": "2026-03-03T09:00:00Z"]),
        (.writeSchedule, .delete, "/v1/circles/c/tasks/t", nil), (.writeSchedule, .post, "/v1/circles/c/batch", nil),
        (.manageCircles, .put, "/v1/circles/new", ["name": "New", "timeZone": "UTC"]),
        (.manageCircles, .put, "/v1/circles/c/members/eve", ["displayName": "Eve", "role": "viewer"]),
        (.manageCircles, .put, "/v1/circles/c/patients/p", ["displayName": "P"]),
        (.manageCircles, .delete, "/v1/circles/new", nil),
        (.feeds, .get, "/v1/circles/c/feeds", nil), (.feeds, .post, "/v1/circles/c/feeds", ["userId": "ann"]),
        (.imports, .post, "/v1/circles/c/imports", nil), (.imports, .get, "/v1/imports/x", nil),
        (.connections, .get, "/v1/circles/c/connections", nil), (.connections, .get, "/v1/connections/x", nil),
        (.users, .get, "/v1/users", nil), (.users, .delete, "/v1/users/nobody/password", nil),
        (.keys, .get, "/v1/keys", nil), (.keys, .post, "/v1/keys/x/revoke", nil),
        (.audit, .get, "/v1/audit", nil), (.stats, .get, "/v1/stats", nil),
        (.events, .get, "/v1/users/ann/events", nil),
    ]

    @Test("A key with one scope may do what the scope allows, and other refusals name the missing scope")
    func each() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for scope in Scope.allCases {
                let made = try await server.call(
                    .post, "/v1/keys", ["name": "one", "scopes": [.string(scope.rawValue)]]
                ).expect(201).json
                #expect(made["scopes"] == [.string(scope.rawValue)])
                let key = try #require(made["key"]?.string)
                #expect(Self.calls.contains { $0.scope == scope })
                for call in Self.calls {
                    let answer = try await server.bearing(key, call.method, call.path, call.body)
                    if call.scope == scope {
                        #expect(answer.status != 403 && answer.status != 401, "\(call) \(answer.text)")
                        continue
                    }
                    #expect(answer.status == 403, "\(scope) \(call) \(answer.text)")
                    if call.method != .head {
                        #expect(answer.json["detail"]?.string == "The key lacks the scope \(call.scope.rawValue).")
                    }
                    #expect(
                        answer.headers[.wwwAuthenticate]
                            == "Bearer error=\"insufficient_scope\", scope=\"\(call.scope.rawValue)\"")
                }
            }
        }
    }

    @Test("Narrowed to a user a key has the rights of both, and no more")
    func narrowed() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let key = try #require(
                try await server.call(.post, "/v1/keys", ["name": "r", "scopes": ["schedule:read", "users"]])
                    .json["key"]?.string)
            func call(_ method: HTTPRequest.Method, _ path: String, as user: String) async throws -> Int {
                try await server.raw(
                    method, path, headers: [.authorization: "Bearer \(key)", .kalendsUser: user],
                    body: ByteBuffer(string: #"{"deviceId": "d"}"#)
                ).status
            }
            #expect(try await call(.get, "/v1/circles/c", as: "ann") == 200)
            #expect(try await call(.get, "/v1/circles/c", as: "stranger") == 404)
            #expect(try await call(.put, "/v1/circles/c/tasks/t", as: "ann") == 403)
            #expect(try await call(.delete, "/v1/circles/c", as: "ann") == 403)
            #expect(try await call(.post, "/sync/devices/register", as: "ann") == 201)
            #expect(try await call(.get, "/v1/users", as: "ann") == 403)
        }
    }

    @Test("No key makes or ends one that may do more than itself")
    func noEscalation() async throws {
        try await TestServer.run { server in
            func make(_ scopes: JSONValue, by key: String? = nil) async throws -> Answer {
                try await server.bearing(key ?? server.key, .post, "/v1/keys", ["name": "k", "scopes": scopes])
            }
            let keeper = try #require(try await make(["keys", "feeds"]).expect(201).json["key"]?.string)
            try await make(["feeds"], by: keeper).expect(201)
            let equal = try #require(
                try await make(["feeds", "keys", "keys"], by: keeper).expect(201).json["key"]?.string)
            let refused = try await make(["feeds", "imports"], by: equal).expect(403)
            #expect(refused.json["detail"]?.string?.contains("imports") == true)
            try await make(.null, by: keeper).expect(403)
            let list = try await server.bearing(keeper, .get, "/v1/keys").expect(200).json["items"]?.array ?? []
            let all = try #require(list.first { $0["scopes"] == .null }?["id"]?.string)
            try await server.bearing(keeper, .post, "/v1/keys/\(all)/revoke").expect(403)
            let feeds = try #require(list.first { $0["scopes"] == ["feeds"] }?["id"]?.string)
            try await server.bearing(keeper, .post, "/v1/keys/\(feeds)/revoke").expect(200)
            for (scopes, pointers) in [
                ([], ["/scopes"]), ("feeds", ["/scopes"]), (["feeds", "root", 7], ["/scopes/1", "/scopes/2"]),
            ] as [(JSONValue, [String])] {
                #expect(try await make(scopes).expect(422).pointers == pointers)
            }
        }
    }

    @Test("Keys that were made without scopes may do everything, as before")
    func unlimited() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            #expect(try await server.call(.get, "/v1/keys").json["items"]?.array?.first?["scopes"] == .null)
            for call in Self.calls {
                let answer = try await server.bearing(server.key, call.method, call.path, call.body)
                #expect(answer.status != 403 && answer.status != 401, "\(call)")
            }
        }
    }

    @Test("The command line makes keys with scopes, and lists them with their last use")
    func commands() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        let made = try await server.kalends([
            "key", "create", "--name", "reader", "--scope", "schedule:read", "--scope", "feeds",
        ])
        #expect(made.status == 0 && made.output.hasPrefix("kal_sk_"), "\(made.error)")
        let list = try await server.kalends(["key", "list"])
        #expect(list.output.contains("schedule:read,feeds  all      no limit  never used  reader"), "\(list.output)")
        let wrong = try await server.kalends(["key", "create", "--name", "x", "--scope", "root"])
        #expect(wrong.status == 1 && wrong.error.contains("--scope"), "\(wrong.error)")
        #expect(await server.stop() == 0)
    }
}
