// SPDX-License-Identifier: Apache-2.0

/// A JSON document as a value, for reading and for writing.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([ByteString: JSONValue])

    public init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }
    public init(_ number: Int?) { self = number.map(JSONValue.integer) ?? .null }

    /// The document in UTF-8 with sorted keys, so that equal values yield equal bytes.
    public func serialized() throws -> [UInt8] {
        var text = JSONText()
        try text.write(self)
        return text.bytes
    }

    /// The result of `serialized()` as a `String`.
    public func text() throws -> String { String(decoding: try serialized(), as: UTF8.self) }

    /// Whether any text in it has more combining marks in a row than is allowed.
    public var hasLongRunOfMarks: Bool {
        switch self {
        case .null, .bool, .integer, .number: false
        case .string(let text): text.hasLongRunOfMarks
        case .array(let items): items.contains(where: \.hasLongRunOfMarks)
        case .object(let members):
            members.contains { $0.key.string.hasLongRunOfMarks || $0.value.hasLongRunOfMarks }
        }
    }

    public subscript(key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    public var string: String? { if case .string(let text) = self { text } else { nil } }
    public var integer: Int? { if case .integer(let number) = self { number } else { nil } }
    public var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    public var array: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    public var object: [ByteString: JSONValue]? { if case .object(let members) = self { members } else { nil } }
}

extension JSONValue: Encodable {
    public func encode(to encoder: any Encoder) throws {
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
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }
    public init(nilLiteral: ()) { self = .null }
}
