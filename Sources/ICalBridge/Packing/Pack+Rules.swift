// SPDX-License-Identifier: Apache-2.0

extension PackWriter {
    mutating func write(_ rule: RecurrenceRule) {
        write(rule.frequency.rawValue)
        if rule.interval != 1 { field("i", rule.interval) }
        field("c", rule.count)
        switch rule.until {
        case .date(let date):
            tag("d")
            write(date)
        case .floating(let wall):
            tag("f")
            write(wall)
        case .utc(let instant): field("u", instant.seconds)
        case nil: break
        }
        for (letter, list) in Self.lists where !rule[keyPath: list].isEmpty {
            tag(letter)
            write(rule[keyPath: list])
        }
        if !rule.byDay.isEmpty {
            tag("D")
            write(rule.byDay) { writer, day in
                writer.write(day.weekday.index)
                writer.tag(day.ordinal == nil ? "." : "o")
                if let ordinal = day.ordinal { writer.write(ordinal) }
            }
        }
        field("w", rule.weekStart?.index)
        tag(".")
    }

    fileprivate static let lists: [(Unicode.Scalar, any WritableKeyPath<RecurrenceRule, [Int]> & Sendable)] = [
        ("S", \.bySecond), ("M", \.byMinute), ("H", \.byHour), ("N", \.byMonthDay), ("Y", \.byYearDay),
        ("W", \.byWeekNumber), ("O", \.byMonth), ("P", \.bySetPosition),
    ]
}

extension PackReader {
    mutating func rule() throws(PackError) -> RecurrenceRule {
        let name = try whole { (reader) throws(PackError) in try reader.text() }
        guard let frequency = RecurrenceRule.Frequency(rawValue: name) else { throw failure() }
        var rule = RecurrenceRule(frequency)
        while let letter = try tag() {
            switch letter {
            case "i": rule.interval = try integer(in: 1...1 << 40)
            case "c": rule.count = try integer()
            case "d": rule.until = .date(try date())
            case "f": rule.until = .floating(try wall())
            case "u": rule.until = .utc(try instant())
            case "D":
                rule.byDay = try list { (reader) throws(PackError) in
                    let weekday = try reader.weekday()
                    guard let kind = try reader.tag() else { return RecurrenceRule.WeekdayNumber(weekday) }
                    guard kind == "o" else { throw reader.failure() }
                    return RecurrenceRule.WeekdayNumber(weekday, ordinal: try reader.integer())
                }
            case "w": rule.weekStart = try weekday()
            default:
                guard let list = PackWriter.lists.first(where: { $0.0 == letter })?.1 else { throw failure() }
                rule[keyPath: list] = try integers()
            }
        }
        return rule
    }

    private mutating func weekday() throws(PackError) -> RecurrenceRule.Weekday {
        let index = try integer()
        guard RecurrenceRule.Weekday.allCases.indices.contains(index) else { throw failure() }
        return RecurrenceRule.Weekday.allCases[index]
    }
}
