// SPDX-License-Identifier: Apache-2.0

/// How long each occurrence of a component lasts.
///
/// A DURATION counts its days on the wall clock, a DTEND of a timed event gives an exact length, and whole days stay
/// whole days (RFC 5545 sections 3.6.1 and 3.8.5.3).
struct OccurrenceLength {
    private enum Kind {
        case days(Int)
        case duration(ICalDuration)
        /// Exact seconds; the end is on the clock of `like`.
        case exact(Int, like: EventTime)
        /// Seconds on the wall clock of a time without a zone.
        case wall(Int)
    }

    private let kind: Kind
    /// An upper bound of the length in seconds, allowing for changes of offset.
    let longest: Int

    init(of event: Event, start: EventTime) {
        self.init(end: event.end ?? event.effectiveEnd.map { .time($0) }, start: start)
    }

    init(end: Event.End?, start: EventTime) {
        switch (end, start) {
        case (nil, _): kind = start.isDate ? .days(0) : .wall(0)
        case (.time(let end), .date(let first)):
            kind = .days(max(0, end.civilDate.daysSinceEpoch - first.daysSinceEpoch))
        case (.duration(let duration), .date):
            kind = .days(max(0, duration.nominalSeconds / 86_400))
        case (.duration(let duration), _):
            kind = duration.isNegative ? .wall(0) : .duration(duration)
        case (.time(let end), _):
            // An end without a zone is on the clock of the start.
            let rules = start.clockRules(floatingIn: FixedOffset.utc)
            let seconds =
                end.instant(floatingIn: rules).seconds - start.instant(floatingIn: FixedOffset.utc).seconds
            if case .floating = start, end.zone == nil {
                kind = .wall(max(0, end.civil.wallSeconds - start.civil.wallSeconds))
            } else {
                kind = .exact(max(0, seconds), like: end.isDate || seconds <= 0 ? start : end)
            }
        }
        switch kind {
        case .days(let days): longest = days * 86_400 + 86_400
        case .duration(let duration): longest = duration.nominalSeconds + 86_400
        case .exact(let seconds, _), .wall(let seconds): longest = seconds
        }
    }

    /// How to compute the end of an occurrence from its start; the end has the start's form and zone.
    enum Step {
        /// A number of seconds later on the wall clock.
        case wall(Int)
        /// A number of exact seconds later.
        case exact(Int)
    }

    /// The step from start to end for occurrences in the form and zone of `start`; nil when their ends have another
    /// form or zone.
    func step(from start: EventTime) -> Step? {
        switch (kind, start) {
        case (.days(let days), _): .wall(days * 86_400)
        case (.wall(let seconds), _): .wall(seconds)
        case (.duration, .date): nil
        case (.duration(let duration), .floating), (.duration(let duration), .utc): .wall(duration.nominalSeconds)
        case (.duration(let duration), .zoned) where duration.seconds == 0: .wall(duration.nominalSeconds)
        case (.duration(let duration), .zoned): duration.days == 0 ? .exact(duration.seconds) : nil
        case (.exact(let seconds, .utc), .utc): .wall(seconds)
        case (.exact(let seconds, .zoned(_, let own)), .zoned(_, let zone)): own == zone ? .exact(seconds) : nil
        case (.exact, _): nil
        }
    }

    /// The end of an occurrence that starts at `start`.
    func end(from start: EventTime) -> EventTime {
        switch kind {
        case .days(let days): return start.with(civil: start.civil.adding(seconds: days * 86_400))
        case .duration(let duration): return start.adding(duration)
        case .wall(0): return start
        case .wall(let seconds): return start.with(civil: start.civil.adding(seconds: seconds))
        case .exact(let seconds, let like):
            let end = start.instant(floatingIn: FixedOffset.utc).adding(seconds: seconds)
            switch (like, start) {
            case (.zoned(_, let zone), _): return .zoned(zone.rules.civil(at: end), zone)
            case (.utc, _): return .utc(end)
            case (_, .zoned(_, let zone)): return .zoned(zone.rules.civil(at: end), zone)
            case (_, .utc): return .utc(end)
            default: return .floating(end.utc)
            }
        }
    }
}
