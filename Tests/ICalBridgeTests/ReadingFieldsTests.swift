// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

@Suite("Reading the fields of a component")
struct ReadingFieldsTests {
    @Test("Every field of an event arrives as a value")
    func allFields() throws {
        let reading = Reading.of(
            Reading.calendar([
                "METHOD:publish", "X-WR-CALNAME:Home\\, sweet home", "X-PUBLISHED-TTL:PT1H", "BEGIN:VEVENT", "UID:a@b",
                "DTSTAMP:20260101T000000Z", "CREATED:20250101T000000Z", "LAST-MODIFIED:20250102T000000Z",
                "DTSTART;TZID=Europe/Berlin:20260121T090000", "DTEND;TZID=Europe/Berlin:20260121T100000",
                "SUMMARY;LANGUAGE=en:Bread\\, butter\\; and \\\\salt", "DESCRIPTION:one\\ntwo\\Nthree",
                "LOCATION:Room 5",
                "STATUS:confirmed", "TRANSP:TRANSPARENT", "CLASS:private", "SEQUENCE:7",
                "CATEGORIES:Work,Trips\\, long",
                "URL:https://example.org/a?b=1,2;c", "RRULE:FREQ=WEEKLY;COUNT=3",
                "EXDATE;TZID=Europe/Berlin:20260128T090000",
                "GEO:52.5;13.4", "ATTENDEE;CN=\"Doe, Jane\";X-A=^'q^':mailto:jane@example.org", "BEGIN:VALARM",
                "ACTION:display",
                "TRIGGER;RELATED=END:-PT15M", "DESCRIPTION:Go\\, now", "END:VALARM", "END:VEVENT",
            ]))
        #expect(reading.problems.isEmpty)
        #expect(reading.format == .calendar)
        let calendar = try #require(reading.calendars.first)
        #expect(calendar.name == "Home, sweet home")
        #expect(calendar.method == "PUBLISH")
        #expect(calendar.refreshInterval == ICalDuration(seconds: 3600))
        let event = try #require(reading.first)
        let berlin = try #require(TimeZoneReference("Europe/Berlin"))
        #expect(event.uid == "a@b")
        #expect(event.start == .zoned(Reading.wall("20260121T090000"), berlin))
        #expect(event.end == .time(.zoned(Reading.wall("20260121T100000"), berlin)))
        #expect(event.summary == "Bread, butter; and \\salt")
        #expect(event.description == "one\ntwo\nthree")
        #expect(event.location == "Room 5")
        #expect(event.status == "CONFIRMED")
        #expect(event.isTransparent == true)
        #expect(event.classification == "PRIVATE")
        #expect(event.sequence == 7)
        #expect(event.categories == ["Work", "Trips, long"])
        #expect(event.url == "https://example.org/a?b=1,2;c")
        #expect(event.created?.description == "2025-01-01T00:00:00Z")
        #expect(event.lastModified?.description == "2025-01-02T00:00:00Z")
        #expect(event.timestamp?.description == "2026-01-01T00:00:00Z")
        #expect(event.recurrence.rules.map(\.description) == ["FREQ=WEEKLY;COUNT=3"])
        #expect(event.recurrence.exclusions == [.zoned(Reading.wall("20260128T090000"), berlin)])
        #expect(event.otherProperties.map(\.name) == ["GEO", "ATTENDEE"])
        #expect(event.otherProperties.last?.parameters.map(\.values) == [["Doe, Jane"], ["\"q\""]])
        let alarm = try #require(event.alarms.first)
        #expect(alarm.trigger == .relativeToEnd(ICalDuration(seconds: -900)))
        #expect(alarm.action == "DISPLAY")
        #expect(alarm.description == "Go, now")
    }

    @Test("To-dos, journal entries and free/busy blocks are read beside events")
    func allKinds() {
        let reading = Reading.of(
            Reading.calendar([
                "BEGIN:VTODO", "UID:t", "DTSTAMP:20260101T000000Z", "DUE;VALUE=DATE:20260110", "SUMMARY:Pay",
                "END:VTODO",
                "BEGIN:VJOURNAL", "UID:j", "DTSTAMP:20260101T000000Z", "DESCRIPTION:a", "DESCRIPTION:b", "END:VJOURNAL",
                "BEGIN:VFREEBUSY", "UID:f", "DTSTAMP:20260101T000000Z", "DTSTART:20260101T000000Z",
                "FREEBUSY:20260101T080000Z/PT1H", "END:VFREEBUSY",
            ]))
        #expect(reading.events.map(\.kind) == [.toDo, .journal, .freeBusy])
        #expect(reading.events[0].end == .time(.date(Reading.day("20260110"))))
        #expect(reading.events[1].otherProperties.map(\.value) == ["b"])
        #expect(reading.events[2].otherProperties.map(\.name) == ["FREEBUSY"])
        #expect(reading.problems.isEmpty)
    }

    @Test("A to-do with an event's UID gets another one, and a free/busy block is named, which nothing stores")
    func settledKinds() {
        var reading = Reading.of(
            Reading.calendar([
                "BEGIN:VTODO", "UID:a", "DTSTAMP:20260101T000000Z", "END:VTODO",
                "BEGIN:VEVENT", "UID:a", "DTSTAMP:20260101T000000Z", "DTSTART:20260101T000000Z", "END:VEVENT",
                "BEGIN:VJOURNAL", "UID:b", "DTSTAMP:20260101T000000Z", "END:VJOURNAL",
                "BEGIN:VTODO", "UID:b", "DTSTAMP:20260101T000000Z", "END:VTODO",
                "BEGIN:VFREEBUSY", "UID:a", "DTSTAMP:20260101T000000Z", "DTSTART:20260101T000000Z", "END:VFREEBUSY",
            ]))
        #expect(reading.problems.isEmpty)
        reading.settleKinds()
        #expect(reading.events.map(\.uid) == ["a-VTODO", "a", "b-VJOURNAL", "b", "a"])
        #expect(reading.problems.map(\.code) == ["duplicate-uid", "duplicate-uid", "not-an-event"])
        let lines = reading.lines[0].map(\.lowerBound)
        #expect(reading.problems.map(\.line) == [lines[0], lines[2], lines[4]])
    }

