// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import ICalBridge

@Suite("Zones that files define are read as they mean them, and what is not followed is said")
struct ReadingForeignZonesTests {
    /// A zone an hour or two ahead of UTC whose parts have these lines.
    private func zone(_ standard: [String], _ daylight: [String] = ["DTSTART:19810329T020000"]) -> [String] {
        ["BEGIN:VTIMEZONE", "TZID:Ours", "BEGIN:STANDARD"] + standard
            + ["TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "END:STANDARD", "BEGIN:DAYLIGHT"] + daylight
            + ["TZOFFSETFROM:+0100", "TZOFFSETTO:+0200", "END:DAYLIGHT", "END:VTIMEZONE"]
    }

    private func reading(_ wall: String, _ zone: [String]) -> CalendarReading {
        Reading.ofEvent("DTSTART;TZID=Ours:\(wall)", inCalendar: zone)
    }

    private func utc(_ wall: String, _ zone: [String]) -> [String] {
        Series.group(reading(wall, zone).events).flatMap { Recurring.all($0) }.map { String($0.prefix(16)) }
    }

    @Test("Every part of a zone's rule counts: positions, days of the year, and their sum")
    func zoneRules() {
        func zone(_ standard: String, _ daylight: String) -> [String] {
            self.zone(
                ["DTSTART:19961027T030000", "RRULE:\(standard)"], ["DTSTART:19810329T020000", "RRULE:\(daylight)"])
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

    @Test(
        "A mean time is the known zone, whenever it began and whether or not its seconds were cut off",
        arguments: [("18800101T000000", "+023017"), ("19700101T000000", "+023017"), ("16010101T000000", "+0217")])
    func oldMeanTime(start: String, offset: String) {
        let reading = Reading.ofEvent(
            "DTSTART;TZID=Europe/Moscow:20180420T120000",
            inCalendar: [
                "BEGIN:VTIMEZONE", "TZID:Europe/Moscow", "BEGIN:STANDARD", "DTSTART:\(start)",
                "TZOFFSETFROM:\(offset)", "TZOFFSETTO:\(offset)", "END:STANDARD", "END:VTIMEZONE",
            ])
        #expect(Series.group(reading.events).flatMap { Recurring.all($0) } == ["20180420T090000Z/PT0S"])
        #expect(reading.codes == ["zone-guessed"])
    }

    @Test("Onsets that a period begins count, and those that cannot be read are said")
    func onsets() {
        let winters = zone(
            ["DTSTART:19961027T030000", "RDATE;VALUE=PERIOD:20261025T030000/PT1H,20271031T030000/20271031T040000"],
            ["DTSTART:19810329T020000", "RDATE:20260329T020000,20270328T020000"])
        #expect(reading("20261026T120000", winters).problems.isEmpty)
        #expect(utc("20261026T120000", winters) == ["20261026T110000Z"])
        #expect(utc("20261020T120000", winters) == ["20261020T100000Z"])
        #expect(utc("20271101T120000", winters) == ["20271101T110000Z"])
        for lines in [["DTSTART:19961027T030000", "RDATE:soon"], ["DTSTART:never"], [], ["DTSTART:19961027T030000Z"]] {
            #expect(reading("20261026T120000", zone(lines)).codes.contains("zone-onset-unreadable"), "\(lines)")
        }
        let many = (0..<600).map { "RDATE:\(1997 + $0)1027T030000" }
        #expect(reading("20261026T120000", zone(["DTSTART:19961027T030000"] + many)).codes == ["zone-rule-refused"])
    }

    @Test("Two rules of one part both count, and of COUNT beside UNTIL what ends first; a part left out is said")
    func rules() {
        let summer = ["DTSTART:19810329T020000", "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU"]
        let twice = zone(
            [
                "DTSTART:19961027T030000", "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;UNTIL=20251026T010000Z",
                "RRULE:FREQ=YEARLY;BYMONTH=9;BYDAY=-1SU",
            ], summer)
        #expect(utc("20251101T120000", twice) == ["20251101T110000Z"])
        #expect(utc("20261001T120000", twice) == ["20261001T110000Z"])
        let bounded = zone(
            ["DTSTART:19961027T030000", "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;COUNT=3;UNTIL=20301027T010000Z"],
            summer)
        #expect(reading("19981101T120000", bounded).codes == ["count-and-until"])
        #expect(utc("19981101T120000", bounded) == ["19981101T110000Z"])
        #expect(utc("19991101T120000", bounded) == ["19991101T100000Z"])
        let bad = zone(["DTSTART:19961027T030000", "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;REMARK=0"], summer)
        #expect(reading("20261026T120000", bad).codes == ["rule-part-left-out"])
        #expect(utc("20261026T120000", bad) == ["20261026T110000Z"])
    }

    @Test("A zone that is written as single changes is the known zone when it is read again")
    func singleChanges() {
        let reading = Reading.ofEvent("DTSTART;TZID=Africa/Cairo:20261018T103000", "RRULE:FREQ=WEEKLY;COUNT=4")
        // From 2016 to 2035.
        let decades = Instant(seconds: 1_451_606_400)...Instant(seconds: 2_082_758_400)
        let text = Forms.text(ICalendar(events: reading.events).serialized(coverage: decades))
        #expect(text.contains("TZID:Africa/Cairo\r\nBEGIN:") && Reading.of(text).events == reading.events)
    }
}
