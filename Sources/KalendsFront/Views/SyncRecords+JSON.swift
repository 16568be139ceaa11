// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import ICalBridge
import KalendsCore
import Storage

extension Connections.Listed<SyncRunRow, RunRecord> {
    var json: JSONValue {
        let counts = record.counts
        return [
            "id": .string(row.id), "connectionId": .string(row.connectionID),
            "trigger": .string(record.trigger.rawValue), "state": .string(record.state.rawValue),
            "startedAt": JSONValue(record.startedAt), "endedAt": record.endedAt.map { JSONValue($0) } ?? .null,
            "status": JSONValue(record.status?.rawValue), "error": JSONValue(record.error),
            "counts": [
                "created": .integer(counts.created), "updated": .integer(counts.updated),
                "deleted": .integer(counts.deleted), "pulled": .integer(counts.pulled),
                "conflicts": .integer(counts.conflicts), "failed": .integer(counts.failed),
                "unchanged": .integer(counts.unchanged),
            ],
            "requests": .integer(record.requests),
            "held": record.held.map { hold in
                [
                    "causes": .array(hold.causes.map { .string($0.rawValue) }), "deletions": .integer(hold.deletions),
                    "missing": .integer(hold.missing),
                ]
            } ?? .null,
        ]
    }
}

extension CalendarSync.Link {
    var json: JSONValue {
        var members: [ByteString: JSONValue] = [
            "collection": .string(item.collection.rawValue), "itemId": .string(item.id),
            "externalId": JSONValue(externalID), "externalEtag": JSONValue(etag),
            "direction": .string(direction.rawValue), "state": .string(state.rawValue), "reason": JSONValue(reason),
            "lastSyncedAt": lastSyncedAt.map { JSONValue($0) } ?? .null,
        ]
        if let occurrence = item.occurrence { members["occurrence"] = JSONValue(occurrence) }
        return .object(members)
    }
}

extension Connections.Listed<SyncConflictRow, ConflictRecord> {
    var json: JSONValue {
        var members: [ByteString: JSONValue] = [
            "id": .string(row.id), "connectionId": .string(row.connectionID),
            "collection": .string(record.item.collection.rawValue), "itemId": .string(record.item.id),
            "at": JSONValue(record.at), "kind": .string(record.kind.rawValue),
            "fields": .array(
                record.fields.map { field in
                    var members: [ByteString: JSONValue] = [
                        "field": .string(field.field.rawValue), "base": JSONValue(field.base),
                        "kalends": JSONValue(field.kalends), "calendar": JSONValue(field.calendar),
                        "kept": .string(field.kept.rawValue),
                    ]
                    if let occurrence = field.occurrence { members["occurrence"] = JSONValue(occurrence) }
                    return .object(members)
                }),
            "state": .string(record.state.rawValue), "outcome": JSONValue(record.outcome?.rawValue),
            "resolvedAt": record.resolvedAt.map { JSONValue($0) } ?? .null, "resolvedBy": JSONValue(row.resolvedBy),
        ]
        if let occurrence = record.occurrence ?? record.item.occurrence {
            members["occurrence"] = JSONValue(occurrence)
        }
        if let occurrences = record.occurrences {
            members["occurrences"] = .array(occurrences.prefix(ConflictRecord.mostFields).map { JSONValue($0) })
            members["occurrenceCount"] = .integer(occurrences.count)
        }
        return .object(members)
    }
}

extension Connections.Listed<SyncJournalRow, JournalEntry> {
    var json: JSONValue {
        var members: [ByteString: JSONValue] = [
            "id": .string(row.id), "runId": .string(row.runID), "at": JSONValue(record.at),
            "direction": .string(record.direction.rawValue), "change": .string(record.change.rawValue),
            "collection": .string(record.item.collection.rawValue), "itemId": .string(record.item.id),
            "externalId": JSONValue(record.externalID), "reason": .string(record.reason),
            "before": record.before?.json ?? .null, "after": record.after?.json ?? .null,
        ]
        if let occurrence = record.item.occurrence { members["occurrence"] = JSONValue(occurrence) }
        return .object(members)
    }
}

extension Entry {
    /// The event as people compare it with another one.
    fileprivate var json: JSONValue {
        [
            "title": .string(title), "notes": .string(notes), "location": .string(location), "times": span.json,
            "recurrence": repetition.map { repetition in
                [
                    "rrule": JSONValue(repetition.rrule),
                    "exdates": .array(repetition.exdates.map { JSONValue($0) }),
                    "rdates": .array(repetition.rdates.map { JSONValue($0) }),
                ]
            } ?? .null,
            "occurrences": .array(
                occurrences.sorted { $0.key < $1.key }.map { start, occurrence in
                    switch occurrence {
                    case .cancelled: ["start": JSONValue(start), "status": "cancelled"]
                    case .changed(let changed):
                        [
                            "start": JSONValue(start), "status": .string(changed.status.rawValue),
                            "title": .string(changed.title), "notes": .string(changed.notes),
                            "location": .string(changed.location), "times": changed.span.json,
                        ]
                    }
                }),
            "reminders": .array(reminders.map { .integer($0) }), "status": .string(status.rawValue),
            "availability": .string(availability.rawValue),
        ]
    }
}

extension Span {
    fileprivate var json: JSONValue {
        switch self {
        case .timed(let start, let end, let zone):
            ["start": JSONValue(start), "end": JSONValue(end), "timeZone": .string(zone), "allDay": false]
        case .days(let first, let until):
            ["start": .string("\(first)"), "end": .string("\(until)"), "timeZone": .null, "allDay": true]
        }
    }
}

extension JSONValue {
    /// An instant as RFC 3339 writes it, in UTC.
    init(_ instant: Instant) { self = .string(instant.rfc3339(offset: 0)) }
}
