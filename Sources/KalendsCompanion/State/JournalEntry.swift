// SPDX-License-Identifier: Apache-2.0

/// One thing that was written, with what was there before. It stays on the device.
public struct JournalEntry: Hashable, Sendable, Codable {
    public enum Action: String, Hashable, Sendable, Codable {
        case created, changed, removed
        /// The server's value lost against the calendar's.
        case putBack
        /// An event of the calendar went from the server, or comes back to it.
        case deletedThere, revivedThere
    }

    /// Milliseconds since 1970.
    public var at: Int
    public var link: Int
    public var action: Action
    /// What was there before, or what lost.
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
