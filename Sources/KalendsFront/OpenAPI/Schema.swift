// SPDX-License-Identifier: Apache-2.0

/// A JSON Schema of draft 2020-12, which OpenAPI 3.1 speaks.
struct Schema: Hashable, Sendable {
    var json: [ByteString: JSONValue]
    /// The members of an object, in the order in which people read them.
    var fields: [Field] = []

    /// A member of an object.
    struct Field: Hashable, Sendable {
        var name: String
        var schema: Schema
        var isRequired: Bool

        static func required(_ name: String, _ schema: Schema) -> Field {
            Field(name: name, schema: schema, isRequired: true)
        }

        static func optional(_ name: String, _ schema: Schema) -> Field {
            Field(name: name, schema: schema, isRequired: false)
        }
    }

    init(_ json: [ByteString: JSONValue]) { self.json = json }

    var value: JSONValue { .object(json) }

    /// The same, or null.
    var orNull: Schema {
        var copy = self
        if let type = json["type"] {
            if type.array?.contains("null") == true { return self }
            copy.json["type"] = .array([type, "null"])
            if let values = json["enum"]?.array { copy.json["enum"] = .array(values + [.null]) }
            return copy
        }
        return Schema(["anyOf": [value, ["type": "null"]]])
    }

    func described(_ text: String) -> Schema {
        var copy = self
        copy.json["description"] = .string(text)
        return copy
    }

    func defaulting(to value: JSONValue) -> Schema {
        var copy = self
        copy.json["default"] = value
        return copy
    }

    func with(example: JSONValue) -> Schema {
        var copy = self
        copy.json["examples"] = [example]
        return copy
    }

    /// What a request to this would send.
    var example: JSONValue? { json["examples"]?.array?.first }
}

extension Schema {
    /// What a request gives: unknown members are faults, and null counts as not there.
    static func input(_ fields: Field..., example: JSONValue) -> Schema { input(fields, example: example) }

    static func input(_ fields: [Field], example: JSONValue) -> Schema {
        var schema = object(
            fields.map { $0.isRequired ? $0 : Field(name: $0.name, schema: $0.schema.orNull, isRequired: false) })
        schema.json["additionalProperties"] = false
        return schema.with(example: example)
    }

    /// What an answer holds: members may be added in later versions.
    static func output(_ fields: Field...) -> Schema { object(fields) }

    static func object(_ fields: [Field]) -> Schema {
        var schema = Schema([
            "type": "object",
            "properties": .object(
                Dictionary(fields.map { ($0.name, $0.schema.value) }, uniquingKeysWith: { first, _ in first })),
        ])
        let required = fields.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { schema.json["required"] = .array(required) }
        schema.fields = fields
        return schema
    }

    /// One that stands under `components/schemas`.
    static func named(_ name: String) -> Schema { Schema(["$ref": .string("#/components/schemas/\(name)")]) }

    static func array(of element: Schema, minimum: Int? = nil, maximum: Int? = nil) -> Schema {
        var schema = Schema(["type": "array", "items": element.value])
        if let minimum { schema.json["minItems"] = .integer(minimum) }
        if let maximum { schema.json["maxItems"] = .integer(maximum) }
        return schema
    }

    static func either(_ schemas: Schema...) -> Schema { Schema(["anyOf": .array(schemas.map(\.value))]) }

    static let string = Schema(["type": "string"])
    /// A file as it is: clients stream it and look at nothing.
    static let bytes = Schema(["type": "string", "format": "binary"])
    static let bool = Schema(["type": "boolean"])
    static let count = Schema(["type": "integer", "minimum": 0])

    /// Words for people: something to be seen must be in it.
    static func text(_ maximum: Int = 1000) -> Schema {
        Schema([
            "type": "string", "maxLength": .integer(maximum), "minLength": 1,
            "pattern": .string("^\(letter)*[^\\s\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029\\uFEFF]\(letter)*$"),
        ])
    }

    /// What text may have: no control character but tabs and line breaks.
    private static let letter = #"[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]"#

    /// Text that may be empty, which counts as none.
    static func optionalText(_ maximum: Int = 1000) -> Schema {
        Schema(["type": "string", "maxLength": .integer(maximum), "pattern": .string("^\(letter)*$")])
    }

    /// The same with a limit on its bytes in UTF-8, which JSON Schema has no word for.
    func withMost(bytes: Int) -> Schema {
        var copy = described("At most \(bytes) bytes in UTF-8.")
        copy.json["x-maxBytes"] = .integer(bytes)
        return copy
    }

    static func integer(_ range: ClosedRange<Int>) -> Schema {
        Schema(["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)])
    }

    static func choice<Choice: RawRepresentable & CaseIterable>(_ type: Choice.Type) -> Schema
    where Choice.RawValue == String {
        one(of: type.allCases.map(\.rawValue))
    }

    static func one(of values: [String]) -> Schema {
        Schema(["type": "string", "enum": .array(values.map(JSONValue.string))])
    }

    static let identifier = Schema([
        "type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[A-Za-z0-9._~:-]+$",
        "description": "The host application's own id.",
    ])
    static let instant = Schema([
        "type": "string", "format": "date-time", "description": "A time as RFC 3339 writes it, with an offset.",
    ])
    static let date = Schema(["type": "string", "format": "date"])
    static let timeZone = Schema([
        "type": "string", "minLength": 1, "maxLength": 64, "description": "A time zone's IANA name.",
        "examples": ["America/Los_Angeles"],
    ])
    static let reminders = array(of: integer(0...40_320), maximum: 20).described("Minutes before.")
}
