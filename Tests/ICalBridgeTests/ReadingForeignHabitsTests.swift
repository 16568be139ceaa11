// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import ICalBridge

@Suite("What other programs write against the rules is read as they mean it, and said")
struct ReadingForeignHabitsTests {
    private func walls(_ reading: CalendarReading, until end: String = "20280101T000000Z") -> [String] {
        Series.group(reading.events).flatMap { Recurring.window($0, "20200101T000000Z", end) }
    }

    @Test("An end without a zone is on the clock of its start, and a start without one on that of its end")
    func clocks() throws {
        let melbourne = Reading.ofEvent("DTSTART;TZID=Australia/Melbourne:20260801T094500", "DTEND:20260801T184500")
        #expect(melbourne.codes == ["end-clock"] && melbourne.problems.first?.severity == .repaired)
        #expect(walls(melbourne) == ["20260731T234500Z/PT9H"])
        #expect(melbourne.first?.end == .time(try Recurring.time("20260801T184500", "Australia/Melbourne")))
        let utc = Reading.ofEvent("DTSTART:20260307T110000Z", "DTEND:20260307T160000")
        #expect(walls(utc) == ["20260307T110000Z/PT5H"] && utc.codes == ["end-clock"])
        let amsterdam = Reading.ofEvent("DTSTART:20260310T111500", "DTEND;TZID=Europe/Amsterdam:20260310T130000")
        #expect(walls(amsterdam) == ["20260310T101500Z/PT1H45M"] && amsterdam.codes == ["end-clock"])
        let before = Reading.ofEvent("DTSTART;TZID=Europe/Rome:20260310T111500", "DTEND:20260310T100000")
        #expect(before.codes == ["end-clock", "end-before-start"])
        #expect(Reading.ofEvent("DTSTART;TZID=Europe/Rome:20260310T111500", "DTEND:20260310T110000Z").codes.isEmpty)
    }

    @Test("An all-day event lasts whole days, whatever its DURATION counts")
    func wholeDays() {
        for (length, days, severity) in [
            ("PT48H", 2, Problem.Severity.repaired), ("PT86400S", 1, .repaired), ("P1DT12H", 2, .warning),
            ("PT25H", 2, .warning),
        ] {
            let reading = Reading.ofEvent("DTSTART;VALUE=DATE:20260328", "DURATION:\(length)")
            #expect(reading.first?.end == .duration(ICalDuration(days: days)), "\(length)")
            #expect(reading.codes == ["duration-of-days"] && reading.problems.first?.severity == severity, "\(length)")
        }
        #expect(Reading.ofEvent("DTSTART;VALUE=DATE:20260328", "DURATION:P2D").codes.isEmpty)
        #expect(Reading.ofEvent("DTSTART:20260328T090000Z", "DURATION:PT48H").codes.isEmpty)
    }

    @Test("An exception that repeats its series' rule replaces one day, in what is written too")
    func exceptionWithRule() {
        let series = ["UID:x", "DTSTAMP:20260101T000000Z", "RRULE:FREQ=DAILY;COUNT=5"]
        let reading = Reading.of(
            Reading.calendar(
                ["BEGIN:VEVENT"] + series + ["DTSTART:20261201T120000Z", "END:VEVENT", "BEGIN:VEVENT"] + series
                    + ["RECURRENCE-ID:20261203T120000Z", "DTSTART:20261203T150000Z", "SUMMARY:moved", "END:VEVENT"]))
        #expect(reading.codes == ["exception-with-rule"])
        #expect(walls(reading).count == 5 && walls(reading).contains("20261203T150000Z/PT0S moved"))
        #expect(Forms.text(ICalendar(events: reading.events).serialized()).components(separatedBy: "RRULE").count == 2)
        // Without its series it is one by itself.
        let alone = Reading.ofEvent(
            "RECURRENCE-ID;VALUE=DATE:20260901", "DTSTART;VALUE=DATE:20260801", "RRULE:FREQ=MONTHLY;COUNT=4")
        #expect(alone.first?.recurrence.rules.count == 1 && alone.codes == ["orphan-override"])
    }

    @Test("The dates that an EXRULE leaves out are listed, and an endless one is kept beside them")
    func exclusionRule() throws {
        let lines = ["DTSTART:20261202T190000Z", "RRULE:FREQ=WEEKLY;BYDAY=WE;UNTIL=20270131T000000Z"]
        let reading = Reading.of(
            Reading.calendar(Reading.event(lines + ["EXRULE:FREQ=MONTHLY;WKST=MO;BYday=3WE;COUNT=3"])))
        #expect(reading.first?.recurrence.exclusions.count == 2 && reading.first?.recurrence.exclusionRules == [])
        #expect(reading.codes == ["exclusion-rule"])
        let days = ["1202", "1209", "1223", "1230"].map { "2026\($0)" } + ["0106", "0113", "0127"].map { "2027\($0)" }
        #expect(walls(reading).map { String($0.prefix(8)) } == days)
        let endless = Reading.of(Reading.calendar(Reading.event(lines + ["EXRULE:FREQ=MONTHLY;BYDAY=3WE"])))
        #expect(walls(endless) == walls(reading) && endless.first?.recurrence.exclusionRules.count == 1)
        let again = Reading.of(Forms.text(ICalendar(events: endless.events).serialized()))
        #expect(again.events == endless.events)
    }

