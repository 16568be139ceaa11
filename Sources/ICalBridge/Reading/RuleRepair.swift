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

    /// The rule without the parts that are unknown, or forbidden with its frequency, where what is left has a plain meaning
    /// that other programs give it too; nil where it has none.
    static func withoutForbiddenParts(_ text: String) -> (text: String, names: [String])? {
        let all = parts(text).map { (name: name(of: $0), value: value(of: $0), text: String($0)) }
        let frequency = all.first { $0.name == "FREQ" }?.value
        func has(_ names: String...) -> Bool { all.contains { part in names.contains { $0 == part.name } } }
        var (kept, names): ([String], [String]) = ([], [])
        for part in all {
            let isLeftOut =
                switch part.name {
                case "BYYEARDAY": frequency == "MONTHLY" || frequency == "WEEKLY" ? has("BYMONTHDAY", "BYDAY") : false
                case "BYSETPOS": all.count { $0.name.hasPrefix("BY") } == 1
                case "INTERVAL": part.value == "0"
                default: !RecurrenceRule.partNames.contains(ByteString(part.name)) && !part.name.hasPrefix("X-")
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

    /// The name of the stricter of COUNT and UNTIL, when counting is simple enough to decide; otherwise COUNT.
    static func stricter(of rule: (counted: RecurrenceRule, bounded: RecurrenceRule), from start: EventTime?) -> String
    {
        guard let start, let count = rule.counted.count, let until = rule.bounded.until else { return "COUNT" }
        let counted = rule.counted
        let others = [
            counted.bySecond, counted.byMinute, counted.byHour, counted.byMonthDay, counted.byYearDay,
            counted.byWeekNumber, counted.byMonth, counted.bySetPosition,
        ]
        guard others.allSatisfy(\.isEmpty), counted.byDay.isEmpty || counted.frequency == .weekly else {
            return "COUNT"
        }
        let periods = (count - 1) / max(1, counted.byDay.count) * counted.interval
        guard periods < 4_000_000 else { return "UNTIL" }
        let first = start.civilDate
        let last: CivilDate
        switch counted.frequency {
        case .daily: last = first.adding(days: periods)
        case .weekly: last = first.adding(days: periods * 7)
        case .monthly:
            let month = first.year * 12 + first.month - 1 + periods
            last = CivilDate(year: month / 12, month: month % 12 + 1, day: min(first.day, 28)) ?? first
        case .yearly: last = CivilDate(year: first.year + periods, month: first.month, day: min(first.day, 28)) ?? first
        default: return "COUNT"
        }
        let end: CivilDate =
            switch until {
            case .date(let date): date
            case .floating(let wall): wall.date
            case .utc(let instant): instant.utc.date
            }
        return last > end ? "UNTIL" : "COUNT"
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
