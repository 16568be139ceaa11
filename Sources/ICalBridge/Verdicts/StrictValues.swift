// SPDX-License-Identifier: Apache-2.0

/// The values that python's ical takes (`types/*.py`, with its leniency on).
enum StrictValue {
    /// The clock by which a time is meant, before it is known which zones there are.
    enum Clock: Equatable {
        case date, floating, utc
        case zoned(String)
    }

    /// A date, or a date with anything from a `T` on.
    static func isDate(_ value: ArraySlice<UInt8>) -> Bool {
        let day = value.prefix { $0 != 84 }
        return day.count == 8 && CivilDate(basic: String(fromOutside: day)) != nil
    }

    /// Whether the value has the form of a DATE-TIME, whatever its numbers.
    static func looksLikeTime(_ value: ArraySlice<UInt8>) -> Bool {
        let clock = value.dropFirst(9)
        return (value.count == 15 || value.count == 16 && value.last == 90)
            && value.prefix(8).allSatisfy(\.isDigit) && value[value.startIndex + 8] == 84
            && clock.prefix(6).allSatisfy(\.isDigit)
    }

    static func isTime(_ value: ArraySlice<UInt8>) -> Bool {
        guard looksLikeTime(value), isDate(value) else { return false }
        let digits = value.dropFirst(9).prefix(6).map { Int($0) - 48 }
        return digits[0] * 10 + digits[1] < 24 && digits[2] < 6 && digits[4] < 6
    }

    /// A duration in seconds: `P`, weeks, days, and hours, minutes and seconds, for which the `T` may be missing.
    static func duration(_ value: ArraySlice<UInt8>) -> Int? {
        var rest = value
        let sign = rest.first == 45 ? -1 : 1
        if rest.first == 45 || rest.first == 43 { rest = rest.dropFirst() }
        guard rest.first == 80 else { return nil }
        rest = rest.dropFirst()
        var seconds = 0
        for (unit, length) in [(87, 604_800), (68, 86_400), (0, 0), (72, 3600), (77, 60), (83, 1)] as [(UInt8, Int)] {
            if unit == 0 {
                if rest.first == 84 { rest = rest.dropFirst() }
                continue
            }
            let digits = rest.prefix(while: \.isDigit)
            guard !digits.isEmpty, rest.dropFirst(digits.count).first == unit else { continue }
            guard digits.count < 10, let number = Int(String(fromOutside: digits)) else { return nil }
            seconds += number * length
            rest = rest.dropFirst(digits.count + 1)
        }
        return rest.isEmpty ? sign * seconds : nil
    }

    /// A number as Python's `int` reads it.
    static func integer(_ value: some StringProtocol) -> Int? {
        let text = Array(value.utf8)[...].trimmingSpaces
        let sign = text.first == 45 || text.first == 43 ? 1 : 0
        guard text.count > sign, text.dropFirst(sign).allSatisfy(\.isDigit) else { return nil }
        // Python's numbers have no limit.
        return Int(String(fromOutside: text)) ?? .max
    }

    static func integer(_ value: ArraySlice<UInt8>) -> Int? { integer(String(fromOutside: value)) }

    /// A number as Python's `float` reads it.
    static func isFloat(_ value: some StringProtocol) -> Bool {
        let text = String(fromOutside: Array(value.utf8)[...].trimmingSpaces)
        return Double(text) != nil && !text.utf8.contains { $0 | 0x20 == 120 }
    }

