// SPDX-License-Identifier: Apache-2.0

package import CalendarSync
import FeedTokens
import ICalBridge
import Storage

/// Runs that people request: begins, previews, approves and undoes them.
package struct Syncing: Sendable {
    let context: SyncContext

    /// Makes a connection run as soon as possible; returns the id of the new run, or of the one that is in progress.
    ///
    /// Throws 409 while a run is held, and for a connection that the server does not run; 503 while the provider has
    /// asked the account to wait.
    package func begin(_ id: String, for caller: Caller) async throws -> String {
        let (new, sync) = (FeedLedger.makeID(), context.sync)
        let run = try await context.acts.act(on: .connection(id), for: caller) { act in
            let (own, transaction, now) = (act.target, act.transaction, act.now)
            try Self.checkRuns(own)
            if let running = try transaction.syncRuns(of: id, in: .running).first { return .unchanged(running.id) }
            try Self.checkNotHeld(id, transaction)
            if let seconds = sync.wait(of: own, now: now) { throw Refusal.accountWaits(own.provider, seconds) }
            try sync.requestLimit.take(own.userID, now: now, "A user's calendars are kept in step")
            let record = RunRecord(
                id: new, trigger: own.lastSyncAt == nil ? .first : .manual, startedAt: Instant(milliseconds: now))
            try transaction.promise(
                record, PendingSync(connectionID: id, kind: .manual, runID: new, dueAt: now), now: now)
            return .unnoted("The connection's runs list it.", new)
        }
        context.sync.wake()
        return run
    }

    /// Previews a run; nothing is written.
    ///
    /// - Parameter show: makes the result while there is memory for the whole preview.
    package func preview<Shown: Sendable>(
        _ id: String, for caller: Caller, _ show: (SyncRun.Preview) async throws -> Shown
    ) async throws -> Shown {
        let settings = context.settings
        let parts = try await context.store.read { transaction in
            let own = try Rights.connection(id, for: caller.identity, in: transaction)
            try Self.checkRuns(own)
            if let sentence = try settings.quotas.conflictsInTheWay(of: id, in: transaction) {
                throw Refusal.conflict(sentence, code: .connectionInactive)
            }
            return try ConnectionParts(own, in: transaction, settings)
        }
        try context.sync.users.take(
            parts.connection.userID, now: context.now(), "A user's calendars can be looked through")
        let slot = try await context.sync.answers.ask(ConnectionProviders.sender(parts.connection))
        let room = try await context.room(forRunOf: parts.connection)
        defer { withExtendedLifetime((slot, room)) {} }
        let store = DatabaseSyncStore(context: context, parts: parts, holder: nil)
        do {
            let opened = try await context.calendars.open(parts.connection, isQuestion: true)
            var preview = try await SyncRun(context, opened, store).preview()
            if caller.identity.bound != nil { preview.items.removeAll { !caller.identity.mayKnow($0.item) } }
            return try await show(preview)
        } catch let failure as ProviderFailure {
            throw Refusal(failure)
        }
    }

    /// Lets a held run make the changes that it was held for, and no others; returns its id.
    package func approve(_ run: String, for caller: Caller) async throws -> String {
        let connection = try await connection(ofRun: run)
        let held = try await context.acts.act(on: .connection(connection, of: .run), for: caller) { act in
            let (transaction, now) = (act.transaction, act.now)
            guard var row = try transaction.syncRun(run) else { throw Refusal.missing(.run) }
            try Self.checkRuns(act.target)
            guard row.state == .held else {
                throw Refusal.conflict("This run is \(row.state.rawValue), not held.", code: .runState)
            }
            // A promised run that undoes another would lose its turn and become an ordinary run.
            guard try transaction.syncRuns(of: connection, in: .running).isEmpty else { throw Refusal.runUnderWay }
            var record: RunRecord = try storedRecord(row.content)
            record.state = .running
            row.state = .running
            row.approvedAt = now
            row.content = try SyncContent.text(record)
            try transaction.putSyncRun(row, RunCounts(record), now: now)
            try transaction.putPendingSync(
                PendingSync(connectionID: connection, kind: .approved, runID: run, dueAt: now))
            return ActResult(run, noting: AuditNote(.runApproved, run, detail: ["connection": .string(connection)]))
        }
        context.sync.wake()
        return held
    }

    /// Requests that a run is undone, except for what was changed since; returns the id of the run that undoes it.
    package func undo(_ run: String, for caller: Caller) async throws -> String {
        let (connection, new) = (try await connection(ofRun: run), FeedLedger.makeID())
        let undoing = try await context.acts.act(on: .connection(connection, of: .run), for: caller) { act in
            let (transaction, now) = (act.transaction, act.now)
            guard let row = try transaction.syncRun(run) else { throw Refusal.missing(.run) }
            try Self.checkRuns(act.target)
            guard row.state.isOver else {
                throw Refusal.conflict(
                    "This run is \(row.state.rawValue): only a run that has ended can be undone.", code: .runState)
            }
            guard try transaction.syncRuns(of: connection, in: .running).isEmpty else { throw Refusal.runUnderWay }
            let record = RunRecord(id: new, trigger: .manual, startedAt: Instant(milliseconds: now))
            let pendingRun = PendingSync(
                connectionID: connection, kind: .undo, runID: new, undoneRunID: run, dueAt: now)
            try transaction.promise(record, pendingRun, approvedAt: now, now: now)
            return ActResult(
                new,
                noting: AuditNote(.runUndone, run, detail: ["connection": .string(connection), "by": .string(new)]))
        }
        context.sync.wake()
        return undoing
    }

    private func connection(ofRun run: String) async throws -> String {
        guard let row = try await context.store.read({ try $0.syncRun(run) }) else { throw Refusal.missing(.run) }
        return row.connectionID
    }

    /// Throws 409 for a connection that the server does not run.
    static func checkRuns(_ own: Connection) throws {
        let reason: String
        switch own.state {
        case .active: return
        case .paused: reason = "This connection is paused. Resume it first."
        case .needsReconnect: reason = "This connection has to be signed in again before it runs."
        case .unauthorized: reason = "This connection has no account: its user has to sign in, or to give one, first."
        case .choosing: reason = "This connection has no calendar: its user has to choose one first."
        case .calendarGone: reason = "This connection's calendar is gone: choose another one."
        }
        throw Refusal.conflict(reason, code: .connectionInactive)
    }

    private static func checkNotHeld(_ id: String, _ transaction: any ReadTransaction) throws {
        guard let held = try transaction.heldRun(ofConnection: id) else { return }
        throw Refusal.conflict(
            "The run \(held.id) is held until somebody approves it.", code: .runHeld, extra: .run(held.id)
        )
    }
}

