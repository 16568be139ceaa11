// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

@Suite("vCalendar 1.0, which older phones write")
struct VersionOneTests {
    private static func reading(_ lines: String...) -> CalendarReading {
        Reading.of(
            (["BEGIN:VCALENDAR", "VERSION:1.0", "BEGIN:VEVENT", "UID:a", "DTSTAMP:20260101T000000Z"] + lines
                + ["END:VEVENT", "END:VCALENDAR"]).joined(separator: "\r\n"))
    }

    @Test("Quoted-printable text over several lines is read")
    func quotedPrintable() {
        let reading = Self.reading(
            "DTSTART:20260101T090000Z", "SUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Caf=C3=A9 an=", "d cake")
        #expect(reading.format == .vCalendar1)
        #expect(reading.first?.summary == "Café and cake")
        let cyrillic = Self.reading(
            "DTSTART:20260101T090000Z", "SUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=windows-1251:=C2=F1=F2")
        #expect(cyrillic.first?.summary == "Вст")
    }

    @Test(
        "Its rules become those of RFC 5545, as libical's converter has them",
        arguments: [
            ("D1 #10", "FREQ=DAILY;COUNT=10"), ("D2 #0", "FREQ=DAILY;INTERVAL=2"),
            ("W1 MO TH #5", "FREQ=WEEKLY;BYDAY=MO,TH;COUNT=5"), ("MP1 1+ 2+ SU #0", "FREQ=MONTHLY;BYDAY=1SU,2SU"),
            ("MD1 1 15 LD #3", "FREQ=MONTHLY;BYMONTHDAY=1,15,-1;COUNT=3"),
            ("MD1 2- #5", "FREQ=MONTHLY;BYMONTHDAY=-2;COUNT=5"), ("YM1 1 6 #4", "FREQ=YEARLY;BYMONTH=1,6;COUNT=4"),
            ("YD1 100 200 #4", "FREQ=YEARLY;BYYEARDAY=100,200;COUNT=4"),
            ("D1 20260301T000000Z", "FREQ=DAILY;UNTIL=20260301T000000Z"), ("YM2 #0", "FREQ=YEARLY;INTERVAL=2"),
            // Beyond what that converter takes.
            ("MP2 1+ MO TU 2- FR #4", "FREQ=MONTHLY;INTERVAL=2;BYDAY=1MO,1TU,-2FR;COUNT=4"),
            ("D1", "FREQ=DAILY;COUNT=2"),
        ])
    func rules(_ old: String, _ new: String) {
        #expect(VersionOneRule.translated(old) == new)
        let reading = Self.reading("DTSTART:20260105T090000Z", "RRULE:\(old)")
        #expect(reading.codes == ["vcalendar-1-rule"])
        #expect(reading.first?.recurrence.rules.count == 1)
    }

    @Test(
        "A rule that means more than RFC 5545 can say is refused",
        arguments: ["D1 1200 1400 #3", "M15 #4", "D1 W1 #2", "MP1 MO #2"])
    func refused(_ rule: String) {
        #expect(Self.reading("DTSTART:20260105T090000Z", "RRULE:\(rule)").codes == ["rule-refused"])
    }

    @Test("A reminder that shows or sounds is kept, counted from the start where it names no zone")
    func alarms() {
        let reading = Self.reading(
            "DTSTART:20260105T090000", "DALARM:20260105T083000;PT5M;2;Take the\\; bag",
            "AALARM;TYPE=WAVE:20260105T073000Z",
            "MALARM:20260105T083000;PT5M;2;ann@example.org;Hello")
        #expect(reading.codes == ["vcalendar-1-alarm", "vcalendar-1-alarm", "alarm-refused"])
        #expect(
            reading.first?.alarms.map(\.trigger) == [
                .relativeToStart(ICalDuration(seconds: -1800)),
                .absolute(Instant(utc: Reading.wall("20260105T073000"))),
            ])
        #expect(reading.first?.alarms.map(\.action) == ["DISPLAY", "AUDIO"])
        #expect(reading.first?.alarms.first?.description == "Take the; bag")
    }
}
