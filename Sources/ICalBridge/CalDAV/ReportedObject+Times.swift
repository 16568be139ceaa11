// SPDX-License-Identifier: Apache-2.0

/// Where components have their place, as the tables of RFC 4791 section 9.9 say.
extension ReportedObject {
    /// Whether a component has something in a span.
    func isWithin(_ range: TimeRange, part index: Int) -> Bool {
        let event = contents.events[index]
        switch event.kind {
        case .freeBusy: return isFreeBusyWithin(range, part: index)
        case .toDo where !event.hasPlace: return isUndatedWithin(range, part: index)
        case .journal where event.start == nil: return false
        case .event, .toDo, .journal:
            if event.kind != .toDo, event.recurrenceID == nil, !hasFuture {
                return look { budget in
                    budget.isSpent
                        || series(ofPart: index).overlaps(
                            from: range.from, to: range.to, floatingIn: zone, budget: &budget) ?? true
                }
            }
            let found = occurrences(ofPart: index, in: range)
            return !found.occurrences.isEmpty || !found.isComplete
        }
    }

    /// Returns the occurrences of one component in a span, and whether these are all.
    ///
    /// An occurrence of a series that another component describes belongs to that one.
    func occurrences(ofPart index: Int, in range: TimeRange) -> Expansion {
        let event = contents.events[index]
        // A task that ends when the span begins is within it.
        let edge = event.kind == .toDo ? 1 : 0
        var found = look { budget in
            guard budget.spend(1) else { return Expansion(occurrences: [], isComplete: false) }
            return series(ofPart: index).occurrences(
                from: range.from.adding(seconds: -edge), to: range.to.adding(seconds: edge), floatingIn: zone,
                maximum: Self.mostOccurrences, budget: &budget)
        }
        found.occurrences.removeAll { occurrence in
            occurrence.event.recurrenceID != event.recurrenceID
                || event.kind == .toDo && !isTask(occurrence, within: range)
        }
        return found
    }

    private func isTask(_ task: Occurrence, within range: TimeRange) -> Bool {
        let (start, end) = (task.start.instant(floatingIn: zone), task.end.instant(floatingIn: zone))
        switch (task.event.start == nil, task.event.end) {
        case (true, _): return range.from < end && range.to >= end
        case (false, nil): return range.contains(start)
        case (false, .duration): return range.from <= end && (range.to > start || range.to >= end)
        case (false, .time):
            return (range.from < end || range.from <= start) && (range.to > start || range.to >= end)
        }
    }

    /// A task without DTSTART and DUE has its place where it was made and completed, and is everywhere without either.
    private func isUndatedWithin(_ range: TimeRange, part index: Int) -> Bool {
        let completed = contents.parts[index].instant("COMPLETED")
        switch (contents.parts[index].instant("CREATED"), completed) {
        case (let created?, let completed?):
            return (range.from <= created || range.from <= completed)
                && (range.to >= created || range.to >= completed)
        case (nil, let completed?): return range.from <= completed && range.to >= completed
        case (let created?, nil): return range.to > created
        case (nil, nil): return true
        }
    }

    private func isFreeBusyWithin(_ range: TimeRange, part index: Int) -> Bool {
        let event = contents.events[index]
        if let start = event.start, case .time(let end)? = event.end {
            return range.from <= end.instant(floatingIn: zone) && range.to > start.instant(floatingIn: zone)
        }
        return contents.parts[index].lines.contains { line in
            line.periods.contains { range.from < $0.period.to && range.to > $0.period.from }
        }
    }

    /// Whether an alarm of a component goes off in a span, for any of the component's occurrences.
    func goesOff(_ alarm: Alarm, in range: TimeRange, part index: Int) -> Bool {
        let (count, seconds) = alarm.repeats
        guard look({ $0.spend(1 + count) }) else { return true }
        func isWithin(_ first: Instant) -> Bool {
            (0...count).contains { range.contains(first.adding(seconds: $0 * seconds)) }
        }
        let duration: ICalDuration
        let isFromEnd: Bool
        switch alarm.trigger {
        case .absolute(let instant): return isWithin(instant)
        case .relativeToStart(let length): (duration, isFromEnd) = (length, false)
        case .relativeToEnd(let length): (duration, isFromEnd) = (length, true)
        }
        // A day of a duration has up to 25 hours, and an occurrence without a length is found only by its start.
        let (shift, slack) = (duration.nominalSeconds, 93_600)
        let repeats = count * seconds
        let (start, end) = (
            range.from.adding(seconds: -shift - repeats - slack), range.to.adding(seconds: slack - shift)
        )
        let found = occurrences(
            ofPart: index, in: TimeRange(from: max(start, TimeRange.first), to: min(end, TimeRange.last)))
        return !found.isComplete
            || found.occurrences.contains {
                isWithin((isFromEnd ? $0.end : $0.start).adding(duration, floatingIn: zone))
            }
    }

    /// One component as a series of its own: without the occurrences that other components describe.
    private func series(ofPart index: Int) -> Series {
        func placed(_ event: Event) -> Event {
            // A day of a journal lasts that day, as one of an event does.
            guard event.kind == .journal else { return event }
            var event = event
            (event.kind, event.end) = (.event, nil)
            return event
        }
        let event = placed(contents.events[index])
        guard event.recurrenceID == nil || event.appliesToFuture, var master = series.master.map(placed) else {
            return Series(master: event.recurrenceID == nil ? event : nil, overrides: [event])
        }
        master.recurrence.exclusions += series.overrides.lazy.filter { !$0.appliesToFuture }.compactMap(\.recurrenceID)
        return Series(master: master, overrides: series.overrides.filter(\.appliesToFuture).map(placed))
    }
}

extension Event {
    /// Whether it has a start, or is a task with a due time.
    fileprivate var hasPlace: Bool {
        if case .time? = end { true } else { start != nil }
    }
}

extension EventTime {
    /// The instant of the time `duration` later, which a date can be hours away from.
    fileprivate func adding(_ duration: ICalDuration, floatingIn zone: any TimeZoneRules) -> Instant {
        let start: EventTime = if case .date(let date) = self { .floating(CivilDateTime(startOf: date)) } else { self }
        return start.adding(duration).instant(floatingIn: zone)
    }
}

extension ObjectTree.Line {
    /// The periods of a FREEBUSY, each with its text; none for any other property.
    var periods: [(text: ArraySlice<UInt8>, period: TimeRange)] {
        guard name == "FREEBUSY" else { return [] }
        return valueBytes.split(separator: 44).compactMap { text in
            let parts = text.split(separator: 47)
            guard parts.count == 2, let start = Instant(basic: String(fromOutside: parts[0].trimmingSpaces)) else {
                return nil
            }
            let second = String(fromOutside: parts[1].trimmingSpaces)
            let end =
                Instant(basic: second)
                ?? ComponentReader.duration(second).map { start.adding(seconds: $0.nominalSeconds) }
            return end.map { (text, TimeRange(from: start, to: $0)) }
        }
    }
}
