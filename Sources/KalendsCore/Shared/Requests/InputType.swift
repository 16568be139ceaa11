// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

/// A type of value in requests: how it is read and documented.
package struct InputType<Value: Sendable>: Sendable {
    /// Reads a member; nil when it is missing or not valid, which adds a fault.
    package typealias Read = @Sendable (_ name: String, _ isRequired: Bool, _ fields: inout FieldReader) -> Value?

    package var schema: JSONSchema
    package let read: Read

    package init(_ schema: JSONSchema, _ read: @escaping Read) { (self.schema, self.read) = (schema, read) }

    /// The same type, with a sentence about the field in the API's document.
    package func described(_ text: String) -> InputType { documented(schema.described(text)) }

    package func documented(_ schema: JSONSchema) -> InputType { InputType(schema, read) }

    /// The values from which `make` makes others; any other value is a fault.
    ///
    /// - Parameter rule: the fault's message, where `make` may return nil.
    package func made<Other>(
        _ code: Fault.Code = .invalid, _ rule: String = "", _ make: @escaping @Sendable (Value) -> Other?
    ) -> InputType<Other> {
        InputType<Other>(schema) { [read] name, isRequired, fields in
            guard let value = read(name, isRequired, &fields) else { return nil }
            let other = make(value)
            if other == nil { fields.fault(name, code: code, rule) }
            return other
        }
    }

    /// A list.
    ///
    /// - Parameters:
    ///   - counts: how many elements it may have; the code and the message of any other value follow.
    ///   - each: the code and the message for an element that is not valid; nil when it makes the whole list invalid.
    package static func list<Element>(
        _ schema: JSONSchema, of counts: ClosedRange<Int> = 0...Int.max, _ code: Fault.Code, _ rule: String,
        each: (code: Fault.Code, rule: String)? = nil, _ element: @escaping @Sendable (JSONValue) -> Element?
    ) -> InputType where Value == [Element] {
        InputType(schema) { name, isRequired, fields in
            guard let value = fields.present(name, isRequired) else { return nil }
            guard let items = value.array, counts.contains(items.count) else {
                fields.fault(name, code: code, rule)
                return nil
            }
            let found = items.map(element)
            if each == nil, found.contains(where: { $0 == nil }) { fields.fault(name, code: code, rule) }
            if let each {
                for (index, item) in found.enumerated() where item == nil {
                    fields.fault("\(name)/\(index)", code: each.code, each.rule)
                }
            }
            return found.compactMap(\.self)
        }
    }
}

extension InputType<String> {
    /// Text with at least one visible character.
    package static func text(_ most: Int = TextLength.line) -> InputType {
        InputType(.text(most)) { $2.text($0, isRequired: $1 || $2.has($0), maximum: most) }
    }

    /// Text that may be empty; empty text counts as missing.
    package static func looseText(_ most: Int = TextLength.line) -> InputType {
        InputType(.optionalText(most)) { $2.text($0, isRequired: $1, maximum: most) }
    }

    /// Longer text, with a limit in bytes.
    static var notes: InputType {
        let most = FieldReader.longestNotes
        return InputType(.optionalText(most).withMost(bytes: most)) {
            $2.text($0, isRequired: $1, maximum: .max, maximumBytes: most)
        }
    }

    /// The id of another object.
    package static var identifier: InputType { InputType(.identifier) { $2.identifier($0, isRequired: $1) } }
}

extension InputType<TimeZoneReference> {
    /// The IANA name of a zone that this machine knows.
    package static var timeZone: InputType<TimeZoneReference> {
        InputType(.timeZone) { $2.timeZone($0, isRequired: $1) }
    }
}

extension InputType<Instant> {
    package static var instant: InputType<Instant> { InputType(.instant) { $2.instant($0, isRequired: $1) } }
}

extension InputType<Int> {
    /// An instant in milliseconds since 1970, sent as RFC 3339 writes it.
    static var milliseconds: InputType { InputType<Instant>.instant.made { $0.milliseconds } }
}

extension InputType<CivilDate> {
    static var day: InputType { InputType(.date) { $2.date($0, isRequired: $1) } }
}

extension InputType<Bool> {
    package static var flag: InputType { InputType(.bool) { name, _, fields in fields.bool(name) } }

    /// An empty list, which says that a person has seen what needs attention.
    static var acknowledgement: InputType {
        let none = JSONSchema.array(of: .string, maximum: 0).described("An empty list acknowledges it.")
        return InputType<[JSONValue]>.list(none, of: 0...0, .outOfRange, "This can only be cleared: send [].") { $0 }
            .made { _ in true }
    }
}

extension InputType<Int> {
    /// A whole number in a range.
    package static func number(_ range: ClosedRange<Int>) -> InputType {
        InputType(.integer(range)) { $2.integer($0, in: range, isRequired: $1) }
    }
}

extension InputType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the words of an enumeration.
    package static var choice: InputType {
        InputType(.choice(Value.self)) { $2.choice($0, Value.self, isRequired: $1) }
    }
}

extension InputType<Concealed> {
    /// A password that is compared with a stored one; it is required.
    package static var password: InputType {
        InputType(JSONSchema(["type": "string", "maxLength": 1024])) { name, _, fields in
            fields.password(name, isNew: false)
        }
    }

    /// A code of a second factor.
    package static var code: InputType {
        InputType(JSONSchema(["type": "string", "maxLength": .integer(FieldReader.longestCode)])) {
            $2.code($0, isRequired: $1)
        }
    }
}
