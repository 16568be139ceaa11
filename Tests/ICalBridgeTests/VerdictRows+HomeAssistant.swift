// SPDX-License-Identifier: Apache-2.0

@testable import ICalBridge

extension VerdictRow {
    /// A row about Home Assistant.
    private static func row(_ rule: String, _ says: String, _ bad: String, _ good: String) -> VerdictRow {
        VerdictRow(rule, [.homeAssistant], .refuses, says, bad, good)
    }

    private static let zoned = "DTSTART;TZID=Europe/Berlin:20260105T090000"
    private static let daily = "RRULE:FREQ=DAILY"

    private static func withAlarm(_ lines: [String]) -> String {
        Reading.calendar(Reading.event([day, "BEGIN:VALARM"] + lines + ["END:VALARM"]))
    }

    private static func inGoogle(_ text: String) -> String {
        text.replacing("-//Kalends//Tests//EN", with: "-//Google Inc//Google Calendar 70.9054//EN")
    }

    private static let whole = alarm.filter { !$0.hasPrefix("BEGIN") && !$0.hasPrefix("END") }

    /// What python's ical refuses and takes; the oracle compares the same for whole files.
    static let homeAssistant: [VerdictRow] = [
        row("not-a-calendar", "unavailable", "{\"error\": 1}", plain),
        row("not-a-calendar", "no calendar", "", plain),
        row("line-unreadable", "line 1 ", "\u{FEFF}" + plain, plain),
        row("line-unreadable", "line 8 ", event(day, "GROUP.SUMMARY:a"), event(day, "X-GROUP-SUMMARY:a")),
        row("line-unreadable", "line 8 ", event(day, "SUMMARY:a\u{7}b"), event(day, "SUMMARY:a\tb")),
        row("line-unreadable", "line 8 ", event(day, "X-A;Cn=a:b"), event(day, "X-A;CN=a:b")),
        row("line-unreadable", "line 8 ", event(day, "X-A;CN=\"a:b"), event(day, "X-A;CN=\"a\":b")),
        row("line-unreadable", "line 8 ", event(day, "X-A;CN:b"), event(day, "X-A;CN=:b")),
        row("line-unreadable", "line 9 ", event(day, "SUMMARY:a", "b"), event(day, "SUMMARY:a", "|b", "")),
        row("end-elsewhere", "line 8 ", event(day, "END:VTODO"), event(day, "BEGIN:VTODO", "END:VTODO")),
        row("several-calendars", "line 10 ", plain + plain, plain + "BEGIN:VCARD\r\nEND:VCARD\r\n"),
        row("repeated-property", "one RRULE, and line 9 ", event(day, daily, daily), event(day, daily)),
        row("required-missing", "of line 4 has no DTSTART", event("SUMMARY:a"), event(day)),
        row("required-missing", "no TRIGGER", withAlarm(Array(whole.dropLast())), withAlarm(whole)),
        row(
            "required-missing", "no DESCRIPTION", withAlarm([whole[0], whole[2]]),
            withAlarm(["ACTION:AUDIO", whole[2]])),
        row("required-missing", "no DURATION", withAlarm(whole + ["REPEAT:2"]), withAlarm(whole)),
        row("required-missing", "of line 6 has no TZOFFSETTO", zone(Array(observance.prefix(2))), sound),
        row("required-missing", "of line 4 has no TZID", sound.replacing("TZID:Here", with: "X-TZID:Here"), sound),
        row("bad-value", "STATUS in line 8", event(day, "STATUS:NEEDS-ACTION"), event(day, "STATUS:TENTATIVE")),
        row("bad-value", "RRULE in line 8", event(day, "RRULE:FREQ=SOMETIMES"), event(day, daily)),
        row("bad-value", "RRULE in line 8", event(day, "RRULE:FREQ=DAILY;"), event(day, daily)),
        row("bad-value", "DURATION in line 8", event(day, "DURATION:PT1W"), event(day, "DURATION:P1W")),
        row("bad-value", "GEO in line 8", event(day, "GEO:;"), event(day, "GEO:48.1;11.5")),
        row(
            "bad-value", "CREATED in line 8", event(day, "CREATED:20260105"),
            event(day, "CREATED;VALUE=DATE:20260105")),
        row("bad-value", "DTEND in line 8", event(time, "DTEND: 20260105T090000Z"), event(time, "DTEND:20260105T9Z")),
        row("bad-value", "PRIORITY in line 8", event(day, "PRIORITY:10"), event(day, "CLASS:SECRET", "PRIORITY:9")),
        row(
            "bad-value", "ATTENDEE in line 8", event(day, "ATTENDEE;CN=a,b:mailto:a@example.org"),
            event(day, "ATTENDEE;CN=\"a,b\":mailto:a@example.org")),
        row(
            "zone-unknown", "zone Head Office of line 7", event("DTSTART;TZID=Head Office:20260105T090000"),
            event(zoned)),
        row(
            "zone-unknown", "zone Europe/Germany", event("DTSTART;TZID=Europe/Germany:20260105T090000"),
            event("DTSTART;TZID=Europe/Germany:20260105T090000")
                .replacing("-//Kalends//Tests//EN", with: "Microsoft Exchange Server 2010")),
        row(
            "zone-start-zoned", "line 7", zone(["DTSTART:19700101T000000Z"] + observance.dropFirst()), sound),
        row(
            "zone-part-unusable", "zone Here in line 6",
            zone(observance.dropLast() + ["RRULE:FREQ=YEARLY;UNTIL=20300101T000000Z"]),
            zone(observance.dropLast() + ["RRULE:FREQ=YEARLY;UNTIL=20300101T000000Z"], tzid: "Europe/Berlin")),
        row(
            "times-unlike", "the DTEND in line 8", event(zoned, "DTEND:20260105T100000"),
            event(zoned, "DTEND:20260105T100000Z")),
        row(
            "times-unlike", "the RRULE in line 8", event(zoned, daily + ";UNTIL=20260110"),
            inGoogle(event(zoned, daily + ";UNTIL=20260110"))),
        row(
            "times-unlike", "the RRULE in line 8", event(zoned, daily + ";UNTIL=20260110T090000"),
            event(zoned, daily + ";UNTIL=20260110T080000Z")),
        row(
            "times-unlike", "the EXDATE in line 9", event(zoned, daily, "EXDATE:20260106T090000"),
            event("DTSTART:20260105T090000", daily, "EXDATE;TZID=Europe/Berlin:20260106T090000")),
        row(
            "times-unlike", "the RDATE in line 9", event(zoned, daily, "RDATE:20260106T090000"),
            event(zoned, "RDATE:20260106T090000")),
        row(
            "periods-and-rule", "the RDATE of line 9",
            event(day, daily, "RDATE;VALUE=PERIOD:20260106T090000Z/PT1H"), event(day, daily, "RDATE:20260106T090000Z")),
        row(
            "times-unlike", "the DTEND in line 8", event("DTSTART:20260105T090000", "DTEND:20260105T100000Z"),
            Reading.calendar(
                ["X-WR-TIMEZONE:Europe/Berlin"]
                    + Reading.event(["DTSTART:20260105T090000", "DTEND:20260105T100000Z"]))),
        row("duration-unfit", "line 8", event(day, "DURATION:PT2H"), event(day, "DURATION:PT48H")),
        row(
            "periods-and-rule", "line 9", event(time, daily, "RDATE;VALUE=PERIOD:20260105T120000Z/PT1H"),
            event(time, "RDATE;VALUE=PERIOD:20260105T120000Z/PT1H")),
        row(
            "no-whole-calendar", "shows nothing", plain.replacing("END:VCALENDAR\r\n", with: ""),
            plain.replacing("END:VEVENT", with: "end:vevent")),
    ]
}
