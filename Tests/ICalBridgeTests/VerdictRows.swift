// SPDX-License-Identifier: Apache-2.0

@testable import ICalBridge

/// A file to which a rule applies, and one without the cause that is otherwise the same.
struct VerdictRow {
    var rule: String
    var clients: [CalendarClient]
    var outcome: ClientVerdict.Outcome
    /// A text that its sentence has to contain.
    var says: String
    var bad: [UInt8]
    var good: [UInt8]

    init(
        _ rule: String, _ clients: [CalendarClient], _ outcome: ClientVerdict.Outcome, _ says: String, _ bad: String,
        _ good: String
    ) {
        self.init(rule, clients, outcome, says, Array(bad.utf8), Array(good.utf8))
    }

    init(
        _ rule: String, _ clients: [CalendarClient], _ outcome: ClientVerdict.Outcome, _ says: String, _ bad: [UInt8],
        _ good: [UInt8]
    ) {
        (self.rule, self.clients, self.outcome, self.says) = (rule, clients, outcome, says)
        (self.bad, self.good) = (bad, good)
    }

    static let all = files + zones + times + contents + homeAssistant

    /// Returns one event with some lines besides its UID and DTSTAMP.
    static func event(_ lines: String...) -> String { Reading.calendar(Reading.event(lines)) }

    static let day = "DTSTART;VALUE=DATE:20260105"
    static let time = "DTSTART:20260105T090000Z"
    static let plain = event(day)

