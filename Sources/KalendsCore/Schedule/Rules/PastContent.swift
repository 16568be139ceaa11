// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// What an item, one occurrence of a series, or an imported event held at one time.
package enum PastContent: Sendable {
    case item(any ItemContent)
    case occurrence(OccurrenceContent)
    /// The components of an imported event, the series itself first.
    case event([Event])

    /// The fields as a request would send them; times have the offset of the item's zone, or of `zone`, the circle's.
    package func members(_ zone: TimeZoneReference) -> [ByteString: JSONValue] {
        switch self {
        case .item(let content): content.members(zone)
        case .occurrence(let content): content.shown(on: zone.rules)
        case .event(let components): Self.members(components, zone)
        }
    }

    private static func members(_ components: [Event], _ zone: TimeZoneReference) -> [ByteString: JSONValue] {
        guard let first = components.first else { return [:] }
        var members = members(first, zone)
        if components.count > 1 {
            members["occurrences"] = .array(components.dropFirst().map { .object(Self.members($0, zone)) })
        }
        return members
    }

    private static func members(_ event: Event, _ zone: TimeZoneReference) -> [ByteString: JSONValue] {
        func time(_ time: EventTime) -> JSONValue {
            if case .date(let day) = time { return .string(day.description) }
            let instant = time.instant(floatingIn: zone.rules)
            return .string(instant.rfc3339(offset: (time.zone ?? zone).rules.offset(at: instant)))
        }
        func times(_ times: [EventTime]) -> JSONValue? { times.isEmpty ? nil : .array(times.map(time)) }
        func texts(_ texts: [String]) -> JSONValue? { texts.isEmpty ? nil : .array(texts.map(JSONValue.string)) }
        let members: [(ByteString, JSONValue?)] = [
            ("title", event.summary.map(JSONValue.string)), ("startAt", event.start.map(time)),
            ("endAt", event.effectiveEnd.map(time)), ("originalStartAt", event.recurrenceID.map(time)),
            ("location", event.location.map(JSONValue.string)), ("notes", event.description.map(JSONValue.string)),
            ("status", event.status.map(JSONValue.string)), ("categories", texts(event.categories)),
            ("rrules", texts(event.recurrence.rules.map(\.description))),
            ("rdates", times(event.recurrence.additions.map(\.start))),
            ("exdates", times(event.recurrence.exclusions)),
        ]
        return Dictionary(uniqueKeysWithValues: members.compactMap { name, value in value.map { (name, $0) } })
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
