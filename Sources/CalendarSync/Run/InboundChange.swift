// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// A change from the calendar that has to be made here, as a unit.
public struct InboundChange: Hashable, Sendable {
    public enum Edit: Hashable, Sendable {
        /// Moves the whole item. A series takes its occurrences along, in the local times of its zones: changed
        /// occurrences get the keys of their new places but keep their own times, cancelled ones are cancelled at their
        /// new places, and additional dates and the end of the rule move as well.
        case times(TimeSpan)
        /// Moves one occurrence, named by the instant at which it would have begun.
        case occurrenceTimes(Instant, TimeSpan)
        /// Gives one occurrence the times that it has in the series, and undoes its cancellation.
        case occurrenceRestored(Instant)
        case title(String)
        case notes(String)
        case location(String)
        case repetition(Repetition?)
        case reminders([Int])
        case status(Entry.Status)
        case availability(Entry.Availability)
        /// Gives one occurrence these contents.
        case occurrence(Instant, Entry)
        case occurrenceCancelled(Instant)
        /// Cancels the item, which is never removed.
        case cancelled
        /// Creates a second item, like this one, at another time; this one does not change. With an instant, it copies
        /// that occurrence.
        case copy(TimeSpan, of: Instant?)
    }

    public var item: ItemKey
    /// The revision for which the change was decided.
    public var revision: Int
    public var edits: [Edit]
    /// The reason in a few words, for the audit trail.
    public var reason: String

    public init(item: ItemKey, revision: Int, edits: [Edit], reason: String) {
        self.item = item
        self.revision = revision
        self.edits = edits
        self.reason = reason
    }

    /// The change as one of the whole item: an edit of a single event that shows one occurrence becomes an edit of that
    /// occurrence. Edits of fields that only a whole series has are left out.
    var ofSeries: InboundChange {
        guard let start = item.occurrence else { return self }
        return InboundChange(
            item: item.whole, revision: revision, edits: edits.compactMap { $0.ofOccurrence(start) }, reason: reason)
    }
}

extension InboundChange.Edit {
    fileprivate func ofOccurrence(_ start: Instant) -> Self? {
        switch self {
        case .times(let span): .occurrenceTimes(start, span)
        case .cancelled: .occurrenceCancelled(start)
        case .copy(let span, _): .copy(span, of: start)
        case .occurrence, .occurrenceTimes, .occurrenceCancelled, .occurrenceRestored: self
        case .title, .notes, .location, .repetition, .reminders, .status, .availability: nil
        }
    }
}

/// The result of a change from the calendar.
public enum InboundAnswer: Hashable, Sendable {
    /// The change was applied; this is the new item.
    case applied(Ours)
    /// The item's revision has changed; nothing was done.
    case changedMeanwhile
    /// The item cannot be changed in this way, for the reason in this sentence; nothing was done.
    case refused(String)
}

extension Entry {
    /// Returns an item's entry after a change from the calendar, as far as an entry can show it.
    public func applying(_ edits: [InboundChange.Edit]) -> Entry {
        var entry = canonical
        for edit in edits { entry.apply(edit) }
        return entry.canonical
    }

    private mutating func apply(_ edit: InboundChange.Edit) {
        switch edit {
        case .times(let span): move(to: span)
        case .occurrenceTimes(let start, let span):
            var changed = effective(at: start) ?? plain(at: start)
            changed.span = span
            occurrences[start] = .changed(changed)
        case .occurrenceRestored(let start):
            var changed = effective(at: start) ?? plain(at: start)
            changed.span = span.moved(to: start)
            occurrences[start] = .changed(changed)
        case .title(let title): self.title = title
        case .notes(let notes): self.notes = notes
        case .location(let location): self.location = location
        case .repetition(let repetition): self.repetition = repetition
        case .reminders(let reminders): self.reminders = reminders
        case .status(let status): self.status = status
        case .availability(let availability): self.availability = availability
        case .occurrence(let start, let changed): occurrences[start] = .changed(changed)
        case .occurrenceCancelled(let start): occurrences[start] = .cancelled
        case .cancelled, .copy: break
        }
    }

    private mutating func move(to span: TimeSpan) {
        let shift = SeriesShift(from: self.span, to: span)
        self.span = span
        guard let shift, repetition != nil else { return }
        repetition?.move(by: shift)
        // A rule that no longer yields the time of a changed occurrence has none there.
        let kept = remaining(of: Set(occurrences.filter { $1 != .cancelled }.keys.map(shift.moved)))
        var moved: [Instant: Occurrence] = [:]
        for (start, occurrence) in occurrences {
            let new = shift.moved(start)
            if occurrence == .cancelled || kept.contains(new) { moved[new] = occurrence }
        }
        occurrences = moved
    }
}

/// How far the times of a series move, in the local times of its zones.
package struct SeriesShift {
    package let from: any TimeZoneRules
    package let to: any TimeZoneRules
    private let seconds: Int
    private let days: Int

    /// - Parameters:
    ///   - before: when the series began in the zone `from`.
    ///   - after: when it begins in the zone `to`.
    package init(from: any TimeZoneRules, _ before: Instant, to: any TimeZoneRules, _ after: Instant) {
        (self.from, self.to) = (from, to)
        let (was, wall) = (from.civil(at: before), to.civil(at: after))
        seconds = wall.wallSeconds - was.wallSeconds
        days = wall.date.daysSinceEpoch - was.date.daysSinceEpoch
    }

    /// Returns nil for whole days, and when nothing moves.
    init?(from old: TimeSpan, to new: TimeSpan) {
        guard case .timed(let before, _, let oldZone) = old, case .timed(let after, _, let newZone) = new,
            before != after || oldZone != newZone
        else { return nil }
        self.init(from: SyncZone(oldZone).rules, before, to: SyncZone(newZone).rules, after)
    }

    package func moved(_ start: Instant) -> Instant {
        to.instant(of: from.civil(at: start).adding(seconds: seconds))
    }

    /// Returns a rule with the days and the end to which its series moved: weekly Mondays that move by one day become
    /// Tuesdays.
    package func moved(_ rule: RecurrenceRule) -> RecurrenceRule {
        var rule = rule
        if rule.frequency == .weekly, rule.byDay.allSatisfy({ $0.ordinal == nil }) {
            let week = RecurrenceRule.Weekday.allCases
            rule.byDay = rule.byDay.map {
                RecurrenceRule.WeekdayNumber(week[((($0.weekday.index + days) % 7) + 7) % 7])
            }
        }
        if case .utc(let end) = rule.until { rule.until = .utc(moved(end)) }
        return rule
    }
}

extension Repetition {
    fileprivate mutating func move(by shift: SeriesShift) {
        if let text = rrule, let rule = try? RecurrenceRule(text) {
            let moved = shift.moved(rule)
            if moved != rule { rrule = moved.description }
        }
        exdates = Set(exdates.map(shift.moved)).sorted()
        rdates = Set(rdates.map(shift.moved)).sorted()
    }
}
