// SPDX-License-Identifier: Apache-2.0

/// Repairs of a recurrence rule's text before it is read strictly.
enum RuleRepair {
    /// The rule without backslashes before its separators, which belong in texts only; nil where it has none.
    static func withoutEscapes(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        let kept = bytes.indices.filter { position in
            guard bytes[position] == UInt8(ascii: "\\"), position + 1 < bytes.count else { return true }
            return bytes[position + 1] != UInt8(ascii: ";") && bytes[position + 1] != UInt8(ascii: ",")
        }
        return kept.count == bytes.count ? nil : String(fromOutside: kept.map { bytes[$0] })
    }

    /// The rule without empty parts (`BYDAY=`), which a strict reader refuses.
    static func withoutEmptyParts(_ text: String) -> String {
        parts(text).filter { part in
            guard let equals = part.firstIndex(of: "=") else { return true }
            return part[part.index(after: equals)...].contains { !$0.isWhitespace && !$0.is(",") }
        }.joined(separator: ";")
    }

    static func without(_ name: String, in text: String) -> String {
        parts(text).filter { self.name(of: $0) != name }.joined(separator: ";")
    }

    static func has(_ name: String, in text: String) -> Bool { parts(text).contains { self.name(of: $0) == name } }

    /// Reads a rule with empty parts left out, and reports what else had to be left out of it.
    ///
    /// - Parameters:
    ///   - text: the rule, which `property` holds in the form in which it was written.
    ///   - start: the start from which COUNT counts.
    static func rule(
        _ text: String, from start: EventTime?, _ property: Property, _ log: inout ProblemLog
    ) throws(RecurrenceRule.SyntaxError) -> RecurrenceRule {
        // It is refused for its length, and is not compared part by part before that.
        guard text.utf8.count <= RecurrenceRule.longestText else { return try RecurrenceRule(text) }
        let text = withCanonicalUntil(text)
        let plain = withoutForbiddenParts(text)
        let read = plain?.text ?? text
        let rule: RecurrenceRule
        var kept: String?
        if has("COUNT", in: read), has("UNTIL", in: read) {
            let counted = try RecurrenceRule(without("UNTIL", in: read))
            let bounded = try RecurrenceRule(without("COUNT", in: read))
            let isCounted = counts(counted, upTo: bounded.until, from: start)
            (rule, kept) = isCounted ? (counted, "COUNT") : (bounded, "UNTIL")
        } else {
            rule = try RecurrenceRule(read)
        }
        if let kept {
            log.add(
                .warning, "count-and-until", line: property.line, text: property.trimmed, .countAndUntil,
                "COUNT and UNTIL exclude each other; \(kept, .name) was kept.")
        }
        if let plain {
            log.add(
                .warning, "rule-part-left-out", line: property.line, text: property.trimmed, .rulePartsLeftOut,
                "Parts of the rule are unknown or not allowed with its FREQ, and were left out: \(plain.names.joined(separator: ", "), .names)."
            )
        }
        return rule
    }

    /// Whether COUNT ends a rule no later than UNTIL would; where nothing says from when it counts, it does.
    private static func counts(
        _ rule: RecurrenceRule, upTo until: RecurrenceRule.Until?, from start: EventTime?
    ) -> Bool {
        guard let start, let until else { return true }
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries / 10)
        // A rule that takes more work to count ends later than anybody writes.
        guard let last = rule.last(startingAt: start, budget: &budget) else { return false }
        return last <= until.wall(onClockOf: start)
    }

    /// The rule without the parts that are repeated, unknown, or forbidden with its frequency, if the rest has a plain meaning
    /// that other programs give it too; otherwise nil. A part that chooses days stays, and is refused.
    static func withoutForbiddenParts(_ text: String) -> (text: String, names: [String])? {
        let all = parts(text).map { (name: name(of: $0), value: value(of: $0), text: String($0)) }
        let frequency = all.first { $0.name == "FREQ" }?.value
        func has(_ names: String...) -> Bool { all.contains { part in names.contains { $0 == part.name } } }
        // Where weeks are counted, their first day decides which ones are left out.
        let leavesWeeksOut = all.contains { $0.name == "INTERVAL" && $0.value != "1" }
        let countsWeeks = has("BYWEEKNO") || frequency == "WEEKLY" && has("BYDAY") && leavesWeeksOut
        var (kept, names): ([String], [String]) = ([], [])
        for (index, part) in all.enumerated() {
            let isLeftOut =
                switch part.name {
                case _ where all[..<index].contains { $0.name == part.name && $0.value == part.value }: true
                case "WKST": RecurrenceRule.Weekday(rawValue: part.value) == nil && !countsWeeks
                case "BYYEARDAY": frequency == "MONTHLY" || frequency == "WEEKLY" ? has("BYMONTHDAY", "BYDAY") : false
                case "BYSETPOS": all.count { $0.name.hasPrefix("BY") } == 1
                case "INTERVAL": part.value == "0"
                default:
                    !RecurrenceRule.partNames.contains(ByteString(part.name)) && !part.name.hasPrefix("X-")
                        && !part.name.hasPrefix("BY")
                }
            if isLeftOut {
                names.append(part.name)
            } else if part.name == "BYDAY", frequency == "WEEKLY", part.value.contains(where: \.isNumber) {
                names.append("BYDAY")
                kept.append("BYDAY=" + part.value.filter { !$0.isNumber && !$0.is("-") && !$0.is("+") })
            } else {
                kept.append(part.text)
            }
        }
        return names.isEmpty ? nil : (kept.joined(separator: ";"), names)
    }

    /// The values of a part, such as the dates of an EXDATE that was written into a rule.
    static func values(of name: String, in text: String) -> [Substring] {
        parts(text).filter { self.name(of: $0) == name }.flatMap { value(of: $0).split(separator: ",") }
    }

    /// The rule with UNTIL in the RFC's form, if its time is written in another form.
    static func withCanonicalUntil(_ text: String) -> String {
        parts(text).map { part in
            guard name(of: part) == "UNTIL", let equals = part.firstIndex(of: "="),
                let written = try? WrittenTime(part[part.index(after: equals)...].utf8), !written.isCanonical
            else { return String(part) }
            return "UNTIL=" + canonical(written)
        }.joined(separator: ";")
    }

    private static func canonical(_ written: WrittenTime) -> String {
        guard let time = written.time else { return written.date.basic }
        switch written.zone {
        case .none: return time.basic
        case .utc: return time.basic + "Z"
        case .offset(let seconds): return time.adding(seconds: -seconds).basic + "Z"
        }
    }

    private static func value(of part: Substring) -> String {
        part.firstIndex(of: "=").map { part[part.index(after: $0)...].filter { !$0.isWhitespace }.uppercased() } ?? ""
    }

    private static func parts(_ text: String) -> [Substring] { text.split(separator: ";") }

    private static func name(of part: Substring) -> String {
        String(part.prefix { !$0.is("=") }.filter { !$0.isWhitespace }).uppercased()
    }
}
