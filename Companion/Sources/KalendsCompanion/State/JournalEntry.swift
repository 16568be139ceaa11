// SPDX-License-Identifier: Apache-2.0

/// One write with the previous value. The entry stays on the device.
public struct JournalEntry: Hashable, Sendable, Codable {
    public enum Action: String, Hashable, Sendable, Codable {
        case created, changed, removed
        /// The server's value lost to the calendar's.
        case putBack
        /// An event of the calendar was deleted at the server, or restored there.
        case deletedThere, revivedThere
    }

    /// Milliseconds since 1970.
    public var at: Int
    public var link: Int
    public var action: Action
    /// The previous value, or the value that lost.
    public var before: EventUnit?
    public var after: EventUnit?

    public init(at: Int, link: Int, action: Action, before: EventUnit?, after: EventUnit?) {
        self.at = at
        self.link = link
        self.action = action
        self.before = before
        self.after = after
    }
}
