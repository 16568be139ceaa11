// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

extension ImportPlan {
    /// The report without its state (contract, section 5); items in the order of the file.
    func report(_ source: ImportSource, zone: any TimeZoneRules) -> JSONValue {
        let span = span(zone: zone)
        var problems = source.problems.map(\.json)
        for item in items where item.reason != nil {
            problems.append([
                "line": .integer(item.line), "uid": .string(item.event.uid), "severity": "warning",
                "code": item.change == .skipped ? "event-skipped" : "event-matched",
                "message": JSONValue(item.reason),
            ])
        }
        for item in items where item.event.isPrivate && item.record?.importedBy == nil && item.change != .skipped {
            problems.append([
                "line": .integer(item.line), "uid": .string(item.event.uid), "severity": "warning",
                "code": "private-event",
                "message": "It is marked private and no user imported it, so no feed shows it.",
            ])
        }
        return [
            "counts": [
                "events": .integer(items.count + source.skipped), "created": .integer(count(.created)),
                "updated": .integer(count(.updated)), "unchanged": .integer(count(.unchanged)),
                "skipped": .integer(count(.skipped) + source.skipped),
            ],
            "span": ["from": JSONValue(span?.from.description), "to": JSONValue(span?.to.description)],
            "timeZones": .array(
                source.zones.map {
                    ["tzid": .string($0.tzid), "resolvedTo": JSONValue($0.resolvedTo), "how": .string($0.how)]
                }),
            "problems": .array(problems),
            "items": .array(items.map(\.json)),
        ]
    }
}

extension ImportPlan.Item {
    fileprivate var json: JSONValue {
        [
            "itemId": .string(id), "uid": .string(event.uid), "change": .string(change.rawValue),
            "summary": JSONValue(event.summary), "start": event.start?.json ?? .null,
            "end": event.effectiveEnd?.json ?? .null, "reason": JSONValue(reason),
        ]
    }
}

extension Problem {
    var json: JSONValue {
        var members: [String: JSONValue] = [
            "line": .integer(line), "severity": .string(severity.rawValue), "code": .string(code.rawValue),
            "message": .string(message),
        ]
        if let column { members["column"] = .integer(column) }
        if let uid { members["uid"] = .string(uid) }
        if let text { members["text"] = .string(text) }
        if let reference = code.reference { members["reference"] = .string(reference) }
        return .object(members)
    }
}

extension EventTime {
    /// A time as the contract shows it: with its zone and the instant, floating, or a date (section 6).
    var json: JSONValue {
        switch self {
        case .date(let date): ["date": .string(date.description)]
        case .floating(let wall): ["dateTime": .string(wall.description), "floating": true]
        case .utc(let instant):
            [
                "dateTime": .string(instant.utc.description), "timeZone": "UTC", "utc": .string(instant.description),
            ]
        case .zoned(let wall, let zone):
            [
                "dateTime": .string(wall.description), "timeZone": .string(zone.identifier),
                "utc": .string(zone.rules.instant(of: wall).description),
            ]
        }
    }
}
