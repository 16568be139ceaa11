// SPDX-License-Identifier: Apache-2.0

extension ObjectContents {
    private static let day = 86_400
    /// The end of the year 9999, up to which rules without an end continue.
    private static let end = 253_402_300_800

    /// When the object may have something, as the tables of RFC 4791 section 9.9 place it, in seconds since 1970;
    /// nil if that cannot be bounded.
    ///
    /// Dates and floating times are a day wider on both sides, because each reader has them on another clock.
    var span: Range<Int>? {
        let series = series
        var bounds: ClosedRange<Int>?
        func add(_ seconds: Int) {
            bounds = bounds.map { min($0.lowerBound, seconds)...max($0.upperBound, seconds) } ?? seconds...seconds
        }
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
        for (part, event) in zip(parts, events) {
            guard let own = Self.times(of: event, part) else { return nil }
            for time in own + event.recurrence.additions.map(\.start) {
                add(time.instant(floatingIn: FixedOffset.utc).seconds)
            }
        }
        if events.contains(where: { $0.start != nil || $0.end != nil }) {
            switch series.end(floatingIn: FixedOffset.utc, budget: &budget) {
            case .at(let end): add(end.seconds)
            case .never, .unknown: add(Self.end)
            }
        }
        guard let bounds else { return nil }
        var (first, last) = (bounds.lowerBound, bounds.upperBound)
        for alarm in events.flatMap(\.alarms) {
            // A day of a duration may have 25 hours.
            let repeated = alarm.repetition
            switch alarm.trigger {
            case .absolute(let instant):
                first = min(first, instant.seconds)
                last = max(last, instant.seconds + repeated)
            case .relativeToStart(let duration), .relativeToEnd(let duration):
                first = min(first, bounds.lowerBound + duration.nominalSeconds - Self.day)
                last = max(last, bounds.upperBound + duration.nominalSeconds + repeated + Self.day)
            }
        }
        let slack = events.contains { !$0.isFixed } ? Self.day : 1
        return first - slack..<last + slack + 1
    }

    /// The times of a component from which its place follows; nil if it is anywhere.
    private static func times(of event: Event, _ part: ObjectTree) -> [EventTime]? {
        var times = [event.start, event.effectiveEnd].compactMap(\.self)
        if case .time(let end)? = event.end { times.append(end) }
        guard times.isEmpty else { return times }
        guard event.kind == .toDo, let completed = part.instant("COMPLETED") else { return nil }
        return [completed, event.created].compactMap { $0.map(EventTime.utc) }
    }
}

extension Event {
    /// Whether all of its times are the same instants everywhere.
    fileprivate var isFixed: Bool {
        func isFixed(_ time: EventTime?) -> Bool {
            switch time {
            case .date, .floating: false
            case .utc, .zoned, nil: true
            }
        }
        let end: EventTime? = if case .time(let time)? = end { time } else { nil }
        return isFixed(start) && isFixed(end) && recurrence.additions.allSatisfy { isFixed($0.start) }
    }
}

extension Alarm {
    /// How often it is repeated, and how many seconds later each time (RFC 5545 section 3.8.6.2).
    var repeats: (count: Int, seconds: Int) {
        guard let count = otherProperties.first(where: { $0.name == "REPEAT" }).flatMap({ Int($0.value) }), count > 0,
            let text = otherProperties.first(where: { $0.name == "DURATION" })?.value,
            let duration = ComponentReader.duration(text), duration.nominalSeconds > 0
        else { return (0, 0) }
        return (min(count, Self.mostRepetitions), duration.nominalSeconds)
    }

    private static let mostRepetitions = 100

    /// The seconds from the first time to the last repetition.
    fileprivate var repetition: Int { repeats.count * repeats.seconds }
}

extension ObjectTree {
    /// The instant of a property that is a time in UTC; nil without one that can be read.
    func instant(_ name: String) -> Instant? {
        line(name)?.instant
    }
}

extension ObjectTree.Line {
    /// The instant of a value that is a time in UTC.
    var instant: Instant? { property.flatMap { Instant(basic: $0.trimmed.uppercased()) } }
}
