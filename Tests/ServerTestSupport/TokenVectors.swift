// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import KalendsCore

/// Tokens that `Oracles/make_tokens.py` signed with another implementation.
struct TokenVectors: Sendable {
    struct Good: Sendable {
        var token: String
        var user: String
    }

    struct Bad: Sendable {
        var token: String
        var detail: String
    }

    var secret: String
    var issuer: String
    var audience: String
    var jwks: JSONValue
    var rotated: JSONValue
    var byRotated: String
    var byUnknown: String
    /// A token signed with the secret and valid until the year 2100, for a server with the machine's own clock.
    var lasting: String
    var accepted: [ByteString: Good]
    var refused: [ByteString: Bad]

    static func load() throws -> TokenVectors {
        let file = packageRoot.appending(path: "Tests/ServerTestSupport/Oracles/tokens.json")
        let json = try JSONValue(parsing: try Data(contentsOf: file))
        func text(_ name: String, of value: JSONValue = json) throws -> String { try #require(value[name]?.string) }
        return TokenVectors(
            secret: try text("secret"), issuer: try text("issuer"), audience: try text("audience"),
            jwks: try #require(json["jwks"]), rotated: try #require(json["rotated"]),
            byRotated: try text("byRotated"), byUnknown: try text("byUnknown"), lasting: try text("lasting"),
            accepted: try #require(json["accepted"]?.object).mapValues {
                Good(token: try text("token", of: $0), user: try text("user", of: $0))
            },
            refused: try #require(json["refused"]?.object).mapValues {
                Bad(token: try text("token", of: $0), detail: try text("detail", of: $0))
            })
    }

    /// Returns settings that accept these tokens, with the public keys in a file.
    func settings(_ document: JSONValue? = nil) throws -> (settings: ServerSettings, keys: URL) {
        let file = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString).json")
        try Data(try (document ?? jwks).serialized()).write(to: file)
        var settings = ServerSettings()
        settings.tokens.secret = Concealed(secret)
        settings.tokens.jwksFile = file.path
        settings.tokens.issuer = issuer
        settings.tokens.audience = audience
        return (settings, file)
    }
}

extension TestServer {
    func asUser(
        _ token: String, _ method: HTTPRequest.Method = .get, _ path: String = "/v1/circles/c"
    ) async throws
        -> Answer
    {
        try await raw(method, path, headers: [.authorization: "Bearer \(token)"])
    }
}
