// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Calendar
@testable import ICalBridge

@Suite("What zone a name means")
struct ZoneResolutionTests {
    @Test(
        "A name without a VTIMEZONE is found by name",
        arguments: [
            ("Europe/Berlin", "Europe/Berlin", "exact"), ("europe/berlin", "Europe/Berlin", "alias"),
            ("\"Europe/Berlin\"", "Europe/Berlin", "exact"), ("America/New York", "America/New_York", "alias"),
            ("/mozilla.org/20050126_1/America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires", "alias"),
            ("/citadel.org/20190914_1/Europe/Paris", "Europe/Paris", "alias"),
            ("/freeassociation.sourceforge.net/Europe/Rome", "Europe/Rome", "alias"),
            ("/softwarestudio.org/Olson_20011030_5/America/Los_Angeles", "America/Los_Angeles", "alias"),
            ("/Europe/Stockholm", "Europe/Stockholm", "alias"), ("posix/Europe/Vaduz", "Europe/Vaduz", "alias"),
            ("W. Europe Standard Time", "Europe/Berlin", "windows"),
            ("eastern standard time", "America/New_York", "windows"),
            ("Eastern Standard Time 1", "America/New_York", "windows"),
            ("Eastern Daylight Time", "America/New_York", "windows"),
            ("\"(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna\"", "Europe/Berlin", "windows"),
            ("(UTC-05:00) Eastern Time (US and Canada)", "America/New_York", "windows"),
            ("(UTC+02:00) Somewhere", "Etc/GMT-2", "offset"),
            ("GMT +0100 (Standard) / GMT +0200 (Daylight)", "Etc/GMT-1", "offset"),
            ("(GMT+01.00) Sarajevo/Warsaw/Zagreb", "Etc/GMT-1", "offset"), ("UTC-3", "Etc/GMT+3", "offset"),
            ("UTC+05:45", "UTC+05:45", "offset"), ("tzone://Microsoft/Utc", "UTC", "alias"),
        ])
    func names(_ tzid: String, _ expected: String, _ how: String) {
        let reading = Reading.ofEvent("DTSTART;TZID=\(tzid):20260121T090000")
        #expect(reading.timeZones.map(\.resolvedTo) == [expected])
        #expect(reading.timeZones.map(\.how.rawValue) == [how])
        #expect(reading.first?.start?.civil == Reading.wall("20260121T090000"))
    }

    @Test("An unknown zone is never UTC: it floats, or is the assumed one, and that is said")
    func unknown() {
        let floating = Reading.ofEvent("DTSTART;TZID=Middle Earth:20260121T090000")
        #expect(floating.first?.start == .floating(Reading.wall("20260121T090000")))
        #expect(floating.codes == ["zone-unknown"])
        #expect(floating.timeZones == [TimeZoneResolution(tzid: "Middle Earth", resolvedTo: nil, how: .assumed)])
        let assumed = Reading.ofEvent("DTSTART;TZID=Middle Earth:20260121T090000", assumed: "Europe/Oslo")
        #expect(assumed.first?.start?.zone?.identifier == "Europe/Oslo")
        #expect(assumed.codes == ["zone-unknown"])
        // What the calendar says about itself comes first.
        let own = Reading.ofEvent(
            "DTSTART;TZID=Middle Earth:20260121T090000", inCalendar: ["X-WR-TIMEZONE:Asia/Tokyo"],
            assumed: "Europe/Oslo")
        #expect(own.first?.start?.zone?.identifier == "Asia/Tokyo")
        #expect(own.codes == ["zone-unknown"])
    }

    @Test("Times without a zone float, unless the calendar has X-WR-TIMEZONE")
    func floating() {
        #expect(Reading.ofEvent("DTSTART:20260121T090000").first?.start == .floating(Reading.wall("20260121T090000")))
        let google = Reading.ofEvent("DTSTART:20260121T090000", inCalendar: ["X-WR-TIMEZONE:Asia/Tokyo"])
        #expect(google.first?.start?.zone?.identifier == "Asia/Tokyo")
        #expect(google.timeZones.map(\.how) == [.calendar])
        #expect(Reading.ofEvent("DTSTART:20260121T090000", assumed: "Europe/Oslo").first?.start?.zone == nil)
    }

    @Test("UTC with any name is UTC")
    func utc() {
        for line in [
            "DTSTART;TZID=UTC:20260121T090000Z", "DTSTART;TZID=UTC:20260121T090000",
            "DTSTART;TZID=Etc/UTC:20260121T090000",
        ] {
            let reading = Reading.ofEvent(line)
            #expect(reading.first?.start == .utc(Instant(utc: Reading.wall("20260121T090000"))))
            #expect(reading.problems.isEmpty)
        }
        #expect(Reading.ofEvent("DTSTART;TZID=Asia/Tokyo:20260121T090000Z").codes == ["zone-with-utc"])
    }

