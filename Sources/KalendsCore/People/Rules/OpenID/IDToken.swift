// SPDX-License-Identifier: Apache-2.0

import Crypto

/// What a verified ID token says about a person (OpenID Connect Core 1.0 sections 2 and 3.1.3.7).
struct IDToken: Sendable {
    /// How far the provider's clock may be ahead or behind, in milliseconds.
    static let ahead = 30_000
    /// How old a token may be when it comes, in milliseconds.
    private static let oldest = 300_000

    let subject: String
    let claims: JSONValue
    /// When the person proved who they are, in milliseconds since 1970; 0 if the provider does not say.
    let provedAt: Int

    /// - Parameters:
    ///   - token: one whose signature is right.
    ///   - accessToken: the one that came with it.
    init(
        _ token: SignedToken, by settings: OpenIDSettings, for attempt: ProviderAttempt, with accessToken: Concealed,
        now: Int
    ) throws(OpenIDFault) {
        let claims = token.claims
        guard claims["iss"] == .string(settings.issuer) else {
            throw OpenIDFault(.failed, "The ID token comes from another issuer.")
        }
        let audience = claims["aud"]?.array ?? [claims["aud"] ?? .null]
        let own = JSONValue.string(settings.clientID)
        guard audience.contains(own) else { throw OpenIDFault(.failed, "The ID token is for another client.") }
        // With several audiences, the token has to say for whom of them it was made.
        guard claims["azp"].map({ $0 == own }) ?? (audience.count == 1) else {
            throw OpenIDFault(.failed, "The ID token was made for another client.")
        }
        guard let end = UserTokens.time(claims["exp"]), now < end else {
            throw OpenIDFault(.failed, "The ID token has expired, or has no expiry.")
        }
        guard let made = UserTokens.time(claims["iat"]), made <= now + Self.ahead,
            made >= attempt.begunAt - Self.oldest
        else { throw OpenIDFault(.failed, "The ID token was made before the sign-in began, or in the future.") }
        if let start = claims["nbf"] {
            guard let start = UserTokens.time(start), start <= now + Self.ahead else {
                throw OpenIDFault(.failed, "The ID token is not valid yet.")
            }
        }
        guard let nonce = claims["nonce"]?.string, nonce.utf8.isSameSecret(as: attempt.nonce.bytes) else {
            throw OpenIDFault(.failed, "The ID token belongs to another sign-in.")
        }
        if let hash = claims["at_hash"] {
            // All algorithms that are accepted hash with SHA-256.
            let half = SHA256.hash(data: accessToken.bytes).prefix(16)
            guard hash == .string(Base64URL.encode(Array(half))) else {
                throw OpenIDFault(.failed, "The ID token belongs to another access token.")
            }
        }
        guard let subject = claims["sub"]?.string, (1...255).contains(subject.utf8.count),
            subject.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else { throw OpenIDFault(.failed, "The ID token names nobody.") }
        (self.subject, self.claims) = (subject, claims)
        let proved = UserTokens.time(claims["auth_time"]) ?? 0
        provedAt = (0...now + Self.ahead).contains(proved) ? min(proved, now) : 0
    }
}
