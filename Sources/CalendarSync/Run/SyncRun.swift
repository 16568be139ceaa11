// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// Keeps one calendar in step with one connection's items.
///
/// A write is stored before it is sent, and its answer is stored with the link, the journal and the run's counts in one
/// transaction. If a run dies, the next one continues it, and asks the provider what happened before it does anything
/// else. Only one run of a connection may be under way at a time; the caller ensures that.
public struct SyncRun: Sendable {
    let provider: any CalendarProvider
    let store: any SyncStore
    let policy: SyncPolicy
    /// The server's clock.
    let now: @Sendable () -> Instant
    /// Makes identifiers that are never used twice.
    let makeID: @Sendable () -> String
    /// The number of requests that this run has sent to the provider so far.
    let requests: @Sendable () -> Int

    public init(
        provider: any CalendarProvider, store: any SyncStore, policy: SyncPolicy,
        now: @escaping @Sendable () -> Instant, makeID: @escaping @Sendable () -> String,
        requests: @escaping @Sendable () -> Int = { 0 }
    ) {
        self.provider = provider
        self.store = store
        self.policy = policy
        self.now = now
        self.makeID = makeID
        self.requests = requests
    }

    /// How a run ended.
    public struct Outcome: Sendable {
        public var record: RunRecord
        /// The failure that ended it early, for the connection's state; nil when the provider did all that was asked.
        public var failure: ProviderFailure?
    }

    /// What a run would do now.
    public struct Preview: Sendable {
        public var counts: RunRecord.Counts
        public var items: [PreviewItem]
        public var hold: Hold?
    }

    /// Runs to the end, or until a person has to approve, or until the provider fails.
    ///
    /// - Parameters:
    ///   - run: the record to continue: a new one, or a held one that was approved. It keeps its `held`.
    ///   - isApproved: whether a person approved what `run.held` says.
    /// - Throws: the errors of the store. Nothing is lost then: the next run continues from what was stored.
    public func run(_ run: RunRecord, isApproved: Bool = false) async throws -> Outcome {
        var session = try await RunSession(self, record: run)
        do {
            try await session.begin()
            try await session.settle()
            try await session.pull()
            let plan = try await session.plan(approved: isApproved ? run.held : nil)
            if let hold = plan.hold, !(isApproved && run.held?.allows(hold) == true) {
                return try await session.held(hold)
            }
            try await session.carryOut(plan)
            return try await session.finished()
        } catch let failure as ProviderFailure {
            return try await session.failed(failure)
        }
    }

    /// Returns what a run would do now; nothing is written anywhere.
    public func preview() async throws -> Preview {
        var session = try await RunSession(self, record: RunRecord(id: "", trigger: .manual, startedAt: now()))
        session.isPreview = true
        try await session.settle()
        try await session.pull()
        let plan = try await session.plan(approved: nil)
        return Preview(counts: plan.counts, items: plan.items, hold: plan.hold)
    }
}
