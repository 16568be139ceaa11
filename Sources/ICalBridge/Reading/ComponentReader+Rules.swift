// SPDX-License-Identifier: Apache-2.0

/// Recurrence rules of a component, repaired where their meaning is plain.
extension ComponentReader {
    /// Reads recurrence rules, repaired where the meaning is clear; libical never sees them.
    func rules(_ properties: [Property], of event: Event, _ context: inout ReadingContext) -> [RecurrenceRule] {
        var rules: [RecurrenceRule] = []
        for property in properties {
            guard rules.count < 20 else {
                context.log.add(
                    .error, "rule-refused", line: property.line, .tooManyRules,
                    "The component has more rules than the limit.")
                break
            }
            guard let rule = rule(property, of: event, &context) else { continue }
            if let start = event.start, rule.ends(before: start) {
                context.log.add(
                    .warning, "until-before-start", line: property.line, text: property.text, .untilBeforeStart,
                    "UNTIL is before the start, so the rule gives no date and was left out.")
            } else if !rules.contains(rule) {
                rules.append(rule)
            }
        }
        return rules
    }

    /// The dates of an EXDATE that was written into a rule, as WordPress' plugins do.
    func exclusions(within rules: [Property]) -> [EventTime] {
        rules.flatMap { RuleRepair.values(of: "EXDATE", in: $0.trimmed) }.prefix(1000).compactMap { text in
            guard let written = try? WrittenTime(text.utf8) else { return nil }
            guard let time = written.time else { return .date(written.date) }
            return written.zone == .utc ? .utc(Instant(utc: time)) : .floating(time)
        }
    }

    /// Lists the dates that an EXRULE excludes, because nobody but RFC 2445's readers follows one.
    func listExclusions(of event: inout Event, _ log: inout ProblemLog) {
        guard let start = event.start else { return }
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
        let times = event.recurrence.exclusionRules.map {
            $0.times(
                startingAt: start, startConvention: .ifItMatches, maximum: Self.mostListedExclusions, budget: &budget)
        }
        let walls = Set(times.flatMap(\.walls)).sorted().map { start.with(civil: $0) }
        var repeated = event
        repeated.recurrence.exclusionRules = []
        let isWhole = times.allSatisfy(\.isComplete)
        let utc = FixedOffset.utc
        let starts = Series(master: repeated, overrides: []).starts(
            among: walls.map { $0.instant(floatingIn: utc) }, floatingIn: utc, budget: &budget)
        guard let starts, !budget.isSpent else {
            log.add(
                .warning, "exclusion-rule", line: line, .exclusionRuleKept,
                "EXRULE is out of date and few apps follow it; listing the dates that it leaves out takes too much work, so it was kept."
            )
            return
        }
        event.recurrence.exclusions += walls.filter { starts.contains($0.instant(floatingIn: utc)) }
        let listedTo = times.lazy.filter { !$0.isComplete }.compactMap(\.walls.last).min() ?? start.civil
        // A rule that continues after the series has ended leaves nothing out.
        let hasEnded =
            event.recurrence.rules.allSatisfy { $0.until.map { $0.wall(onClockOf: start) <= listedTo } ?? false }
            && event.recurrence.additions.allSatisfy { $0.start.civil <= listedTo }
        if isWhole || hasEnded {
            event.recurrence.exclusionRules = []
            log.add(
                .repaired, "exclusion-rule", line: line, .exclusionRule,
                "EXRULE is out of date and few apps follow it; the dates that it leaves out were listed as EXDATEs.")
        } else {
            log.add(
                .warning, "exclusion-rule", line: line, .exclusionRuleUntil,
                "EXRULE is out of date and few apps follow it; the dates that it leaves out were listed as EXDATEs up to \(listedTo.date.description, .value), and it was kept for those after that."
            )
        }
    }

