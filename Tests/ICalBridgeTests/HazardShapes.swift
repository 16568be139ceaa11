// SPDX-License-Identifier: Apache-2.0

/// A kind of input, of any size, that makes readers slow or large; `kalends-bench hazards` measures the same ones.
struct HazardShape: Sendable, CustomStringConvertible {
    /// The name; its number is that in the list of libical's hazards: H1 frees memory too early, H2 follows paths…
    var name: String
    /// Makes a whole file with this many repetitions.
    var make: @Sendable (_ count: Int) -> [UInt8]

    var description: String { name }

    static let head = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"
    static let tail = "END:VCALENDAR\r\n"
    static let opening =
        "BEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20260101T000000Z\r\n"

    /// A hazard made of lines within one event.
    static func within(_ name: String, _ lines: @escaping @Sendable (Int) -> String) -> HazardShape {
        HazardShape(name: name) { Array((head + opening + lines($0) + "\r\nEND:VEVENT\r\n" + tail).utf8) }
    }

    /// The same line over and over within one event.
    static func repeated(_ name: String, _ text: String) -> HazardShape {
        within(name) { String(repeating: text, count: $0) }
    }

    /// A hazard made of one piece of a calendar for each number.
    static func pieces(_ name: String, _ piece: @escaping @Sendable (Int) -> String) -> HazardShape {
        HazardShape(name: name) { count in Array((head + (0..<count).map(piece).joined() + tail).utf8) }
    }

    /// An event for each number, with a line of its own.
    static func events(_ name: String, _ line: @escaping @Sendable (Int) -> String) -> HazardShape {
        pieces(name) { number in
            "BEGIN:VEVENT\r\nUID:\(number)\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20260101T000000Z\r\n\(line(number))\r\nEND:VEVENT\r\n"
        }
    }

    /// A run of combining marks as the value of each property; code that compares characters by the standard library
    /// sorts all of them.
    private static let marks: [HazardShape] = {
        let ofCalendar = ["X-WR-TIMEZONE", "X-WR-CALNAME", "METHOD", "CALSCALE", "REFRESH-INTERVAL", "BEGIN"]
        let ofEvent = [
            "RRULE", "EXRULE", "RRULE:FREQ=DAILY;UNTIL=", "RRULE:FREQ=DAILY;X=", "RDATE", "EXDATE", "DTEND", "DURATION",
            "DTEND;TZID=", "RECURRENCE-ID;TZID=", "STATUS", "CLASS", "TRANSP", "SEQUENCE", "GEO", "URL", "CATEGORIES",
            "ATTENDEE;CN=", "ATTENDEE", "ORGANIZER", "ATTACH", "CREATED", "X-ALT-DESC;FMTTYPE=text/html",
            "DESCRIPTION;ENCODING=", "DESCRIPTION;CHARSET=", "DESCRIPTION;VALUE=", "BEGIN:VALARM\r\nTRIGGER", "UID",
        ]
        return ofCalendar.map { name in
            HazardShape(name: "marks in \(name)") {
                Array((head + "\(name):\(run($0))\r\n" + opening + "END:VEVENT\r\n" + tail).utf8)
            }
        }
            + ofEvent.map { name in
                within("marks in \(name.replacing("\r\n", with: " "))") { count in
                    guard name.hasSuffix("=") else { return "\(name):\(run(count))" }
                    return name + run(count) + (name.hasPrefix("RRULE") ? "" : ":x")
                }
            }
    }()

    private static func run(_ count: Int) -> String {
        "a" + String(repeating: "\u{301}", count: count) + String(repeating: "\u{316}", count: count)
    }

    static let all: [HazardShape] = marks + listed

