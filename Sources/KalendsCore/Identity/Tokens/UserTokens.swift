// SPDX-License-Identifier: Apache-2.0

/// Checks the tokens that a host application gives its users (JWT, RFC 7519).
package struct UserTokens: Sendable {
    private let secret: VerifyingKey?
    private let source: (any KeySource)?
    private let issuer: String?
    private let audience: String?

    /// How far, in milliseconds, the issuer's clock may be ahead of ours; an end is an end.
    private static let leeway = 30_000

    /// Throws `ServerSettings.Invalid` when the file of keys cannot be used.
    package init(_ settings: TokenSettings, _ intake: Intake) async throws {
        secret =
            if let secret = settings.secret { try await VerifyingKey(secret: secret.bytes) } else { nil }
        source =
            if let file = settings.jwksFile {
                try await KeyFile(file)
            } else if let url = settings.jwksURL {
                KeyAddress(url, intake)
            } else {
                nil
            }
        issuer = settings.issuer
        audience = settings.audience
    }

    /// The user for whom a token acts; throws 401 for any token that is not entirely right.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func user(of text: Concealed, now: Int) async throws -> String {
        guard let token = SignedToken(text) else { throw Refusal.invalidToken }
        // Only the algorithm decides whose keys are tried: a public key never serves as a secret.
        let keys: [VerifyingKey] =
            switch token.algorithm {
            case .hs256: [secret].compactMap(\.self)
            case .rs256, .es256: await source?.keys(for: token, now: now) ?? []
            }
        guard keys.contains(where: { $0.verifies(token) }) else { throw Refusal.invalidToken }
        return try user(of: token.claims, now: now)
    }

    /// The subject of claims that were signed.
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

    /// Seconds since 1970, whole or not (RFC 7519 section 2), in milliseconds.
    private static func time(_ claim: JSONValue?) -> Int? {
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

    /// RFC 6750 section 3.1.
    private static func refused(_ code: ProblemCode, _ detail: String) -> Refusal {
        Refusal(
            .unauthenticated, code: code, detail: detail)
    }
}
