// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// When a series begins and repeats, compared by meaning: by the text of the rule or, where that differs, by the times
/// that the rule yields and where it ends.
struct SeriesRule: Hashable {
    var span: TimeSpan
    var rrule: String?
    var rdates: [Instant]

    /// The number of times to compare; rules that agree on that many, and on their last one, are equal.
    private static let compared = 1_000

    static func == (left: SeriesRule, right: SeriesRule) -> Bool {
        guard left.rdates == right.rdates else { return false }
        if left.rrule == right.rrule { return true }
        guard left.span == right.span, let one = left.rule, let other = right.rule else { return false }
        if one.description == other.description { return true }
        guard let times = left.times(of: one), let others = left.times(of: other), times == others else { return false }
        if times.isComplete { return true }
        guard let end = left.end(of: one), let otherEnd = left.end(of: other) else { return false }
        return end == otherEnd
    }

    // Equal rules may have different texts.
    func hash(into hasher: inout Hasher) { hasher.combine(rdates) }

    var text: String {
        let dates = rdates.isEmpty ? "" : ";RDATE=" + rdates.map(\.basic).joined(separator: ",")
        return (rrule ?? "") + dates
    }

    private var rule: RecurrenceRule? { rrule.flatMap { try? RecurrenceRule($0) } }

    /// Returns the rule's times, at most `compared` of them; nil when finding them takes too long.
    private func times(of rule: RecurrenceRule) -> RecurrenceRule.Times? {
        guard let start = span.eventTime else { return nil }
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
        let found = rule.times(startingAt: start, maximum: Self.compared, budget: &budget)
        return budget.isSpent ? nil : found
    }

    /// Returns when the rule's last occurrence is, if it has one; nil when finding that takes too long.
    private func end(of rule: RecurrenceRule) -> SeriesEnd? {
        var event = Event(uid: "", start: span.eventTime)
        event.recurrence.rules = [rule]
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
        let end = Series(master: event, overrides: []).end(floatingIn: FixedOffset.utc, budget: &budget)
        return end == .unknown ? nil : end
    }

    /// Reports whether `later` is this rule with an end, or with an earlier end: what "this and following" leaves of a
    /// series.
    func isCut(to later: SeriesRule) -> Bool {
        guard var one = rule, var other = later.rule, other.until != nil || other.count != nil,
            one.until != other.until || one.count != other.count
        else { return false }
        one.until = nil
        one.count = nil
        other.until = nil
        other.count = nil
        return one == other
    }
}

extension Entry {
    /// The rule of a series; nil for a single event.
    var rule: SeriesRule? {
        repetition.map { SeriesRule(span: span, rrule: $0.rrule, rdates: $0.rdates) }
    }

    /// Reports whether the occurrences of both entries have the same keys.
    func hasOccurrences(like other: Entry) -> Bool { span.start == other.span.start && rule == other.rule }

    /// Returns which of these starts the series has, left out or not; all, where finding that takes too long.
    ///
    /// The rule is followed once for all of them: for each by itself, a few thousand take a processor for seconds.
    func remaining(of starts: Set<Instant>) -> Set<Instant> {
        guard case .timed(let start, _, let zone) = span, let reference = TimeZoneReference(zone),
            let given = repetition?.gives(Array(starts), start: start, zone: reference)
        else { return starts }
        return starts.intersection(given)
    }

    /// Reports whether a window contains part of an occurrence, or of a single event. Whole days count from 14 hours
    /// before they begin in UTC to 14 hours after they end, whatever the zone.
    ///
    /// A series whose times cannot be found is assumed to lie in every window that does not end before it begins.
    func overlaps(_ window: TimeRange) -> Bool {
        let (start, end) = span.bounds
        if window.overlaps(start, until: end) { return true }
        guard let repetition, start < window.to else { return false }
        for case .changed(let changed) in occurrences.values {
            if changed.span.overlaps(window) { return true }
        }
        let length = end.seconds - start.seconds
        if repetition.rdates.contains(where: { window.overlaps($0, until: $0.adding(seconds: length)) }) { return true }
        guard let text = repetition.rrule, let time = span.eventTime else { return false }
        guard let rule = try? RecurrenceRule(text) else { return true }
        // The rule is evaluated in the zone's local time, which is less than a day from UTC.
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
        let found = rule.times(
            startingAt: time, from: window.from.adding(seconds: -length - 86_400).utc,
            through: window.to.adding(seconds: 86_400).utc, maximum: Self.judged, budget: &budget)
        guard found.isComplete, !budget.isSpent, case .timed(_, _, let zone) = span else { return true }
        let rules = SystemTimeZones.shared.zone(zone)
        return found.walls.contains { wall in
            let begin = rules?.instant(of: wall) ?? Instant(utc: wall)
            if case .cancelled = occurrences[begin] { return false }
            return !repetition.exdates.contains(begin) && window.overlaps(begin, until: begin.adding(seconds: length))
        }
    }

    private static let judged = 5_000
}

extension TimeSpan {
    /// The instant at which it begins; for whole days, the start of `bounds`.
    var start: Instant { bounds.start }

    /// The start and the end; whole days extend 14 hours beyond their UTC bounds at both ends.
    var bounds: (start: Instant, end: Instant) {
        switch self {
        case .timed(let start, let end, _): return (start, end)
        case .days(let first, let until):
            let slack = 14 * 3_600
            return (
                Instant(seconds: first.daysSinceEpoch * 86_400 - slack),
                Instant(seconds: until.daysSinceEpoch * 86_400 + slack)
            )
        }
    }

    func overlaps(_ window: TimeRange) -> Bool { window.overlaps(bounds.start, until: bounds.end) }

    /// The start as that of a series, whose rule is evaluated in the zone's local time.
    var eventTime: EventTime? {
        switch self {
        case .days(let first, _): return .date(first)
        case .timed(let start, _, let zone):
            guard let reference = TimeZoneReference(zone) else { return .utc(start) }
            return .zoned(reference.rules.civil(at: start), reference)
        }
    }
}