extension Quotas {
    /// What a person has to decide before a connection can run, in a sentence; nil when it can.
    func conflictsInTheWay(of connection: String, in transaction: any ReadTransaction) throws -> String? {
        let size = try transaction.openConflictSize(of: connection)
        guard size.count >= conflictsPerConnection || size.bytes >= conflictBytesPerConnection else { return nil }
        return "\(size.count) conflicts wait for a decision. Resolve or dismiss some, then it runs again."
    }
}

extension Refusal {
    fileprivate static func accountWaits(_ provider: Connection.Provider, _ seconds: Int) -> Refusal {
        Refusal(
            .unavailable, code: .providerUnreachable,
            detail: "\(provider.name) has asked this account to wait for another \(seconds) seconds.",
            retryAfter: seconds)
    }

    static let runUnderWay = Refusal(
        .conflict, code: .runUnderWay,
        detail: "A run of this connection is under way. Ask again when it has ended.", retryAfter: 10)
}

extension WriteTransaction {
    /// Stores a future run and schedules it.
    fileprivate func promise(_ record: RunRecord, _ pendingRun: PendingSync, approvedAt: Int? = nil, now: Int) throws {
        var row = try SyncRunRow(record, of: pendingRun.connectionID)
        row.approvedAt = approvedAt
        try putSyncRun(row, RunCounts(record), now: now)
        try putPendingSync(pendingRun)
    }
}
