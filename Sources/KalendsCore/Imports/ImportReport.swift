// SPDX-License-Identifier: Apache-2.0

package import Base
package import ICalBridge

extension ImportPlan.Item {
    /// Writes the item as JSON with sorted keys.
    ///
    /// An import of many events has as many items, and most are never looked at: making a `JSONValue` of each took
    /// longer than comparing the event with what is stored.
    func write(to text: inout JSONText) {
        text.append(#"{"change":"#)
        text.write(change.rawValue)
        text.append(#","end":"#)
        text.write(event.effectiveEnd)
        text.append(#","itemId":"#)
        text.write(id)
        text.append(#","reason":"#)
        text.write(reason)
        text.append(isShared ? #","shared":true,"start":"# : #","shared":false,"start":"#)
        text.write(event.start)
        if let storedUID {
            text.append(#","stored":"#)
            text.write(storedUID)
        }
        text.append(#","summary":"#)
        text.write(event.summary.map(Self.shortened))
        text.append(#","uid":"#)
        text.write(event.uid)
        text.append("}")
    }
}

extension JSONText {
    fileprivate mutating func write(_ text: String?) {
        if let text { write(text) } else { append("null") }
    }

    /// Writes `EventTime.json` with sorted keys.
    fileprivate mutating func write(_ time: EventTime?) {
        switch time {
        case nil: return append("null")
        case .date(let date):
            append(#"{"date":"#)
            write(date.description)
        case .floating(let wall):
            append(#"{"dateTime":"#)
            write(wall.description)
            append(#","floating":true"#)
        case .utc(let instant): write(instant.utc, "UTC", instant)
        case .zoned(let wall, let zone): write(wall, zone.identifier, zone.rules.instant(of: wall))
        }
        append("}")
    }

    private mutating func write(_ wall: CivilDateTime, _ zone: String, _ instant: Instant) {
        append(#"{"dateTime":"#)
        write(wall.description)
        append(#","timeZone":"#)
        write(zone)
        append(#","utc":"#)
        write(instant.description)
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
    /// The time as `parse` and reports write it: with its zone and the instant, floating, or a date.
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
