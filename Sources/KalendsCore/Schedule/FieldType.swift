// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// A type of value for a field of an item: how it is read, shown, stored and documented.
package struct FieldType<Value: Sendable>: Sendable {
    /// Reads a member of a request; nil when it is missing or not valid, which adds a fault.
    var read: @Sendable (_ name: String, _ isRequired: Bool, _ fields: inout FieldReader) -> Value?
    /// Returns the API's form; times have the offset of the clock.
    var shown: @Sendable (_ value: Value, _ clock: any TimeZoneRules) -> JSONValue
    /// Returns the stored form; equal values have equal forms.
    var stored: @Sendable (_ value: Value) -> JSONValue
    /// Reads the stored form; nil for a form that this version does not understand.
    var restored: @Sendable (_ json: JSONValue) -> Value?
    /// Throws `StoredContent.Fault` for a stored value that can be read but that no request could have set.
    var check: @Sendable (_ value: Value) throws -> Void = { _ in }
    /// The schema of the value in requests.
    var input: JSONSchema
    /// The schema of the value in responses.
    var output: JSONSchema
}

extension FieldType<String> {
    /// Text with at least one visible character.
    static var text: FieldType { words(.text()) { $2.text($0, isRequired: $1) } }

    /// Text that may be empty; empty text counts as missing.
    static var looseText: FieldType { words(.optionalText()) { $2.text($0, isRequired: $1) } }

    /// Longer text, with a limit in bytes.
    static var notes: FieldType {
        let most = FieldReader.longestNotes
        return words(.optionalText(most).withMost(bytes: most)) {
            $2.text($0, isRequired: $1, maximum: .max, maximumBytes: most)
        }
    }

    /// The id of another object.
    static var identifier: FieldType {
        words(.identifier, output: .identifier) { $2.identifier($0, isRequired: $1) }
    }

    /// The IANA name of a zone that this machine knows.
    static var timeZone: FieldType {
        var type = words(.timeZone) { $2.timeZone($0, isRequired: $1)?.identifier }
        type.check = { try StoredContent.require(TimeZoneReference($0) != nil, "its time zone is unknown") }
        return type
    }

    private static func words(
        _ input: JSONSchema, output: JSONSchema = .string,
        _ read: @escaping @Sendable (String, Bool, inout FieldReader) -> String?
    ) -> FieldType {
        FieldType(
            read: read, shown: { value, _ in .string(value) }, stored: { .string($0) }, restored: { $0.string },
            input: input, output: output)
    }
}

extension FieldType<Instant> {
    /// An instant, stored in seconds since 1970.
    static var instant: FieldType {
        FieldType(
            read: { $2.instant($0, isRequired: $1) },
            shown: { .string($0.rfc3339(offset: $1.offset(at: $0))) },
            stored: { .integer($0.seconds) }, restored: { $0.integer.map { Instant(seconds: $0) } },
            check: { try StoredContent.check(times: [$0]) }, input: .instant, output: .instant)
    }
}

extension FieldType<CivilDate> {
    /// A whole day.
    static var day: FieldType {
        FieldType(
            read: { $2.date($0, isRequired: $1) }, shown: { day, _ in .string(day.description) },
            stored: { ["year": .integer($0.year), "month": .integer($0.month), "day": .integer($0.day)] },
            restored: { json in
                guard let year = json["year"]?.integer, let month = json["month"]?.integer,
                    let day = json["day"]?.integer
                else { return nil }
                return CivilDate(year: year, month: month, day: day)
            }, input: .date, output: .date)
    }
}

extension FieldType<Int> {
    /// The allowed durations: from one minute to a week, in minutes.
    static var durations: ClosedRange<Int> { 1...10_080 }

    /// A duration in minutes.
    ///
    /// - Parameter usual: the default.
    static func minutes(usual: Int) -> FieldType {
        let schema = JSONSchema.integer(durations)
        return FieldType(
            read: { $2.integer($0, in: durations, isRequired: $1) }, shown: { value, _ in .integer(value) },
            stored: { .integer($0) }, restored: { $0.integer }, check: { try StoredContent.check(minutes: [$0]) },
            input: schema.defaulting(to: .integer(usual)), output: schema)
    }
}

extension FieldType<[Int]> {
    /// Minutes before the start.
    static var reminders: FieldType {
        FieldType(
            read: { name, _, fields in fields.reminders(name) },
            shown: { minutes, _ in .array(minutes.map(JSONValue.integer)) },
            stored: { .array($0.map(JSONValue.integer)) }, restored: { $0.list { $0.integer } },
            check: { try StoredContent.check(minutes: $0) }, input: .reminders, output: .reminders)
    }
}

extension FieldType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the words of an enumeration.
    static var choice: FieldType {
        FieldType(
            read: { $2.choice($0, Value.self, isRequired: $1) }, shown: { value, _ in .string(value.rawValue) },
            stored: { .string($0.rawValue) }, restored: { $0.string.flatMap { Value(text: $0) } },
            input: .choice(Value.self), output: .choice(Value.self))
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
