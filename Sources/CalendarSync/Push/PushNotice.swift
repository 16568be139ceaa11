// SPDX-License-Identifier: Apache-2.0

/// What a provider's server reports about a channel. Anyone can send a notice: it counts only with the channel's
/// secret, and then only as a hint to look.
public struct PushNotice: Hashable, Sendable {
    public enum What: String, Hashable, Sendable {
        /// Something in the calendar has changed.
        case changed
        /// The channel works; nothing has changed (Google's first message).
        case opened
        /// The provider asks for the channel's renewal, and will end it otherwise.
        case renewalWanted
        /// The provider has ended the channel: it has to be opened again, and then the calendar needs a look.
        case ended
        /// Notices were lost, so the calendar needs a look.
        case missed
    }

    /// The channel's or subscription's id.
    public var channel: String
    /// The secret that was received; nil when there was none.
    public var secret: Concealed?
    public var what: What
    /// Google's resource id, which is needed to end an unknown channel; empty elsewhere.
    public var resourceID = ""

    /// The maximum size in bytes of an id or a secret.
    static let longestText = 512

    static func text(_ value: String?) -> String? {
        guard let value, (1...longestText).contains(value.utf8.count), value.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
        else { return nil }
        return value
    }
}
