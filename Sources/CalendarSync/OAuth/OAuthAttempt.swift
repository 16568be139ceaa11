// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// What one authorization has to remember while the browser is at the provider.
///
/// The state is bound to the session that began the authorization, and is found again by its hash; the verifier is
/// stored sealed.
public struct OAuthAttempt: Hashable, Sendable {
    /// The number of random bytes that an attempt is made from.
    public static let randomBytes = 64

    /// The state parameter: 43 characters of base64url.
    public package(set) var state: Concealed
    /// The code verifier of RFC 7636 section 4.1: 43 characters of base64url.
    public package(set) var verifier: Concealed

    /// - Parameter random: `randomBytes` bytes, unpredictable and never used again.
    public init(random: [UInt8]) {
        precondition(random.count == Self.randomBytes)
        self.init(
            state: Concealed(Base64URL.encode(Array(random[..<32]))),
            verifier: Concealed(Base64URL.encode(Array(random[32...]))))
    }

    package init(state: Concealed, verifier: Concealed) {
        self.state = state
        self.verifier = verifier
    }

    /// The code challenge by the method S256 (RFC 7636 section 4.2).
    public var challenge: String { Base64URL.encode(Array(SHA256.hash(data: Array(verifier.reveal().utf8)))) }
}

/// The parameters with which the provider sends the browser back (RFC 6749 section 4.1.2).
public enum OAuthReturn: Hashable, Sendable {
    case code(Concealed, state: Concealed)
    /// The person, or an administrator, refused.
    case denied(state: Concealed)
    /// Any other error that the provider reports, with its code if that is plain.
    case failed(ProviderFailure, state: Concealed)

    /// Reads the query of the callback; returns nil when it has no single, plausible state, so that nothing can be
    /// looked up.
    public init?(query: [(name: String, value: String)]) {
        func only(_ name: String, longest: Int) -> String? {
            let values = query.filter { $0.name == name }
            guard values.count == 1, let value = values.first?.value, !value.isEmpty, value.utf8.count <= longest else {
                return nil
            }
            return value
        }
        guard let state = only("state", longest: 256).map(Concealed.init) else { return nil }
        if let code = only("code", longest: 8192), !query.contains(where: { $0.name == "error" }) {
            self = .code(Concealed(code), state: state)
        } else if only("error", longest: 64) == "access_denied" {
            self = .denied(state: state)
        } else {
            let failure = ProviderFailure(
                .refused, "The provider ended the sign-in with an error.", code: only("error", longest: 64))
            self = .failed(failure, state: state)
        }
    }

    /// The state with which the browser left.
    package var state: Concealed {
        switch self {
        case .code(_, let state), .denied(let state), .failed(_, let state): state
        }
    }
}
