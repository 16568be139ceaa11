// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
package import Storage

extension ItemContent {
    /// The server's own members, which a client may send back unchanged.
    static var readOnly: Set<ByteString> {
        ["id", "circleId", "uid", "sequence", "createdAt", "updatedAt", "occurrences"]
    }

    /// Reads a request; nil when something is missing or not valid, which adds faults.
    init?(_ fields: inout FieldReader) {
        self.init()
        for part in Self.parts { part.read(&fields, &self) }
        fields.finish(ignoring: Self.readOnly)
        guard fields.faults.isEmpty else { return nil }
    }

    /// Returns the item in the API's form; times have the offset of the item's zone, or of `zone`, the circle's.
    package func json(_ item: ScheduleItem, zone: TimeZoneReference) -> JSONValue {
        .object(
            members(zone).merging([
                "id": .string(item.id), "circleId": .string(item.circleID), "uid": .string(item.uid),
                "sequence": .integer(item.sequence), "createdAt": JSONValue(milliseconds: item.createdAt),
                "updatedAt": JSONValue(milliseconds: item.updatedAt),
            ]) { $1 })
    }

    /// Returns the item's own fields in the form of a request.
    func members(_ zone: TimeZoneReference) -> [ByteString: JSONValue] { shown(on: self.zone(or: zone).rules) }

    /// The schemas of the kind's items for the OpenAPI document, by name.
    package static var schemas: [(String, JSONSchema)] {
        let common: [JSONSchema.Field] = [
            .required("id", .identifier), .required("circleId", .identifier), .required("uid", .string),
            .required("sequence", .count), .required("createdAt", .instant), .required("updatedAt", .instant),
            .required("timeZone", .string.orNull),
        ]
        let input = JSONSchema.input(inputFields, example: example)
        return [
            (name, .object(common + parts.flatMap(\.output))),
            (name + "Input", inputNote.map(input.described) ?? input),
        ]
    }
}

extension StoredInParts {
    package static var inputFields: [JSONSchema.Field] { parts.flatMap(\.input) }
}
