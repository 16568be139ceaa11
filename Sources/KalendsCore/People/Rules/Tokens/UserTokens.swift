// SPDX-License-Identifier: Apache-2.0

/// Checks the tokens that a host application gives its users (JWT, RFC 7519).
package struct UserTokens: Sendable {
    private let secret: VerifyingKey?
    private let source: (any KeySource)?
    private let issuer: String?
    private let audience: String?
    private let isStrict: Bool

    /// How far the issuer's clock may be ahead of the server's, in milliseconds; it does not extend a token's end.
    private static let leeway = 30_000

    /// Throws `ServerSettings.Invalid` if the key file cannot be used.
    package init(_ settings: TokenSettings, _ intake: Intake) async throws {
        isStrict = settings.isStrict
        let leastBits = settings.leastBits
        secret = settings.secret.map { VerifyingKey(secret: $0.bytes) }
        source =
            if let file = settings.jwksFile {
                try await KeyFile(file, leastBits: leastBits)
            } else if let url = settings.jwksURL {
                KeyAddress(url, intake, leastBits: leastBits)
            } else {
                nil
            }
        issuer = settings.issuer
        audience = settings.audience
    }

    /// Returns the user for whom a token acts, and what it opens; throws 401 if anything about the token is wrong.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func bearer(of text: Concealed, now: Int) async throws -> TokenBearer {
        guard let token = SignedToken(text) else { throw Refusal.invalidToken }
        // Only the algorithm decides which keys are tried: a public key is never used as a secret.
        let keys: [VerifyingKey] =
            switch token.algorithm {
            case .hs256: [secret].compactMap(\.self)
            case .rs256, .ps256, .es256: await source?.keys(for: token, now: now) ?? []
            }
        guard keys.contains(where: { $0.verifies(token) }) else { throw Refusal.invalidToken }
        return TokenBearer(
            user: try user(of: token.claims, now: now), scopes: TokenScopes(token.claims, isStrict: isStrict)?.scopes)
    }

    /// Returns the subject of signed claims.
    private func user(of claims: JSONValue, now: Int) throws -> String {
        guard let end = Self.time(claims["exp"]) else { throw Refusal.invalidToken }
        guard now < end else { throw Refusal.expiredToken }
        for name in ["nbf", "iat"] {
            guard let claim = claims[name] else { continue }
            guard let start = Self.time(claim), start <= now + Self.leeway else { throw Refusal.invalidToken }
        }
        if let issuer, claims["iss"] != .string(issuer) { throw Refusal.invalidToken }
        if let audience {
            let named = claims["aud"]?.array ?? [claims["aud"] ?? .null]
            guard named.contains(.string(audience)) else { throw Refusal.invalidToken }
        }
        guard let user = claims["sub"]?.string, Identifier.isValid(user) else { throw Refusal.invalidToken }
        return user
    }

    /// Returns a time in seconds since 1970, whole or fractional (RFC 7519 section 2), in milliseconds.
    static func time(_ claim: JSONValue?) -> Int? {
        switch claim {
        case .integer(let seconds)? where seconds.magnitude < 1 << 40: seconds * 1000
        case .number(let seconds)? where seconds.magnitude < 0x1p40: Int((seconds * 1000).rounded(.down))
        default: nil
        }
    }
}

extension Refusal {
    static let invalidToken = refused(.tokenInvalid, "The token is not valid.")
    static let expiredToken = refused(.tokenExpired, "The token has expired.")

    /// Creates a 401 refusal (RFC 6750 section 3.1).
    private static func refused(_ code: ProblemCode, _ detail: String) -> Refusal {
        Refusal(
            .unauthenticated, code: code, detail: detail)
    }
}