    private static func latin(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value) } }

    private static let files: [VerdictRow] = [
        VerdictRow("not-a-calendar", [.thunderbird], .refuses, "read-only", "<html>Sign in</html>", plain),
        VerdictRow("not-a-calendar", [.evolution], .refuses, "Bad file format", "<html>Sign in</html>", plain),
        VerdictRow("no-whole-calendar", [.thunderbird], .refuses, "line 1 ", String(plain.dropLast(15)), plain),
        VerdictRow(
            "no-whole-calendar", [.thunderbird], .refuses, "in no VCALENDAR",
            Reading.event([day]).joined(separator: "\r\n"), plain),
        VerdictRow(
            "line-unreadable", [.thunderbird], .refuses, "line 9", event(day, "DESCRIPTION:one", "two"),
            event(day, "DESCRIPTION:one", " two")),
        VerdictRow(
            "line-unreadable", [.thunderbird], .refuses, "line 8", event(day, "ORGANIZER;CN=Ann Example"),
            event(day, "ORGANIZER;CN=Ann Example:")),
        VerdictRow("line-unreadable", [.thunderbird], .refuses, "line 10", plain + "junk:outside", plain + "\n \n"),
        VerdictRow("several-calendars", [.thunderbird], .refuses, "line 10", plain + plain, plain),
        VerdictRow(
            "bad-value", [.thunderbird], .refuses, "RRULE in line 8", event(day, "RRULE:FREQ=DAILY;BYDAY="),
            event(day, "RRULE:FREQ=DAILY;BYDAY=-1MO;")),
        VerdictRow(
            "bad-value", [.thunderbird], .refuses, "EXDATE in line 8", event(day, "EXDATE:"),
            event(day, "EXDATE:20260105,20260106T090000Z")),
        VerdictRow(
            "bad-value", [.thunderbird], .refuses, "DURATION in line 8", event(time, "DURATION:P"),
            event(time, "DURATION:PT1H")),
        VerdictRow(
            "bad-value", [.thunderbird], .refuses, "RDATE in line 8",
            event(day, "RDATE;VALUE=PERIOD:20260105/20260106"),
            event(day, "RDATE:20260105T090000Z/PT1H")),
        VerdictRow("one-calendar", [.evolution], .refuses, "Not a calendar", plain + plain, plain + "END:VEVENT\r\n"),
        VerdictRow("one-calendar", [.evolution], .refuses, "Bad file format", String(plain.dropLast(15)), plain),
        VerdictRow("not-a-calendar", [.apple, .google, .outlook], .refuses, "no calendar", "", plain),
        VerdictRow(
            "wrong-folds", [.google], .refuses, "line 9", event(day, "DESCRIPTION:one", "two"),
            event(day, "DESCRIPTION:one", " two")),
        VerdictRow(
            "dtstamp-missing", [.google], .partly, "line 4",
            Reading.calendar(["BEGIN:VEVENT", "UID:a", day, "END:VEVENT"]), plain),
        VerdictRow(
            "sequence-too-large", [.google], .refuses, "line 8", event(day, "SEQUENCE:2147483648"),
            event(day, "SEQUENCE:2147483647")),
        VerdictRow(
            "size", [.google], .partly, "this is 1.2 MB", large(1_200_000), large(900_000)),
        VerdictRow(
            "not-utf8", [.thunderbird, .evolution], .partly, "UTF-8", latin(event(day, "SUMMARY:Stra\u{DF}e")),
            Array(event(day, "SUMMARY:Stra\u{DF}e").utf8)),
        VerdictRow(
            "split-character", [.google], .partly, "line 9",
            Array(event(day, "SUMMARY:q").utf8).replacing([113], with: [195, 13, 10, 32, 159]),
            Array(event(day, "SUMMARY:q").utf8).replacing([113], with: [195, 159, 13, 10, 32])),
        VerdictRow(
            "method-request", [.outlook], .partly, "first of 2 events",
            Reading.calendar(["METHOD:REQUEST"] + two), Reading.calendar(["METHOD:PUBLISH"] + two)),
        VerdictRow(
            "name-missing", [.google], .takes, "X-WR-CALNAME",
            Reading.calendar(["NAME:Home"] + two), Reading.calendar(["X-WR-CALNAME:Home"] + two)),
        VerdictRow(
            "name-on-single", [.outlook], .takes, "new calendar",
            Reading.calendar(["X-WR-CALNAME:Home"] + Reading.event([day])),
            Reading.calendar(["X-WR-CALNAME:Home"] + two)),
    ]

    static let two =
        Reading.event([day]) + ["BEGIN:VEVENT", "UID:2", "DTSTAMP:20260101T000000Z", day, "END:VEVENT"]

    /// Returns a calendar of roughly a given size, with a long description.
    private static func large(_ size: Int) -> String {
        event(
            day,
            "DESCRIPTION:"
                + Array(repeating: String(repeating: "a", count: 70), count: size / 73)
                .joined(separator: "\r\n "))
    }

    static func zone(_ parts: [String], tzid: String = "Here") -> String {
        Reading.calendar(
            ["BEGIN:VTIMEZONE", "TZID:Here", "BEGIN:STANDARD"] + parts + ["END:STANDARD", "END:VTIMEZONE"]
                + Reading.event(["DTSTART;TZID=\(tzid):20260105T090000"]))
    }

    static let observance = [
        "DTSTART:19700101T000000", "TZOFFSETFROM:+0100", "TZOFFSETTO:+0100", "RRULE:FREQ=YEARLY",
    ]
    static let sound = zone(observance)

    private static let zones: [VerdictRow] = [
        VerdictRow(
            "zone-undeclared", [.outlook], .partly, "Europe/Paris", zone(observance, tzid: "Europe/Paris"), sound),
        VerdictRow(
            "zone-by-dates", [.outlook], .partly, "the zone Here",
            zone(Array(observance.dropLast()) + ["RDATE:20270101T000000"]),
            zone(observance + ["RDATE:20270101T000000"])),
        VerdictRow(
            "zone-with-seconds", [.outlook], .refuses, "in Here",
            zone(["DTSTART:19700101T000000", "TZOFFSETFROM:+055328", "TZOFFSETTO:+0530"]),
            zone(["DTSTART:19700101T000000", "TZOFFSETFROM:+055300", "TZOFFSETTO:+0530"])),
        VerdictRow(
            "zone-invalid", [.outlook], .refuses, "line 4", zone(["DTSTART:19700101T000000"]), sound),
        VerdictRow(
            "zone-start-zoned", [.google], .refuses, "of Here",
            zone(["DTSTART;TZID=Here:19700101T000000"] + observance.dropFirst()), sound),
    ]

    private static let floating = "DTSTART:20260105T090000"

    private static let times: [VerdictRow] = [
        VerdictRow("floating", [.google, .outlook], .partly, "1 time without a zone", event(floating), event(time)),
        VerdictRow(
            "floating", [.outlook], .partly, "times without a zone",
            Reading.calendar(["X-WR-TIMEZONE:Europe/Madrid"] + Reading.event([floating])),
            Reading.calendar(["X-WR-TIMEZONE:Europe/Madrid"] + Reading.event([time]))),
        VerdictRow(
            "utc-series", [.outlook], .partly, "1 repeating event", event(time, "RRULE:FREQ=DAILY"),
            event(time, "RRULE:FREQ=HOURLY")),
        VerdictRow("utc-only", [.outlook], .takes, "Coordinated Universal Time", event(time), event(floating)),
        VerdictRow(
            "end-before-start", [.apple], .partly, "discards 1 event", event(time, "DTEND:20260105T080000Z"),
            event(time, "DTEND:20260105T100000Z")),
        VerdictRow(
            "inclusive-end", [.google, .outlook], .partly, "1 all-day event", event(day, "DTEND;VALUE=DATE:20260105"),
            event(day, "DTEND;VALUE=DATE:20260106")),
        VerdictRow(
            "yearly-once", [.outlook], .refuses, "COUNT=1", event(day, "RRULE:FREQ=YEARLY;COUNT=1"),
            event(day, "RRULE:FREQ=YEARLY;COUNT=2")),
        VerdictRow(
            "start-not-named", [.thunderbird, .homeAssistant], .partly, "of 1 event: no rule",
            event(day, "RRULE:FREQ=WEEKLY;BYDAY=WE"), event(day, "RRULE:FREQ=WEEKLY;BYDAY=MO")),
        VerdictRow(
            "start-not-named", [.thunderbird, .homeAssistant], .partly, "of 1 event: no rule",
            event(day, "RDATE;VALUE=DATE:20260107"), event(day, "RDATE;VALUE=DATE:20260105,20260107")),
        VerdictRow(
            "exclusion-rule", [.thunderbird, .homeAssistant], .partly, "the EXRULE of 1 event",
            event(day, "RRULE:FREQ=DAILY;COUNT=5", "EXRULE:FREQ=WEEKLY;BYDAY=WE"),
            event(day, "RRULE:FREQ=DAILY;COUNT=5")),
        VerdictRow(
            "dates-alone", [.outlook], .partly, "of 1 event with dates",
            event(day, "RDATE;VALUE=DATE:20260107"),
            event(day, "RRULE:FREQ=DAILY;COUNT=1", "RDATE;VALUE=DATE:20260107")),
        VerdictRow(
            "exception-elsewhere", [.outlook], .partly, "1 exception",
            event("DTSTART;TZID=Europe/Rome:20260105T090000", "RRULE:FREQ=DAILY", "EXDATE:20260106T080000Z"),
            event(
                "DTSTART;TZID=Europe/Rome:20260105T090000", "RRULE:FREQ=DAILY",
                "EXDATE;TZID=Europe/Rome:20260106T090000")),
        VerdictRow(
            "exception-elsewhere", [.outlook], .partly, "1 exception",
            overridden("DTSTART;TZID=Europe/Rome:20260105T090000", "RECURRENCE-ID:20260106T080000Z", sequence: 3),
            overridden(
                "DTSTART;TZID=Europe/Rome:20260105T090000", "RECURRENCE-ID;TZID=Europe/Rome:20260106T090000",
                sequence: 3)),
        VerdictRow(
            "override-sequence", [.google], .partly, "1 changed occurrence",
            overridden(time, "RECURRENCE-ID:20260106T090000Z", sequence: 1),
            overridden(time, "RECURRENCE-ID:20260106T090000Z", sequence: 2)),
        VerdictRow(
            "duplicate-uid", [.google, .thunderbird], .partly, "1 event",
            Reading.calendar(Reading.event([day]) + Reading.event(["DTSTART;VALUE=DATE:20260107"])),
            overridden(time, "RECURRENCE-ID:20260106T090000Z", sequence: 2)),
    ]

    /// Returns a daily series of SEQUENCE 2 and a replacement of its second day.
    private static func overridden(_ start: String, _ original: String, sequence: Int) -> String {
        Reading.calendar(
            Reading.event([start, "RRULE:FREQ=DAILY", "SEQUENCE:2"])
                + Reading.event([original, "DTSTART:20260106T120000Z", "SEQUENCE:\(sequence)"]))
    }

    private static let toDo = ["BEGIN:VTODO", "UID:t", "DTSTAMP:20260101T000000Z", "END:VTODO"]
    static let alarm = ["BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:x", "TRIGGER:-PT5M", "END:VALARM"]

    private static let contents: [VerdictRow] = [
        VerdictRow(
            "to-dos-alone", [.google, .apple, .outlook], .refuses, "shows nothing", Reading.calendar(toDo),
            Reading.calendar(toDo + Reading.event([day]))),
        VerdictRow(
            "to-dos", [.google, .apple, .outlook], .partly, "ignores the to-do",
            Reading.calendar(toDo + Reading.event([day])), plain),
        VerdictRow(
            "cancelled", [.google], .takes, "removes the cancelled event", event(day, "STATUS:CANCELLED"),
            event(day, "STATUS:CONFIRMED")),
        VerdictRow(
            "cancelled", [.apple], .takes, "struck through", event(day, "STATUS:CANCELLED"),
            event(day, "STATUS:CONFIRMED")),
        VerdictRow(
            "cancelled", [.outlook], .partly, "as taking place", event(day, "STATUS:CANCELLED"),
            event(day, "STATUS:CONFIRMED")),
        VerdictRow(
            "alarms", [.google, .outlook, .apple], .takes, "the reminders of a subscription",
            Reading.calendar(Reading.event([day] + alarm)), plain),
        VerdictRow(
            "html", [.apple, .thunderbird], .takes, "in 1 description", event(day, "DESCRIPTION:<b>Bring</b> tea"),
            event(day, "DESCRIPTION:1 < 2 and 3 > 2")),
        VerdictRow(
            "transparent", [.outlook], .takes, "1 free event", event(day, "TRANSP:TRANSPARENT"),
            event(day, "TRANSP:TRANSPARENT", "X-MICROSOFT-CDO-BUSYSTATUS:FREE")),
    ]
}
