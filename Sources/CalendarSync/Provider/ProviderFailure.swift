// SPDX-License-Identifier: Apache-2.0

/// Why a provider did not do what it was asked, in our words: nothing of its own text is kept but a code.
public struct ProviderFailure: Error, Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// The grant or password is dead (`invalid_grant`, a 401 after a refresh): only the person can fix it.
        case unauthorized
        /// The application is not registered correctly (`invalid_client`): only the operator can fix it.
        case misconfigured
        /// The account may not write the calendar, or a scope was not granted.
        case forbidden
        /// There is no such calendar for this account now. One observation is no proof that it was deleted.
        case calendarMissing
        /// The cursor is dead (410, `valid-sync-token`): a full listing is needed.
        case cursorExpired
        /// Too many requests: seconds to wait, nil where the provider does not say.
        case throttled(retryAfter: Int?)
        /// A quota of hours or days is used up.
        case quotaExceeded
        /// A 5xx answer.
        case unavailable(retryAfter: Int?)
        /// No answer came; what was asked may have been done.
        case unanswered
        /// The host could not be reached; nothing was done.
        case unreachable
        /// The answer is not what the provider's contract says.
        case malformed
        /// The provider will not take this request, however often it is sent.
        case refused
        /// What is wanted cannot be done to the event that is there, and nothing was sent: it has to be made again under
        /// the mark's next generation, before this one is removed. Graph answers so where a deleted occurrence is to
        /// come back.
        case needsNewGeneration
    }

    public var kind: Kind
    /// A sentence for people, without contents, tokens or addresses.
    public var message: String
    /// The provider's own short code, of letters, digits, `.`, `_` and `-`, 64 characters at most.
    public var code: String?

    public init(_ kind: Kind, _ message: String, code: String? = nil) {
        self.kind = kind
        self.message = message
        self.code = code.flatMap { code in
            let allowed = Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._".utf8)
            let isPlain = code.utf8.allSatisfy(allowed.contains)
            return isPlain && !code.isEmpty && code.utf8.count <= 64 ? code : nil
        }
    }

    /// Whether the same request may succeed later.
    public var isTransient: Bool {
        switch kind {
        case .throttled, .quotaExceeded, .unavailable, .unanswered, .unreachable: true
        default: false
        }
    }
}
