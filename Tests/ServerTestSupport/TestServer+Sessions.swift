// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import Server
import Storage
import Testing

@testable import KalendsCore

extension TestServer {
    /// Runs a server whose password hashes are cheap.
    static func withPasswords(
        clock: TestClock = TestClock(), publicURL: String = "http://calendar.example",
        settings given: ServerSettings = ServerSettings(), open: @escaping StoreOpening = Engine.open,
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        var settings = given
        settings.passwordCost = 4
        try await run(clock: clock, settings: settings, publicURL: publicURL, open: open) { server in
            try await server.makeCircle()
            for user in ["ann", "ben"] {
                try await server.call(.put, "/v1/users/\(user)/password", ["password": .string("\(user)'s password")])
                    .expect(201)
            }
            try await body(server)
        }
    }

    func signIn(_ user: String, _ password: String? = nil, headers: HTTPFields = [:]) async throws -> Answer {
        let body: JSONValue = ["userId": .string(user), "password": .string(password ?? "\(user)'s password")]
        return try await raw(
            .post, "/v1/sessions", headers: headers, body: ByteBuffer(bytes: try body.serialized()))
    }

    /// Signs in and returns the token.
    func session(_ user: String) async throws -> String {
        try #require(try await signIn(user).expect(201).json["token"]?.string)
    }

    func bearing(
        _ token: String, _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil
    ) async throws -> Answer {
        try await raw(
            method, path, headers: [.authorization: "Bearer \(token)"],
            body: try body.map { ByteBuffer(bytes: try $0.serialized()) })
    }
}
