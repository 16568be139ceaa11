// SPDX-License-Identifier: Apache-2.0

/// A file like those that Google Calendar exports, with any number of events, the same in every run.
enum SampleFile {
    /// Something odd that every event of a file contains.
    struct Oddity {
        var name: String
        /// The odd line; it is inserted before the line that begins with `place`.
        var line: String
        var place: String
    }

    static let oddities = [
        Oddity(name: "A second STATUS", line: "STATUS:TENTATIVE", place: "SEQUENCE:"),
        Oddity(name: "A number that is not valid", line: "SEQUENCE:first", place: "SEQUENCE:"),
        Oddity(name: "A delivery report", line: "REQUEST-STATUS:2.0;Success", place: "STATUS:"),
        Oddity(name: "A title that begins with a space", line: "SUMMARY: before", place: "SUMMARY:"),
        Oddity(name: "A day without VALUE=DATE", line: "DTEND:20260105", place: "DTEND;"),
    ]

    static func bytes(events: Int, _ oddity: Oddity? = nil) -> [UInt8] {
        var random = Numbers(state: 7)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(events * 480)
        for line in head { append(line, to: &bytes) }
        for index in 0..<events {
            for line in event(index, &random) {
                if let oddity, line.hasPrefix(oddity.place) { append(oddity.line, to: &bytes) }
                append(line, to: &bytes)
            }
        }
        append("END:VCALENDAR", to: &bytes)
        return bytes
    }

    private static let head = """
        BEGIN:VCALENDAR
        PRODID:-//Google Inc//Google Calendar 70.9054//EN
        VERSION:2.0
        CALSCALE:GREGORIAN
        METHOD:PUBLISH
        X-WR-CALNAME:Work
        X-WR-TIMEZONE:Europe/Berlin
        BEGIN:VTIMEZONE
        TZID:Europe/Berlin
        X-LIC-LOCATION:Europe/Berlin
        BEGIN:DAYLIGHT
        TZOFFSETFROM:+0100
        TZOFFSETTO:+0200
        TZNAME:CEST
        DTSTART:19700329T020000
        RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
        END:DAYLIGHT
        BEGIN:STANDARD
        TZOFFSETFROM:+0200
        TZOFFSETTO:+0100
        TZNAME:CET
        DTSTART:19701025T030000
        RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
        END:STANDARD
        END:VTIMEZONE
        """.split(separator: "\n").map(String.init)

    private static let words = """
        team review patient visit weekly call planning blood pressure lunch dentist school Grüße meeting\\, about the new \
        budget and what follows\\n
        """.split(separator: " ").map(String.init)

    private static func event(_ index: Int, _ random: inout Numbers) -> [String] {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        func text(_ count: Int) -> String {
            (0..<count).map { _ in words[random.next(words.count)] }.joined(separator: " ")
        }
        let (year, hour) = (2015 + random.next(13), random.next(22))
        let day = "\(year)\(two(1 + random.next(12)))\(two(1 + random.next(28)))"
        let zone = random.next(4) == 0 ? "America/New_York" : "Europe/Berlin"
        var lines = [
            "BEGIN:VEVENT", "DTSTART;TZID=\(zone):\(day)T\(two(hour))0000",
            "DTEND;TZID=\(zone):\(day)T\(two(hour + 1))3000",
        ]
        if index % 7 == 0 { lines.append("RRULE:FREQ=WEEKLY;UNTIL=\(year + 1)0101T225959Z;BYDAY=MO,WE,FR") }
        lines += [
            "DTSTAMP:20260721T\(two(hour))1713Z", "UID:\(String(1 << 40 + index, radix: 32))9k2m4n6p@google.com",
            "CREATED:20150310T101010Z", "DESCRIPTION:\(text(random.next(17)))", "LAST-MODIFIED:20250310T101010Z",
            "LOCATION:" + (index % 3 == 0 ? "" : "Main Street \(index % 200)\\, 10115 Berlin"), "SEQUENCE:\(index % 4)",
            "STATUS:CONFIRMED", "SUMMARY:\(text(4))", "TRANSP:OPAQUE",
        ]
        if index % 4 == 0 {
            lines += [
                "BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:This is an event reminder", "TRIGGER:-P0DT0H30M0S",
                "END:VALARM",
            ]
        }
        return lines + ["END:VEVENT"]
    }

    /// Appends a line, folded at 75 octets between characters.
    private static func append(_ line: String, to bytes: inout [UInt8]) {
        var room = 75
        for character in line.unicodeScalars {
            let width = UTF8.width(character)
            if width > room {
                bytes += [13, 10, 32]
                room = 74
            }
            room -= width
            bytes += UTF8.encode(character).map(Array.init) ?? []
        }
        bytes += [13, 10]
    }
}

/// SplitMix64.
struct Numbers {
    var state: UInt64

    mutating func next(_ limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((value ^ (value >> 31)) % UInt64(limit))
    }
}
