// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import FeedTokens
import ICalBridge
import Storage

extension DatabaseSyncStore {
    /// The item was changed after the inbound change was worked out.
    private struct ChangedMeanwhile: Error {}

    /// An item as it was read, with everything its change depends on.
    private struct Seen: Equatable {
        let item: ScheduleItem
        let occurrences: [ChangedOccurrence]

        init?(_ key: ItemKey, in circle: String, _ kinds: ItemKinds, _ transaction: any ReadTransaction) throws {
            guard let kind = kinds[key.collection], let item = try transaction.item(key.id, kind.collection, in: circle)
            else { return nil }
            self.item = item
            occurrences = item.hasOccurrences ? try transaction.occurrences(of: key.id, in: circle) : []
        }
    }

    /// What has to be stored; recurrence rules were expanded outside of any transaction.
    private struct Plan: Sendable {
        var draft: ItemDraft?
        var occurrences: [(start: Instant, content: OccurrenceContent?)] = []
        var copies: [(id: String, draft: ItemDraft)] = []
    }

    /// The most edits of one transaction: each writes the item and one of its occurrences.
    private static let editsAtOnce = 200

    /// A change of very many occurrences is applied in several transactions, of which the last stores the batch: what
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
        let found: (Seen, CircleNames)? = try await services.store.read { [kinds = parts.kinds] transaction in
            guard try transaction.circle(circle) != nil,
                let seen = try Seen(change.item, in: circle, kinds, transaction)
            else { return nil }
            return (seen, try CircleNames(circle, in: transaction))
        }
        guard let (seen, names) = found, seen.item.sequence == change.revision else { return .changedMeanwhile }
        do {
            let plan = try self.plan(change.edits, seen, names)
            return try await store(plan, change, seen, batch)
        } catch is ChangedMeanwhile {
            return .changedMeanwhile
        } catch let refusal as InboundRefusal {
            return .refused(refusal.sentence)
        } catch let refusal as Refusal {
            return .refused(refusal.faults.first?.message ?? refusal.detail)
        }
    }

    private func plan(_ edits: [InboundChange.Edit], _ seen: Seen, _ names: CircleNames) throws -> Plan {
        let item = seen.item
        var work = try InboundEdits(item, seen.occurrences, names, parts)
        for edit in edits { try work.take(edit) }
        var budget = RecurrenceBudget(steps: SeriesWork.ofFile)
        func draft(_ content: any ItemContent, among starts: [Instant]) throws -> ItemDraft {
            var draft = ItemDraft(content, in: parts.zone)
            draft.follow(in: parts.zone, changed: starts.map(\.basic), budget: &budget)
            guard draft.faults.isEmpty else { throw Refusal.invalid(draft.faults) }
            return draft
        }
        var plan = Plan()
        let starts = Array(work.occurrences.keys).sorted()
        let isTouched = try !work.content.isSame(as: parts.kinds.content(of: item))
        let whole = try draft(
            work.content, among: starts + seen.occurrences.compactMap { Instant(basic: $0.originalStart) })
        if isTouched { plan.draft = whole }
        for start in starts {
            guard let series = whole.content as? AppointmentContent, case .some(let own) = work.occurrences[start]
            else {
                continue
            }
            guard let own else {
                plan.occurrences.append((start, nil))
                continue
            }
            guard whole.followed?.starts[start] == true else {
                // A series that moved no longer has the occurrences that its rule no longer gives.
                // Neither does one that does not take place have to be cancelled.
                if isTouched || own.status == .cancelled { continue }
                throw InboundRefusal("The appointment has no occurrence at that time.")
            }
            plan.occurrences.append((start, try own.checked(originalStart: start, series: series)))
        }
        for content in work.copies {
            plan.copies.append((FeedLedger.makeID(), try draft(content, among: [])))
        }
        return plan
    }

    private func store(
        _ plan: Plan, _ change: InboundChange, _ seen: Seen, _ batch: SyncBatch
    ) async throws -> InboundAnswer {
        let (connection, user) = (parts.connection, parts.connection.userID)
        let batch = try StoredBatch(batch, of: connection.id)
        let caller = Caller(
            .user(user), actor: person?.actor ?? AuditActor(user: user), way: person?.way ?? connection.provider.way)
        let quotas = services.settings.quotas.held(to: caller.identity)
        return try await services.acts.act(on: .circle(connection.circleID, .write), for: caller) { act in
            let (transaction, now) = (act.transaction, act.now)
            try checkTurn(in: transaction, now: now)
            guard try Seen(change.item, in: connection.circleID, parts.kinds, transaction) == seen else {
                throw ChangedMeanwhile()
            }
            var writer = try ScheduleWriter(circle: act.circle, quotas: quotas, transaction: transaction, now: now)
            try write(plan, of: seen.item, with: &writer, quotas)
            try writer.finish()
            try transaction.keep(batch, of: connection.id, by: person?.actor.text, now: now)
            guard let stored = try Seen(change.item, in: connection.circleID, parts.kinds, transaction),
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

    private func write(
        _ plan: Plan, of item: ScheduleItem, with writer: inout ScheduleWriter, _ quotas: Quotas
    ) throws {
        if let draft = plan.draft { _ = try writer.put(item.id, draft) }
        let transaction = writer.transaction
        var count: Int?
        for (start, content) in plan.occurrences {
            let old = try transaction.occurrence(start.basic, of: item.id, in: item.circleID)
            guard let content else {
                if let old { try writer.delete(old) }
                continue
            }
            if old == nil {
                let known = try count ?? transaction.occurrenceCount(of: item.id, in: item.circleID)
                guard known < quotas.occurrencesPerItem else {
                    throw Refusal.quota("A series has", quotas.occurrencesPerItem, "changed occurrences")
                }
                count = known + 1
            }
            let new = ChangedOccurrence(
                circleID: item.circleID, itemID: item.id, originalStart: start.basic,
                startsAt: content.startAt.milliseconds, endsAt: content.endAt.milliseconds,
                content: try content.stored())
            if old?.content != new.content { try writer.put(new) }
        }
        for (id, draft) in plan.copies { _ = try writer.put(id, draft) }
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
