// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

/// How a value is shown as a JSON object: each member is described once, for the answers and for the API's document.
struct View<Value>: Sendable {
    let members: [Member]

    init(_ members: [Member]) { self.members = members }

    func members(of value: Value) -> [ByteString: JSONValue] {
        var object: [ByteString: JSONValue] = [:]
        for member in members {
            if let json = member.json(value) { object[member.key] = json }
        }
        return object
    }

    func json(_ value: Value) -> JSONValue { .object(members(of: value)) }

    var fields: [Schema.Field] {
        members.map { Schema.Field(name: $0.name, schema: $0.schema, isRequired: $0.isRequired) }
    }

    var schema: Schema { .object(fields) }

    struct Member: Sendable {
        let name: String
        let key: ByteString
        var schema: Schema
        /// Whether every object has the member.
        var isRequired = true
        /// Nil when the object does not have the member.
        let json: @Sendable (Value) -> JSONValue?

        init(_ name: String, _ schema: Schema, _ json: @escaping @Sendable (Value) -> JSONValue?) {
            (self.name, key, self.schema, self.json) = (name, ByteString(name), schema, json)
        }

        /// The same member with a sentence about it in the API's document.
        func described(_ text: String) -> Member {
            var member = self
            member.schema = schema.described(text)
            return member
        }

        /// The same member with another schema.
        func documented(_ schema: Schema) -> Member {
            var member = self
            member.schema = schema
            return member
        }

        /// A member that is null when it has no value.
        private static func nullable<Part>(
            _ name: String, _ schema: Schema, _ get: @escaping @Sendable (Value) -> Part?,
            _ json: @escaping @Sendable (Part) -> JSONValue
        ) -> Member { Member(name, schema.orNull) { get($0).map(json) ?? .null } }
    }
}

extension View.Member {
    /// A member that an object lacks when it has no value.
    static func optional<Part>(
        _ name: String, _ schema: Schema, _ get: @escaping @Sendable (Value) -> Part?,
        _ json: @escaping @Sendable (Part) -> JSONValue
    ) -> Self {
        var member = Self(name, schema) { get($0).map(json) }
        member.isRequired = false
        return member
    }

    static func text(_ name: String, _ get: @escaping @Sendable (Value) -> String) -> Self {
        Self(name, .string) { .string(get($0)) }
    }

    static func text(_ name: String, _ get: @escaping @Sendable (Value) -> String?) -> Self {
        nullable(name, .string, get) { .string($0) }
    }

    /// The id of a circle, a person or something that a host application named.
    static func id(_ name: String, _ get: @escaping @Sendable (Value) -> String) -> Self {
        text(name, get).documented(.identifier)
    }

    static func flag(_ name: String, _ get: @escaping @Sendable (Value) -> Bool) -> Self {
        Self(name, .bool) { .bool(get($0)) }
    }

    static func count(_ name: String, _ get: @escaping @Sendable (Value) -> Int) -> Self {
        Self(name, .count) { .integer(get($0)) }
    }

    static func count(_ name: String, _ get: @escaping @Sendable (Value) -> Int?) -> Self {
        nullable(name, .count, get) { .integer($0) }
    }

    /// An instant in milliseconds since 1970.
    static func instant(_ name: String, _ get: @escaping @Sendable (Value) -> Int) -> Self {
        Self(name, .instant) { JSONValue(milliseconds: get($0)) }
    }

    static func instant(_ name: String, _ get: @escaping @Sendable (Value) -> Int?) -> Self {
        nullable(name, .instant, get) { JSONValue(milliseconds: $0) }
    }

    static func instant(_ name: String, _ get: @escaping @Sendable (Value) -> Instant) -> Self {
        Self(name, .instant) { .string(get($0).rfc3339(offset: 0)) }
    }

    static func instant(_ name: String, _ get: @escaping @Sendable (Value) -> Instant?) -> Self {
        nullable(name, .instant, get) { .string($0.rfc3339(offset: 0)) }
    }

    /// One of the words of an enumeration.
    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ get: @escaping @Sendable (Value) -> Choice
    ) -> Self { Self(name, .choice(Choice.self)) { .string(get($0).rawValue) } }

    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ get: @escaping @Sendable (Value) -> Choice?
    ) -> Self { nullable(name, .choice(Choice.self), get) { .string($0.rawValue) } }

    /// A list of words of an enumeration.
    static func choices<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ get: @escaping @Sendable (Value) -> [Choice]
    ) -> Self {
        Self(name, .array(of: .choice(Choice.self))) { .array(get($0).map { .string($0.rawValue) }) }
    }

    static func choices<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ get: @escaping @Sendable (Value) -> [Choice]?
    ) -> Self {
        nullable(name, .array(of: .choice(Choice.self)), get) { .array($0.map { .string($0.rawValue) }) }
    }

    static func object<Part>(
        _ name: String, _ get: @escaping @Sendable (Value) -> Part, _ view: View<Part>
    ) -> Self { Self(name, view.schema) { view.json(get($0)) } }

    static func object<Part>(
        _ name: String, _ get: @escaping @Sendable (Value) -> Part?, _ view: View<Part>
    ) -> Self { nullable(name, view.schema, get) { view.json($0) } }

    static func list<Part>(
        _ name: String, _ get: @escaping @Sendable (Value) -> [Part], of view: View<Part>
    ) -> Self { Self(name, .array(of: view.schema)) { .array(get($0).map(view.json)) } }
}

/// A value that is shown in one way.
protocol Viewed {
    static var view: View<Self> { get }
}

extension Viewed {
    var json: JSONValue { Self.view.json(self) }
}