    @Test("RDATE may be a day, a time or a period")
    func additions() {
        let event = Reading.ofEvent(
            "DTSTART:20260101T090000Z", "RDATE:20260102T090000Z,20260103T090000Z",
            "RDATE;VALUE=PERIOD:20260104T090000Z/PT2H,20260105T090000Z/20260105T100000Z"
        ).first
        let additions = event?.recurrence.additions ?? []
        #expect(
            additions.map(\.start.civil.basic) == [
                "20260102T090000", "20260103T090000", "20260104T090000", "20260105T090000",
            ])
        #expect(additions.last?.end == .time(.utc(Instant(utc: Reading.wall("20260105T100000")))))
        #expect(additions.dropLast().last?.end == .duration(ICalDuration(seconds: 7200)))
    }

    @Test("An override keeps which occurrence it replaces")
    func overrides() {
        let event = Reading.ofEvent(
            "RECURRENCE-ID;RANGE=THISANDFUTURE:20260101T090000Z", "DTSTART:20260101T100000Z"
        ).first
        #expect(event?.recurrenceID == .utc(Instant(utc: Reading.wall("20260101T090000"))))
        #expect(event?.appliesToFuture == true)
    }

    @Test(
        "libical and Swift decode the same text from any escapes",
        arguments: [
            "plain", "a\\,b\\;c\\\\d", "\\n\\N", "C:\\temp\\new", "quote \\\" colon \\:", "ends with \\", "tab\there",
            "emoji 😀 \\, flag 🇩🇪", String(repeating: "long text with spaces ", count: 40), "   leading", "trailing   ",
            String(repeating: "\\n", count: 200), "a;b,c:d\"e'f", "BEGIN:VEVENT", "x\\\\nx",
            String(repeating: "é", count: 300),
        ])
    func escapes(_ text: String) {
        let event = Reading.ofEvent("DTSTART:20260101T000000Z", "DESCRIPTION:\(text)", "LOCATION:after").first
        #expect(event?.description == TextValue.decoded(text.utf8))
        #expect(event?.location == "after")
    }

    @Test("Small letters, folds of all kinds and all line ends are read", arguments: ["\r\n", "\n", "\r", "\r\r\n"])
    func lineEnds(_ end: String) {
        let text = [
            "begin:vcalendar", "version:2.0", "begin:vevent", "uid:a", "dtstamp:20260101T000000Z", "dtstart:20260101",
            " T090000Z", "Summary:One", "\t two", "end:vevent", "end:vcalendar", "",
        ].joined(separator: end)
        let reading = Reading.of(text)
        #expect(reading.first?.summary == "One two")
        #expect(reading.first?.start == .utc(Instant(utc: Reading.wall("20260101T090000"))))
        #expect(reading.problems.isEmpty)
    }

    @Test("A fold inside a character does not break it")
    func foldInsideCharacter() {
        var bytes = Array(Reading.calendar(Reading.event(["DTSTART:20260101T000000Z", "SUMMARY:Caf\u{E9}!"])).utf8)
        let index = bytes.firstIndex(of: 0xC3) ?? 0
        bytes.insert(contentsOf: [13, 10, 32], at: index + 1)
        let reading = CalendarReader().read(bytes)
        #expect(reading.first?.summary == "Café!")
        #expect(reading.problems.isEmpty)
    }

    @Test("The lines of each event are known")
    func lines() {
        let reading = Reading.of(
            Reading.calendar(
                Reading.event(["DTSTART:20260101T000000Z"]) + ["", "BEGIN:VEVENT", "DTSTART:20260101", "END:VEVENT"]))
        #expect(reading.lines == [[4...8, 10...12]])
        #expect(reading.problems.allSatisfy { !reading.lines[0][0].contains($0.line) })
        #expect(
            reading.problems.filter { reading.lines[0][1].contains($0.line) }.map(\.code.rawValue)
                == ["missing-dtstamp", "missing-uid", "date-without-value"])
    }

    @Test("Several calendars keep their own names, methods and zones")
    func severalCalendars() {
        let zone = { (offset: String) in
            [
                "BEGIN:VTIMEZONE", "TZID:Mine", "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:\(offset)",
                "TZOFFSETTO:\(offset)", "END:STANDARD", "END:VTIMEZONE",
            ]
        }
        let event = Reading.event(["DTSTART;TZID=Mine:20260101T090000"])
        let reading = Reading.of(
            Reading.calendar(["NAME:One", "METHOD:REQUEST"] + zone("+0130") + event)
                + Reading.calendar(["NAME:Two"] + zone("-0330") + event))
        #expect(reading.format == .calendars)
        #expect(reading.calendars.map(\.name) == ["One", "Two"])
        #expect(reading.calendars.map(\.method) == ["REQUEST", nil])
        #expect(
            reading.events.compactMap { $0.start?.instant(floatingIn: FixedOffset.utc).description }
                == ["2026-01-01T07:30:00Z", "2026-01-01T12:30:00Z"])
    }
}
