// SPDX-License-Identifier: Apache-2.0

/// What a provider's server reports about a channel. Anybody can send one: it counts only when its secret is that of
/// the channel, and then it is a hint to look, and nothing more.
public struct PushNotice: Hashable, Sendable {
    public enum What: String, Hashable, Sendable {
        /// Something in the calendar is other than it was.
        case changed
        /// The channel works; nothing has changed (Google's first message).
        case opened
        /// The provider asks for the channel to be renewed, or will stop it.
        case renewalWanted
        /// The provider has ended the channel: it has to be opened again, and then looked.
        case ended
        /// Notices were lost: it has to be looked.
        case missed
    }

    /// The channel's or subscription's id.
    public var channel: String
    /// What came in place of the secret; nil when nothing did.
    public var secret: Secret?
    public var what: What
    /// Google's resource id, which ends a channel that nobody knows; empty elsewhere.
    public var resourceID: String

    public init(channel: String, secret: Secret?, what: What, resourceID: String = "") {
        self.channel = channel
        self.secret = secret
        self.what = what
        self.resourceID = resourceID
    }

    /// Whether the notice has the channel's secret; the time that takes says nothing about it.
    public func isAuthentic(_ expected: Secret) -> Bool {
        guard let secret else { return false }
        let (ours, theirs) = (Array(expected.revealed.utf8), Array(secret.revealed.utf8))
        guard !ours.isEmpty, ours.count == theirs.count else { return false }
        var difference: UInt8 = 0
        for index in ours.indices { difference |= ours[index] ^ theirs[index] }
        return difference == 0
    }

    /// Bytes of an id or a secret that are taken.
    static let longestText = 512

    static func text(_ value: String?) -> String? {
        guard let value, (1...longestText).contains(value.utf8.count), value.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
        else { return nil }
        return value
    }
}
