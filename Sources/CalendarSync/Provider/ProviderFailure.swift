// SPDX-License-Identifier: Apache-2.0

/// Why a provider did not do what it was asked, in our words: of the provider's own text, only a code is kept.
public struct ProviderFailure: Error, Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// The grant or password is no longer valid (`invalid_grant`, a 401 after a refresh): only the person can fix
        /// it.
        case unauthorized
        /// The application is not registered correctly (`invalid_client`): only the operator can fix it.
        case misconfigured
        /// The account may not write the calendar, or a scope was not granted.
        case forbidden
        /// The account has no such calendar at present. A single observation does not prove that it was deleted.
        case calendarMissing
        /// The cursor has expired (410, `valid-sync-token`): a full listing is needed.
        case cursorExpired
        /// Too many requests. The value is the time to wait in seconds; nil where the provider does not say.
        case throttled(retryAfter: Int?)
        /// A quota of hours or days is used up.
        case quotaExceeded
        /// A 5xx answer.
        case unavailable(retryAfter: Int?)
        /// No answer arrived; the request may have been carried out.
        case unanswered
        /// The host could not be reached; nothing was done.
        case unreachable
        /// This server has no room for the provider's answers now, or others wait for their turn. The value is the time
        /// to wait in seconds.
        case busy(retryAfter: Int)
        /// The answer is not of the form that the provider documents.
        case malformed
        /// The provider will not accept this request, however often it is sent.
        case refused
        /// The change cannot be made to the existing event, and nothing was sent: the event has to be created again
        /// under the mark's next generation before this one is removed. Graph needs this where a deleted occurrence is
        /// to come back.
        case needsNewGeneration
        /// The provider does not take the event as a series; its occurrences can be stored as single events.
        case needsSingleEvents
    }

    public var kind: Kind
    /// A sentence for people, without contents, tokens or addresses.
    public var message: String
    /// The provider's own short code: letters, digits, `.`, `_` and `-`, at most 64 characters.
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
        case .throttled, .quotaExceeded, .unavailable, .unanswered, .unreachable, .busy: true
        default: false
        }
    }
}
