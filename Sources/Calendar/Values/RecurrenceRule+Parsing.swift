// SPDX-License-Identifier: Apache-2.0

extension RecurrenceRule {
    /// Why a text is not a valid recurrence rule: one sentence that names the part.
    public struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
        public let sentence: Sentence
        public var description: String { sentence.text }

        init(_ code: Sentence.Code, _ text: Sentence.Text) { sentence = Sentence(code, text) }
    }

    /// The maximum size in bytes of a rule.
    package static let longestText = 4096

    /// Reads the value of an RRULE (RFC 5545 section 3.3.10, and RFC 7529's RSCALE=GREGORIAN).
    ///
    /// Spaces, lower case, empty parts and unknown `X-` parts are accepted. A rule that the RFC forbids is refused with
    /// the reason, because silently dropping a part would produce other days. `COUNT` together with `UNTIL` is
    /// forbidden too; a reader that wants to repair such a rule removes one of them first.
    public init(_ text: some StringProtocol) throws(SyntaxError) {
        guard text.utf8.count <= Self.longestText else {
            throw SyntaxError(.ruleTooLong, "The rule is longer than 4096 bytes.")
        }
        var fields: [(name: String, value: String)] = []
        for part in String(text).split(separator: ";") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(sides[0].filter { !$0.isWhitespace }).uppercased()
            let value = sides.count == 2 ? String(sides[1].filter { !$0.isWhitespace }).uppercased() : ""
            if name.isEmpty, value.isEmpty { continue }
            guard sides.count == 2 else {
                throw SyntaxError(.rulePartWithoutValue, "\"\(part, .part)\" has no \"=\".")
            }
            guard !fields.contains(where: { $0.name == name }) else {
                throw SyntaxError(.rulePartTwice, "\(name, .name) appears twice.")
            }
            fields.append((name, value))
        }
        guard let freq = fields.first(where: { $0.name == "FREQ" }) else {
            throw SyntaxError(.ruleWithoutFrequency, "FREQ is missing.")
        }
        guard let frequency = Frequency(rawValue: freq.value) else {
            throw SyntaxError(.ruleFrequency, "FREQ=\(freq.value, .value) is not a frequency.")
        }
        self.init(frequency)
        for (name, value) in fields {
            switch name {
            case "FREQ": break
            case "INTERVAL": interval = try Self.number(name, value, 1...100_000)
            case "COUNT": count = try Self.number(name, value, 1...10_000_000)
            case "UNTIL": until = try Self.until(value)
            case "BYSECOND": bySecond = try Self.numbers(name, value, 0...60)
            case "BYMINUTE": byMinute = try Self.numbers(name, value, 0...59)
            case "BYHOUR": byHour = try Self.numbers(name, value, 0...23)
            case "BYDAY": byDay = try Self.weekdays(value)
            case "BYMONTHDAY": byMonthDay = try Self.numbers(name, value, 1...31, signed: true)
            case "BYYEARDAY": byYearDay = try Self.numbers(name, value, 1...366, signed: true)
            case "BYWEEKNO": byWeekNumber = try Self.numbers(name, value, 1...53, signed: true)
            case "BYMONTH": byMonth = try Self.numbers(name, value, 1...12)
            case "BYSETPOS": bySetPosition = try Self.numbers(name, value, 1...366, signed: true)
            case "WKST":
                guard let day = Weekday(rawValue: value) else {
                    throw SyntaxError(.ruleWeekday, "\(name, .name)=\(value, .value) is not a day of the week.")
                }
                weekStart = day
            case "RSCALE" where value == "GREGORIAN", "SKIP" where value == "OMIT": break
            case "RSCALE", "SKIP":
                throw SyntaxError(.rulePartUnsupported, "\(name, .name)=\(value, .value) is not supported.")
            case _ where name.hasPrefix("X-"): break
            default:
                throw SyntaxError(.rulePartUnknown, "\(name, .name) is not a part of a recurrence rule.")
            }
        }
        try checkCombination()
    }

    /// The parts of a rule (RFC 5545 section 3.3.10, and RFC 7529).
    package static let partNames: Set<ByteString> = [
        "FREQ", "INTERVAL", "COUNT", "UNTIL", "BYSECOND", "BYMINUTE", "BYHOUR", "BYDAY", "BYMONTHDAY", "BYYEARDAY",
        "BYWEEKNO", "BYMONTH", "BYSETPOS", "WKST", "RSCALE", "SKIP",
    ]

    /// Checks what the notes below the table of RFC 5545 section 3.3.10 forbid.
    private func checkCombination() throws(SyntaxError) {
        if count != nil, until != nil {
            throw SyntaxError(.ruleCountAndUntil, "COUNT and UNTIL exclude each other.")
        }
        if byDay.contains(where: { $0.ordinal != nil }) {
            guard frequency == .monthly || frequency == .yearly else {
                throw SyntaxError(.ruleOrdinal, "A number before a day of BYDAY needs FREQ=MONTHLY or YEARLY.")
            }
            if frequency == .yearly, !byWeekNumber.isEmpty {
                throw SyntaxError(.ruleOrdinalOfWeek, "A number before a day of BYDAY cannot be used with BYWEEKNO.")
            }
        }
        if !byWeekNumber.isEmpty, frequency != .yearly {
            throw SyntaxError(.ruleWeekNumber, "BYWEEKNO needs FREQ=YEARLY.")
        }
        if !byYearDay.isEmpty, [.daily, .weekly, .monthly].contains(frequency) {
            throw SyntaxError(.ruleYearDay, "BYYEARDAY cannot be used with FREQ=\(frequency.rawValue, .value).")
        }
        if !byMonthDay.isEmpty, frequency == .weekly {
            throw SyntaxError(.ruleMonthDay, "BYMONTHDAY cannot be used with FREQ=WEEKLY.")
        }
        let others = [bySecond, byMinute, byHour, byMonthDay, byYearDay, byWeekNumber, byMonth]
        if !bySetPosition.isEmpty, byDay.isEmpty, others.allSatisfy(\.isEmpty) {
            throw SyntaxError(.rulePosition, "BYSETPOS needs another BY part.")
        }
    }

    private static func number(_ name: String, _ text: String, _ range: ClosedRange<Int>) throws(SyntaxError) -> Int {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.count <= 12, let value = digits(bytes[...]), range.contains(value) else {
            throw SyntaxError(
                .ruleNumber,
                "\(name, .name)=\(text.prefix(40), .value) is not a whole number from \(range.lowerBound, .least) to \(range.upperBound, .most)."
            )
        }
        return value
    }

    private static func numbers(
        _ name: String, _ text: String, _ range: ClosedRange<Int>, signed: Bool = false
    ) throws(SyntaxError) -> [Int] {
        var values: [Int] = []
        for item in text.split(separator: ",") {
            let negative = item.hasPrefix("-")
            let bare = negative || item.hasPrefix("+") ? item.dropFirst() : item
            guard signed || !negative else {
                throw SyntaxError(.ruleNegative, "\(name, .name)=\(item.prefix(40), .value) must not be negative.")
            }
            let value = try number(name, String(bare), range)
            values.append(negative ? -value : value)
        }
        guard !values.isEmpty else { throw SyntaxError(.ruleEmpty, "\(name, .name) is empty.") }
        return values
    }

    private static func weekdays(_ text: String) throws(SyntaxError) -> [WeekdayNumber] {
        var values: [WeekdayNumber] = []
        for item in text.split(separator: ",") {
            guard let weekday = Weekday(rawValue: String(item.suffix(2))) else {
                throw SyntaxError(
                    .ruleWeekday, "\("BYDAY", .name)=\(item.prefix(40), .value) is not a day of the week.")
            }
            let number = item.dropLast(2)
            values.append(
                WeekdayNumber(
                    weekday,
                    ordinal: number.isEmpty ? nil : try numbers("BYDAY", String(number), 1...53, signed: true)[0]))
        }
        guard !values.isEmpty else { throw SyntaxError(.ruleEmpty, "\("BYDAY", .name) is empty.") }
        return values
    }

    private static func until(_ text: String) throws(SyntaxError) -> Until {
        if let date = CivilDate(basic: text) { return .date(date) }
        if text.hasSuffix("Z"), let utc = CivilDateTime(basic: text.dropLast()) { return .utc(Instant(utc: utc)) }
        if let wall = CivilDateTime(basic: text) { return .floating(wall) }
        throw SyntaxError(.ruleUntil, "UNTIL=\(text.prefix(40), .value) is not a date or a time that exists.")
    }
}
