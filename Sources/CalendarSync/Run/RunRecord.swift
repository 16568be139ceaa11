// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// One run of a connection, as it is shown to a person.
public struct RunRecord: Hashable, Sendable, Codable {
    public enum Trigger: String, Hashable, Sendable, Codable, CaseIterable { case schedule, manual, push, first }

    public enum State: String, Hashable, Sendable, Codable, CaseIterable { case running, done, held, failed }

    public enum Status: String, Hashable, Sendable, Codable, CaseIterable { case success, partial, failed }

    public struct Counts: Hashable, Sendable, Codable {
        public var created = 0
        public var updated = 0
        public var deleted = 0
        /// The number of changes taken over from the calendar.
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
    /// The result; nil while the run is running or held.
    public var status: Status?
    /// What went wrong, in a sentence for people.
    public var error: String?
    /// The same for other languages; nil while nothing is wrong, and for a run that is held.
    public var problem: SyncProblem?
    public var counts: Counts
    /// The number of requests sent to the provider.
    public var requests: Int
    /// The version of our items that the run began with: their later changes are for the next run.
    public var version: Int?
    /// Why the run is held, and what a person approves with it.
    public var held: Hold?
    /// Whether the run came to the end of its plan, although some items may be held back; nil for no.
    public var isWhole: Bool?
    /// What the calendar keeps only in part; nil for nothing.
    public var shortened: ShortenedItems?

    public init(id: String, trigger: Trigger, startedAt: Instant) {
        self.id = id
        self.trigger = trigger
        self.state = .running
        self.startedAt = startedAt
        self.counts = Counts()
        self.requests = 0
    }
}

/// The items that a calendar keeps only in part.
public struct ShortenedItems: Hashable, Sendable, Codable {
    public struct Item: Hashable, Sendable, Codable {
        public var item: ItemKey
        public var title: String
        /// What is lost, in sentences for people.
        public var message: String
        /// The fields concerned, for other languages.
        public var fields: [EntryField]?

        /// Returns nil where nothing is lost.
        init?(of step: Step) {
            guard !step.lost.isEmpty else { return nil }
            self.init(
                step.item, step.title, step.lost.map(\.message).joined(separator: " "),
                step.lost.compactMap(\.field) + step.unwritten)
        }

        init(_ item: ItemKey, _ title: String, _ message: String, _ fields: [EntryField]) {
            (self.item, self.title, self.message) = (item, title, message)
            self.fields = EntryField.allCases.filter(fields.contains)
        }
    }

    /// The maximum number of items that are named.
    static let most = 20

    public var count: Int
    public var items: [Item]

    /// Returns nil for no items.
    init?(_ short: some Collection<Item>) {
        guard !short.isEmpty else { return nil }
        count = short.count
        items = Array(short.sorted { $0.item < $1.item }.prefix(Self.most))
    }
}

/// Why a run writes nothing until a person approves it. An approval covers only what was shown.
public struct Hold: Hashable, Sendable, Codable {
    public enum Cause: String, Hashable, Sendable, Codable, CaseIterable {
        /// More events would be deleted than the brake allows.
        case deletions
        /// More events are missing from the calendar than the brake allows.
        case missing
        /// The calendar reports that it is empty.
        case empty
        /// Events in the calendar carry marks that this database does not know, so the database is an older copy.
        case restored
        /// Another connection of the circle writes the same items into the calendar.
        case shared
    }

    public var causes: [Cause]
    /// The number of events that would be deleted from the calendar.
    public var deletions: Int
    /// The number of events that are missing from the calendar.
    public var missing: Int
    /// The number of items that another connection has in the calendar; nil for none.
    public var shared: Int?
}
