// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import HTTPTypes
package import KalendsCore
import TestSupport
import Testing

/// Tokens that `Oracles/make_tokens.py` signed with another implementation.
package struct TokenVectors: Sendable {
    package struct Good: Sendable {
        package var token: String
        package var user: String
    }

    package struct Bad: Sendable {
        package var token: String
        package var detail: String
    }

    package var secret: String
    package var issuer: String
    package var audience: String
    package var jwks: JSONValue
    package var rotated: JSONValue
    package var byRotated: String
    package var byUnknown: String
    /// A token signed with the secret and valid until the year 2100, for a server with the machine's own clock.
    package var lasting: String
    package var accepted: [ByteString: Good]
    package var refused: [ByteString: Bad]

    package static func load() throws -> TokenVectors {
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
    package func settings(_ document: JSONValue? = nil) throws -> (settings: ServerSettings, keys: URL) {
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
    package func asUser(
        _ token: String, _ method: HTTPRequest.Method = .get, _ path: String = "/v1/circles/c"
    ) async throws
        -> Answer
    {
        try await raw(method, path, headers: [.authorization: "Bearer \(token)"])
    }
}
