// SPDX-License-Identifier: Apache-2.0

/// Repairs that need the whole component.
extension ComponentReader {
    /// Sets the end, preferring DTEND to DURATION, but never before the start.
    func setEnd(of event: inout Event, end: EventTime?, duration: ICalDuration?, _ log: inout ProblemLog) {
        if end != nil, duration != nil {
            log.add(
                .repaired, "end-and-duration", line: line, .endAndDuration,
                "There is both an end and a DURATION; the end counts.")
        }
        guard var end else {
            if let duration { setDuration(of: &event, duration, &log) }
            return
        }
        guard kind == .event, event.start != nil else {
            event.end = .time(end)
            return
        }
        alignClocks(&event, &end, &log)
        guard let start = event.start else { return }
        if start.isDate != end.isDate {
            log.add(
                .warning, "end-type", line: line, .endType,
                "One of start and end is a day and the other is a time; the end was read in the form of the start.")
            if start.isDate {
                let isMidnight = end.civil == CivilDateTime(startOf: end.civilDate)
                end = .date(isMidnight ? end.civilDate : end.civilDate.adding(days: 1))
            } else {
                end = start.with(civil: CivilDateTime(startOf: end.civilDate))
            }
        }
        if start.isDate, start == end {
            log.add(
                .repaired, "end-equals-start", line: line, .endEqualsStart,
                "The end of the all-day event is its first day; it was read as lasting that day.")
            event.end = nil
            return
        }
        if Self.isBefore(end, start) {
            log.add(
                .warning, "end-before-start", line: line,
                start.isDate
                    ? Sentence(.endBeforeStartDay, "The end is before the start; the event lasts a day.")
                    : Sentence(.endBeforeStartTime, "The end is before the start; the event takes no time."))
            event.end = start.isDate ? nil : .time(start)
            return
        }
        event.end = .time(end)
    }

    /// Puts an end without a zone on the clock of its start, or such a start on that of its end: how long an event lasts
    /// must not depend on where its reader is (RFC 5545 section 3.8.2.2).
    private func alignClocks(_ event: inout Event, _ end: inout EventTime, _ log: inout ProblemLog) {
        switch (event.start, end) {
        case (.zoned(_, let zone), .floating(let wall)): end = .zoned(wall, zone)
        case (.utc, .floating(let wall)): end = .utc(Instant(utc: wall))
        case (.floating(let wall), .zoned(_, let zone)): event.start = .zoned(wall, zone)
        case (.floating(let wall), .utc): event.start = .utc(Instant(utc: wall))
        default: return
        }
        log.add(
            .repaired, "end-clock", line: line, .endClock,
            "Of start and end only one names a time zone; the other was read on the same clock.")
    }

    /// Whether one time is before another in every reader's zone.
    private static func isBefore(_ a: EventTime, _ b: EventTime) -> Bool {
        // Asking a zone that the file defines for offsets costs far more than comparing wall-clock times.
        if let zone = a.zone, zone == b.zone, a.civil >= b.civil { return false }
        let utc = FixedOffset.utc
        return isComparable(a, b) && a.instant(floatingIn: utc) < b.instant(floatingIn: utc)
    }

    /// Whether the order of two times is the same in every reader's zone.
    private static func isComparable(_ a: EventTime, _ b: EventTime) -> Bool {
        func floats(_ time: EventTime) -> Bool {
            switch time {
            case .date, .floating: true
            case .utc, .zoned: false
            }
        }
        return floats(a) == floats(b)
            || abs(a.civil.wallSeconds - b.civil.wallSeconds) > 2 * 86_400
    }

