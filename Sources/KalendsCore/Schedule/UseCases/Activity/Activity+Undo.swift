// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

extension Activity {
    /// Undoes a change of an item or of an occurrence.
    func undoItem(
        _ number: Int, in circle: String, for caller: Caller
    ) async throws -> (entry: Entry, zone: TimeZoneReference) {
        let (kinds, keptDays) = (kinds, keptDays)
        // Rules are followed outside of the transaction, which follows them itself if something has changed by then.
        let prepared = try await acts.store.read { [acts] transaction in
            let own = try Rights.authorized(circle, for: caller.identity, .write, in: transaction)
            return try PreparedUndo(UndoPlan(number, in: own, kinds, keptDays: keptDays, now: acts.now()), in: own)
        }.followed()
        return try await acts.schedule(in: circle, for: caller, quotas) { writer in
            let transaction = writer.transaction
            let own = try Rights.authorized(circle, for: caller.identity, .write, in: transaction)
            let plan = try UndoPlan(number, in: own, kinds, keptDays: keptDays, now: writer.now)
            transaction.isMade(by: caller.author(undoing: number))
            do {
                try Self.carryOut(plan, prepared, &writer)
            } catch let refusal as Refusal where refusal.kind == .invalid {
                // Content that was valid once need not be valid now: a patient may have left, for example.
                throw Refusal.conflict(
                    "This cannot be undone any more: \(refusal.faults.first?.message ?? refusal.detail)",
                    code: .undoState)
            }
            let done = try transaction.undone(number...number, in: circle)[number]
            let change = try done.flatMap { try transaction.change($0, in: circle, seenBy: own.user) }
            guard
                let entry = try change.map({
                    try ActivityHistory(own, kinds, keptDays: keptDays, now: writer.now).entries([$0])
                })?.first
            else { throw StorageError.unexpectedResult("An undo was not kept.") }
            return (entry, writer.zone)
        }
    }

    private static func carryOut(
        _ plan: UndoPlan, _ prepared: PreparedUndo, _ writer: inout ScheduleWriter
    ) throws {
        let place = plan.place
        guard place.part.isEmpty else { return try carryOutOccurrence(plan, &writer) }
        guard let content = plan.content else {
            _ = try writer.delete(place.id, place.kind.collection)
            return
        }
        let draft = try prepared.draft(for: content) ?? ItemDraft(place.kind.init(stored: content), in: writer.zone)
        _ = try writer.put(place.id, draft)
        guard !plan.occurrences.isEmpty, let series = draft.content as? AppointmentContent else { return }
        let zone = series.zone(or: writer.zone)
        let starts = plan.occurrences.map(\.start)
        let known =
            if let followed = draft.followed, followed.timing == series.timing(in: zone) {
                Set(starts.filter { followed.starts[$0] == true })
            } else {
                series.occurrences(among: starts, in: zone)
            }
        guard let known else {
            throw Refusal.conflict("Following the rule of this series takes too much work.", code: .undoState)
        }
        try writer.restore(
            plan.occurrences.filter { known.contains($0.start) }.map { start, content in
                try ChangedOccurrence(
                    OccurrenceContent(stored: content).checked(originalStart: start, series: series), at: start,
                    of: place.id, in: writer.circle.id)
            })
    }

    private static func carryOutOccurrence(_ plan: UndoPlan, _ writer: inout ScheduleWriter) throws {
        let (place, transaction, circle) = (plan.place, writer.transaction, writer.circle.id)
        guard let content = plan.content else { return try writer.put([(place.part, nil)], of: place.id) }
        guard let item = try transaction.item(place.id, place.kind.collection, in: circle),
            let start = Instant(basic: place.part)
        else { throw Refusal.missing(place.kind.resource) }
        let series = try AppointmentContent(stored: item.content)
        guard series.hasOccurrence(at: start, in: series.zone(or: writer.zone)) == true else {
            throw Refusal.conflict("The series no longer has this occurrence.", code: .undoState)
        }
        let occurrence = try ChangedOccurrence(
            OccurrenceContent(stored: content).checked(originalStart: start, series: series), at: start,
            of: place.id, in: circle)
        try writer.put([(place.part, occurrence)], of: place.id)
    }
}

/// The values that are computed for an undo before its transaction.
private struct PreparedUndo: Sendable {
    private let content: String?
    private var own: ItemDraft?
    private let zone: TimeZoneReference
    private let changed: [String]

    init(_ plan: UndoPlan, in circle: AuthorizedCircle) throws {
        let place = plan.place
        (zone, content) = (try circle.circle.zone, plan.content)
        guard place.part.isEmpty, let content = plan.content else {
            (own, changed) = (nil, [])
            return
        }
        own = ItemDraft(try place.kind.init(stored: content), in: zone)
        changed =
            place.kind.collection == .appointments
            ? try circle.transaction.occurrenceStarts(of: place.id, in: circle.id)
                + plan.occurrences.map(\.start.basic) : []
    }

    /// Follows the rule of a repeating appointment.
    func followed() -> PreparedUndo {
        var (prepared, budget) = (self, RecurrenceBudget(steps: SeriesWork.ofFile))
        prepared.own?.follow(in: zone, changed: changed, budget: &budget)
        return prepared
    }

    /// Returns the draft of a content; nil if something else was worked out.
    func draft(for content: String) -> ItemDraft? { self.content.map { $0 == content } == true ? own : nil }
}

extension ChangedOccurrence {
    fileprivate init(_ content: OccurrenceContent, at start: Instant, of item: String, in circle: String) throws {
        self.init(
            circleID: circle, itemID: item, originalStart: start.basic, startsAt: content.startAt.milliseconds,
            endsAt: content.endAt.milliseconds, content: try content.stored())
    }
}
