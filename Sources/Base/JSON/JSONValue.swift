// SPDX-License-Identifier: Apache-2.0

/// A JSON document as a value, for reading and for writing.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([ByteString: JSONValue])
}

extension JSONValue {
    package init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }
    package init(_ number: Int?) { self = number.map(JSONValue.integer) ?? .null }

    /// The document in UTF-8 with sorted keys, so that equal values yield equal bytes.
    package func serialized() throws -> [UInt8] {
        var text = JSONText()
        try text.write(self)
        return text.bytes
    }

    /// The result of `serialized()` as a `String`.
    package func text() throws -> String { String(decoding: try serialized(), as: UTF8.self) }

    /// Whether any text in it has more combining marks in a row than is allowed.
    package var hasLongRunOfMarks: Bool {
        switch self {
        case .null, .bool, .integer, .number: false
        case .string(let text): text.hasLongRunOfMarks
        case .array(let items): items.contains(where: \.hasLongRunOfMarks)
        case .object(let members):
            members.contains { $0.key.string.hasLongRunOfMarks || $0.value.hasLongRunOfMarks }
        }
    }

    package subscript(key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var integer: Int? { if case .integer(let number) = self { number } else { nil } }
    package var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    package var array: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    package var object: [ByteString: JSONValue]? { if case .object(let members) = self { members } else { nil } }
}

extension JSONValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let items): try container.encode(items)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }
    package init(nilLiteral: ()) { self = .null }
}
