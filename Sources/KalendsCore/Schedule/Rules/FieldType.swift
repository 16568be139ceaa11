// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// A type of value for a field of an item: how it is read, shown, stored and documented.
package struct FieldType<Value: Sendable>: Sendable {
    /// How it is read from a request, and documented there.
    var input: InputType<Value>
    /// Returns the API's form; times have the offset of the clock.
    var shown: @Sendable (_ value: Value, _ clock: any TimeZoneRules) -> JSONValue
    /// Returns the stored form; equal values have equal forms.
    var stored: @Sendable (_ value: Value) -> JSONValue
    /// Reads the stored form; nil for a form that this version does not understand.
    var restored: @Sendable (_ json: JSONValue) -> Value?
    /// Throws `StoredContent.Fault` for a stored value that can be read but that no request could have set.
    var check: @Sendable (_ value: Value) throws -> Void = { _ in }
    /// The schema of the value in responses.
    var output: JSONSchema
}

extension FieldType<String> {
    /// Text with at least one visible character.
    static var text: FieldType { words(.text()) }
    /// Text that may be empty; empty text counts as missing.
    static var looseText: FieldType { words(.looseText()) }
    /// Longer text, with a limit in bytes.
    static var notes: FieldType { words(.notes) }
    /// The id of another object.
    static var identifier: FieldType { words(.identifier, output: .identifier) }

    /// The IANA name of a zone that this machine knows.
    static var timeZone: FieldType {
        var type = words(InputType.timeZone.made { $0.identifier })
        type.check = { try StoredContent.require(TimeZoneReference($0) != nil, "its time zone is unknown") }
        return type
    }

    static func words(_ input: InputType<String>, output: JSONSchema = .string) -> FieldType {
        FieldType(
            input: input, shown: { value, _ in .string(value) }, stored: { .string($0) }, restored: { $0.string },
            output: output)
    }
}

extension FieldType<Instant> {
    /// An instant, stored in seconds since 1970.
    static var instant: FieldType {
        FieldType(
            input: .instant, shown: { .string($0.rfc3339(offset: $1.offset(at: $0))) },
            stored: { .integer($0.seconds) }, restored: { $0.integer.map { Instant(seconds: $0) } },
            check: { try StoredContent.check(times: [$0]) }, output: .instant)
    }
}

extension FieldType<CivilDate> {
    /// A whole day.
    static var day: FieldType {
        let form = JSONForm<CivilDate>([.init("year", \.year), .init("month", \.month), .init("day", \.day)])
        return FieldType(
            input: .day, shown: { day, _ in .string(day.description) }, stored: { .object(form.members(of: $0)) },
            restored: { json in
                let parts = form.value(json, from: CivilDate(daysSinceEpoch: 0))
                return parts.flatMap { CivilDate(year: $0.year, month: $0.month, day: $0.day) }
            }, output: .date)
    }
}

extension FieldType<Int> {
    /// The allowed durations: from one minute to a week, in minutes.
    static var durations: ClosedRange<Int> { 1...10_080 }

    /// A duration in minutes.
    ///
    /// - Parameter usual: the default.
    static func minutes(usual: Int) -> FieldType {
        var type = number(durations)
        type.check = { try StoredContent.check(minutes: [$0]) }
        type.input = type.input.documented(type.output.defaulting(to: .integer(usual)))
        return type
    }

    /// A whole number in a range.
    static func number(_ range: ClosedRange<Int>) -> FieldType {
        FieldType(
            input: .number(range), shown: { value, _ in .integer(value) }, stored: { .integer($0) },
            restored: { $0.integer }, output: .integer(range))
    }
}

extension FieldType<Bool> {
    static var flag: FieldType {
        FieldType(
            input: .flag, shown: { value, _ in .bool(value) }, stored: { .bool($0) }, restored: { $0.bool },
            output: .bool)
    }
}

extension FieldType<[Int]> {
    /// Minutes before the start: up to 20 values, each from 0 to four weeks.
    static var reminders: FieldType {
        FieldType(
            input: .list(
                .reminders, of: 0...20, .tooMany, "This must be a list of at most 20 numbers of minutes.",
                each: (.outOfRange, "This must be a whole number of minutes from 0 to 40320.")
            ) { item in item.integer.flatMap { (0...40_320).contains($0) ? $0 : nil } },
            shown: { minutes, _ in .array(minutes.map(JSONValue.integer)) },
            stored: { .array($0.map(JSONValue.integer)) }, restored: { $0.list { $0.integer } },
            check: { try StoredContent.check(minutes: $0) }, output: .reminders)
    }
}

extension FieldType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the words of an enumeration.
    static var choice: FieldType {
        FieldType(
            input: .choice, shown: { value, _ in .string(value.rawValue) }, stored: { .string($0.rawValue) },
            restored: { $0.string.flatMap { Value(text: $0) } }, output: .choice(Value.self))
    }
}

extension JSONValue {
    /// Returns the elements of a list; nil when this is not a list, or when an element is not valid.
    func list<Element>(_ element: (JSONValue) -> Element?) -> [Element]? {
        guard let all = array else { return nil }
        let found = all.compactMap(element)
        return found.count == all.count ? found : nil
    }
}
