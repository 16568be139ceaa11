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
        // What goes on after the series has ended leaves nothing out.
        #expect(walls(endless) == walls(reading) && endless.first?.recurrence.exclusionRules == [])
        #expect(endless.codes == ["exclusion-rule"] && endless.problems[0].severity == .repaired)
        let both = Reading.of(
            Reading.calendar(
                Reading.event([lines[0], "RRULE:FREQ=WEEKLY;BYDAY=WE", "EXRULE:FREQ=MONTHLY;BYDAY=3WE"])))
        #expect(both.first?.recurrence.exclusionRules.count == 1)
        #expect(both.codes == ["exclusion-rule"] && both.problems[0].severity == .warning)
        let again = Reading.of(Forms.text(ICalendar(events: both.events).serialized()))
        #expect(again.events == both.events)
    }

    @Test("Of an EXRULE that is not listed whole, the report says from when, and that it was too much work")
    func longExclusionRule() throws {
        let daily = Reading.ofEvent(
            "DTSTART:20150105T090000Z", "RRULE:FREQ=DAILY", "EXRULE:FREQ=WEEKLY;BYDAY=SA,SU")
        // The thousandth day is the Sunday of the five hundredth week.
        #expect(daily.first?.recurrence.exclusions.count == 1000)
        #expect(daily.problems.map(\.severity) == [.warning])
        #expect(daily.problems.first?.message.contains("EXDATEs up to 2024-08-04,") == true)
        let costly = Reading.ofEvent(
            "DTSTART:20150105T090000Z", "RRULE:FREQ=DAILY", "EXRULE:FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30")
        #expect(costly.first?.recurrence.exclusionRules.count == 1)
        #expect(costly.codes == ["exclusion-rule"] && costly.problems.first?.severity == .warning)
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
            ("FREQ=MONTHLY;BYSETPOS=1;COUNT=2", 2), ("FREQ=DAILY;REMARK=0;COUNT=2", 2),
            ("FREQ=DAILY;WKST=XX;COUNT=3", 3), ("FREQ=WEEKLY;BYDAY=MO;COUNT=2;BYDAY=mo", 2),
        ] {
            let reading = Reading.ofEvent("DTSTART:20260105T090000Z", "RRULE:\(text)")
            #expect(walls(reading).count == count && reading.codes == ["rule-part-left-out"], "\(text)")
        }
        // Without the part these would be other days.
        for (text, part) in [
            ("FREQ=DAILY;BYYEARDAY=100", "BYYEARDAY"), ("FREQ=WEEKLY;BYMONTHDAY=13", "BYMONTHDAY"),
            ("FREQ=MONTHLY;BYWEEKNO=20", "BYWEEKNO"), ("FREQ=YEARLY;BYEASTER=0", "BYEASTER"),
            ("FREQ=MONTHLY;BYWEEKDAY=MO", "BYWEEKDAY"), ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU;WKST=XX", "WKST"),
            ("FREQ=WEEKLY;BYDAY=MO;BYDAY=WE", "BYDAY"), ("FREQ=DAILY;SKIP=FORWARD", "SKIP"),
        ] {
            let reading = Reading.ofEvent("DTSTART:20260105T090000Z", "RRULE:\(text)")
            #expect(reading.codes == ["rule-refused"] && reading.first?.recurrence == Recurrence(), "\(text)")
            #expect(reading.problems.first?.message.contains(part) == true, "\(text)")
        }
    }

    @Test("Of COUNT beside UNTIL what ends first counts, whatever else the rule says")
    func countBesideUntil() {
        for (text, count, codes) in [
            ("FREQ=MONTHLY;BYDAY=2TU;COUNT=100;UNTIL=20270101", 13, ["count-and-until"]),
            ("FREQ=MONTHLY;BYDAY=2TU;COUNT=3;UNTIL=20270101", 3, ["count-and-until"]),
            // The first week has one of its three days.
            ("FREQ=WEEKLY;BYDAY=MO,WE,FR;COUNT=6;UNTIL=20260127T090000Z", 6, ["count-and-until"]),
            ("FREQ=WEEKLY;BYDAY=MO,WE,FR;COUNT=6;UNTIL=20260119T090000Z", 5, ["count-and-until"]),
            ("FREQ=DAILY;COUNT=9000000;UNTIL=20260112", 4, ["count-and-until"]),
            // One bad part beside them takes nothing else away.
            ("FREQ=DAILY;COUNT=9;UNTIL=20260112;REMARK=0", 4, ["count-and-until", "rule-part-left-out"]),
        ] {
            let reading = Reading.ofEvent("DTSTART:20260109T090000Z", "RRULE:\(text)")
            #expect(walls(reading).count == count, "\(text)")
            #expect(reading.codes.filter { $0 != "until-type" } == codes, "\(text)")
        }
    }

    @Test("What a series lists is in the form and on the clock of its start, in what is written too")
    func lists() throws {
        let rome = Reading.ofEvent(
            "DTSTART;TZID=Europe/Rome:20261201T100000", "RRULE:FREQ=DAILY;COUNT=4;EXDATE=20261203T100000",
            "EXDATE:20261202T100000", "RDATE:20261222T100000", "RDATE;VALUE=PERIOD:20261224T100000/20261224T130000")
        #expect(
            walls(rome) == [
                "20261201T090000Z/PT0S", "20261204T090000Z/PT0S", "20261222T090000Z/PT0S", "20261224T090000Z/PT3H",
            ])
        #expect(rome.codes.filter { $0 == "list-clock" }.count == 1)
        let second = try Recurring.time("20261202T100000", "Europe/Rome")
        #expect(rome.first?.recurrence.exclusions.contains(second) == true)
        let text = Forms.text(ICalendar(events: rome.events).serialized())
        #expect(!text.contains("EXDATE:") && !text.contains("RDATE:") && text.contains("EXDATE;TZID=Europe/Rome:"))
        let utc = Reading.ofEvent("DTSTART:20261201T100000Z", "RRULE:FREQ=DAILY;COUNT=3", "EXDATE:20261202T100000")
        #expect(walls(utc).count == 2 && utc.codes == ["list-clock"])
        // Whole days have no periods.
        let days = Reading.ofEvent(
            "DTSTART;VALUE=DATE:20261201", "RRULE:FREQ=DAILY;COUNT=2",
            "RDATE;VALUE=PERIOD:20261222T100000Z/PT1H,20261222T150000Z/20261222T160000Z")
        #expect(walls(days) == ["20261201/P1D", "20261202/P1D", "20261222/P1D"] && days.codes == ["list-type"])
        #expect(days.first?.recurrence.additions.allSatisfy { $0.end == nil } == true)
        let lost = Reading.ofEvent("DTSTART:20261201T100000Z", "RDATE;VALUE=PERIOD:20261222/20261224")
        #expect(lost.codes == ["date-unreadable"])
    }

    @Test("An exception names its day in the form and on the clock of its series")
    func exceptionClock() throws {
        func reading(_ named: String, _ start: String = "DTSTART;TZID=Europe/Rome:20261201T100000") -> CalendarReading {
            Reading.of(
                Reading.calendar(
                    Reading.event([start, "RRULE:FREQ=DAILY;COUNT=3"])
                        + Reading.event(["RECURRENCE-ID\(named)", "DTSTART:20261202T150000Z", "SUMMARY:moved"])))
        }
        for named in [":20261202T100000", ";VALUE=DATE:20261202"] {
            let moved = reading(named)
            #expect(moved.codes == ["recurrence-id-type"], "\(named)")
            #expect(
                moved.events.last?.recurrenceID == (try Recurring.time("20261202T100000", "Europe/Rome")), "\(named)")
            #expect(walls(moved).count == 3, "\(named)")
        }
        #expect(reading(":20261202T090000Z").codes.isEmpty)
        #expect(reading(":20261202T100000", "DTSTART:20261201T100000").codes.isEmpty)
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