    private static let listed: [HazardShape] = [
        repeated("H1 request status", "REQUEST-STATUS:2.8;x;y\r\n"),
        events("H2 zones that are paths") { "RDATE;TZID=../../\($0)/etc/passwd:20260101T000000" },
        pieces("H3 zones with a rule a second") {
            "BEGIN:VTIMEZONE\r\nTZID:\($0)\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nRRULE:FREQ=SECONDLY\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
        },
        HazardShape(name: "H3 a zone with many parts") { count in
            let part =
                "BEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nRRULE:FREQ=YEARLY\r\nEND:STANDARD\r\n"
            return Array(
                (head + "BEGIN:VTIMEZONE\r\nTZID:Z\r\n" + String(repeating: part, count: count) + "END:VTIMEZONE\r\n"
                    + opening + "RDATE;TZID=Z:20260101T000000\r\nEND:VEVENT\r\n" + tail).utf8)
        },
        repeated("H5 nested unknown components", "BEGIN:X-A\r\n"),
        repeated("H5 nested alarms", "BEGIN:VALARM\r\nTRIGGER:-PT5M\r\n"),
        within("H6 parameters") { "SUMMARY" + String(repeating: ";A=1", count: $0) + ":x" },
        within("H6 values of a parameter") { "ATTENDEE;MEMBER=a" + String(repeating: ",\"b\"", count: $0) + ":x" },
        within("H6 quotes") { "SUMMARY;A=" + String(repeating: "\"", count: $0) + ":x" },
        within("H7 a long line") { "SUMMARY:" + String(repeating: "lorem ipsum ", count: $0) },
        within("H7 a long line with escapes") { "SUMMARY: " + String(repeating: "a\\,\\t\\", count: $0) },
        repeated("H7 folds", "\r\n x"),
        HazardShape(name: "H7 carriage returns alone") { count in
            Array((head + opening + String(repeating: "X-A:b\r\r", count: count) + "END:VEVENT\r" + tail).utf8)
        },
        repeated("H8 lines that are no property", "A\r\n"),
        within("H8 raw lines below a text") {
            "DESCRIPTION:x\r\n" + String(repeating: "l m\r\n", count: $0)
        },
        events("H9 rules by the second") { _ in "RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30" },
        within("H9 a long rule") { "RRULE:FREQ=DAILY;BYMONTHDAY=1" + String(repeating: ",1", count: $0) },
        repeated("H10 many rules", "RRULE:FREQ=HOURLY;COUNT=3\r\n"),
        within("H11 a long number") { "RRULE:FREQ=DAILY;INTERVAL=" + String(repeating: "9", count: $0) },
        within("H12 dates on one line") { "EXDATE:20260101" + String(repeating: ",20260102T000000Z", count: $0) },
        repeated("H12 dates on many lines", "EXDATE:20260102T000000Z\r\n"),
        within("H12 categories") { "CATEGORIES:" + String(repeating: "a\\,b,", count: $0) },
        events("H13 plain events") { "SUMMARY:Event \($0)" },
        events("H18 other calendars' rules") { _ in "RRULE:RSCALE=HEBREW;FREQ=YEARLY" },
        pieces("H21 calendars in calendars") { _ in "BEGIN:VCALENDAR\r\n" },
        pieces("H21 events without an end") { "BEGIN:VEVENT\r\nUID:\($0)\r\nDTSTART:20260101T000000Z\r\n" },
        repeated("H21 ends without a beginning", "END:X-A\r\n"),
        events("H22 days that do not exist") { _ in "DTEND:20269999T999999Z" },
        within("H23 NULs") { "SUMMARY:x" + String(repeating: "\u{0}y", count: $0) },
        within("H23 control characters") { "SUMMARY:x" + String(repeating: "\u{1}\u{FEFF}y", count: $0) },
        HazardShape(name: "H23 bytes that are no UTF-8") { count in
            Array((head + opening).utf8) + Array(repeatElement([88, 45, 65, 58, 0xE4, 10], count: count).joined())
                + Array(("END:VEVENT\r\n" + tail).utf8)
        },
        within("H24 a file within") { "ATTACH;ENCODING=BASE64;VALUE=BINARY:" + String(repeating: "QUJD", count: $0) },
        repeated("H24 alarms", "BEGIN:VALARM\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n"),
        repeated("H24 attendees", "ATTENDEE;CN=\"A, B\";X=1:mailto:a@example.org\r\n"),
        pieces("events with the same content and no UID") { _ in
            "BEGIN:VEVENT\r\nDTSTART:20260101T000000Z\r\nEND:VEVENT\r\n"
        },
        events("replacements of all-day series") { "RECURRENCE-ID;TZID=Europe/Paris:20260101T00000\($0 % 10)" },
        repeated("soft line breaks", "DESCRIPTION;ENCODING=QUOTED-PRINTABLE:=\r\n=\r\n"),
    ]
}
