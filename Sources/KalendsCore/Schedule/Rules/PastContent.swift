// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// What an item, or one occurrence of a series, held at one time.
package enum PastContent: Sendable {
    case item(any ItemContent)
    case occurrence(OccurrenceContent)

    /// The fields as a request would send them; times have the offset of the item's zone, or of `zone`, the circle's.
    package func members(_ zone: TimeZoneReference) -> [ByteString: JSONValue] {
        switch self {
        case .item(let content): content.members(zone)
        case .occurrence(let content): content.shown(on: zone.rules)
        }
    }
}

/// The stored form of an item's content by its fields, to find out what a change changed, and to take only that back.
struct StoredFields: Equatable {
    private var members: [ByteString: JSONValue]

    /// Throws `StorageError` for a form that this version does not understand.
    init(_ text: String) throws {
        guard let members = try JSONValue(parsing: text.utf8).object else {
            throw StorageError.unexpectedResult("An item holds something that this version does not understand.")
        }
        self.members = members
    }

    func text() throws -> String { try JSONValue.object(members).text() }

    /// The names of the fields that differ.
    func changed(to other: StoredFields) -> Set<ByteString> {
        Set(members.keys).union(other.members.keys).filter { members[$0] != other.members[$0] }
    }

    /// Whether some fields are the same here and there.
    func agrees(with other: StoredFields, on names: Set<ByteString>) -> Bool {
        names.allSatisfy { members[$0] == other.members[$0] }
    }

    /// Takes over some fields.
    mutating func take(_ names: Set<ByteString>, from other: StoredFields) {
        for name in names { members[name] = other.members[name] }
    }
}
