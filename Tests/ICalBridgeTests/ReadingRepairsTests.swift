// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

@Suite("Repairs while reading, each with its name")
struct ReadingRepairsTests {
    @Test("VALUE=DATE with a time is a day")
    func dateWithTime() {
        let reading = Reading.ofEvent("DTSTART;VALUE=DATE:20251222T000000")
        #expect(reading.first?.start == .date(Reading.day("20251222")))
        #expect(reading.codes == ["date-with-time"])
    }

    @Test("Eight digits without VALUE=DATE are a day")
    func dateWithoutValue() {
        let reading = Reading.ofEvent("DTSTART:20251222")
        #expect(reading.first?.start == .date(Reading.day("20251222")))
        #expect(reading.codes == ["date-without-value"])
    }

    @Test(
        "Other writings of a time are read",
        arguments: [
            ("20260121T0900", "2026-01-21T09:00:00"), ("2026-01-21T09:00:00", "2026-01-21T09:00:00"),
            ("20260121t090000", "2026-01-21T09:00:00"), ("2026-01-21 09:00", "2026-01-21T09:00:00"),
            ("20260120T240000", "2026-01-21T00:00:00"), ("20260121T090000.000", "2026-01-21T09:00:00"),
        ])
    func timeFormats(_ text: String, _ expected: String) {
        let reading = Reading.ofEvent("DTSTART:\(text)")
        #expect(reading.first?.start?.civil.description == expected)
        #expect(reading.codes == ["date-format"])
    }

    @Test("Weeks and days behind the T of a duration are taken as what they say")
    func durationFormat() {
        let reading = Reading.ofEvent("DTSTART:20260121T090000\r\nDURATION:PT1W")
        #expect(reading.first?.effectiveEnd?.civil.description == "2026-01-28T09:00:00")
        #expect(reading.codes == ["duration-format"])
    }

    @Test("A time with an offset becomes UTC")
    func offsetTime() {
        let reading = Reading.ofEvent("DTSTART:2026-01-21T09:00:00+02:00")
        #expect(reading.first?.start == .utc(Instant(utc: Reading.wall("20260121T070000"))))
    }

    @Test(
        "A day that does not exist is an error of its property, never another day",
        arguments: ["20250231T090000Z", "20261301", "20260101T250000"])
    func impossibleDate(_ text: String) {
        let reading = Reading.ofEvent("DTSTART:20250101T000000Z", "DTEND:\(text)", "SUMMARY:Kept")
        #expect(reading.first?.summary == "Kept")
        #expect(reading.first?.end == nil)
        #expect(reading.codes == ["impossible-date"])
        #expect(reading.problems.first?.severity == .error)
        #expect(reading.problems.first?.uid == "one@example.org")
    }

    @Test("UNTIL as a day with a start in a zone is the end of that day there")
    func untilType() {
        let reading = Reading.ofEvent(
            "DTSTART;TZID=America/New_York:20260101T090000", "RRULE:FREQ=DAILY;UNTIL=20260110")
        #expect(reading.first?.recurrence.rules.first?.until == .utc(Instant(utc: Reading.wall("20260111T045959"))))
        #expect(reading.codes == ["until-type"])
        let days = Reading.ofEvent("DTSTART;VALUE=DATE:20260101", "RRULE:FREQ=DAILY;UNTIL=20260110T120000Z")
        #expect(days.first?.recurrence.rules.first?.until == .date(Reading.day("20260110")))
    }

    @Test("Of COUNT and UNTIL the stricter is kept")
    func countAndUntil() {
        let until = Reading.ofEvent("DTSTART:20260101T090000Z", "RRULE:FREQ=DAILY;COUNT=100;UNTIL=20260110T090000Z")
        #expect(until.first?.recurrence.rules.first?.count == nil)
        let count = Reading.ofEvent("DTSTART:20260101T090000Z", "RRULE:FREQ=DAILY;COUNT=5;UNTIL=20260110T090000Z")
        #expect(count.first?.recurrence.rules.first?.count == 5)
        #expect(count.first?.recurrence.rules.first?.until == nil)
        #expect(count.codes == ["count-and-until"])
    }

    @Test("An empty part of a rule is left out")
    func emptyRulePart() {
        let reading = Reading.ofEvent("DTSTART:20260101T090000Z", "RRULE:FREQ=DAILY;BYDAY=;INTERVAL=2")
        #expect(reading.first?.recurrence.rules.first?.description == "FREQ=DAILY;INTERVAL=2")
        #expect(reading.codes == ["rule-empty-part"])
    }

