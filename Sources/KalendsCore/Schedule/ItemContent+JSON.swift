// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
package import Storage

extension ItemContent {
    /// The members of a read item that are ours and that a client may send back with it.
    static var readOnly: Set<ByteString> {
        ["id", "circleId", "uid", "sequence", "createdAt", "updatedAt", "occurrences"]
    }

    /// Reads what was sent; nil when something is missing or wrong, which is among the faults.
    init?(_ fields: inout FieldReader) {
        self.init()
        for part in Self.parts { part.read(&fields, &self) }
        fields.finish(ignoring: Self.readOnly)
        guard fields.faults.isEmpty else { return nil }
    }

    /// The item as the API shows it: times with the offset of its zone, or of `zone`, the circle's.
    package func json(_ item: ScheduleItem, zone: TimeZoneReference) -> JSONValue {
        .object(
            members(zone).merging([
                "id": .string(item.id), "circleId": .string(item.circleID), "uid": .string(item.uid),
                "sequence": .integer(item.sequence), "createdAt": JSONValue(milliseconds: item.createdAt),
                "updatedAt": JSONValue(milliseconds: item.updatedAt),
            ]) { $1 })
    }

    /// Its own fields, as a request would give them.
    func members(_ zone: TimeZoneReference) -> [ByteString: JSONValue] {
        let clock = self.zone(or: zone).rules
        var members: [ByteString: JSONValue] = [:]
        for part in Self.parts { part.show(self, &members, clock) }
        return members
    }

    /// What the document says of its items, by the names of the schemas.
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
