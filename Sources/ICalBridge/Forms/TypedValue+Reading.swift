// SPDX-License-Identifier: Apache-2.0

/// Conversion from the notation of iCalendar to that of jCal and xCal.
extension TypedValue {
    /// The values of a line; nil when one of them is not of the type.
    static func values(of raw: String, type: ValueType, property: String) -> [TypedValue]? {
        switch type {
        case .text: return texts(raw, property: property)
        case .date: return list(raw) { date($0).map(TypedValue.text) }
        case .dateTime: return list(raw) { dateTime($0).map(TypedValue.text) }
        case .time: return list(raw) { time($0).map(TypedValue.text) }
        case .utcOffset: return list(raw) { offset($0).map(TypedValue.text) }
        case .duration: return list(raw) { duration($0).map(TypedValue.text) }
        case .period: return list(raw, period)
        case .integer: return list(raw, integer)
        case .float:
            guard let parts = ValueType.structured[property] else { return list(raw, float) }
            let numbers = raw.split(separator: ";", omittingEmptySubsequences: false).compactMap { float(String($0)) }
            return numbers.count == parts.count ? [.parts(numbers)] : nil
        case .boolean: return list(raw, boolean)
        case .recur: return recur(raw).map { [$0] }
        // Addresses, URIs, base64 and types defined elsewhere have no escapes and no lists.
        default: return [.text(raw)]
        }
    }

    private static func list(_ raw: String, _ read: (String) -> TypedValue?) -> [TypedValue]? {
        var values: [TypedValue] = []
        for item in raw.split(separator: ",", omittingEmptySubsequences: false) {
            guard let value = read(String(item)) else { return nil }
            values.append(value)
        }
        return values
    }

    private static func texts(_ raw: String, property: String) -> [TypedValue] {
        if ValueType.tokens.contains(property) { return [.text(raw)] }
        let bytes = Array(raw.utf8)
        if ValueType.listed.contains(property) {
            return TextValue.split(bytes[...]).map { .text(TextValue.decoded($0)) }
        }
        if ValueType.structured[property] != nil {
            return [.parts(TextValue.split(bytes[...], at: 59).map { .text(TextValue.decoded($0)) })]
        }
        return [.text(TextValue.decoded(bytes))]
    }

    /// Converts `20260121` to `2026-01-21`.
    static func date(_ raw: String) -> String? {
        let b = Array(raw.utf8)
        guard b.count == 8, digits(b[...]) != nil else { return nil }
        return "\(raw.prefix(4))-\(raw.dropFirst(4).prefix(2))-\(raw.suffix(2))"
    }

    /// Converts `20260121T090000Z` to `2026-01-21T09:00:00Z`.
    static func dateTime(_ raw: String) -> String? {
        let sides = raw.split(separator: "T", omittingEmptySubsequences: false)
        guard sides.count == 2, let day = date(String(sides[0])), let clock = time(String(sides[1])) else { return nil }
        return day + "T" + clock
    }

    /// Converts `090000Z` to `09:00:00Z`.
    static func time(_ raw: String) -> String? {
        let isUTC = raw.hasSuffix("Z")
        let clock = isUTC ? raw.dropLast() : raw[...]
        guard clock.utf8.count == 6, digits(Array(clock.utf8)[...]) != nil else { return nil }
        return "\(clock.prefix(2)):\(clock.dropFirst(2).prefix(2)):\(clock.suffix(2))" + (isUTC ? "Z" : "")
    }

    /// Converts `-0500` to `-05:00`.
    static func offset(_ raw: String) -> String? {
        let b = Array(raw.utf8)
        guard b.count == 5 || b.count == 7, b[0] == 43 || b[0] == 45, digits(b[1...]) != nil else { return nil }
        let seconds = b.count == 7 ? ":" + raw.suffix(2) : ""
        return "\(raw.prefix(3)):\(raw.dropFirst(3).prefix(2))" + seconds
    }

    private static func duration(_ raw: String) -> String? {
        raw.utf8.contains(32) || ICalDuration(text: raw) == nil ? nil : raw
    }

    private static func period(_ raw: String) -> TypedValue? {
        let sides = raw.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard sides.count == 2, let start = dateTime(sides[0]), let end = dateTime(sides[1]) ?? duration(sides[1])
        else { return nil }
        return .period(start, end)
    }

    private static func integer(_ raw: String) -> TypedValue? { Int(raw).map { .number(String($0)) } }

    /// Keeps the digits as they are: `10.50` keeps its zero.
    private static func float(_ raw: String) -> TypedValue? {
        let bare = raw.hasPrefix("+") ? String(raw.dropFirst()) : raw
        return JSONNode.isNumber(bare) ? .number(bare) : nil
    }

    private static func boolean(_ raw: String) -> TypedValue? {
        switch raw.uppercased() {
        case "TRUE": .boolean(true)
        case "FALSE": .boolean(false)
        default: nil
        }
    }

    private static func recur(_ raw: String) -> TypedValue? {
        var parts: [RecurPart] = []
        for part in raw.split(separator: ";") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = sides[0].lowercased()
            guard sides.count == 2, FormName.isElement(name), !parts.contains(where: { $0.name == name }) else {
                return nil
            }
            let items = sides[1].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            let values = items.map { item -> TypedValue in
                if name == "until" { return .text(dateTime(item) ?? date(item) ?? item) }
                return integer(item) ?? .text(item)
            }
            parts.append(RecurPart(name: name, values: values))
        }
        return parts.isEmpty ? nil : .recur(parts)
    }
}