    @Test("A rule whose separators are escaped as those of a text is read without the backslashes")
    func escapedRule() {
        let reading = Reading.ofEvent(
            "DTSTART:20260101T090000Z", "RRULE:FREQ=WEEKLY\\;COUNT=10\\;BYDAY=TH\\,FR")
        #expect(reading.first?.recurrence.rules.first?.description == "FREQ=WEEKLY;COUNT=10;BYDAY=TH,FR")
        #expect(reading.codes == ["rule-escaped"])
        let refused = Reading.ofEvent("DTSTART:20260101T090000Z", "RRULE:FREQ=DAILY\\:COUNT=10")
        #expect(refused.codes == ["rule-refused"])
    }

    @Test("A rule that cannot be followed is an error; the event stays")
    func refusedRule() {
        let reading = Reading.ofEvent("DTSTART:20260101T090000Z", "RRULE:FREQ=FORTNIGHTLY", "SUMMARY:Kept")
        #expect(reading.first?.summary == "Kept")
        #expect(reading.codes == ["rule-refused"])
        #expect(reading.problems.first?.text == "FREQ=FORTNIGHTLY")
    }

    @Test("An end before the start is put on the start")
    func endBeforeStart() {
        let reading = Reading.ofEvent("DTSTART:20260101T090000Z", "DTEND:20260101T080000Z")
        #expect(reading.first?.end == .time(.utc(Instant(utc: Reading.wall("20260101T090000")))))
        #expect(reading.codes == ["end-before-start"])
    }

    @Test("A day that ends on itself lasts that day")
    func endEqualsStart() {
        let reading = Reading.ofEvent("DTSTART;VALUE=DATE:20260101", "DTEND;VALUE=DATE:20260101")
        #expect(reading.first?.effectiveEnd == .date(Reading.day("20260102")))
        #expect(reading.codes == ["end-equals-start"])
    }

    @Test("DTEND goes before DURATION")
    func endAndDuration() {
        let reading = Reading.ofEvent("DTSTART:20260101T090000Z", "DTEND:20260101T100000Z", "DURATION:PT5H")
        #expect(reading.first?.end == .time(.utc(Instant(utc: Reading.wall("20260101T100000")))))
        #expect(reading.codes == ["end-and-duration"])
    }

    @Test("A missing UID is made from the content, the same each time and another for another content")
    func missingUID() {
        let text = { (summary: String, stamp: String) in
            Reading.calendar([
                "BEGIN:VEVENT", "DTSTAMP:\(stamp)", "DTSTART:20260101T090000Z", "SUMMARY:\(summary)", "END:VEVENT",
            ])
        }
        let one = Reading.of(text("A", "20260101T000000Z"))
        #expect(one.codes == ["missing-uid"])
        #expect(one.first?.uid == Reading.of(text("A", "20260202T000000Z")).first?.uid)
        #expect(one.first?.uid != Reading.of(text("B", "20260101T000000Z")).first?.uid)
    }

    @Test("Outlook's all-day mark on midnights makes days")
    func allDayMark() {
        let reading = Reading.ofEvent(
            "DTSTART;TZID=Europe/Berlin:20260101T000000", "DTEND;TZID=Europe/Berlin:20260103T000000",
            "X-MICROSOFT-CDO-ALLDAYEVENT:TRUE")
        #expect(reading.first?.start == .date(Reading.day("20260101")))
        #expect(reading.first?.end == .time(.date(Reading.day("20260103"))))
        #expect(reading.codes == ["all-day-mark"])
    }

    @Test("A raw line break in a text belongs to it, also where it looks like a property")
    func rawNewline() {
        let reading = Reading.ofEvent(
            "DTSTART:20260101T090000Z", "DESCRIPTION:one", "two, three", "", "Note: four", "LOCATION:five")
        #expect(reading.first?.description == "one\ntwo, three\n\nNote: four")
        #expect(reading.first?.location == "five")
        #expect(reading.codes == ["raw-newline"])
    }

    @Test("Only a line that is not a property is left out")
    func lineNotProperty() {
        let reading = Reading.ofEvent("DTSTART:20260101T090000Z", "rubbish", "LOCATION:five")
        #expect(reading.first?.location == "five")
        #expect(reading.codes == ["line-not-property"])
    }