    @Test("A part of a rule that nobody follows is left out, and the event goes on repeating")
    func partsLeftOut() {
        let rent = Reading.ofEvent(
            "DTSTART;VALUE=DATE:20260131", "RRULE:FREQ=MONTHLY;BYYEARDAY=-1;BYMONTHDAY=-1;COUNT=3")
        #expect(walls(rent) == ["20260131/P1D", "20260228/P1D", "20260331/P1D"])
        #expect(rent.codes == ["rule-part-left-out"] && rent.problems.first?.message.contains("BYYEARDAY") == true)
        let service = Reading.ofEvent(
            "DTSTART:20261206T100000Z",
            "RRULE:FREQ=WEEKLY;WKST=SU;BYday=SU;UNTIL=20270103T100000Z;EXDATE=20261227T100000Z")
        #expect(walls(service).map { String($0.prefix(8)) } == ["20261206", "20261213", "20261220", "20270103"])
        #expect(service.codes == ["rule-part-left-out"])
        for (text, count) in [
            ("FREQ=WEEKLY;BYDAY=1MO,-1WE;COUNT=4", 4), ("FREQ=DAILY;INTERVAL=0;COUNT=3", 3),
            ("FREQ=MONTHLY;BYSETPOS=1;COUNT=2", 2), ("FREQ=DAILY;BYEASTER=0;COUNT=2", 2),
        ] {
            let reading = Reading.ofEvent("DTSTART:20260105T090000Z", "RRULE:\(text)")
            #expect(walls(reading).count == count && reading.codes == ["rule-part-left-out"], "\(text)")
        }
        // Without the part these would be other days.
        for text in ["FREQ=DAILY;BYYEARDAY=100", "FREQ=WEEKLY;BYMONTHDAY=13", "FREQ=MONTHLY;BYWEEKNO=20"] {
            #expect(Reading.ofEvent("DTSTART:20260105T090000Z", "RRULE:\(text)").codes == ["rule-refused"], "\(text)")
        }
    }

    @Test("Dates without a rule are written with one that adds nothing, and are read as they were")
    func datesWithoutRule() {
        let reading = Reading.ofEvent("DTSTART:20261201T180000Z", "RDATE:20261210T180000Z,20261222T180000Z")
        let text = Forms.text(ICalendar(events: reading.events).serialized())
        #expect(text.contains("RRULE:FREQ=DAILY;COUNT=1\r\n"))
        #expect(Reading.of(text).events == reading.events && walls(Reading.of(text)).count == 3)
        // A start that is listed, too, is not listed beside that rule: ical.js would give it twice.
        let listed = Reading.ofEvent(
            "DTSTART:20261201T180000Z", "RDATE:20261210T180000Z,20261201T180000Z,20261222T180000Z")
        #expect(Forms.text(ICalendar(events: listed.events).serialized()) == text)
        let alone = Reading.ofEvent("DTSTART:20261201T180000Z", "RRULE:FREQ=DAILY;COUNT=1", "RDATE:20261201T180000Z")
        #expect(alone.first?.recurrence == Recurrence() && walls(alone).count == 1)
    }

    @Test("Lines that a template has indented are lines of their own", arguments: [1, 7, 40, 1 << 20])
    func indented(partSize: Int) throws {
        let lines = Reading.calendar(Reading.event(["DTSTART:20261203T090000Z", "SUMMARY:Lecture"]))
            .components(separatedBy: "\r\n").dropLast()
        func depth(_ index: Int) -> Int { index == 0 || index == lines.count - 1 ? 0 : index < 3 ? 1 : 2 }
        let files = [
            " " + lines.joined(separator: "\r\n"), lines.map { "    " + $0 }.joined(separator: "\n"),
            lines.enumerated().map { String(repeating: "\t", count: depth($0)) + $1 }.joined(separator: "\n"),
            lines.joined(separator: "\r\n").replacing("BEGIN:VEVENT", with: "  BEGIN:VEVENT"),
        ]
        for (number, file) in files.enumerated() {
            let reading = Reading.of(file + "\r\n")
            #expect(reading.events.map(\.summary) == ["Lecture"], "\(number)")
            #expect(reading.first?.start == (try Recurring.time("20261203T090000Z")), "\(number)")
            #expect(reading.codes == ["indented-lines"], "\(number)")
        }
        // A fold stays a fold, whatever it begins with.
        let folded = Reading.ofEvent(
            "DTSTART:20261203T090000Z", "DESCRIPTION:What DTSTART: and", " END: mean", " X-A:b")
        #expect(folded.first?.description == "What DTSTART: andEND: meanX-A:b" && folded.codes.isEmpty)
    }

