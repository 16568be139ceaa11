// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// How a value is a JSON object: each member reads, writes and documents itself.
package struct JSONForm<Value: Sendable>: Sendable {
    package typealias Path<Part> = any WritableKeyPath<Value, Part> & Sendable

    /// The members in the order in which they are documented.
    package let members: [Member]
    /// The members in the order in which they are written.
    private let sorted: [Member]

    package init(_ members: [Member]) {
        self.members = members
        sorted = members.sorted { $0.key < $1.key }
    }

    /// Takes over an object's members; nil for what this version does not understand.
    func value(_ json: JSONValue, from empty: Value) -> Value? {
        guard let object = json.object else { return nil }
        var value = empty
        // By place: each member that is copied costs a dozen reference counts, and long lists are read.
        for index in members.indices where !members[index].read(object[members[index].key], &value) { return nil }
        return value
    }

    func members(of value: Value) -> [ByteString: JSONValue] {
        var object: [ByteString: JSONValue] = [:]
        for member in members {
            if let json = member.json(value) { object[member.key] = json }
        }
        return object
    }

    /// Writes the object with sorted keys, without making a `JSONValue` for each member.
    func write(_ value: Value, to text: inout JSONText) throws {
        var lead = "{"
        for index in sorted.indices {
            if try sorted[index].write(value, lead, &text) { lead = "," }
        }
        text.append("}")
    }

    /// The members as those of a value that has this one as a part.
    func within<Whole>(_ path: JSONForm<Whole>.Path<Value>) -> [JSONForm<Whole>.Member] {
        members.map { $0.within(path) }
    }

    package struct Member: Sendable {
        package let name: String
        package let key: ByteString
        package private(set) var schema: JSONSchema
        /// Whether every object has the member.
        package private(set) var isRequired = true
        /// Nil when the object lacks the member.
        package let json: @Sendable (Value) -> JSONValue?
        /// Takes over the JSON of the member, nil if the object lacks it; false for what this version does not understand.
        fileprivate let read: @Sendable (_ json: JSONValue?, _ value: inout Value) -> Bool
        /// Writes the member after `lead`; false when the object lacks it.
        fileprivate let write: @Sendable (_ value: Value, _ lead: String, _ text: inout JSONText) throws -> Bool

        /// - Parameter get: returns nil when the object lacks the member.
        private init<Part: JSONPart>(
            _ name: String, _ get: @escaping @Sendable (Value) -> Part?,
            read: @escaping @Sendable (JSONValue?, inout Value) -> Bool
        ) {
            let start = "\"\(name)\":"
            (self.name, key, schema, self.read) = (name, ByteString(name), Part.schema, read)
            json = { get($0)?.json }
            write = { value, lead, text in
                guard let part = get(value) else { return false }
                text.append(lead)
                text.append(start)
                try part.write(to: &text)
                return true
            }
        }

        /// A member that every object has.
        init<Part: JSONPart>(_ name: String, _ path: Path<Part>) {
            self.init(
                name, { $0[keyPath: path] },
                read: { json, value in
                    guard let part = json.flatMap(Part.init(json:)) else { return false }
                    value[keyPath: path] = part
                    return true
                })
        }

        /// A member that the object lacks when it has no value.
        static func optional<Part: JSONPart>(_ name: String, _ path: Path<Part?>) -> Member {
            var member = Member(
                name, { $0[keyPath: path] },
                read: { json, value in
                    value[keyPath: path] = json.flatMap(Part.init(json:))
                    return (value[keyPath: path] == nil) == (json == nil)
                })
            member.isRequired = false
            return member
        }

        /// A secret, in clear: for an object that is sealed as a whole.
        static func sealed(_ name: String, _ path: Path<Concealed>) -> Member {
            Member(
                name, { $0[keyPath: path].reveal() },
                read: { json, value in
                    guard let text = json?.string else { return false }
                    value[keyPath: path] = Concealed(text)
                    return true
                })
        }

        /// A member that follows from others, and that the object lacks when it is nil.
        static func derived(_ name: String, _ get: @escaping @Sendable (Value) -> String?) -> Member {
            var member = Member(name, get, read: { _, _ in true })
            member.isRequired = false
            return member
        }

        /// The member as one of a value that has this one as a part.
        fileprivate func within<Whole>(_ path: JSONForm<Whole>.Path<Value>) -> JSONForm<Whole>.Member {
            JSONForm<Whole>.Member(
                name: name, key: key, schema: schema, isRequired: isRequired, json: { json($0[keyPath: path]) },
                read: { read($0, &$1[keyPath: path]) }, write: { try write($0[keyPath: path], $1, &$2) })
        }

        private init(
            name: String, key: ByteString, schema: JSONSchema, isRequired: Bool,
            json: @escaping @Sendable (Value) -> JSONValue?,
            read: @escaping @Sendable (JSONValue?, inout Value) -> Bool,
            write: @escaping @Sendable (Value, String, inout JSONText) throws -> Bool
        ) {
            (self.name, self.key, self.schema, self.isRequired) = (name, key, schema, isRequired)
            (self.json, self.read, self.write) = (json, read, write)
        }

        /// The same member with a sentence about it in the API's document.
        func described(_ text: String) -> Member { documented(schema.described(text)) }

        /// The same member with another schema.
        func documented(_ schema: JSONSchema) -> Member {
            var member = self
            member.schema = schema
            return member
        }
    }
}

