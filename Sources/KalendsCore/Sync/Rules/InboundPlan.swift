// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FeedTokens
import ICalBridge
import Storage

/// An item as it was read, with everything that a change of it depends on.
struct SeenItem: Equatable, Sendable {
    let item: ScheduleItem
    let occurrences: [ChangedOccurrence]

    /// Returns nil for an item that does not exist.
    init?(_ key: ItemKey, in circle: String, _ kinds: ItemKinds, _ transaction: any ReadTransaction) throws {
        guard let kind = kinds[key.collection], let item = try transaction.item(key.id, kind.collection, in: circle)
        else { return nil }
        try self.init(item, transaction)
    }

    init(_ item: ScheduleItem, _ occurrences: [ChangedOccurrence]) {
        (self.item, self.occurrences) = (item, occurrences)
    }

    init(_ item: ScheduleItem, _ transaction: any ReadTransaction) throws {
        self.item = item
        occurrences = item.hasOccurrences ? try transaction.occurrences(of: item.id, in: item.circleID) : []
    }
}

/// What has to be stored of an item after edits of its event; recurrence rules were expanded outside of any transaction.
struct InboundPlan: Sendable {
    private var draft: ItemDraft?
    private var occurrences: [(start: Instant, content: OccurrenceContent?)] = []
    private var copies: [(id: String, draft: ItemDraft)] = []

    /// - Parameter work: the edits that were taken.
    init(_ work: InboundEdits, _ seen: SeenItem) throws {
        let (item, view) = (seen.item, work.view)
        var budget = RecurrenceBudget(steps: SeriesWork.ofFile)
        func draft(_ content: any ItemContent, among starts: [Instant]) throws -> ItemDraft {
            var draft = ItemDraft(content, in: view.zone)
            draft.follow(in: view.zone, changed: starts.map(\.basic), budget: &budget)
            guard draft.faults.isEmpty else { throw Refusal.invalid(draft.faults) }
            return draft
        }
        let starts = Array(work.occurrences.keys).sorted()
        let isTouched = try !work.content.isSame(as: view.kinds.content(of: item))
        let whole = try draft(
            work.content, among: starts + seen.occurrences.compactMap { Instant(basic: $0.originalStart) })
        if isTouched { self.draft = whole }
        for start in starts {
            guard let series = whole.content as? AppointmentContent, case .some(let own) = work.occurrences[start]
            else {
                continue
            }
            guard let own else {
                occurrences.append((start, nil))
                continue
            }
            guard whole.followed?.starts[start] == true else {
                // A series that moved no longer has the occurrences that its rule no longer gives.
                // Neither does one that does not take place have to be cancelled.
                if isTouched || own.status == .cancelled { continue }
                throw InboundRefusal("The appointment has no occurrence at that time.")
            }
            occurrences.append((start, try own.checked(originalStart: start, series: series)))
        }
        for content in work.copies { copies.append((FeedLedger.makeID(), try draft(content, among: []))) }
    }

    func write(of item: ScheduleItem, with writer: inout ScheduleWriter, _ quotas: Quotas) throws {
        if let draft { _ = try writer.put(item.id, draft) }
        let transaction = writer.transaction
        var count: Int?
        for (start, content) in occurrences {
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
        for (id, draft) in copies { _ = try writer.put(id, draft) }
    }
}
