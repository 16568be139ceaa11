// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// One write on either side, with its time, its reason and the previous entry. Kept for 90 days.
public struct JournalEntry: Hashable, Sendable, Codable {
    public enum Change: String, Hashable, Sendable, Codable, CaseIterable {
        case create, update, delete
        /// One of our events was found and linked; nothing was written.
        case adopt
        /// An event was found to be gone from the calendar; nothing was written.
        case missing
    }

    public var id: String
    public var run: String
    public var at: Instant
    public var direction: Link.Direction
    public var change: Change
    public var item: ItemKey
    public var generation: Int
    public var externalID: String?
    /// The engine's short reason: `new`, `edited`, `put back`, `not shown`, …
    public var reason: String
    /// The entry before the change; nil when there was none.
    public var before: Entry?
    /// The entry after the change, or nil.
    public var after: Entry?
}