/// A value that JSON has as a member or in a list.
package protocol JSONPart: Sendable {
    static var schema: JSONSchema { get }
    /// Nil for JSON that this version does not understand.
    init?(json: JSONValue)
    var json: JSONValue { get }
    /// Writes `json` with sorted keys.
    func write(to text: inout JSONText) throws
}

extension JSONPart {
    package func write(to text: inout JSONText) throws { try text.write(json) }

    /// The value as the text of a document.
    func text() throws -> String {
        var text = JSONText()
        try write(to: &text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    /// Reads a document that is stored; throws `StorageError` for one that this version does not understand.
    init(stored text: String) throws {
        guard let value = Self(json: try JSONValue(parsing: text.utf8)) else {
            throw StorageError.unexpectedResult("What is stored holds something that this version does not understand.")
        }
        self = value
    }
}

/// A value that is a JSON object.
package protocol JSONFormed: JSONPart {
    /// Makes a value whose members are all to be set.
    init()
    static var form: JSONForm<Self> { get }
}

extension JSONFormed {
    package static var schema: JSONSchema {
        .object(form.members.map { JSONSchema.Field(name: $0.name, schema: $0.schema, isRequired: $0.isRequired) })
    }

    package init?(json: JSONValue) {
        guard let value = Self.form.value(json, from: Self()) else { return nil }
        self = value
    }

    package var json: JSONValue { .object(Self.form.members(of: self)) }

    package func write(to text: inout JSONText) throws { try Self.form.write(self, to: &text) }
}

// MARK: The values of members

extension JSONValue: JSONPart {
    package static var schema: JSONSchema { JSONSchema([:]) }
    package init?(json: JSONValue) { self = json }
    package var json: JSONValue { self }
}

extension String: JSONPart {
    package static var schema: JSONSchema { .string }
    package init?(json: JSONValue) {
        guard case .string(let text) = json else { return nil }
        self = text
    }
    package var json: JSONValue { .string(self) }
    package func write(to text: inout JSONText) { text.write(self) }
}

extension Bool: JSONPart {
    package static var schema: JSONSchema { .bool }
    package init?(json: JSONValue) {
        guard case .bool(let flag) = json else { return nil }
        self = flag
    }
    package var json: JSONValue { .bool(self) }
}

/// A count.
extension Int: JSONPart {
    package static var schema: JSONSchema { .count }
    package init?(json: JSONValue) {
        guard case .integer(let number) = json else { return nil }
        self = number
    }
    package var json: JSONValue { .integer(self) }
}

extension Double: JSONPart {
    package static var schema: JSONSchema { JSONSchema(["type": "number"]) }
    package init?(json: JSONValue) {
        switch json {
        case .integer(let number): self.init(number)
        case .number(let number): self = number
        default: return nil
        }
    }
    package var json: JSONValue { .number(self) }
}

/// An instant in milliseconds since 1970, which JSON shows to the second.
package struct Moment: Hashable, JSONPart {
    package let milliseconds: Int

    package init(milliseconds: Int) { self.milliseconds = milliseconds }

    package static var schema: JSONSchema { .instant }
    package init?(json: JSONValue) {
        guard let instant = json.string.flatMap({ Instant(rfc3339: $0) }) else { return nil }
        milliseconds = instant.milliseconds
    }
    package var json: JSONValue { JSONValue(milliseconds: milliseconds) }
}

extension CivilDate: JSONPart {
    package static var schema: JSONSchema { .date }
    package init?(json: JSONValue) {
        guard let text = json.string else { return nil }
        if let date = CivilDate(iso: text) {
            self = date
        } else {
            // An event may end after the year 9999.
            let parts = text.split(separator: "-").compactMap { Int($0) }
            guard parts.count == 3 else { return nil }
            self.init(daysSinceEpoch: 0)
            (year, month, day) = (parts[0], parts[1], parts[2])
        }
    }
    package var json: JSONValue { .string(description) }
}

/// A value that JSON has as null when it is missing.
extension Optional: JSONPart where Wrapped: JSONPart {
    package static var schema: JSONSchema { Wrapped.schema.orNull }
    package init?(json: JSONValue) {
        if case .null = json {
            self = .none
        } else {
            guard let value = Wrapped(json: json) else { return nil }
            self = value
        }
    }
    package var json: JSONValue { self?.json ?? .null }
    package func write(to text: inout JSONText) throws {
        if let self { try self.write(to: &text) } else { text.append("null") }
    }
}

extension Array: JSONPart where Element: JSONPart {
    package static var schema: JSONSchema { .array(of: Element.schema) }
    package init?(json: JSONValue) {
        guard let elements = json.list(Element.init(json:)) else { return nil }
        self = elements
    }
    package var json: JSONValue { .array(map(\.json)) }
    package func write(to text: inout JSONText) throws {
        var lead = "["
        for element in self {
            text.append(lead)
            try element.write(to: &text)
            lead = ","
        }
        text.append(isEmpty ? "[]" : "]")
    }
}

/// One of the words of an enumeration.
extension JSONPart where Self: RawRepresentable & CaseIterable, RawValue == String {
    package static var schema: JSONSchema { .choice(Self.self) }
    package init?(json: JSONValue) {
        guard let known = json.string.flatMap({ Self(text: $0) }) else { return nil }
        self = known
    }
    package var json: JSONValue { .string(rawValue) }
}
