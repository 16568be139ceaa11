// SPDX-License-Identifier: Apache-2.0

import Base
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore

/// What a user with a second factor has: the app with its secret, and the recovery codes on paper.
struct Authenticator: Sendable {
    let secret: String
    var algorithm = OneTimeCode.Algorithm.sha1
    var recoveryCodes: [String] = []

    /// What the app shows now, or some steps of 30 seconds later or earlier.
    func code(_ server: TestServer, _ offset: Int = 0) -> String {
        OneTimeCode.code(
            of: UInt64(OneTimeCode.step(at: server.clock.now) + offset), secret: Base32.decode(secret.utf8) ?? [],
            algorithm)
    }
}

extension TestServer {
    /// Sets up a second factor, for a user with the usual password; afterwards another step has begun.
    func authenticator(_ user: String) async throws -> Authenticator {
        let proof: JSONValue = ["currentPassword": .string("\(user)'s password")]
        let begun = try await call(.post, "/v1/second-factor", proof, as: user).expect(201)
        var app = Authenticator(secret: try #require(begun.json["secret"]?.string))
        app.algorithm = begun.json["algorithm"] == "SHA256" ? .sha256 : .sha1
        let made = try await call(
            .post, "/v1/second-factor/confirm", ["code": .string(app.code(self))], as: user
        ).expect(200)
        app.recoveryCodes = made.json["recoveryCodes"]?.array?.compactMap(\.string) ?? []
        clock.advance(seconds: 30)
        return app
    }

    /// Signs in with the usual password and a code.
    func signIn(
        _ user: String, code: String, password: String? = nil, headers: HTTPFields = [:]
    ) async throws -> Answer {
        let body: JSONValue = [
            "userId": .string(user), "password": .string(password ?? "\(user)'s password"), "code": .string(code),
        ]
        return try await raw(.post, "/v1/sessions", headers: headers, body: ByteBuffer(bytes: try body.serialized()))
    }
}

extension Browser {
    /// Signs in on the two pages that a user with a second factor comes through; afterwards another step has begun.
    func signIn(_ page: Answer, _ user: String, _ app: Authenticator) async throws -> Answer {
        let asked = try await send(
            page, to: "/app/sign-in", ["user": user, "password": "\(user)'s password"]
        ).expect(200)
        let answer = try await send(asked, to: "/app/sign-in/code", ["code": app.code(server)])
        server.clock.advance(seconds: 30)
        return answer
    }
}
