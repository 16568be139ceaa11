// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// A write at the provider, stored before it is sent, so that its outcome can be found out after a crash.
public struct Operation: Hashable, Sendable, Codable {
    public enum Kind: Hashable, Sendable, Codable {
        case create
        /// - Parameter from: the event when the write was decided, with that `etag`.
        case update(id: String, etag: String?, from: Entry)
        case delete(id: String, etag: String?)
        /// Removes an event of an earlier generation once the later one exists.
        case clear(Leftover)
    }

    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// Sent, or about to be sent; the outcome is not known.
        case open
        case done
        /// Certainly not done. If the write is still wanted, it is planned again.
        case dropped
    }

    /// The key that is sent with every attempt, and is never used for anything else.
    public var key: String
    public var run: String
    public var item: ItemKey
    public var generation: Int
    public var kind: Kind
    /// The item's entry as the provider can express it; nil for deletions.
    public var ours: Entry?
    /// What the event should be; nil for deletions. Fields for which the calendar's value is kept have that value.
    public var wanted: Entry?
    /// The event before the write; nil for a create.
    public var before: Entry?
    /// The engine's short reason: `new`, `edited`, `put back`, `not shown`, …
    public var reason: String
    /// The number of times it was sent.
    public var attempts = 0
    public var state = State.open
    public var createdAt: Instant
}
