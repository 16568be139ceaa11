// SPDX-License-Identifier: Apache-2.0

import KalendsCore

/// The schemas of the document in a form from which client generators make simple types.
///
/// They say the same as before: a choice that may be null is one of its words or null, and an object within another one
/// has a name where programs write its type.
struct ClientForm {
    /// The names by where the objects are; without one, a generator names an object after its place.
    private static let names: [String: ByteString] = [
        "AllChanges.items[]": "ChangeAmongAll", "AppointmentInput.recurrence": "RecurrenceInput",
        "BatchReport.rejected[]": "RejectedLine", "Changes.items[]": "Change",
        "ConnectionChange.config": "ConnectionConfigInput", "ConnectionInput.config": "ConnectionConfigInput",
        "FeedChange.config": "FeedConfigInput", "FeedInput.config": "FeedConfigInput",
        "ServiceKeyInput.quotas": "KeyQuotasInput",
    ]
    private static let null: JSONValue = ["type": "null"]

    private(set) var schemas: [ByteString: JSONValue] = [:]

    init(_ components: [ByteString: Schema]) {
        for (name, schema) in components { keep(form(schema.value, at: name.string), as: name) }
    }

    private mutating func keep(_ schema: JSONValue, as name: ByteString) {
        precondition(schemas[name] ?? schema == schema, "\(name) is the name of two schemas.")
        schemas[name] = schema
    }

    /// - Parameter place: where the schema is, such as `Changes.items[]`.
    private mutating func form(_ schema: JSONValue, at place: String) -> JSONValue {
        guard var words = schema.object else { return schema }
        if let members = words["properties"]?.object {
            var formed: [ByteString: JSONValue] = [:]
            for (name, member) in members { formed[name] = named(member, at: "\(place).\(name.string)") }
            words["properties"] = .object(formed)
        }
        if let items = words["items"] { words["items"] = named(items, at: "\(place)[]") }
        guard let values = words["enum"]?.array, values.contains(.null) else { return .object(words) }
        var choice: [ByteString: JSONValue] = ["type": "string", "enum": .array(values.filter { $0 != .null })]
        for (word, value) in words where choice[word] == nil { choice[word] = value }
        return Self.orNull(.object(choice))
    }

    /// A reference to the schema if it is an object that has a name; otherwise the schema itself.
    private mutating func named(_ schema: JSONValue, at place: String) -> JSONValue {
        let formed = form(schema, at: place)
        guard let name = Self.names[place], var words = formed.object else { return formed }
        let isNullable = words["type"]?.array?.contains("null") == true
        words["type"] = "object"
        keep(.object(words), as: name)
        let reference = Schema.named(name.string).value
        return isNullable ? Self.orNull(reference) : reference
    }

    private static func orNull(_ schema: JSONValue) -> JSONValue { ["anyOf": [schema, null]] }
}
