// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// What one authorization needs to remember between the browser's departure and its return.
///
/// The state is bound to the session that began, and found again by its hash; the verifier is stored sealed.
public struct OAuthAttempt: Hashable, Sendable {
    /// Bytes of randomness that an attempt is made of.
    public static let randomBytes = 64

    /// 43 characters of base64url.
    public let state: Secret
    /// The code verifier of RFC 7636 section 4.1: 43 characters of base64url.
    public let verifier: Secret

    /// - Parameter random: `randomBytes` bytes, unpredictable and never used again.
    public init(random: [UInt8]) {
        precondition(random.count == Self.randomBytes)
        state = Secret(Base64URL.encode(Array(random[..<32])))
        verifier = Secret(Base64URL.encode(Array(random[32...])))
    }

    /// An attempt that was stored.
    public init(state: Secret, verifier: Secret) {
        self.state = state
        self.verifier = verifier
    }

    /// The code challenge by the method S256 (RFC 7636 section 4.2).
    public var challenge: String { Base64URL.encode(Array(SHA256.hash(data: Array(verifier.revealed.utf8)))) }
}

/// What the provider sent the browser back with (RFC 6749 section 4.1.2).
public enum OAuthReturn: Hashable, Sendable {
    case code(Secret, state: Secret)
    /// The person, or an administrator, said no.
    case denied(state: Secret)
    /// Anything else that the provider reports, with its code when it is plain.
    case failed(ProviderFailure, state: Secret)

    /// Reads the query of the callback; nil when it has no single, plausible state, so that nothing can be looked up.
    public init?(query: [(name: String, value: String)]) {
        func only(_ name: String, longest: Int) -> String? {
            let values = query.filter { $0.name == name }
            guard values.count == 1, let value = values.first?.value, !value.isEmpty, value.utf8.count <= longest else {
                return nil
            }
            return value
        }
        guard let state = only("state", longest: 256).map(Secret.init) else { return nil }
        if let code = only("code", longest: 8192), !query.contains(where: { $0.name == "error" }) {
            self = .code(Secret(code), state: state)
        } else if only("error", longest: 64) == "access_denied" {
            self = .denied(state: state)
        } else {
            let failure = ProviderFailure(
                .refused, "The provider ended the sign-in with an error.", code: only("error", longest: 64))
            self = .failed(failure, state: state)
        }
    }
}
