// SPDX-License-Identifier: Apache-2.0

import Base

/// A schema of the OpenAPI document, taken apart once: looking its members up again for each value costs more than the
/// readers that the values are for.
struct Shape {
    enum Kind: Sendable { case object, array, number, boolean, string, none }

    struct Member {
        var name: ByteString
        var shape: Shape
        var isRequired: Bool
    }

    /// The place of the schema that is meant, in the list of all.
    private(set) var reference: Int?
    /// The schemas of `oneOf`, `anyOf` or `allOf`.
    private(set) var choices: [Shape] = []
    private(set) var values: [JSONValue] = []
    private(set) var constant: JSONValue?
    private(set) var example: JSONValue?
    private(set) var kinds: [Kind] = [.none]
    /// The members of an object, by name.
    private(set) var members: [Member] = []
    /// The schema of an array's elements, or none.
    private(set) var elements: [Shape] = []
    private(set) var range = (low: -5, high: 5_000)
    private(set) var isTime = false

    /// Reads a schema; `names` are those of all schemas, in the order of their list.
    init(_ schema: JSONValue, _ names: [ByteString: Int]) {
        if let name = schema["$ref"]?.string?.split(separator: "/").last {
            reference = names[ByteString(name)]
            return
        }
        let several = ["oneOf", "anyOf", "allOf"].lazy.compactMap { schema[$0]?.array }.first { !$0.isEmpty }
        choices = several?.map { Shape($0, names) } ?? []
        values = schema["enum"]?.array ?? []
        constant = schema["const"]
        example = schema["example"]
        kinds = (schema["type"]?.array ?? [schema["type"] ?? nil]).map(Self.kind)
        let required = Set((schema["required"]?.array ?? []).compactMap(\.string).map { ByteString($0) })
        members = (schema["properties"]?.object ?? [:]).sorted { $0.key < $1.key }.map { name, part in
            Member(name: name, shape: Shape(part, names), isRequired: required.contains(name))
        }
        elements = schema["items"].map { [Shape($0, names)] } ?? []
        range = (schema["minimum"]?.integer ?? range.low, schema["maximum"]?.integer ?? range.high)
        isTime = ["date-time", "date", "time"].contains(schema["format"]?.string)
    }

    private static func kind(_ type: JSONValue) -> Kind {
        switch type.string {
        case "object": .object
        case "array": .array
        case "integer", "number": .number
        case "boolean": .boolean
        case "string": .string
        default: .none
        }
    }
}
