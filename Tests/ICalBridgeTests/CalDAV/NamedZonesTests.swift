// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

@Suite("Zones that are those of their names")
struct NamedZonesTests {
    private static let berlin = zone(
        "+0100", "+0200", daylight: "BYMONTH=3;BYDAY=-1SU", standard: "BYMONTH=10;BYDAY=-1SU")
    private static let newYork = zone(
        "-0500", "-0400", daylight: "BYMONTH=3;BYDAY=2SU", standard: "BYMONTH=11;BYDAY=1SU")

    private static func zone(_ winter: String, _ summer: String, daylight: String, standard: String) -> String {
        """
        BEGIN:VTIMEZONE
        TZID:Europe/Berlin
        BEGIN:DAYLIGHT
        DTSTART:20070325T020000
        RRULE:FREQ=YEARLY;\(daylight)
        TZOFFSETFROM:\(winter)
        TZOFFSETTO:\(summer)
        END:DAYLIGHT
        BEGIN:STANDARD
        DTSTART:20071028T030000
        RRULE:FREQ=YEARLY;\(standard)
        TZOFFSETFROM:\(summer)
        TZOFFSETTO:\(winter)
        END:STANDARD
        END:VTIMEZONE

        """
    }

    /// The start of an event at 9:00 in January in seconds, as reports read it.
    private static func start(_ zones: String) -> Int? {
        let text = """
            BEGIN:VCALENDAR
            VERSION:2.0
            PRODID:x
            \(zones)BEGIN:VEVENT
            UID:a
            DTSTAMP:20260101T000000Z
            DTSTART;TZID=Europe/Berlin:20260115T090000
            END:VEVENT
            END:VCALENDAR

            """
        let object = ReportedObject(Array(text.utf8), floatingIn: FixedOffset.utc)
        return object?.contents.events.first?.start?.instant(floatingIn: FixedOffset.utc).seconds
    }

    @Test("An object's own rules count under a known name, whatever was read before")
    func ownRules() {
        let (eight, fourteen) = (1_768_464_000, 1_768_485_600)
        for _ in 0..<3 {
            #expect(Self.start(Self.berlin) == eight)
            #expect(Self.start("") == eight)
            #expect(Self.start(Self.newYork) == fourteen)
            // Of two with one name the first counts.
            #expect(Self.start(Self.newYork + Self.berlin) == fourteen)
            #expect(Self.start(Self.berlin + Self.newYork) == eight)
        }
    }
}
