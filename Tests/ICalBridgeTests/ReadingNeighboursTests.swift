// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

@Suite("One bad component never loses its neighbours")
struct ReadingNeighboursTests {
    private static func around(_ bad: [String]) -> CalendarReading {
        let good = { (uid: String) in
            ["BEGIN:VEVENT", "UID:\(uid)", "DTSTAMP:20260101T000000Z", "DTSTART:20260101T090000Z", "END:VEVENT"]
        }
        return Reading.of(Reading.calendar(good("before") + bad + good("after")))
    }

    @Test(
        "Whatever is between two events, both are read",
        arguments: [
            ["BEGIN:VEVENT", "UID:bad", "END:VEVENT"],
            ["BEGIN:VEVENT", "UID:bad", "DTSTART:rubbish", "END:VEVENT"],
            ["BEGIN:VEVENT", "UID:bad"],
            ["BEGIN:VEVENT", "BEGIN:VALARM", "TRIGGER:-PT5M"],
            ["END:VEVENT"], ["END:VALARM", "END:VTIMEZONE"], ["BEGIN:VTIMEZONE", "TZID:x"],
            ["BEGIN:X-UNKNOWN", "BEGIN:VEVENT", "END:X-UNKNOWN"],
            ["BEGIN:VEVENT", "END:VALARM", "END:VEVENT"],
            ["BEGIN:"], ["BEGIN"], [":::::"], ["\u{1}\u{2}"], ["DTSTART:20260101"],
            ["END:VCALENDAR"], ["END:VCALENDAR", "BEGIN:VCALENDAR"], ["BEGIN:VCALENDAR"],
            Array(repeating: "BEGIN:VALARM", count: 100),
        ])
    func bothSurvive(_ bad: [String]) {
        let uids = Self.around(bad).events.map(\.uid)
        #expect(uids.first == "before")
        #expect(uids.last == "after")
    }

    @Test("Whatever the length of a title between two events, both are read")
    func longTitle() {
        bothSurvive(["BEGIN:VEVENT", "SUMMARY:" + String(repeating: "x", count: 2_000_000), "END:VEVENT"])
    }

    @Test("A lost event is counted and says why, with its line and UID")
    func lostEvent() {
        let reading = Self.around(["BEGIN:VEVENT", "UID:bad", "DTSTART:20260231T000000Z", "END:VEVENT"])
        #expect(reading.skipped == 1)
        #expect(reading.refusal == nil)
        #expect(reading.codes == ["missing-start", "impossible-date"])
        #expect(reading.problems.allSatisfy { $0.uid == "bad" && $0.severity == .error })
        #expect(reading.problems.map(\.line) == [9, 11])
    }

    @Test("Missing ENDs are repaired and reported; a file that was cut short keeps what it has")
    func missingEnds() {
        let reading = Reading.of(
            "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:a\nDTSTAMP:20260101T000000Z\nDTSTART:20260101\nSUMM")
        #expect(reading.events.map(\.uid) == ["a"])
        #expect(reading.codes.contains("missing-end"))
    }

    @Test("Unknown components are left out and counted")
    func unknownComponents() {
        let reading = Self.around(["BEGIN:VPOLL", "BEGIN:VOTE", "END:VOTE", "END:VPOLL", "BEGIN:VPOLL", "END:VPOLL"])
        #expect(reading.events.count == 2)
        #expect(reading.codes == ["unknown-component"])
    }

    @Test("An event without a calendar around it is read")
    func bareComponents() {
        let reading = Reading.of(Reading.event(["DTSTART:20260101T000000Z"]).joined(separator: "\n"))
        #expect(reading.format == .components)
        #expect(reading.events.count == 1)
        #expect(reading.refusal == nil)
    }

    @Test("An empty calendar is not refused")
    func emptyCalendar() {
        let reading = Reading.of(Reading.calendar([]))
        #expect(reading.refusal == nil)
        #expect(reading.calendars.count == 1)
    }

    @Test("Junk before and after a calendar is ignored")
    func junk() {
        let reading = Reading.of(
            "Hello\n\n \n" + Reading.calendar(Reading.event(["DTSTART:20260101T000000Z"])) + "Bye\n")
        #expect(reading.events.count == 1)
        #expect(reading.codes == ["junk-outside"])
    }
}
