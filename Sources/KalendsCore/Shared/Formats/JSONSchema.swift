// SPDX-License-Identifier: Apache-2.0

/// A JSON Schema of draft 2020-12, which OpenAPI 3.1 uses.
package struct JSONSchema: Hashable, Sendable {
    package var json: [ByteString: JSONValue]
    /// The members of an object, in the order in which they are shown to people.
    package var fields: [Field] = []

    /// A member of an object.
    package struct Field: Hashable, Sendable {
        package var name: String
        package var schema: JSONSchema
        package var isRequired: Bool

        package init(name: String, schema: JSONSchema, isRequired: Bool) {
            (self.name, self.schema, self.isRequired) = (name, schema, isRequired)
        }

        package static func required(_ name: String, _ schema: JSONSchema) -> Field {
            Field(name: name, schema: schema, isRequired: true)
        }

        package static func optional(_ name: String, _ schema: JSONSchema) -> Field {
            Field(name: name, schema: schema, isRequired: false)
        }
    }

    package init(_ json: [ByteString: JSONValue]) { self.json = json }

    package var value: JSONValue { .object(json) }

    /// The same schema, with null allowed too.
    package var orNull: JSONSchema {
        var copy = self
        if let type = json["type"] {
            if type.array?.contains("null") == true { return self }
            copy.json["type"] = .array([type, "null"])
            if let values = json["enum"]?.array { copy.json["enum"] = .array(values + [.null]) }
            return copy
        }
        return JSONSchema(["anyOf": [value, ["type": "null"]]])
    }

    package func described(_ text: String) -> JSONSchema {
        var copy = self
        copy.json["description"] = .string(text)
        return copy
    }

    package func defaulting(to value: JSONValue) -> JSONSchema {
        var copy = self
        copy.json["default"] = value
        return copy
    }

    package func with(example: JSONValue) -> JSONSchema {
        var copy = self
        copy.json["examples"] = [example]
        return copy
    }

    /// An example of what a request would send.
    package var example: JSONValue? { json["examples"]?.array?.first }

    /// The schema of a request body: unknown members are faults, and null counts as absent.
    package static func input(_ fields: Field..., example: JSONValue) -> JSONSchema { input(fields, example: example) }

    package static func input(_ fields: [Field], example: JSONValue) -> JSONSchema {
        var schema = object(
            fields.map { $0.isRequired ? $0 : Field(name: $0.name, schema: $0.schema.orNull, isRequired: false) })
        schema.json["additionalProperties"] = false
        return schema.with(example: example)
    }

    /// The schema of a request that changes any of these fields; null counts as absent.
    package static func change(of fields: [Field], example: JSONValue) -> JSONSchema {
        var schema = object(
            fields.map { field in
                let isNullable = field.schema.json["type"]?.array != nil
                return .optional(field.name, isNullable ? field.schema : field.schema.orNull)
            })
        schema.json["additionalProperties"] = false
        return schema.with(example: example)
    }

    /// The schema of an answer: later versions may add members.
    package static func output(_ fields: Field...) -> JSONSchema { object(fields) }

    package static func object(_ fields: [Field]) -> JSONSchema {
        var schema = JSONSchema([
            "type": "object",
            "properties": .object(
                Dictionary(fields.map { ($0.name, $0.schema.value) }, uniquingKeysWith: { first, _ in first })),
        ])
        let required = fields.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { schema.json["required"] = .array(required) }
        schema.fields = fields
        return schema
    }

    /// A reference to a schema under `components/schemas`.
    package static func named(_ name: String) -> JSONSchema {
        JSONSchema(["$ref": .string("#/components/schemas/\(name)")])
    }

    package static func array(of element: JSONSchema, minimum: Int? = nil, maximum: Int? = nil) -> JSONSchema {
        var schema = JSONSchema(["type": "array", "items": element.value])
        if let minimum { schema.json["minItems"] = .integer(minimum) }
        if let maximum { schema.json["maxItems"] = .integer(maximum) }
        return schema
    }

    package static func either(_ schemas: JSONSchema...) -> JSONSchema {
        JSONSchema(["anyOf": .array(schemas.map(\.value))])
    }

    package static let string = JSONSchema(["type": "string"])
    /// The bytes of a file, which clients stream without parsing.
    package static let bytes = JSONSchema(["type": "string", "format": "binary"])
    package static let bool = JSONSchema(["type": "boolean"])
    package static let count = JSONSchema(["type": "integer", "minimum": 0])

    /// Text for people, which must contain at least one visible character.
    package static func text(_ maximum: Int = 1000) -> JSONSchema {
        JSONSchema([
            "type": "string", "maxLength": .integer(maximum), "minLength": 1,
            "pattern": .string("^\(letter)*[^\\s\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029\\uFEFF]\(letter)*$"),
        ])
    }

    /// A character that text may contain: tabs and line breaks are the only control characters.
    private static let letter = #"[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]"#

    /// Text that may be empty; an empty text counts as a missing one.
    package static func optionalText(_ maximum: Int = 1000) -> JSONSchema {
        JSONSchema(["type": "string", "maxLength": .integer(maximum), "pattern": .string("^\(letter)*$")])
    }

    /// Returns the same schema with a limit on its length in UTF-8 bytes, for which JSON Schema has no keyword.
    package func withMost(bytes: Int) -> JSONSchema {
        var copy = described("At most \(bytes) bytes in UTF-8.")
        copy.json["x-maxBytes"] = .integer(bytes)
        return copy
    }

    package static func integer(_ range: ClosedRange<Int>) -> JSONSchema {
        JSONSchema(["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)])
    }

    package static func choice<Choice: RawRepresentable & CaseIterable>(_ type: Choice.Type) -> JSONSchema
    where Choice.RawValue == String {
        one(of: type.allCases.map(\.rawValue))
    }

    package static func one(of values: [String]) -> JSONSchema {
        JSONSchema(["type": "string", "enum": .array(values.map(JSONValue.string))])
    }

    package static let identifier = JSONSchema([
        "type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[A-Za-z0-9._~:-]+$",
        "description": "The host application's own id.",
    ])
    package static let instant = JSONSchema([
        "type": "string", "format": "date-time", "description": "A time as RFC 3339 writes it, with an offset.",
    ])
    package static let date = JSONSchema(["type": "string", "format": "date"])
    package static let timeZone = JSONSchema([
        "type": "string", "minLength": 1, "maxLength": 64, "description": "A time zone's IANA name.",
        "examples": ["America/Los_Angeles"],
    ])
    package static let reminders = array(of: integer(0...40_320), maximum: 20).described("Minutes before.")
}