    @Test("A parameter that the quotes of a TZID swallowed is not part of its name")
    func swallowed() {
        let reading = Reading.ofEvent("DTSTART;TZID=\"Europe/Rome;VALUE=DATE-TIME\":20261203T120000")
        #expect(walls(reading) == ["20261203T110000Z/PT0S"] && reading.codes == ["parameter-quotes"])
    }

    @Test("Every part of a zone's rule counts: positions, days of the year, and their sum")
    func zoneRules() {
        func zone(_ standard: String, _ daylight: String) -> [String] {
            [
                "BEGIN:VTIMEZONE", "TZID:Ours", "BEGIN:STANDARD", "DTSTART:19961027T030000", "RRULE:\(standard)",
                "TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "END:STANDARD", "BEGIN:DAYLIGHT", "DTSTART:19810329T020000",
                "RRULE:\(daylight)", "TZOFFSETFROM:+0100", "TZOFFSETTO:+0200", "END:DAYLIGHT", "END:VTIMEZONE",
            ]
        }
        func utc(_ wall: String, _ zone: [String]) -> [String] {
            walls(Reading.ofEvent("DTSTART;TZID=Ours:\(wall)", inCalendar: zone)).map { String($0.prefix(16)) }
        }
        let positions = zone(
            "FREQ=YEARLY;BYDAY=SU;BYMONTH=10;BYSETPOS=-1", "FREQ=YEARLY;BYDAY=SU;BYMONTH=3;BYSETPOS=-1")
        #expect(utc("20260310T120000", positions) == ["20260310T110000Z"])
        #expect(utc("20261013T120000", positions) == ["20261013T100000Z"])
        let days = zone(
            "FREQ=YEARLY;BYYEARDAY=-61,-62,-63,-64,-65,-66,-67;BYDAY=SU", "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU")
        #expect(utc("20261013T120000", days) == ["20261013T100000Z"])
        #expect(utc("20261101T120000", days) == ["20261101T110000Z"])
    }

    @Test("A known zone that the file defines by mean solar time is the known zone")
    func meanTime() {
        let reading = Reading.ofEvent(
            "DTSTART;TZID=Europe/Moscow:20180420T120000",
            inCalendar: [
                "BEGIN:VTIMEZONE", "TZID:Europe/Moscow", "BEGIN:STANDARD", "DTSTART:20010101T000000",
                "TZOFFSETFROM:+023017", "TZOFFSETTO:+023017", "TZNAME:GMT+3", "END:STANDARD", "END:VTIMEZONE",
            ])
        #expect(Series.group(reading.events).flatMap { Recurring.all($0) } == ["20180420T090000Z/PT0S"])
        #expect(reading.codes == ["zone-guessed"])
    }

    @Test("Cyrillic in Windows-1251 is recognized by its words, and Polish, Greek and Hebrew are not taken for it")
    func cyrillic() {
        func read(_ bytes: [UInt8]) -> CalendarReading {
            let head = Reading.calendar(Reading.event(["DTSTART:20261203T090000Z", "SUMMARY:#"])).utf8
            let parts = Array(head).split(separator: 35)
            return CalendarReader().read(Array(parts[0]) + bytes + Array(parts[1]))
        }
        // "Среща с лекаря"
        let bulgarian: [UInt8] = [209, 240, 229, 249, 224, 32, 241, 32, 235, 229, 234, 224, 240, 255]
        #expect(read(bulgarian).first?.summary == "Среща с лекаря")
        #expect(read(bulgarian).problems.first?.message.contains("CP1251") == true)
        // "Łódź, ćwiczenia" in Windows-1250; "Συνάντηση" in 1253; "פגישה עם הרופא" in 1255
        for other: [UInt8] in [
            [163, 243, 100, 159, 44, 32, 230, 119, 105, 99, 122, 101, 110, 105, 97],
            [211, 245, 237, 220, 237, 244, 231, 243, 231, 32, 236, 229, 32, 227, 233, 225, 244, 240, 252],
            [244, 226, 233, 249, 228, 32, 242, 237, 32, 228, 248, 229, 244, 224],
        ] { #expect(read(other).problems.first?.message.contains("CP1251") == false) }
    }
}