    @Test("A day among the EXDATEs of a time excludes that day's occurrence")
    func listType() {
        let reading = Reading.ofEvent("DTSTART:20260101T090000Z", "RRULE:FREQ=DAILY", "EXDATE;VALUE=DATE:20260103,")
        #expect(reading.first?.recurrence.exclusions == [.utc(Instant(utc: Reading.wall("20260103T090000")))])
        #expect(reading.codes == ["list-type"])
    }

    @Test("A TRIGGER with a time needs no VALUE")
    func trigger() {
        let reading = Reading.ofEvent(
            "DTSTART:20260101T090000Z", "BEGIN:VALARM", "TRIGGER:20260101T083000Z", "END:VALARM")
        #expect(reading.first?.alarms.first?.trigger == .absolute(Instant(utc: Reading.wall("20260101T083000"))))
        #expect(reading.codes == ["trigger-without-value"])
    }

    @Test("Empty values say nothing and are no problem")
    func emptyValues() {
        let reading = Reading.ofEvent("DTSTART:20260101T090000Z", "LOCATION:", "CATEGORIES:", "DESCRIPTION: ", "RRULE:")
        #expect(reading.problems.isEmpty)
        #expect(reading.first?.location == nil)
    }

    @Test("A file within the calendar is left out unless it is asked for")
    func attachments() {
        let lines = [
            "DTSTART:20260101T090000Z", "ATTACH;ENCODING=BASE64;VALUE=BINARY:QUJD", "ATTACH:https://example.org/a.pdf",
        ]
        let text = Reading.calendar(Reading.event(lines))
        #expect(Reading.of(text).first?.otherProperties.count == 1)
        #expect(Reading.of(text).codes == ["attachment-dropped"])
        let keeping = CalendarReader(options: .init(keepsAttachments: true)).read(Array(text.utf8))
        #expect(keeping.first?.otherProperties.count == 2)
        var options = CalendarReader.Options(keepsAttachments: true)
        options.limits.attachmentBytes = 7
        let several = Reading.calendar(Reading.event(lines + [lines[1]]))
        let bounded = CalendarReader(options: options).read(Array(several.utf8))
        #expect(bounded.first?.otherProperties.count == 2 && bounded.codes == ["attachment-dropped"])
    }

    @Test("A second STATUS, CLASS or TRANSP is reported, whatever it says")
    func repeatedWords() {
        for (first, second) in [
            ("STATUS:CONFIRMED", "STATUS:CANCELLED"), ("STATUS:CONFIRMED", "STATUS:CONFIRMED"),
            ("CLASS:PUBLIC", "CLASS:PRIVATE"), ("TRANSP:OPAQUE", "TRANSP:TRANSPARENT"), ("TRANSP:ODD", "TRANSP:EVEN"),
        ] {
            let reading = Reading.ofEvent("DTSTART:20260101T090000Z", first, "SUMMARY:x", second)
            #expect(reading.codes == ["duplicate-property"], "\(second)")
            #expect(reading.first?.status == (first.hasPrefix("STATUS") ? "CONFIRMED" : nil))
        }
    }

    @Test(
        "A rule that ends before the start is left out, and that is reported",
        arguments: [
            ("DTSTART:20260110T090000Z", "UNTIL=20260110T085959Z", true),
            ("DTSTART:20260110T090000Z", "UNTIL=20260110T090000Z", false),
            ("DTSTART;TZID=Europe/Vienna:20260110T090000", "UNTIL=20260110T075959Z", true),
            ("DTSTART;TZID=Europe/Vienna:20260110T090000", "UNTIL=20260110T080000Z", false),
            ("DTSTART:20260110T090000", "UNTIL=20251231T000000", true),
            ("DTSTART;VALUE=DATE:20260110", "UNTIL=20260109", true),
            ("DTSTART;VALUE=DATE:20260110", "UNTIL=20260110", false),
        ])
    func endsBeforeStart(start: String, until: String, isLeftOut: Bool) {
        let reading = Reading.ofEvent(start, "RRULE:FREQ=DAILY;\(until)")
        #expect(reading.codes == (isLeftOut ? ["until-before-start"] : []))
        #expect(reading.first?.recurrence.rules.isEmpty == isLeftOut)
    }

    @Test("NUL bytes in the middle of a name are removed")
    func nulBytes() {
        let text = Reading.calendar(Reading.event(["DTSTART;TZID=Europe/Berlin\u{0}\u{0}:20260101T090000"]))
        let reading = Reading.of(text)
        #expect(reading.first?.start?.zone?.identifier == "Europe/Berlin")
        #expect(reading.codes == ["nul-bytes"])
    }
}
