// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FeedTokens
import ICalBridge
import Logging
import Storage

/// One run of a connection, from taking the lease to storing the result.
struct ConnectionRun {
    let context: SyncContext
    let logger: Logger
    let id: String

    /// The state with which a run begins.
    struct Start: Sendable {
        var parts: ConnectionParts
        var record: RunRecord
        var pendingRun: PendingSync?
        var isApproved: Bool
    }

    /// How a run ended.
    enum End: Sendable {
        case outcome(SyncRun.Outcome)
        /// The account could not be opened, or its calendar is missing.
        case failure(ProviderFailure)
        /// The server itself failed; the value is a sentence for people.
        case fault(String)
    }

    /// The time between two renewals of the lease during a long run.
    private static let heartbeat = Duration.milliseconds(DatabaseSyncStore.leaseTime / 3)

    /// Runs to the end and stores the result; returns false if there was nothing to run.
    @discardableResult
    func go() async throws -> Bool {
        do {
            return try await DatabaseCaller.$current.withValue(DatabaseCaller()) { try await goOnce() }
        } catch {
            // The result could not be stored, nor the lease given back: the database cannot be reached or is full, or
            // another server does the user's work.
            context.sync.giveBack(id, of: context.sync.holder, in: context.store)
            throw error
        }
    }

    private func goOnce() async throws -> Bool {
        // Room is taken before the lease, because a connection that waits for room is still due.
        guard let room = try await room(), let start = try await begin() else { return false }
        defer { withExtendedLifetime(room) {} }
        if let sentence = try await wants(start) {
            try await settle(start, .fault(sentence), nil)
            return true
        }
        var opened: OpenedCalendar?
        let end: End
        do {
            let calendar = try await context.calendars.open(start.parts.connection, isQuestion: false)
            opened = calendar
            end = .outcome(try await beating { try await run(start, calendar) })
        } catch let failure as ProviderFailure {
            end = .failure(failure)
        } catch is CancellationError {
            // The run continues after the server starts again.
            try await release()
            return true
        } catch is SyncInterruption {
            try await abandon(start)
            return true
        } catch StorageError.leaseLost {
            // Another server continues the run, and this one stores nothing more of it.
            throw StorageError.leaseLost
        } catch {
            if Task.isCancelled {
                try await release()
                return true
            }
            logger.error(
                "a connection cannot be kept in step",
                metadata: ["connection": "\(id)", "error": "\(publicText(error))"])
            end = .fault("The server could not do it. Its log has the details.")
        }
        if Task.isCancelled, case .outcome(let outcome) = end, outcome.failure != nil {
            try await release()
            return true
        }
        try await settle(start, end, opened)
        return true
    }

    // MARK: Beginning

    /// What a person has to do before the connection can run, in a sentence; nil when it can. The last run always can.
    private func wants(_ start: Start) async throws -> String? {
        guard start.parts.connection.ending == nil else { return nil }
        let quotas = context.settings.quotas
        return try await context.store.read { try quotas.conflictsInTheWay(of: id, in: $0) }
    }

    /// Takes room for what the run compares; returns nil if others keep it for too long, or if there is nothing to run.
    private func room() async throws -> RunRoom? {
        guard let own = try await context.store.read({ try $0.connectionEverKnown(id) }) else { return nil }
        DatabaseCaller.current?.name = Sender(user: own.userID, host: nil).caller
        do {
            return try await context.room(forRunOf: own)
        } catch let refusal as Refusal where refusal.code == .busy {
            return nil
        }
    }

    private func begin() async throws -> Start? {
        let (now, holder, settings) = (context.now(), context.sync.holder, context.settings)
        let newID = FeedLedger.makeID()
        await context.sync.keep(id, of: holder)
        return try await context.store.record { transaction in
            guard let own = try transaction.connectionEverKnown(id), own.ending != .records,
                own.ending != nil || own.state == .active,
                try transaction.takeSyncLease(
                    of: id, for: holder, until: now + DatabaseSyncStore.leaseTime, now: now)
            else { return nil }
            let pendingRun = own.ending == nil ? try transaction.pendingSync(of: id) : nil
            let row = try Self.unfinished(pendingRun, of: id, transaction)
            var record: RunRecord
            if let row {
                record = try storedRecord(row.content)
                record.state = .running
                (record.endedAt, record.error, record.problem) = (nil, nil, nil)
            } else {
                let trigger: RunRecord.Trigger =
                    switch pendingRun?.kind {
                    case .push: .push
                    case .manual, .approved, .undo: .manual
                    case .change, nil: own.lastSyncAt == nil ? .first : .schedule
                    }
                record = RunRecord(id: newID, trigger: trigger, startedAt: Instant(milliseconds: now))
            }
            try transaction.keep(record, of: id, now: now)
            return Start(
                parts: try ConnectionParts(own, in: transaction, settings), record: record, pendingRun: pendingRun,
                isApproved: row?.approvedAt != nil)
        }
    }

