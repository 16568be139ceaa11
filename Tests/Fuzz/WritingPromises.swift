// SPDX-License-Identifier: Apache-2.0

/// Everything that is written from a reading is strict iCalendar, and reading it gives the same content without a
/// complaint.
enum WritingPromises {
    static func check(_ reading: CalendarReading) {
        for calendar in reading.calendars {
            let text = calendar.serialized()
            checkText(text)
            var again = CalendarReader(options: .init(keepsAttachments: true)).read(text)
            promise(again.refusal == nil || calendar.events.isEmpty, "Refused: \(again.refusal ?? "")")
            let errors = again.problems.filter { $0.severity == .error && !isCarried($0) }
            promise(errors.isEmpty, "Read with errors: \(errors)\n\(String(decoding: text, as: UTF8.self))")
            promise(again.skipped == 0, "Events are lost.")
            promise(again.calendars.count <= 1, "There are several calendars.")
            let events = again.calendars.first?.events.count ?? 0
            promise(events == calendar.events.count, "Of \(calendar.events.count) events \(events) come back.")
            guard let same = again.calendars.popLast() else { continue }
            let second = same.serialized()
            promise(
                second == text,
                "It changes when read and written:"
                    + difference(String(decoding: text, as: UTF8.self), String(decoding: second, as: UTF8.self)))
        }
    }

    /// Whether a problem concerns the calendar's content and not how it was written.
    private static func isCarried(_ problem: Problem) -> Bool { problem.code == "no-events" }

    /// RFC 5545 section 3.1: CRLF, 75 octets, UTF-8, no control characters; and none of libical's internal messages.
    static func checkText(_ text: [UInt8]) {
        promise(String(validating: text, as: UTF8.self) != nil, "It is no UTF-8.")
        var start = 0
        for (index, byte) in text.enumerated() where byte < 32 || byte == 127 {
            switch byte {
            case 9: break
            case 13: promise(index + 1 < text.count && text[index + 1] == 10, "A carriage return stands alone.")
            case 10:
                promise(index > 0 && text[index - 1] == 13, "A line feed stands alone.")
                promise(index - 1 - start <= 75, "A line has \(index - 1 - start) octets.")
                start = index + 1
            default: promise(false, "A control character \(byte) is in it.")
            }
        }
        promise(start == text.count, "The last line has no end.")
        let lines = String(decoding: text, as: UTF8.self)
        for end in [":", ";"] { promise(!lines.contains("\r\nX-LIC-ERROR\(end)"), "It has an X-LIC-ERROR.") }
    }
}
