// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage

extension DatabaseSyncStore {
    /// The item was changed after the inbound change was worked out.
    private struct ChangedMeanwhile: Error {}

    /// The maximum number of edits in one transaction: each writes the item and one of its occurrences.
    private static let editsAtOnce = 200

    /// A change of very many occurrences is applied in several transactions, the last of which stores the batch: what
    /// was applied before a break is what both sides have when it is worked out again.
    func apply(_ change: InboundChange, recording batch: SyncBatch) async throws -> InboundAnswer {
        var change = change
        while change.edits.count > Self.editsAtOnce {
            var part = change
            part.edits = Array(change.edits.prefix(Self.editsAtOnce))
            let answer = try await applyAtOnce(part, recording: SyncBatch())
            guard case .applied(let ours) = answer else { return answer }
            change.edits.removeFirst(Self.editsAtOnce)
            change.revision = ours.revision
        }
        return try await applyAtOnce(change, recording: batch)
    }

    private func applyAtOnce(_ change: InboundChange, recording batch: SyncBatch) async throws -> InboundAnswer {
        let circle = parts.connection.circleID
        let found: (SeenItem, CircleNames)? = try await context.store.read { [kinds = parts.kinds] transaction in
            guard try transaction.circle(circle) != nil,
                let seen = try SeenItem(change.item, in: circle, kinds, transaction)
            else { return nil }
            return (seen, try CircleNames(circle, in: transaction))
        }
        guard let (seen, names) = found, seen.item.sequence == change.revision else { return .changedMeanwhile }
        do {
            var work = try InboundEdits(seen.item, seen.occurrences, names, InboundView(parts))
            for edit in change.edits { try work.take(edit) }
            let plan = try InboundPlan(work, seen)
            return try await store(plan, change, seen, batch)
        } catch is ChangedMeanwhile {
            return .changedMeanwhile
        } catch let refusal as InboundRefusal {
            return .refused(refusal.sentence)
        } catch let refusal as Refusal {
            return .refused(refusal.faults.first?.message ?? refusal.detail)
        }
    }

    private func store(
        _ plan: InboundPlan, _ change: InboundChange, _ seen: SeenItem, _ batch: SyncBatch
    ) async throws -> InboundAnswer {
        let (connection, user) = (parts.connection, parts.connection.userID)
        let batch = try StoredBatch(batch, of: connection.id)
        let caller = Caller(
            .user(user), actor: person?.actor ?? AuditActor(user: user), way: person?.way ?? connection.provider.way)
        let quotas = context.settings.quotas.clamped(to: caller.identity)
        return try await context.acts.act(on: .circle(connection.circleID, .write), for: caller) { act in
            let (transaction, now) = (act.transaction, act.now)
            try checkTurn(in: transaction, now: now)
            guard try SeenItem(change.item, in: connection.circleID, parts.kinds, transaction) == seen else {
                throw ChangedMeanwhile()
            }
            let wish = try transaction.pendingSync(of: connection.id)
            var writer = try ScheduleWriter(circle: act.circle, quotas: quotas, transaction: transaction, now: now)
            try plan.write(of: seen.item, with: &writer)
            try writer.finish()
            try transaction.restorePendingSync(wish, of: connection.id)
            try transaction.keep(batch, of: connection.id, by: person?.actor.text, now: now)
            guard let stored = try SeenItem(change.item, in: connection.circleID, parts.kinds, transaction),
                let entry = try parts.entry(
                    of: stored.item, parts.kinds.content(of: stored.item), stored.occurrences,
                    parts.builder(CircleNames(connection.circleID, in: transaction))),
                let ours = Ours(stored.item, entry)
            else { throw ChangedMeanwhile() }
            return ActResult(
                .applied(ours),
                noting: AuditNote(
                    .connectionApplied, connection.id,
                    detail: [
                        "collection": .string(change.item.collection.rawValue), "item": .string(change.item.id),
                        "reason": .string(change.reason),
                    ]))
        }
    }
}

extension Connection.Provider {
    /// The way by which changes of its calendars come in.
    fileprivate var way: ChangeAuthor.Way {
        switch self {
        case .google: .google
        case .outlook: .outlook
        case .caldav: .caldav
        case .apple: .phone
        }
    }
}