    /// Two numbers with a `;` between them.
    static func isPlace(_ value: ArraySlice<UInt8>) -> Bool {
        let parts = TextValue.decoded(value).split(separator: ";", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { isFloat($0) }
    }

    /// A status code with at most one point, its description, and perhaps data.
    static func isResult(_ value: ArraySlice<UInt8>) -> Bool {
        let parts = TextValue.decoded(value).split(separator: ";", omittingEmptySubsequences: false)
        return (2...3).contains(parts.count) && isFloat(parts[0])
    }

    static func isOffset(_ value: ArraySlice<UInt8>) -> Bool {
        let digits = value.first == 45 || value.first == 43 ? value.dropFirst() : value
        return (digits.count == 4 || digits.count == 6) && digits.allSatisfy(\.isDigit)
    }

    /// Whether `urlparse` takes an address: it refuses one whose host has only one bracket.
    static func isURI(_ value: ArraySlice<UInt8>) -> Bool {
        guard let bracket = value.firstIndex(where: { $0 == 91 || $0 == 93 }),
            let slash = value[..<bracket].lastIndex(of: 47), slash > value.startIndex, value[slash - 1] == 47
        else { return true }
        let host = value[slash...].dropFirst().prefix { $0 != 47 && $0 != 63 && $0 != 35 }
        return host.contains(91) == host.contains(93)
    }

    /// Base64 as `b64decode` reads it: other characters are passed over, and the end may be missing.
    static func isBase64(_ value: ArraySlice<UInt8>) -> Bool {
        let text = value.filter { $0 > 32 }
        var (quad, padding) = (0, 0)
        for byte in text + Array(repeating: 61, count: (4 - text.count % 4) % 4) {
            if byte == 61 {
                guard quad >= 2 else { continue }
                padding += 1
                if quad + padding >= 4 { return true }
            } else if byte.isDigit || byte | 0x20 >= 97 && byte | 0x20 <= 122 || byte == 43 || byte == 47 {
                padding = 0
                quad = (quad + 1) % 4
            }
        }
        return quad == 0
    }

    /// A rule that the library can read.
    struct Rule {
        var until: Clock?
        /// Whether it repeats every second or minute.
        var isRapid = false
    }

    static let lists: [ByteString: ClosedRange<Int>] = [
        "BYMONTHDAY": -31...31, "BYMONTH": 1...12, "BYSETPOS": -366...366, "BYHOUR": 0...23, "BYMINUTE": 0...59,
        "BYSECOND": 0...60, "BYYEARDAY": -366...366, "BYWEEKNO": -53...53,
    ]
    static let frequencies: Set<ByteString> = [
        "SECONDLY", "MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY",
    ]
    static let days: Set<ByteString> = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"]

    /// Reads a rule; nil if any part is wrong. Names of parts may be in lower case, words may not.
    static func rule(_ value: ArraySlice<UInt8>) -> Rule? {
        var rule = Rule()
        var hasFrequency = false
        for part in value.split(separator: 59, omittingEmptySubsequences: false) {
            let sides = part.split(separator: 61, omittingEmptySubsequences: false)
            guard sides.count == 2 else { return nil }
            let name = String(fromOutside: sides[0]).uppercased()
            let text = String(fromOutside: sides[1])
            switch name {
            case "FREQ":
                guard frequencies.contains(ByteString(text)) else { return nil }
                hasFrequency = true
                rule.isRapid = text == "SECONDLY" || text == "MINUTELY"
            case "UNTIL":
                guard let until = until(sides[1]) else { return nil }
                rule.until = until
            case "COUNT", "INTERVAL":
                guard let number = integer(text), number > 0 else { return nil }
            case "WKST":
                guard days.contains(ByteString(text)) else { return nil }
            case "BYDAY":
                guard text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy(isDay) else { return nil }
            default:
                guard let range = lists[ByteString(name)] else { continue }
                let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { integer($0) }
                let mayBeZero = range.lowerBound == 0
                guard numbers.allSatisfy({ $0.map { range.contains($0) && ($0 != 0 || mayBeZero) } ?? false }) else {
                    return nil
                }
            }
        }
        return hasFrequency ? rule : nil
    }

    private static func until(_ value: ArraySlice<UInt8>) -> Clock? {
        if isTime(value) { return value.last == 90 ? .utc : .floating }
        return isDate(value) ? .date : nil
    }

    private static func isDay(_ text: Substring) -> Bool {
        guard days.contains(ByteString(text.suffix(2))) else { return false }
        let number = text.dropLast(2)
        return number.isEmpty || integer(number).map { (-53...53).contains($0) && $0 != 0 } ?? false
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { self >= 48 && self <= 57 }
}
