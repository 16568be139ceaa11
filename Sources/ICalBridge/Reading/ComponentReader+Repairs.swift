// SPDX-License-Identifier: Apache-2.0

/// Repairs that need the whole component.
extension ComponentReader {
    /// Sets the end, preferring DTEND to DURATION, but never before the start.
    func setEnd(of event: inout Event, end: EventTime?, duration: ICalDuration?, _ log: inout ProblemLog) {
        if end != nil, duration != nil {
            log.add(.repaired, "end-and-duration", line: line, "There is both an end and a DURATION; the end counts.")
        }
        guard var end else {
            if let duration { setDuration(of: &event, duration, &log) }
            return
        }
        guard let start = event.start, kind == .event else {
            event.end = .time(end)
            return
        }
        if start.isDate != end.isDate {
            log.add(
                .warning, "end-type", line: line,
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
                .repaired, "end-equals-start", line: line,
                "The end of the all-day event is its first day; it was read as lasting that day.")
            event.end = nil
            return
        }
        if Self.isBefore(end, start) {
            log.add(
                .warning, "end-before-start", line: line,
                "The end is before the start; \(start.isDate ? "the event lasts a day" : "the event takes no time")."
            )
            event.end = start.isDate ? nil : .time(start)
            return
        }
        event.end = .time(end)
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
                .warning, "end-before-start", line: line, text: duration.description,
                "DURATION is negative; it was left out.")
            return
        }
        if kind == .event, let start = event.start, start.isDate, duration.nominalSeconds < 86_400 {
            log.add(
                .repaired, "end-equals-start", line: line, text: duration.description,
                "An all-day event cannot last less than a day; it was read as lasting that day.")
            return
        }
        event.end = .duration(duration)
    }

    /// Applies Outlook's all-day mark to times from midnight to midnight.
    func makeAllDay(_ event: inout Event, _ log: inout ProblemLog) {
        guard draft.isMarkedAllDay, kind == .event, let start = event.start, !start.isDate,
            let end = event.effectiveEnd, Self.isMidnight(start), Self.isMidnight(end)
        else { return }
        let days = end.civilDate.daysSinceEpoch - start.civilDate.daysSinceEpoch
        guard days >= 0 else { return }
        log.add(
            .repaired, "all-day-mark", line: line,
            "The event lasts from midnight to midnight and Outlook marks it as all-day; it was read as days.")
        event.start = .date(start.civilDate)
        event.end = days <= 1 ? nil : .time(.date(end.civilDate))
        if let original = event.recurrenceID, Self.isMidnight(original) {
            event.recurrenceID = .date(original.civilDate)
        }
    }

    private static func isMidnight(_ time: EventTime) -> Bool { time.civil == CivilDateTime(startOf: time.civilDate) }

    /// Converts EXDATE and RDATE to the form of the start: a date among times means that day's occurrence.
    func alignLists(of event: inout Event, _ log: inout ProblemLog) {
        guard let start = event.start else { return }
        var mended = 0
        func aligned(_ time: EventTime) -> EventTime {
            guard time.isDate != start.isDate else { return time }
            mended += 1
            if start.isDate { return .date(time.civilDate) }
            var wall = start.civil
            wall.date = time.civilDate
            return start.with(civil: wall)
        }
        event.recurrence.exclusions = event.recurrence.exclusions.map(aligned)
        event.recurrence.additions = event.recurrence.additions.map { addition in
            guard addition.end == nil else { return addition }
            return Recurrence.Addition(start: aligned(addition.start))
        }
        if mended > 0 {
            log.add(
                .repaired, "list-type", line: line,
                "\(mended) dates of EXDATE or RDATE are days where the start is a time, or the other way round; they were read in its form."
            )
        }
    }

    /// Reads recurrence rules, repaired where the meaning is clear; libical never sees them.
    func rules(_ properties: [Property], of event: Event, _ context: inout ReadingContext) -> [RecurrenceRule] {
        var rules: [RecurrenceRule] = []
        for property in properties {
            guard rules.count < 20 else {
                context.log.add(
                    .error, "rule-refused", line: property.line, "The component has more rules than the limit.")
                break
            }
            if let rule = rule(property, of: event, &context), !rules.contains(rule) { rules.append(rule) }
        }
        return rules
    }

    private func rule(_ property: Property, of event: Event, _ context: inout ReadingContext) -> RecurrenceRule? {
        if var rule = context.rules.rule(property.value) {
            alignUntil(of: &rule, event.start, property, &context.log)
            return rule
        }
        return repairedRule(property, of: event, &context.log)
    }

    private func repairedRule(_ property: Property, of event: Event, _ log: inout ProblemLog) -> RecurrenceRule? {
        let trimmed = property.trimmed
        if let translated = VersionOneRule.translated(trimmed), var rule = try? RecurrenceRule(translated) {
            log.add(
                .repaired, "vcalendar-1-rule", line: property.line, text: trimmed,
                "A rule of vCalendar 1.0 was read as \(translated).")
            alignUntil(of: &rule, event.start, property, &log)
            return rule
        }
        var text = RuleRepair.withoutEmptyParts(trimmed)
        if text.utf8.count + 1 < trimmed.utf8.count {
            log.add(
                .repaired, "rule-empty-part", line: property.line, text: trimmed,
                "Empty parts of the rule were left out.")
        }
        text = RuleRepair.withCanonicalUntil(text)
        do throws(RecurrenceRule.SyntaxError) {
            if RuleRepair.has("COUNT", in: text), RuleRepair.has("UNTIL", in: text) {
                let counted = RuleRepair.without("UNTIL", in: text)
                let bounded = RuleRepair.without("COUNT", in: text)
                let kept = RuleRepair.stricter(
                    of: (try RecurrenceRule(counted), try RecurrenceRule(bounded)), from: event.start)
                text = kept == "COUNT" ? counted : bounded
                log.add(
                    .warning, "count-and-until", line: property.line, text: trimmed,
                    "COUNT and UNTIL exclude each other; \(kept) was kept.")
            }
            var rule = try RecurrenceRule(text)
            alignUntil(of: &rule, event.start, property, &log)
            return rule
        } catch {
            log.add(
                .error, "rule-refused", line: property.line, text: trimmed,
                "\(property.name) cannot be followed, so the event does not repeat by it: \(error.description)")
            return nil
        }
    }

    /// Converts UNTIL to the form that RFC 5545 section 3.3.10 requires: a date for dates, UTC for times in a zone.
    private func alignUntil(
        of rule: inout RecurrenceRule, _ start: EventTime?, _ property: Property, _ log: inout ProblemLog
    ) {
        guard let start, let until = rule.until else { return }
        let mended: RecurrenceRule.Until?
        switch (start, until) {
        case (.date, .date), (.floating, .floating), (.utc, .utc), (.zoned, .utc): mended = nil
        case (.date, .floating(let wall)): mended = .date(wall.date)
        case (.date, .utc(let instant)): mended = .date(Self.dayOfLocalMidnight(instant))
        // A date includes the whole last day.
        case (.floating, .date(let date)): mended = .floating(Self.endOfDay(date))
        case (.floating, .utc(let instant)): mended = .floating(instant.utc)
        case (.utc, .date(let date)): mended = .utc(Instant(utc: Self.endOfDay(date)))
        case (.utc, .floating(let wall)): mended = .utc(Instant(utc: wall))
        case (.zoned(_, let zone), .date(let date)): mended = .utc(zone.rules.instant(of: Self.endOfDay(date)))
        case (.zoned(_, let zone), .floating(let wall)): mended = .utc(zone.rules.instant(of: wall))
        }
        guard let mended else { return }
        rule.until = mended
        log.add(
            .repaired, "until-type", line: property.line, text: property.text,
            "UNTIL does not have the form of DTSTART and was read in the form that matches it.")
    }

    /// The date whose midnight, in some zone, is this instant: exporters write the last day of an all-day series this
    /// way.
    ///
    /// `20260817T220000Z` is the 18th in Berlin, and `20260818T050000Z` is the 18th in New York; a time that ends in 59
    /// seconds is the end of its day.
    private static func dayOfLocalMidnight(_ instant: Instant) -> CivilDate {
        let isEndOfDay = instant.utc.second == 59
        let nearest = instant.adding(seconds: (isEndOfDay ? 1 : 0) + 43_199).utc.date
        return isEndOfDay ? nearest.adding(days: -1) : nearest
    }

    private static func endOfDay(_ date: CivilDate) -> CivilDateTime {
        CivilDateTime(uncheckedDate: date, hour: 23, minute: 59, second: 59)
    }
}
