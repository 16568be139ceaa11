// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore
import Storage

extension StoredItem {
    /// The entity tag of the item as it is stored.
    var etag: String {
        get throws { try content.json(item, zone: zone).etag }
    }
}

extension ShownItem {
    /// The item as it is read, and its tag.
    ///
    /// The tag leaves out the item's changed occurrences: each of their changes raises the item's `sequence`.
    var jsonAndTag: (json: JSONValue, etag: String) {
        get throws {
            guard let content else { return (deleted, try deleted.etag) }
            let json = content.json(item, zone: zone)
            return (shown(json, content), try json.etag)
        }
    }

    /// The item as a list shows it.
    var listedJSON: JSONValue {
        get throws { content.map { shown($0.json(item, zone: zone), $0) } ?? deleted }
    }

    /// For a deleted item, programs that keep a copy only need to know that it was deleted.
    private var deleted: JSONValue {
        ["id": .string(item.id), "uid": .string(item.uid), "deletedAt": JSONValue(milliseconds: item.deletedAt)]
    }

    /// An appointment with its changed occurrences.
    private func shown(_ json: JSONValue, _ content: any ItemContent) -> JSONValue {
        guard item.hasOccurrences, case .object(var members) = json else { return json }
        let own = content.zone(or: zone)
        func time(_ instant: Instant) -> JSONValue { .string(instant.rfc3339(offset: own.rules.offset(at: instant))) }
        members["occurrences"] = .array(
            moved.map { occurrence in
                [
                    "originalStart": Instant(basic: occurrence.originalStart).map(time) ?? .null,
                    "startAt": time(occurrence.startAt), "endAt": time(occurrence.endAt),
                ]
            })
        return .object(members)
    }
}

extension ShownOccurrence {
    var json: JSONValue {
        func time(_ instant: Instant) -> JSONValue { .string(instant.rfc3339(offset: zone.rules.offset(at: instant))) }
        return [
            "originalStart": time(originalStart), "startAt": time(content.startAt), "endAt": time(content.endAt),
            "provider": .string(content.provider ?? series.provider),
            "location": JSONValue(content.location ?? series.location),
            "notes": JSONValue(content.notes ?? series.notes), "status": .string(content.status.rawValue),
        ]
    }
}
