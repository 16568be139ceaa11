// SPDX-License-Identifier: Apache-2.0

import Base
import Crypto
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Scopes of users' tokens")
struct TokenScopeTests {
    private static let secret = "an old umbrella, 7 spoons and the sea at noon"

    /// A token of Ann's for the tests' clock (RFC 7515, HS256).
    private static func token(_ more: JSONValue) throws -> String {
        var claims = more.object ?? [:]
        (claims["sub"], claims["exp"]) = ("ann", .integer(1_772_452_800 + 3600))
        let signed =
            Base64URL.encode(Array(#"{"alg":"HS256"}"#.utf8)) + "."
            + Base64URL.encode(try JSONValue.object(claims).serialized())
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(signed.utf8), using: SymmetricKey(data: Data(secret.utf8)))
        return signed + "." + Base64URL.encode(Array(code))
    }

    private static func settings(isStrict: Bool = false) -> ServerSettings {
        var settings = ServerSettings()
        settings.tokens.secret = Concealed(secret)
        settings.tokens.isStrict = isStrict
        return settings
    }

    @Test("A token with scopes for this server opens those and nothing else; the user's role counts besides")
    func narrows() async throws {
        try await TestServer.run(settings: Self.settings()) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let task = ByteBuffer(string: #"{"title": "a", "dueAt": "2026-03-03T09:00:00Z"}"#)
            for (scope, reads, writes, sees) in [
                ("kalends:schedule:read", 200, 403, 403), ("openid kalends:schedule:read", 200, 403, 403),
                ("kalends:schedule:read kalends:schedule:write", 200, 201, 403), ("kalends:feeds", 403, 403, 200),
                ("kalends:no-such-scope", 403, 403, 403), ("kalends:", 403, 403, 403),
            ] as [(String, Int, Int, Int)] {
                let token = try Self.token(["scope": .string(scope)])
                try await server.asUser(token).expect(reads)
                let path = "/v1/circles/c/tasks/\(scope.utf8.count)"
                try await server.raw(.put, path, headers: [.authorization: "Bearer \(token)"], body: task)
                    .expect(writes)
                try await server.asUser(token, .get, "/v1/feeds/\(feed.id)").expect(sees)
            }
            let list = try Self.token(["scope": ["kalends:feeds", "email"]])
            let refused = try await server.asUser(list).expect(403)
            #expect(refused.json["code"] == "scope-missing")
            #expect(
                refused.headers[.wwwAuthenticate]
                    == #"Bearer error="insufficient_scope", scope="kalends:schedule:read""#)
            let whole = try Self.token(["scope": "kalends:schedule:read"])
            #expect(try await server.asUser(whole, .get, "/v1/circles/other").expect(404).json["status"] == 404)
        }
    }

    @Test("Scopes for other programs narrow nothing, except on a strict server, where they open nothing")
    func foreign() async throws {
        for (claims, isStrict, status) in [
            (["scope": "openid feeds"], false, 200), (["scope": "openid feeds"], true, 403),
            (["scope": ""], false, 200), (["scope": ""], true, 403), (["scope": 7], true, 403),
            (["authorization_details": [["type": "x"]]], false, 200),
            (["authorization_details": [["type": "x"]]], true, 403), ([:], true, 200),
        ] as [(JSONValue, Bool, Int)] {
            try await TestServer.run(settings: Self.settings(isStrict: isStrict)) { server in
                try await server.makeCircle()
                try await server.asUser(try Self.token(claims)).expect(status)
            }
        }
    }
}
