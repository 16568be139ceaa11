// SPDX-License-Identifier: Apache-2.0

import Base
import Crypto
import FeedTokens
import Foundation
import HTTPTypes
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

/// A caller with one kind of credential.
private struct Caller: Sendable {
    enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case nobody, forged, key, narrowed, token, session, device

        var testDescription: String { rawValue }
    }

    var kind: Kind
    var user: String?
    var headers: HTTPFields
    /// The role in circle `c`; none of these callers has a role in circle `d`.
    var role: Member.Role?
    var scope: Scope?

    var name: String { "\(kind.rawValue) \(user ?? scope?.rawValue ?? "")" }
}

@Suite("Every route and every caller")
struct RightsWalkTests {
    @Test(
        "A route lets in whom its description names, in their own circle and in a foreign one, and nobody else",
        arguments: ["c", "d"], Caller.Kind.allCases)
    fileprivate func walk(circle: String, kind: Caller.Kind) async throws {
        try await Self.server { server in
            let callers = try await Self.callers(server).filter { $0.kind == kind }
            #expect(!callers.isEmpty)
            let routes = try Routes.table(server.front, isLocal: false).described
            var asked = 0
            let owner = circle == "c" ? "ann" : "dora"
            var paths = try await RoutePaths(server, circle: circle, owner: owner)
            for route in routes where !route.path.hasPrefix("/v1/users/{user}") || circle == "c" {
                for caller in callers {
                    let answer = try await Self.ask(server, route, paths, caller)
                    let expected = Self.expected(route.operation.access, caller, in: circle)
                    asked += 1
                    let label = "\(caller.name): \(route.method) \(route.path) in \(circle) → \(answer.status)"
                    if let expected {
                        #expect(answer.status == expected, "\(label), not \(expected)")
                    } else if !["signIn", "pollAppLogin"].contains(route.operation.id) {
                        #expect(
                            ![401, 403, 404].contains(answer.status) && answer.status < 500,
                            "\(label): \(answer.text.prefix(200))")
                    }
                    if answer.status < 300, Self.destroys(route) {
                        try await Self.restore(server)
                        paths = try await RoutePaths(server, circle: circle, owner: owner)
                    }
                }
            }
            #expect(asked > 100 * callers.count)
        }
    }

    @Test("Only the routes of its scope admit a key with one scope", arguments: Scope.allCases)
    func scopes(scope: Scope) async throws {
        try await Self.server { server in
            let made = try await server.call(
                .post, "/v1/keys", ["name": "walk", "scopes": [.string(scope.rawValue)]]
            ).expect(201)
            let key = try #require(made.json["key"]?.string)
            var holder = Caller(kind: .key, headers: [.authorization: "Bearer \(key)"])
            holder.scope = scope
            var paths = try await RoutePaths(server)
            let routes = try Routes.table(server.front, isLocal: false).described
            for route in routes where route.operation.access.needsCredential {
                // These are nobody's but a user's, whatever the scope.
                if [.session, .device].contains(route.operation.access) { continue }
                var caller = holder
                if [.user, .phone, .companion].contains(route.operation.access) {
                    caller.headers[.kalendsUser] = "ann"
                }
                let answer = try await Self.ask(server, route, paths, caller)
                let isFitting = ScopeOracle.need(route) == .scope(scope)
                let lacks = ["scope-missing", "key-limited"].contains(answer.json["code"]?.string)
                #expect(
                    isFitting != (answer.status == 403 && lacks),
                    "\(scope.rawValue): \(route.method) \(route.path) → \(answer.status) \(answer.text.prefix(200))"
                )
                if answer.status < 300, Self.destroys(route) {
                    try await Self.restore(server)
                    paths = try await RoutePaths(server)
                }
            }
        }
    }

    /// The routes that exist for a key that is bound to circles, typed from docs/rights.md and not taken from the routes.
    private static func isOfCircles(_ route: RouteTable.Route) -> Bool {
        let roots = ["circles", "feeds", "imports", "connections", "runs", "conflicts"].map { "/v1/\($0)" }
        let others = [
            "GET /v1/audit", "GET /v1/changes", "GET /v1/keys", "POST /v1/keys", "POST /v1/keys/{id}/revoke",
        ]
        return roots.contains { route.path == $0 || route.path.hasPrefix("\($0)/") }
            || others.contains("\(route.method.rawValue) \(route.path)")
    }

    private static let bounds: [(field: String, value: JSONValue, hasC: Bool)] = [
        ("circles", ["b", "c"], true), ("circlePrefix", "c", true), ("circles", ["z"], false),
        ("circlePrefix", "cc", false),
    ]

    @Test(
        "For a key that is bound to circles nothing else exists, by itself and for a user", arguments: bounds.indices,
        [nil, "ann"])
    func bound(index: Int, user: String?) async throws {
        let (field, value, hasC) = Self.bounds[index]
        try await Self.server { server in
            let made = try await server.call(.post, "/v1/keys", ["name": "bound", .init(field): value]).expect(201)
            var caller = Caller(
                kind: .key, user: user,
                headers: [.authorization: "Bearer \(try #require(made.json["key"]?.string))"])
            caller.headers[.kalendsUser] = user
            var paths = try await RoutePaths(server)
            let routes = try Routes.table(server.front, isLocal: false).described
            for route in routes where route.operation.access.needsCredential {
                let answer = try await Self.ask(server, route, paths, caller)
                let label =
                    "\(field) \(value): \(route.method) \(route.path) → \(answer.status) \(answer.text.prefix(200))"
                switch route.operation.access {
                case _ where !Self.isOfCircles(route): #expect(answer.status == 404, "\(label)")
                // A phone has its user's whole calendar.
                case _ where route.operation.id == "createConnection": #expect(answer.status == 404, "\(label)")
                case .installation where user != nil: #expect(answer.status == 403, "\(label)")
                case .installation where route.operation.id == "revokeKey": #expect(answer.status == 404, "\(label)")
                case .installation where route.operation.id == "listKeys":
                    #expect(answer.json["items"]?.array?.allSatisfy { $0["name"] != "of the walk" } == true, "\(label)")
                case .installation, .caller:
                    #expect([200, 201].contains(answer.status), "\(label)")
                    if !hasC, route.method == .get { #expect(answer.json["items"] == [], "\(label)") }
                default:
                    let isLetIn = ![401, 403, 404].contains(answer.status) && answer.status < 500
                    #expect(isLetIn == hasC && (isLetIn || answer.status == 404), "\(label)")
                }
                if answer.status < 300, Self.destroys(route) {
                    try await Self.restore(server)
                    paths = try await RoutePaths(server)
                }
            }
        }
    }

    @Test("The table in the documentation is that of the routes")
    func documented() async throws {
        try await TestServer.run { server in
            let routes = try Routes.table(server.front, isLocal: false).described
            var lines = ["| method | path | for | scope |", "| --- | --- | --- | --- |"]
            for route in routes {
                let access = route.operation.access
                let scope = access.schemes.contains("serviceKey") ? route.operation.need.scope : nil
                lines.append(
                    "| \(route.method.rawValue) | `\(route.path)` | \(access.text) | \(scope.map { "`\($0.rawValue)`" } ?? "") |"
                )
            }
            try expectTable("routes", in: "docs/rights.md", lines)
        }
    }

    /// Whether a call changes or removes what the next callers ask for.
    private static func destroys(_ route: RouteTable.Route) -> Bool {
        route.method == .delete || ["revoke", "commit", "undo"].contains { route.path.hasSuffix("/\($0)") }
    }

    /// Returns the status for a caller who is not let in; nil for one who is.
    private static func expected(_ access: Access, _ caller: Caller, in circle: String) -> Int? {
        guard access.needsCredential else { return nil }
        if caller.kind == .nobody || caller.kind == .forged { return 401 }
        if access == .device { return caller.kind == .device ? nil : 403 }
        if access == .phone || access == .companion { return caller.user == nil ? 403 : nil }
        if caller.kind == .device { return 403 }
        if access == .session { return caller.kind == .session ? nil : 401 }
        guard let user = caller.user else { return access == .user ? 403 : nil }
        func byRole(_ right: Right) -> Int? {
            guard circle == "c", let role = caller.role else { return 404 }
            return role.right >= right ? nil : 403
        }
        switch access {
        case .installation: return 403
        case .circle(let right), .import(let right): return byRole(right)
        case .feed, .connection, .appPassword: return user == "ann" && circle == "c" ? nil : 404
        // The walk's path is that of another user.
        case .oneself: return 404
        case .caller, .user, .anyone, .feedToken, .session, .device, .phone, .companion, .operatorPages: return nil
        }
    }

    private static func ask(
        _ server: TestServer, _ route: RouteTable.Route, _ paths: RoutePaths, _ caller: Caller
    ) async throws -> Answer {
        var path = paths.path(of: route)
        // What is one's own is made for the one who asks.
        if route.operation.access == .user, route.path.hasSuffix("{id}"),
            let user = caller.user ?? caller.headers[.kalendsUser]
        {
            path = route.path.replacing("{id}", with: try await own(server, user, route.path))
        }
        var headers = caller.headers
        let body = try RoutePaths.body(of: route)
        if let body { headers[.contentType] = body.type }
        if route.operation.id == "signOut", caller.kind == .session, let user = caller.user {
            headers[.authorization] = "Bearer \(try await session(server, user))"
        }
        var bytes = body?.bytes
        if route.operation.id == "createAppPassword", caller.user == nil {
            bytes = ByteBuffer(string: #"{"userId": "xia", "label": "Of the walk"}"#)
        }
        // The host application says whose feed it is.
        if route.operation.id == "createFeed", caller.user == nil {
            bytes = ByteBuffer(string: #"{"userId": "xia", "label": "\#(FeedLedger.makeID())"}"#)
        }
        if route.operation.id == "createConnection", caller.user == nil {
            bytes = ByteBuffer(
                string: #"{"provider": "apple", "userId": "xia", "label": "\#(FeedLedger.makeID())"}"#)
        }
        return try await server.raw(route.method, path, headers: headers, body: bytes)
    }

    private static func own(_ server: TestServer, _ user: String, _ path: String) async throws -> String {
        if path.contains("sessions") {
            let session = Session(id: FeedLedger.makeID(), userID: user, client: "walk", now: server.clock.now)
            try await server.services.store.record {
                try $0.insertSession(session, hash: Secret.make(.session).hash, maximum: 100)
            }
            return session.id
        }
        let made = try await server.call(.post, "/sync/devices/register", ["deviceId": "walk"], as: user)
        return try #require(made.json["device"]?["id"]?.string)
    }

    /// Runs a server with two circles; Dora is the only member of the second one.
    private static func server(_ body: @escaping @Sendable (TestServer) async throws -> Void) async throws {
        var settings = ServerSettings()
        settings.tokens.secret = Concealed(secret)
        try await TestServer.run(settings: settings) { server in
            try await restore(server)
            try await body(server)
        }
    }

    private static let secret = "a secret of thirty-two bytes or more"

    private static func restore(_ server: TestServer) async throws {
        for (id, people) in [
            ("c", [("ann", "owner"), ("ben", "member"), ("vic", "viewer")]), ("d", [("dora", "owner")]),
        ] {
            _ = try await server.call(.put, "/v1/circles/\(id)", ["name": "Circle", "timeZone": "UTC"])
            for (user, role) in people {
                let member: JSONValue = ["displayName": .string(user), "role": .string(role)]
                _ = try await server.call(.put, "/v1/circles/\(id)/members/\(user)", member)
            }
            for patient in ["mom", "dad"] {
                _ = try await server.call(.put, "/v1/circles/\(id)/patients/\(patient)", ["displayName": "P"])
            }
        }
        _ = try await server.call(.put, "/v1/users/xia/password", ["password": "correct horse battery"])
        try await server.services.store.record { transaction in
            _ = try transaction.beginSecondFactor(of: "xia", sealed: "v1.walk", now: 1)
            _ = try transaction.confirmSecondFactor(of: "xia", step: 1, now: 1)
        }
    }

    /// Returns the token of a new session.
    private static func session(_ server: TestServer, _ user: String) async throws -> String {
        let secret = Secret.make(.session)
        let session = Session(id: FeedLedger.makeID(), userID: user, client: "walk", now: server.clock.now)
        try await server.services.store.record { try $0.insertSession(session, hash: secret.hash, maximum: 100) }
        return secret.reveal()
    }

    private static func callers(_ server: TestServer) async throws -> [Caller] {
        func bearer(_ text: String) -> HTTPFields { [.authorization: "Bearer \(text)"] }
        var callers = [
            Caller(kind: .nobody, headers: [:]), Caller(kind: .key, headers: bearer(server.key)),
        ]
        for text in [
            Secret.make(.serviceKey).reveal(), Secret.make(.session).reveal(),
            jwt("ann", key: "another secret of thirty-two bytes"), "x",
        ] {
            callers.append(Caller(kind: .forged, headers: bearer(text)))
        }
        callers.append(Caller(kind: .forged, headers: [.authorization: "Device \(Secret.make(.device).reveal())"]))
        for (user, role) in [("ann", Member.Role.owner), ("ben", .member), ("vic", .viewer), ("zed", nil)] {
            var narrowed = bearer(server.key)
            narrowed[.kalendsUser] = user
            callers.append(Caller(kind: .narrowed, user: user, headers: narrowed, role: role))
            callers.append(Caller(kind: .token, user: user, headers: bearer(jwt(user, key: secret)), role: role))
            let session = try await session(server, user)
            callers.append(Caller(kind: .session, user: user, headers: bearer(session), role: role))
            let made = try await server.call(.post, "/sync/devices/register", ["deviceId": "of-the-walk"], as: user)
            let token = try #require(made.json["deviceToken"]?.string)
            callers.append(Caller(kind: .device, user: user, headers: [.authorization: "Device \(token)"], role: role))
        }
        return callers
    }

    /// Returns an HS256 token (RFC 7515) that is valid until the year 2100.
    private static func jwt(_ user: String, key: String) -> String {
        func part(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }
        let input = part(#"{"alg":"HS256","typ":"JWT"}"#) + "." + part(#"{"sub":"\#(user)","exp":4102444800}"#)
        let code = HMAC<SHA256>.authenticationCode(for: Data(input.utf8), using: SymmetricKey(data: Data(key.utf8)))
        return input + "." + Base64URL.encode(Array(code))
    }
}