    /// Returns the run that was promised, is held, or was interrupted when a server ended; nil if a new one begins.
    private static func unfinished(
        _ pendingRun: PendingSync?, of id: String, _ transaction: any ReadTransaction
    ) throws -> SyncRunRow? {
        if let promised = try pendingRun?.runID.flatMap({ try transaction.syncRun($0) }), !promised.state.isOver {
            return promised
        }
        if let broken = try transaction.syncRuns(of: id, in: .running).first { return broken }
        // A held run is examined again, because the reason for holding it may be gone.
        return try transaction.syncRuns(of: id, in: .held).first
    }

    // MARK: Running

    private func run(_ start: Start, _ calendar: OpenedCalendar) async throws -> SyncRun.Outcome {
        let store = DatabaseSyncStore(context: context, parts: start.parts, holder: context.sync.holder)
        let sync = try SyncRun(context, calendar, store)
        if let pendingRun = start.pendingRun, pendingRun.kind == .undo, let undone = pendingRun.undoneRunID {
            return try await sync.undo(run: undone, as: start.record)
        }
        return try await sync.run(start.record, isApproved: start.isApproved)
    }

    /// Renews the lease while the work goes on, however long the provider takes.
    private func beating<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask { [context, id] in
                while true {
                    try await Task.sleep(for: Self.heartbeat)
                    let (now, holder) = (context.now(), context.sync.holder)
                    let isOurs = try await context.store.record {
                        try $0.takeSyncLease(
                            of: id, for: holder, until: now + DatabaseSyncStore.leaseTime, now: now)
                    }
                    guard isOurs else { throw SyncInterruption.leaseLost }
                }
            }
            defer { group.cancelAll() }
            while let value = try await group.next() {
                if let value { return value }
            }
            throw CancellationError()
        }
    }

    /// Gives the lease back and leaves the run as it is.
    private func release() async throws {
        let holder = context.sync.holder
        // A separate task, so that the lease is given back even if this one was cancelled.
        try await Task { [context, id] in
            // The lease belongs to this holder, even if another server now does the other work.
            try await HeldLeases.$current.withValue([]) {
                try await context.store.record { try $0.endSyncLease(of: id, for: holder) }
            }
        }.value
    }

    /// Ends a run whose connection now has another calendar, or none.
    private func abandon(_ start: Start) async throws {
        let (now, holder) = (context.now(), context.sync.holder)
        var record = start.record
        (record.state, record.status, record.endedAt) = (.failed, .failed, Instant(milliseconds: now))
        record.note(.changedMeanwhile, "The connection was changed while the run was under way.")
        try await context.store.record { [record] transaction in
            guard try transaction.connectionEverKnown(id) != nil,
                try transaction.takeSyncLease(of: id, for: holder, until: now + 1, now: now)
            else { return }
            if let row = try transaction.syncRun(record.id), !row.state.isOver {
                try transaction.keep(record, of: id, now: now)
            }
            if let pendingRun = start.pendingRun { try transaction.deletePendingSync(pendingRun) }
            try transaction.endSyncLease(of: id, for: holder)
        }
    }
}

extension SyncRun {
    /// Creates the engine's run for one connection.
    init(
        _ context: SyncContext, _ calendar: OpenedCalendar, _ store: DatabaseSyncStore
    ) throws {
        let (parts, connection) = (store.parts, store.parts.connection)
        let window = parts.window(now: context.now())
        var purpose = SyncPolicy.Purpose.sync
        switch connection.ending {
        case .all, .records: purpose = .removal(from: nil)
        case .future:
            let day = FeedDay(parts.zone, now: connection.endingAt ?? context.now())
            purpose = .removal(from: Instant(milliseconds: day.from))
        case nil: break
        }
        let now = context.now
        self.init(
            provider: calendar.provider, store: store,
            policy: SyncPolicy(
                installation: parts.installation, connection: connection.id, circle: connection.circleID,
                formerConnections: parts.former, otherConnections: parts.others, sharesIt: parts.sharesIt,
                fingerprint: try parts.fingerprint(),
                window: window.times,
                twoWay: parts.configuration.twoWay && parts.mayWrite, purpose: purpose),
            now: { Instant(milliseconds: now()) }, makeID: { FeedLedger.makeID() }, requests: calendar.requests)
    }
}
