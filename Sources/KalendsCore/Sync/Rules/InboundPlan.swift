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

/// What has to be stored for an item after edits of its event; recurrence rules were expanded outside of any transaction.
struct InboundPlan: Sendable {
    private var draft: ItemDraft?
    /// By the original start; nil for an occurrence as the series has it.
    private var occurrences: [(start: String, new: ChangedOccurrence?)] = []
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
                occurrences.append((start.basic, nil))
                continue
            }
            guard whole.followed?.starts[start] == true else {
                // A series that moved no longer has the occurrences that its rule no longer gives.
                // Neither does one that does not take place have to be cancelled.
                if isTouched || own.status == .cancelled { continue }
                throw InboundRefusal("The appointment has no occurrence at that time.")
            }
            let content = try own.checked(originalStart: start, series: series)
            occurrences.append(
                (
                    start.basic,
                    ChangedOccurrence(
                        circleID: item.circleID, itemID: item.id, originalStart: start.basic,
                        startsAt: content.startAt.milliseconds, endsAt: content.endAt.milliseconds,
                        content: try content.stored())
                ))
        }
        for content in work.copies { copies.append((FeedLedger.makeID(), try draft(content, among: []))) }
    }

    /// Throws 409 if the series would have more changed occurrences than it may, before anything of the plan is written.
    ///
    /// - Returns: about how many bytes more the circle will have because of them.
    func check(_ seen: SeenItem, _ quotas: Quotas) throws -> Int {
        var sizes = Dictionary(
            uniqueKeysWithValues: seen.occurrences.map { (ByteString($0.originalStart), $0.content.utf8.count) })
        let before = Usage(count: sizes.count, bytes: sizes.values.reduce(0, +))
        for (start, new) in occurrences { sizes[ByteString(start)] = new?.content.utf8.count }
        let after = Usage(count: sizes.count, bytes: sizes.values.reduce(0, +))
        try quotas.check(after, more: after.count - before.count, after.bytes - before.bytes)
        return after.bytes - before.bytes + (after.count - before.count) * ChangedOccurrence.besidesContent
    }

    /// The number of occurrences, and about how many bytes of them, that are written while all other writers wait.
    private static let together = 500
    private static let mostBytes = 512 << 10

    /// The plan in parts for a transaction each: if it has many occurrences, the series is first, and loses those that it
    /// no longer has.
    var parts: [InboundPlan] {
        func size(_ occurrences: [(start: String, new: ChangedOccurrence?)]) -> Int {
            occurrences.reduce(0) { $0 + ($1.new?.content.utf8.count ?? 0) }
        }
        guard occurrences.count > Self.together || size(occurrences) > Self.mostBytes else { return [self] }
        var (first, next) = (self, self)
        (first.occurrences, first.copies) = ([], [])
        (next.draft, next.occurrences, next.copies) = (nil, [], [])
        var (parts, part, bytes) = (draft == nil ? [] : [first], next, 0)
        for occurrence in occurrences {
            if part.occurrences.count == Self.together || bytes > Self.mostBytes {
                parts.append(part)
                (part, bytes) = (next, 0)
            }
            part.occurrences.append(occurrence)
            bytes += size([occurrence])
        }
        part.copies = copies
        return parts + [part]
    }

    func write(of item: ScheduleItem, with writer: inout ScheduleWriter) throws {
        if let draft { _ = try writer.put(item.id, draft) }
        if !occurrences.isEmpty {
            try writer.put(
                occurrences.map { start, new in
                    var new = new
                    // An item that comes back has its former id.
                    new?.itemID = item.id
                    return (start, new)
                }, of: item.id)
        }
        for (id, draft) in copies { _ = try writer.put(id, draft) }
    }
}