    /// The maximum number of dates that are listed for an EXRULE; a rule that continues after them is kept in addition.
    private static let mostListedExclusions = 1000

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
                .repaired, "vcalendar-1-rule", line: property.line, text: trimmed, .oldRule,
                "A rule of vCalendar 1.0 was read as \(translated, .rule).")
            alignUntil(of: &rule, event.start, property, &log)
            return rule
        }
        let plain = RuleRepair.withoutEscapes(trimmed)
        if plain != nil {
            log.add(
                .repaired, "rule-escaped", line: property.line, text: trimmed, .ruleEscapes,
                "The rule was read without its backslashes, which belong in texts only.")
        }
        let written = plain ?? trimmed
        let text = RuleRepair.withoutEmptyParts(written)
        if text.utf8.count + 1 < written.utf8.count {
            log.add(
                .repaired, "rule-empty-part", line: property.line, text: trimmed, .ruleEmptyParts,
                "Empty parts of the rule were left out.")
        }
        do throws(RecurrenceRule.SyntaxError) {
            var rule = try RuleRepair.rule(text, from: event.start, property, &log)
            alignUntil(of: &rule, event.start, property, &log)
            return rule
        } catch {
            log.add(
                .error, "rule-refused", line: property.line, text: trimmed, .ruleRefused,
                "The rule \(property.name, .name) cannot be applied, so it is ignored: \(error.sentence, .sentence)"
            )
            return nil
        }
    }

    /// Converts UNTIL to the form that RFC 5545 section 3.3.10 requires: a date for dates, UTC for times in a zone.
    private func alignUntil(
        of rule: inout RecurrenceRule, _ start: EventTime?, _ property: Property, _ log: inout ProblemLog
    ) {
        guard let start, let mended = rule.until?.aligned(to: start) else { return }
        rule.until = mended
        log.add(
            .repaired, "until-type", line: property.line, text: property.text, .untilType,
            "UNTIL does not have the form of DTSTART and was read in the form that matches it.")
    }
}

extension RecurrenceRule.Until {
    /// The end in the form that matches a start (RFC 5545 section 3.3.10); nil where it has that form.
    func aligned(to start: EventTime) -> Self? {
        switch (start, self) {
        case (.date, .date), (.floating, .floating), (.utc, .utc), (.zoned, .utc): nil
        case (.date, .floating(let wall)): .date(wall.date)
        case (.date, .utc(let instant)): .date(Self.dayOfLocalMidnight(instant))
        // A date includes the whole last day.
        case (.floating, .date(let date)): .floating(Self.endOfDay(date))
        case (.floating, .utc(let instant)): .floating(instant.utc)
        case (.utc, .date(let date)): .utc(Instant(utc: Self.endOfDay(date)))
        case (.utc, .floating(let wall)): .utc(Instant(utc: wall))
        case (.zoned(_, let zone), .date(let date)): .utc(zone.rules.instant(of: Self.endOfDay(date)))
        case (.zoned(_, let zone), .floating(let wall)): .utc(zone.rules.instant(of: wall))
        }
    }

    /// The end on the clock of the start.
    func wall(onClockOf start: EventTime) -> CivilDateTime {
        switch aligned(to: start) ?? self {
        case .date(let date): Self.endOfDay(date)
        case .floating(let wall): wall
        case .utc(let instant): start.zone?.rules.civil(at: instant) ?? instant.utc
        }
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

extension RecurrenceRule {
    /// Whether UNTIL, in the form that matches the start, is before it.
    fileprivate func ends(before start: EventTime) -> Bool {
        switch (until, start) {
        case (.date(let until), .date(let start)): return until < start
        case (.floating(let until), .floating(let start)): return until < start
        case (.utc(let until), .utc), (.utc(let until), .zoned):
            // Asking a zone that the file defines costs far more than comparing clocks.
            let apart = until.utc.wallSeconds - start.civil.wallSeconds
            if abs(apart) > 2 * 86_400 { return apart < 0 }
            return until < start.instant(floatingIn: FixedOffset.utc)
        default: return false
        }
    }
}
