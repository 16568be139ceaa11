// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// A write at the provider, stored before it is sent, so that a run that dies can find out what became of it.
public struct Operation: Hashable, Sendable, Codable {
    public enum Kind: Hashable, Sendable, Codable {
        case create
        /// - Parameter from: the event as it was when the write was decided, under `etag`.
        case update(id: String, etag: String?, from: Entry)
        case delete(id: String, etag: String?)
        /// Removes an event of an earlier generation, once the later one is there.
        case clear(Leftover)
    }

    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// Sent, or about to be: what became of it is not known.
        case open
        case done
        /// Certainly not done. What is still wanted is planned again.
        case dropped
    }

    /// Goes with every attempt, and is never used for anything else.
    public var key: String
    public var run: String
    public var item: ItemKey
    public var generation: Int
    public var kind: Kind
    /// The item's entry as the provider can express it; nil for deletions.
    public var ours: Entry?
    /// What the event should be; nil for deletions. It has the fields of the calendar where those are kept.
    public var wanted: Entry?
    /// What was there before; nil for a create.
    public var before: Entry?
    /// Why, in a word of the engine: `new`, `edited`, `put back`, `not shown`, …
    public var reason: String
    /// How often it was sent.
    public var attempts: Int
    public var state: State
    public var createdAt: Instant

    public init(
        key: String, run: String, item: ItemKey, generation: Int, kind: Kind, ours: Entry?, wanted: Entry?,
        before: Entry?, reason: String, attempts: Int = 0, state: State = .open, createdAt: Instant
    ) {
        self.key = key
        self.run = run
        self.item = item
        self.generation = generation
        self.kind = kind
        self.ours = ours
        self.wanted = wanted
        self.before = before
        self.reason = reason
        self.attempts = attempts
        self.state = state
        self.createdAt = createdAt
    }
}
