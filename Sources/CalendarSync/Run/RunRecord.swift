// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// One run of a connection, as a person sees it.
public struct RunRecord: Hashable, Sendable, Codable {
    public enum Trigger: String, Hashable, Sendable, Codable, CaseIterable { case schedule, manual, push, first }

    public enum State: String, Hashable, Sendable, Codable, CaseIterable { case running, done, held, failed }

    public enum Status: String, Hashable, Sendable, Codable, CaseIterable { case success, partial, failed }

    public struct Counts: Hashable, Sendable, Codable {
        public var created = 0
        public var updated = 0
        public var deleted = 0
        /// Changes there that were taken over here.
        public var pulled = 0
        public var conflicts = 0
        public var failed = 0
        public var unchanged = 0

        public init() {}
    }

    public var id: String
    public var trigger: Trigger
    public var state: State
    public var startedAt: Instant
    public var endedAt: Instant?
    /// Nil while it runs and while it is held.
    public var status: Status?
    /// A sentence for people.
    public var error: String?
    public var counts: Counts
    /// Requests that were sent to the provider.
    public var requests: Int
    /// Why it is held, and what a person approves with it.
    public var held: Hold?

    public init(id: String, trigger: Trigger, startedAt: Instant) {
        self.id = id
        self.trigger = trigger
        self.state = .running
        self.startedAt = startedAt
        self.counts = Counts()
        self.requests = 0
    }
}

/// Why a run writes nothing until a person approves it. An approval allows what was shown and no more.
public struct Hold: Hashable, Sendable, Codable {
    public enum Cause: String, Hashable, Sendable, Codable, CaseIterable {
        /// More events would be deleted than the brake allows.
        case deletions
        /// More events are missing there than the brake allows.
        case missing
        /// The calendar answered that it is empty.
        case empty
        /// Events there carry marks that this database does not know: it is an older copy.
        case restored
    }

    public var causes: [Cause]
    /// Events that would be deleted there.
    public var deletions: Int
    /// Events that are missing there.
    public var missing: Int

    public init(causes: [Cause], deletions: Int, missing: Int) {
        self.causes = causes
        self.deletions = deletions
        self.missing = missing
    }
}