    private func setDuration(of event: inout Event, _ duration: ICalDuration, _ log: inout ProblemLog) {
        if duration.isNegative {
            log.add(
                .warning, "end-before-start", line: line, text: duration.description, .durationNegative,
                "DURATION is negative; it was left out.")
            return
        }
        if kind == .event, let start = event.start, start.isDate, duration.nominalSeconds < 86_400 {
            log.add(
                .repaired, "end-equals-start", line: line, text: duration.description, .endBeforeDay,
                "An all-day event cannot last less than a day; it was read as lasting that day.")
            return
        }
        guard kind == .event, event.start?.isDate == true, duration.seconds != 0 else {
            event.end = .duration(duration)
            return
        }
        let days = (duration.nominalSeconds + 86_399) / 86_400
        log.add(
            duration.nominalSeconds % 86_400 == 0 ? .repaired : .warning, "duration-of-days", line: line,
            text: duration.description, .durationOfDays,
            "The DURATION of an all-day event has hours, minutes or seconds; it was read as whole days: \(days, .count)."
        )
        event.end = .duration(ICalDuration(days: days))
    }

    /// Applies Outlook's all-day mark to times from midnight to midnight.
    func makeAllDay(_ event: inout Event, _ log: inout ProblemLog) {
        guard draft.isMarkedAllDay, kind == .event, let start = event.start, !start.isDate,
            let end = event.effectiveEnd, Self.isMidnight(start), Self.isMidnight(end)
        else { return }
        let days = end.civilDate.daysSinceEpoch - start.civilDate.daysSinceEpoch
        guard days >= 0 else { return }
        log.add(
            .repaired, "all-day-mark", line: line, .midnightToMidnight,
            "The event lasts from midnight to midnight and Outlook marks it as all-day; it was read as days.")
        event.start = .date(start.civilDate)
        event.end = days <= 1 ? nil : .time(.date(end.civilDate))
        if let original = event.recurrenceID, Self.isMidnight(original) {
            event.recurrenceID = .date(original.civilDate)
        }
    }

    private static func isMidnight(_ time: EventTime) -> Bool { time.civil == CivilDateTime(startOf: time.civilDate) }

    /// Converts EXDATE and RDATE to the form and clock of the start: a date among times means that day's occurrence, and a
    /// time without a zone is on the start's clock.
    func alignLists(of event: inout Event, _ log: inout ProblemLog) {
        guard let start = event.start else { return }
        var (forms, clocks) = (0, 0)
        func aligned(_ time: EventTime) -> EventTime {
            guard let mended = time.aligned(toStart: start) else { return time }
            if time.isDate == start.isDate { clocks += 1 } else { forms += 1 }
            return mended
        }
        event.recurrence.exclusions = event.recurrence.exclusions.map(aligned)
        event.recurrence.additions = event.recurrence.additions.map { addition in
            // A day has no end of its own, and several readers refuse a whole calendar over one.
            guard let end = addition.end, !start.isDate else {
                return Recurrence.Addition(start: aligned(addition.start))
            }
            guard case .time(let time) = end, let onClock = time.aligned(toStart: start) else {
                return Recurrence.Addition(start: aligned(addition.start), end: end)
            }
            return Recurrence.Addition(start: aligned(addition.start), end: .time(onClock))
        }
        if forms > 0 {
            log.add(
                .repaired, "list-type", line: line, .listType,
                "\(forms, .count) dates of EXDATE or RDATE are days where the start is a time, or the other way round; they were read in the form of the start."
            )
        }
        if clocks > 0 {
            log.add(
                .repaired, "list-clock", line: line, .listClock,
                "EXDATE or RDATE names no time zone where the start does (\(clocks, .count) in all); the zone of the start was taken."
            )
        }
    }
}

extension EventTime {
    /// A date of a series in the form of the series' start: a date among times means that day's occurrence, and a time
    /// without a zone is on the start's clock; nil where it needs no change.
    func aligned(toStart start: EventTime) -> EventTime? {
        switch (start, self) {
        case (.date, .date): return nil
        case (.date, _): return .date(civilDate)
        case (_, .date(let day)):
            var wall = start.civil
            wall.date = day
            return start.with(civil: wall)
        case (.zoned, .floating(let wall)), (.utc, .floating(let wall)): return start.with(civil: wall)
        default: return nil
        }
    }
}
