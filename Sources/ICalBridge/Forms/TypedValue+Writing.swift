// SPDX-License-Identifier: Apache-2.0

/// Conversion from the notation of jCal and xCal to that of iCalendar.
extension TypedValue {
    /// The value as it is written in a content line.
    ///
    /// A value that does not have the form that its type requires passes unchanged: the calendar reader can repair it,
    /// or report what is wrong with it.
    func written(as type: ValueType, property: String) -> String {
        switch self {
        case .text(let text): Self.written(text, as: type, property: property)
        case .number(let digits): digits
        case .boolean(let flag): flag ? "TRUE" : "FALSE"
        case .parts(let parts): parts.map { $0.written(as: type, property: property) }.joined(separator: ";")
        case .period(let start, let end):
            Self.basicTime(start) + "/" + Self.basicTime(end)
        case .recur(let parts): parts.map(Self.written).joined(separator: ";")
        }
    }

    private static func written(_ text: String, as type: ValueType, property: String) -> String {
        switch type {
        case .text where !ValueType.tokens.contains(property):
            return String(fromOutside: TextValue.encoded(text.utf8))
        case .date, .dateTime, .time: return basicTime(text)
        case .period:
            // The examples in RFC 7265's appendix have periods as one string.
            let sides = text.split(separator: "/", maxSplits: 1).map(String.init)
            return sides.count == 2 ? TypedValue.period(sides[0], sides[1]).written(as: type, property: "") : text
        case .utcOffset: return text.filter { !$0.is(":") }
        case .boolean: return text.uppercased()
        default:
            // A line cannot contain a line break; in a value without a type it is written as an escape.
            return text.utf8.contains(10)
                ? String(fromOutside: Array(text.utf8)[...].withLineFeedsEscaped) : text
        }
    }

    private static func written(_ part: RecurPart) -> String {
        let values = part.values.map { value -> String in
            switch value {
            case .text(let text): part.name == "until" ? basicTime(text) : text
            default: value.written(as: .integer, property: "")
            }
        }
        return part.name.uppercased() + "=" + values.joined(separator: ",")
    }

    /// Converts `2026-01-21T09:00:00Z` to `20260121T090000Z`; leaves other texts unchanged.
    private static func basicTime(_ text: String) -> String {
        let basic = text.filter { !$0.is("-") && !$0.is(":") }
        return date(basic) == text || dateTime(basic) == text || time(basic) == text ? basic : text
    }
}
