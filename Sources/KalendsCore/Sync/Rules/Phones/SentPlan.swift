// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// A planned event as a phone's companion sent it: title, time and calendar name, and nothing else.
package struct SentPlan: Sendable {
    /// The title that replaces an empty one.
    static let untitled = "Planned"

    /// The members that are read; no other member is parsed into a value.
    package static let shape = JSONShape.object([
        "external_id": .scalar, "title": .scalar, "start_at": .scalar, "end_at": .scalar, "is_all_day": .scalar,
        "source_calendar_name": .scalar,
    ])

    /// An instant with its offset, in seconds east of UTC.
    struct Moment: Sendable {
        var instant: Instant
        var offset: Int
    }

    /// Nil when the id is not valid.
    var externalID: String?
    var start: Moment?
    var end: Moment?
    var isAllDay = false
    var title = untitled
    var calendarName: String?
    var faults = FaultList()

    /// - Parameter pointer: the event's place in the body.
    package init(_ body: JSONValue, at pointer: String) {
        var fields = FieldReader(body, at: pointer)
        externalID = fields.text("external_id", isRequired: true)
        if let id = externalID, id.unicodeScalars.contains(where: { $0.value < 32 }) {
            fields.fault("external_id", code: .unwantedCharacter, "This must be one line.")
        }
        start = fields.moment("start_at")
        end = fields.moment("end_at")
        if let start, let end, end.instant < start.instant {
            fields.fault("end_at", code: .order, "The end must not be before the start.")
        }
        isAllDay = fields.bool("is_all_day") ?? false
        if let text = fields.text("title"), !text.allSatisfy(\.isWhitespace) { title = text }
        calendarName = fields.text("source_calendar_name")
        faults = fields.faults
    }
}

extension FieldReader {
    fileprivate mutating func moment(_ name: String) -> SentPlan.Moment? {
        guard let instant = instant(name, isRequired: true), let text = value(name)?.string else { return nil }
        return SentPlan.Moment(instant: instant, offset: Self.offset(of: text))
    }

    /// Returns the offset at the end of a valid RFC 3339 time.
    private static func offset(of text: String) -> Int {
        let end = Array(text.utf8.suffix(6))
        guard end.count == 6, end[3] == UInt8(ascii: ":"), end[0] == UInt8(ascii: "+") || end[0] == UInt8(ascii: "-"),
            let hours = Int(String(decoding: end[1..<3], as: UTF8.self)),
            let minutes = Int(String(decoding: end[4...], as: UTF8.self))
        else { return 0 }
        return (end[0] == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
    }
}
