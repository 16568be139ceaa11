// SPDX-License-Identifier: Apache-2.0

package import CalendarSync
import FeedTokens
import ICalBridge
import Storage

/// Applies people's decisions about conflicts.
package struct Resolving: Sendable {
    let context: SyncContext

    /// How often a decision is tried when the conflict's item changes at the same time.
    private static let tries = 3
    /// Milliseconds to wait for a run that is in progress.
    private static let patience = 10_000

    /// Decides for one side, or for both. Throws 422 for both sides where only one can be kept, and 409 for a conflict
    /// that was already decided or is outdated by later changes.
    package func resolve(_ id: String, _ keep: Resolution.Keep, for caller: Caller) async throws {
        try await decide(id, for: caller) { store, record in
            var record = record
            if keep == .calendar, record.state == .open, let left = try await rescued(record, store) {
                guard left.state == .open else {
                    throw Refusal.conflict(
                        "The event is in the calendar again. The next run closes this conflict.", code: .conflictState)
                }
                record = left
            }
            for _ in 0..<Self.tries {
                let (link, ours) = try await state(of: record.item, store)
                let resolution: Resolution
                do throws(Resolution.Problem) {
                    resolution = try record.resolution(
                        keep, link: link, item: ours, at: Instant(milliseconds: context.now()))
                } catch {
                    throw Self.refusal(of: error)
                }
                var batch = SyncBatch()
                batch.conflicts = [resolution.conflict]
                if let link = resolution.link { batch.links = [link] }
                guard let change = resolution.change else {
                    return try await commit(batch, store, id, keep.rawValue, for: caller)
                }
                switch try await store.apply(change, recording: batch) {
                case .applied: return
                case .changedMeanwhile: continue
                case .refused(let sentence): throw Refusal.conflict(sentence, code: .conflictState)
                }
            }
            throw Refusal(
                .conflict, code: .conflictState, detail: "The item keeps changing. Ask again.", retryAfter: 2)
        }
    }

    /// Closes a conflict and leaves the engine's decision as it is.
    package func dismiss(_ id: String, for caller: Caller) async throws {
        try await decide(id, for: caller) { store, record in
            guard record.state == .open else { throw Self.refusal(of: .outdated) }
            var batch = SyncBatch()
            batch.conflicts = [record.dismissed(at: Instant(milliseconds: context.now()))]
            try await commit(batch, store, id, "dismissed", for: caller)
        }
    }

    /// Looks whether an event that was deleted in the calendar, or some of its occurrences, have come back since: what
    /// somebody took out of the bin is not to be cancelled here. Returns the record without those, settled if all of
    /// them exist again; nil for none. Throws what the provider fails with.
    private func rescued(_ record: ConflictRecord, _ store: DatabaseSyncStore) async throws -> ConflictRecord? {
        let connection = store.parts.connection
        guard record.kind == .deletedThere, let calendar = connection.calendarID, connection.state == .active,
            let link = try await state(of: record.item, store).0, let id = link.externalID ?? link.lastID
        else { return nil }
        do {
            let provider = try await context.calendars.open(connection, isQuestion: true).provider
            guard case .present(let event)? = try await provider.look(at: [id], in: calendar).first?.look else {
                return nil
            }
            let now = Instant(milliseconds: context.now())
            guard case .entry(let entry) = event.content else {
                return record.starts.isEmpty ? record.without([], at: now) : nil
            }
            let there = entry.canonical
            return record.without(record.starts.filter { there.effective(at: $0) != nil }, at: now)
        } catch let failure as ProviderFailure {
            // Nothing comes back in a calendar that is gone.
            if failure.kind == .calendarMissing { return nil }
            if failure.kind == .unauthorized { await context.grants.markDead(connection.id) }
            throw Refusal(failure)
        }
    }

    private static func refusal(of problem: Resolution.Problem) -> Refusal {
        switch problem {
        case .notBoth:
            .invalid("/keep", code: .notAChoice, "Both are kept only for an appointment that was moved on both sides.")
        case .tooManyCopies:
            .invalid(
                "/keep", code: .notAChoice,
                "Both times are kept of at most \(Resolution.mostCopies) occurrences at once.")
        case .outdated:
            .conflict("This conflict is already resolved, or something has changed since.", code: .conflictState)
        }
    }

    /// Stores a decision that changes no item.
    private func commit(
        _ batch: SyncBatch, _ store: DatabaseSyncStore, _ id: String, _ outcome: String, for caller: Caller
    ) async throws {
        let connection = store.parts.connection.id
        let batch = try StoredBatch(batch, of: connection)
        try await context.acts.act(on: .connection(connection, of: .conflict), for: caller) { act in
            try store.checkTurn(in: act.transaction, now: act.now)
            try act.transaction.keep(batch, of: connection, by: caller.actor.text, now: act.now)
            return ActResult(
                noting: AuditNote(
                    .conflictResolved, id, detail: ["connection": .string(connection), "outcome": .string(outcome)]))
        }
    }

    private func state(of item: ItemKey, _ store: DatabaseSyncStore) async throws -> (Link?, Ours?) {
        let connection = store.parts.connection.id
        let link: Link? = try await context.store.read { transaction in
            try transaction.syncLink(
                of: connection, item.collection.rawValue, item.id, item.occurrence?.basic ?? ""
            )
            .map { try storedRecord($0.content) }
        }
        return (link, try await store.desired().items.first { $0.item == item.whole })
    }

    /// Decides a conflict while it holds the connection's lease, and makes the connection run soon.
    private func decide(
        _ id: String, for caller: Caller, _ work: (DatabaseSyncStore, ConflictRecord) async throws -> Void
    ) async throws {
        let own = try await find(id, for: caller)
        try await alone(own, for: caller) { store in
            let row = try await context.store.read { try $0.syncConflict(id, of: own.id) }
            guard let row else { throw Refusal.missing(.conflict) }
            try await work(store, try storedRecord(row.content))
            let now = context.now()
            try await context.store.record { transaction in
                guard var soon = try transaction.connection(own.id) else { return }
                soon.comeSoon(now: now)
                try transaction.recordConnection(soon)
            }
        }
    }

    /// Returns the connection of a conflict; throws 404 for a connection that is not the caller's.
    private func find(_ id: String, for caller: Caller) async throws -> Connection {
        try await context.store.read { transaction in
            for row in try transaction.syncConflicts(id) {
                if let own = try? Rights.connection(
                    row.connectionID, for: caller.identity, of: .conflict, in: transaction)
                {
                    return own
                }
            }
            throw Refusal.missing(.conflict)
        }
    }

    /// Runs work while it holds the connection's lease; throws 409 when a run keeps the lease for too long.
    private func alone<Value>(
        _ own: Connection, for caller: Caller, _ work: (DatabaseSyncStore) async throws -> Value
    ) async throws -> Value {
        let (holder, settings) = (FeedLedger.makeID(), context.settings)
        let slot = try await context.sync.answers.ask(ConnectionProviders.sender(own))
        let room = try await context.room(forRunOf: own)
        defer { withExtendedLifetime((slot, room)) {} }
        for _ in 0..<Self.patience / 50 {
            let now = context.now()
            // Whoever waits only reads: a run may take long to end, and many people may wait for theirs.
            guard try await !context.store.read({ try $0.hasSyncLease(own.id, now: now) }) else {
                try await Task.sleep(for: .milliseconds(50))
                continue
            }
            let parts: ConnectionParts? = try await context.store.record { transaction in
                guard
                    try transaction.takeSyncLease(
                        of: own.id, for: holder, until: now + DatabaseSyncStore.leaseTime, now: now)
                else { return nil }
                return try ConnectionParts(own, in: transaction, settings)
            }
            guard let parts else {
                try await Task.sleep(for: .milliseconds(50))
                continue
            }
            let store = DatabaseSyncStore(context: context, parts: parts, holder: holder, person: caller)
            let result: Result<Value, any Error>
            do {
                result = .success(try await work(store))
            } catch {
                result = .failure(error)
            }
            do {
                try await context.store.record { try $0.endSyncLease(of: own.id, for: holder) }
            } catch {
                context.sync.giveBack(own.id, of: holder, in: context.store)
                throw error
            }
            context.sync.wake()
            return try result.get()
        }
        throw Refusal.runUnderWay
    }
}
