// SPDX-License-Identifier: Apache-2.0

package import Base
package import ICalBridge

extension ImportPlan.Item {
    var json: JSONValue {
        [
            "itemId": .string(id), "uid": .string(event.uid), "change": .string(change.rawValue),
            "summary": JSONValue(event.summary.map(Self.shortened)), "start": event.start?.json ?? .null,
            "end": event.effectiveEnd?.json ?? .null, "reason": JSONValue(reason),
            ImportShown.mark: .bool(isShared),
        ]
    }
}

extension ImportPlan.Item {
    /// Returns the start of a title, which only has to identify the event.
    private static func shortened(_ title: String) -> String {
        guard title.utf8.count > 1000 else { return title }
        return String(String.UnicodeScalarView(title.unicodeScalars.prefix(500))) + "…"
    }
}

extension Problem {
    package var json: JSONValue { .object(members) }

    /// - Parameter isShared: whether everybody in the circle may know about it.
    func json(isShared: Bool) -> JSONValue {
        .object(members.merging([ByteString(ImportShown.mark): .bool(isShared)]) { own, _ in own })
    }

    private var members: [ByteString: JSONValue] {
        var members: [ByteString: JSONValue] = [
            "line": .integer(line), "severity": .string(severity.rawValue), "code": .string(code.rawValue),
            "message": .string(message),
        ]
        if let column { members["column"] = .integer(column) }
        if let uid { members["uid"] = .string(uid) }
        if let text { members["text"] = .string(text) }
        if let reference = code.reference { members["reference"] = .string(reference) }
        return members
    }
}

extension EventTime {
    /// The time in the form of the contract (section 6): with its zone and the instant, floating, or a date.
    package var json: JSONValue {
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