    private static func zone(
        _ tzid: String, summer: String, rules: (String, String)? = ("3;BYDAY=-1SU", "10;BYDAY=-1SU")
    ) -> [String] {
        [
            "BEGIN:VTIMEZONE", "TZID:\(tzid)", "BEGIN:STANDARD", "DTSTART:16010101T030000", "TZOFFSETFROM:\(summer)",
            "TZOFFSETTO:+0100",
        ]
            + (rules.map { ["RRULE:FREQ=YEARLY;BYMONTH=\($0.1)"] } ?? []) + [
                "END:STANDARD", "BEGIN:DAYLIGHT",
                "DTSTART:16010101T020000", "TZOFFSETFROM:+0100", "TZOFFSETTO:\(summer)",
            ]
            + (rules.map { ["RRULE:FREQ=YEARLY;BYMONTH=\($0.0)"] } ?? []) + ["END:DAYLIGHT", "END:VTIMEZONE"]
    }

    @Test("A VTIMEZONE that keeps an IANA zone's offsets is that zone")
    func vtimezoneAgrees() {
        for (tzid, expected, how) in [
            ("Europe/Vienna", "Europe/Vienna", "exact"), ("Romance Standard Time", "Europe/Paris", "windows"),
            ("Customized Time Zone", "Europe/Berlin", "vtimezone"),
        ] {
            let reading = Reading.ofEvent(
                "DTSTART;TZID=\(tzid):20260721T090000", inCalendar: Self.zone(tzid, summer: "+0200"))
            #expect(
                reading.timeZones == [
                    TimeZoneResolution(tzid: tzid, resolvedTo: expected, how: .init(rawValue: how) ?? .assumed)
                ])
            #expect(reading.first?.start?.instant(floatingIn: FixedOffset.utc).description == "2026-07-21T07:00:00Z")
            #expect(reading.problems.isEmpty)
        }
    }

    @Test("A VTIMEZONE with rules of its own is kept, whatever its name")
    func vtimezoneDiffers() {
        let reading = Reading.ofEvent(
            "DTSTART;TZID=Europe/Vienna:20260721T090000", inCalendar: Self.zone("Europe/Vienna", summer: "+0430"))
        #expect(reading.timeZones.map(\.how) == [.vtimezone])
        #expect(reading.first?.start?.zone?.definition != nil)
        #expect(reading.first?.start?.instant(floatingIn: FixedOffset.utc).description == "2026-07-21T04:30:00Z")
    }

    @Test("A TZID with a colon and commas but no quotes is put back together")
    func unquoted() {
        let reading = Reading.ofEvent(
            "DTSTART;TZID=(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna:20260121T090000")
        #expect(reading.first?.start?.zone?.identifier == "Europe/Berlin")
        #expect(reading.codes.contains("parameter-quotes"))
    }

    @Test("Every IANA id of the Windows table exists in tzdata")
    func windowsTable() {
        for identifier in WindowsZones.identifiers { #expect(TimeZoneReference(identifier) != nil, "\(identifier)") }
        #expect(WindowsZones.identifiers.count > 130)
    }

    @Test(
        "A zone's name in another language is recognised, and reported as a guess",
        arguments: [
            ("Mitteleuropäische Zeit", "Europe/Berlin"), ("MITTELEUROPÄISCHE SOMMERZEIT", "Europe/Berlin"),
            ("heure d'Europe centrale", "Europe/Berlin"), ("hora de Europa central", "Europe/Berlin"),
            ("日本標準時", "Asia/Tokyo"), ("中国标准时间", "Asia/Shanghai"), ("Москва, стандартное время", "Europe/Moscow"),
        ])
    func localised(_ name: String, _ identifier: String) {
        let reading = Reading.ofEvent("DTSTART;TZID=\"\(name)\":20260721T090000")
        #expect(reading.first?.start?.zone?.identifier == identifier)
        #expect(reading.codes == ["zone-guessed"])
    }

    @Test("Of the zones that a Windows name has in its territories the one at home is meant, others are not")
    func territories() {
        func zone(_ tzid: String, assumed: String) -> String? {
            Reading.ofEvent("DTSTART;TZID=\(tzid):20260721T090000", assumed: assumed).first?.start?.zone?.identifier
        }
        #expect(zone("W. Europe Standard Time", assumed: "Europe/Vienna") == "Europe/Vienna")
        #expect(zone("W. Europe Standard Time", assumed: "Europe/Berlin") == "Europe/Berlin")
        #expect(zone("W. Europe Standard Time", assumed: "America/New_York") == "Europe/Berlin")
        #expect(zone("Eastern Standard Time", assumed: "America/Toronto") == "America/Toronto")
        let own = Reading.ofEvent(
            "DTSTART;TZID=W. Europe Standard Time:20260721T090000", inCalendar: ["X-WR-TIMEZONE:Europe/Zurich"])
        #expect(own.first?.start?.zone?.identifier == "Europe/Zurich")
        let both = Reading.ofEvent(
            "DTSTART;TZID=W. Europe Standard Time:20260721T090000", inCalendar: ["X-WR-TIMEZONE:Europe/Zurich"],
            assumed: "Europe/Vienna")
        #expect(both.first?.start?.zone?.identifier == "Europe/Zurich")
    }
}
