// SPDX-License-Identifier: Apache-2.0

public import PhoneTexts

/// The stored result of the last sync, for the screens; it holds counts and no data of any event.
public struct SyncStatus: Hashable, Sendable, Codable {
    public enum Outcome: String, Hashable, Sendable, Codable, CaseIterable { case success, partial, failed }

    /// The counts of the last completed sync.
    public struct Counts: Hashable, Sendable, Codable {
        /// Planned events of this device that the server has now.
        public var events = 0
        public var deleted = 0
        public var upserted = 0
        /// Events that were made, changed or removed in calendars.
        public var written = 0
        /// Events that went to the server.
        public var sent = 0
        public var failed = 0

        public init() {}
    }

    /// The last full or partial success, in milliseconds since 1970; nil before the first.
    public var lastSyncAt: Int?
    /// Nil before the first sync.
    public var lastSyncStatus: Outcome?
    /// Nil after a success.
    public var lastError: SyncProblem?
    /// What prevents calendars from being read or written until a person acts.
    public var pause: SyncPause?
    public var counts = Counts()
    /// The number of failed syncs in a row.
    public var failures = 0
    /// Whether the system grants background time; nil until it was requested.
    public var canRunInBackground: Bool?

    public init() {}

    private enum CodingKeys: String, CodingKey {
        case lastSyncAt = "last_sync_at"
        case lastSyncStatus = "last_sync_status"
        case lastError = "last_error"
        case pause, counts, failures
        case canRunInBackground = "can_run_in_background"
    }

    /// Adds a sync's outcome. A sync that was interrupted without an error changes nothing.
    public mutating func take(_ outcome: SyncOutcome) {
        if outcome.isIdle {
            // The person's own choice is not a failure, and what was synced before it stays so.
            (lastError, pause, failures) = (nil, outcome.pause, 0)
        } else if let problem = outcome.problem, problem != .someFailed {
            lastError = problem
            lastSyncStatus = .failed
            pause = outcome.pause
            failures += 1
        } else if outcome.isFinished {
            lastError = outcome.problem
            lastSyncStatus = outcome.problem == nil && outcome.pause == nil ? .success : .partial
            pause = outcome.pause
            lastSyncAt = outcome.endedAt
            counts = outcome.counts
            failures = 0
        }
    }
}

/// The outcome of one sync of everything that a device keeps in step.
public struct SyncOutcome: Hashable, Sendable {
    /// Milliseconds since 1970.
    public var endedAt: Int
    /// False when the time ran out before the end.
    public var isFinished: Bool
    public var problem: SyncProblem?
    public var pause: SyncPause?
    public var counts = SyncStatus.Counts()
    /// Whether nothing was tried, because of `pause`: a person switched it off, here or on the server.
    public var isIdle = false

    public init(
        endedAt: Int, isFinished: Bool = true, problem: SyncProblem? = nil, pause: SyncPause? = nil,
        counts: SyncStatus.Counts = SyncStatus.Counts(), isIdle: Bool = false
    ) {
        self.isIdle = isIdle
        self.endedAt = endedAt
        self.isFinished = isFinished
        self.problem = problem
        self.pause = pause
        self.counts = counts
    }
}

/// Stores the status across program runs. It is read each time, because another program may have synced.
public actor StatusStore {
    private let file: PrivateFile<SyncStatus>?
    private var kept = SyncStatus()

    /// - Parameter file: nil to keep the status only in memory.
    public init(_ file: PrivateFile<SyncStatus>? = nil) { self.file = file }

    /// The stored status; one that cannot be read counts as empty, and the next sync replaces it.
    public var current: SyncStatus { file.map { (try? $0.read()) ?? SyncStatus() } ?? kept }

    @discardableResult
    public func take(_ outcome: SyncOutcome) throws -> SyncStatus { try change { $0.take(outcome) } }

    /// Stores whether the system grants background time.
    public func canRunInBackground(_ can: Bool) throws { try change { $0.canRunInBackground = can } }

    /// Deletes the status after a disconnect.
    public func clear() throws {
        kept = SyncStatus()
        try file?.remove()
    }

    @discardableResult
    private func change(_ body: (inout SyncStatus) -> Void) throws -> SyncStatus {
        let before = current
        var after = before
        body(&after)
        kept = after
        if after != before { try file?.write(after) }
        return after
    }
}
