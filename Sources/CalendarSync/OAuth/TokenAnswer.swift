// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// Reads the answers of a token endpoint (RFC 6749 sections 5.1 and 5.2), which are untrusted input.
enum TokenAnswer {
    /// The maximum size in bytes of an answer, and of one token in it.
    static let longest = 128 << 10
    private static let longestToken = 16 << 10
    /// The range, in seconds, to which an access token's lifetime is limited, whatever the answer says.
    private static let lifetimes = 120...86_400

    /// - Parameter before: the grant that was refreshed, whose values are kept where the answer gives none.
    static func grant(
        _ answer: ProviderAnswer, wanted: [String], before: OAuthGrant?, now: Instant
    ) throws(ProviderFailure) -> OAuthGrant {
        guard answer.status == 200 else { throw failure(answer) }
        guard let body = try? JSONValue(parsing: answer.body), let access = token(body["access_token"]),
            body["token_type"]?.string?.asciiLowercased == "bearer"
        else { throw ProviderFailure(.malformed, "The provider's answer holds no token.") }
        var refresh = before?.refreshToken
        if let value = body["refresh_token"], value != .null, value != "" {
            guard let renewed = token(value) else {
                throw ProviderFailure(.malformed, "The provider's answer holds no token.")
            }
            refresh = renewed
        }
        let scopes = body["scope"]?.string.map { $0.pieces(separatedBy: " ").prefix(100).map(String.init) }
        var grant = OAuthGrant(
            accessToken: access, refreshToken: refresh, expiresAt: now.adding(seconds: lifetime(body["expires_in"])),
            scopes: scopes.flatMap { $0.isEmpty ? nil : $0 } ?? wanted)
        grant.idToken = token(body["id_token"])
        return grant
    }

    /// Accepts only visible ASCII characters, because a token goes into a header.
    private static func token(_ value: JSONValue?) -> Concealed? {
        guard let text = value?.string, (1...longestToken).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return Concealed(text)
    }

    /// Returns a token's lifetime in seconds, an hour when the answer does not say: a token that ends sooner is
    /// refused, and then renewed.
    private static func lifetime(_ value: JSONValue?) -> Int {
        let seconds = value?.integer ?? value?.string.flatMap { Int($0) } ?? 3600
        return min(max(seconds, lifetimes.lowerBound), lifetimes.upperBound)
    }

    /// Returns the failure that an answer without a token means. Only the code in `error` counts; the texts beside it
    /// change.
    static func failure(_ answer: ProviderAnswer) -> ProviderFailure {
        let retryAfter = RetryAfter.seconds(answer)
        let code = (try? JSONValue(parsing: answer.body))?["error"]?.string
        if answer.status == 429 {
            return ProviderFailure(.throttled(retryAfter: retryAfter), "The provider asks us to wait.", code: code)
        }
        if (500...599).contains(answer.status) {
            return ProviderFailure(
                .unavailable(retryAfter: retryAfter), "The provider's service is failing.", code: code)
        }
        switch code {
        case "invalid_grant", "interaction_required", "consent_required", "login_required":
            return ProviderFailure(.unauthorized, "The account has to be connected again.", code: code)
        case "invalid_client", "deleted_client", "disabled_client", "unauthorized_client", "redirect_uri_mismatch":
            return ProviderFailure(
                .misconfigured, "The provider does not accept this application's registration.", code: code)
        case "internal_failure", "server_error", "temporarily_unavailable":
            return ProviderFailure(
                .unavailable(retryAfter: retryAfter), "The provider's service is failing.", code: code)
        default:
            return ProviderFailure(.refused, "The provider refused the request for a token.", code: code)
        }
    }
}

/// The field `Retry-After` (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// Returns the seconds, at most a day; nil for a missing field, and for a date, because only our own clock is
    /// trusted.
    package static func seconds(_ answer: ProviderAnswer) -> Int? {
        guard let text = answer.field("Retry-After"), (1...9).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let seconds = Int(text)
        else { return nil }
        return min(seconds, 86_400)
    }
}
