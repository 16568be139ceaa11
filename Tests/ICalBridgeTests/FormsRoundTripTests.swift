// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ICalBridge

@Suite("Other forms of the same calendar", .ownThread)
struct FormsRoundTripTests {
    @Test("The sample holds what it is meant to hold")
    func sample() {
        let rich = Forms.rich
        #expect(rich.events.count == 7)
        #expect(rich.events[0].alarms.count == 3)
        #expect(rich.events[0].otherProperties.count > 15)
        #expect(rich.events[1].start?.zone?.definition != nil)
    }

    @Test("jCal brings every value back, and gives the strict writer's bytes again")
    func jCal() throws {
        let rich = Forms.rich
        #expect(Forms.text(try CalendarReader.iCalendarText(fromJCal: rich.jCal())) == Forms.text(rich.serialized()))
        #expect(try Forms.viaJCal(rich) == Forms.reread(rich))
        #expect(try Forms.viaJCal(rich).events == rich.events)
    }

    @Test("xCal brings every value back, and gives the strict writer's bytes again")
    func xCal() throws {
        let rich = Forms.rich
        #expect(Forms.text(try CalendarReader.iCalendarText(fromXCal: rich.xCal())) == Forms.text(rich.serialized()))
        #expect(try Forms.viaXCal(rich) == Forms.reread(rich))
        #expect(try Forms.viaXCal(rich).events == rich.events)
    }

    @Test("A reminder that is shown has a text in strict form, because Home Assistant refuses a file without")
    func reminderText() {
        func written(_ lines: String...) -> [String] {
            let event = Reading.event(["DTSTART:20260105T090000Z"] + lines + ["TRIGGER:-PT5M", "END:VALARM"])
            return Forms.text(Forms.calendar(event).serialized()).components(separatedBy: "\r\n")
                .filter { $0.hasPrefix("DESCRIPTION") }
        }
        #expect(written("SUMMARY:Pills", "BEGIN:VALARM", "ACTION:DISPLAY") == ["DESCRIPTION:Pills"])
        #expect(written("BEGIN:VALARM", "ACTION:EMAIL") == ["DESCRIPTION:Reminder"])
        #expect(written("BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:Now") == ["DESCRIPTION:Now"])
        #expect(written("SUMMARY:Pills", "BEGIN:VALARM", "ACTION:AUDIO").isEmpty)
    }

    @Test("Each form is the same bytes each time, and UTF-8")
    func deterministic() {
        for form in CalendarForm.allCases {
            let bytes = Forms.rich.bytes(as: form)
            #expect(bytes == Forms.rich.bytes(as: form), "\(form)")
            #expect(String(validating: bytes, as: UTF8.self) != nil, "\(form)")
        }
    }

    @Test("The coverage reaches the zones of jCal and xCal")
    func coverage() {
        let calendar = Forms.calendar(
            Reading.event(["DTSTART;TZID=Africa/Casablanca:20260105T090000", "RRULE:FREQ=DAILY"]))
        let wide = Instant(seconds: 1_767_225_600)...Instant(seconds: 1_900_000_000)
        let text = calendar.serialized(coverage: wide)
        #expect(calendar.jCal(coverage: wide) == Array(Forms.jCalParts(of: text).joined()))
        #expect(calendar.xCal(coverage: wide) == Array(Forms.xCalParts(of: text).joined()))
        #expect(calendar.jCal(coverage: wide) != calendar.jCal())
    }

    @Test("A large text becomes several parts, none much larger than its longest event")
    func parts() throws {
        let events = (0..<100).flatMap { number in
            [
                "BEGIN:VEVENT", "UID:\(number)", "DTSTAMP:20260101T000000Z", "DTSTART:20260105T090000Z",
                "DESCRIPTION:" + String(repeating: "n", count: 20_000), "END:VEVENT",
            ]
        }
        let text = Forms.calendar(events).serialized()
        for parts in [Forms.jCalParts(of: text), Forms.xCalParts(of: text)] {
            #expect(parts.count > 4)
            #expect(parts.allSatisfy { $0.count < 300 << 10 && $0.capacity < 310 << 10 })
        }
        let calendar = try ICalendar(jCal: Array(Forms.jCalParts(of: text).joined()))
        #expect(calendar.events.count == 100)
    }

    @Test("A calendar without entries is one in each form")
    func empty() throws {
        let calendar = ICalendar(productID: "-//P//EN", name: "Nothing")
        #expect(try Forms.viaJCal(calendar) == Forms.reread(calendar))
        #expect(try Forms.viaXCal(calendar) == Forms.reread(calendar))
        #expect(try ICalendar(csv: calendar.csv()).events.isEmpty)
    }

    @Test("A zone whose name has a comma is found again")
    func zoneWithComma() throws {
        let calendar = Forms.calendar(
            [
                "BEGIN:VTIMEZONE", "TZID:Ward 3\\, east", "BEGIN:STANDARD", "DTSTART:20200101T000000",
                "TZOFFSETFROM:+0545", "TZOFFSETTO:+0615", "END:STANDARD", "END:VTIMEZONE",
            ] + Reading.event(["DTSTART;TZID=\"Ward 3, east\":20260105T090000"]))
        #expect(calendar.events.first?.start?.zone?.identifier == "Ward 3, east")
        #expect(try Forms.viaJCal(calendar).events == calendar.events)
        #expect(try Forms.viaXCal(calendar).events == calendar.events)
    }

    @Test("A value that is not of its type stays as it is")
    func malformed() throws {
        let lines = [
            ("GEO", "north;south"), ("PRIORITY", "high"), ("COMPLETED", "yesterday"), ("FREEBUSY", "now/later"),
            ("TZOFFSETTO", "never"), ("PERCENT-COMPLETE", "1.5"), ("1-DIGIT", "a\\,b"),
        ]
        var event = Event(uid: "one", start: .utc(Instant(seconds: 0)))
        event.timestamp = Instant(seconds: 0)
        event.otherProperties = lines.map { ContentLine(name: $0, value: $1) }
        var calendar = ICalendar(events: [event])
        #expect(try Forms.viaJCal(calendar).events == calendar.events)
        // No element of XML begins with a digit.
        calendar.events[0].otherProperties.removeLast()
        #expect(try Forms.viaXCal(calendar).events == calendar.events)
    }

    @Test("Every file that others wrote comes back from jCal and xCal as from strict iCalendar")
    func corpora() throws {
        var events = 0
        for file in CalendarFile.all {
            let path = file.path
            for calendar in try file.read().calendars {
                let strict = Forms.reread(Forms.reread(calendar))
                let back = try Forms.withValueInItsPlace(Forms.viaJCal(strict))
                let isSame = back == Forms.withValueInItsPlace(strict)
                #expect(isSame == (Self.malformed[path] == nil), "\(path): \(Self.malformed[path] ?? "")")
                // The bytes in between are the same, so one comparison of values is enough.
                #expect(
                    try CalendarReader.iCalendarText(fromXCal: strict.xCal())
                        == CalendarReader.iCalendarText(fromJCal: strict.jCal()), "\(path)")
                events += calendar.events.count
            }
        }
        #expect(events > CalendarFile.least(samples: 50, foreign: 5000))
    }

    /// Values that do not match their type come back without a wrong VALUE, or with a missing one added.
    private static let malformed = [
        "kewisch+ical.js/test/parser/boolean.ics": "X-MAYBE;VALUE=BOOLEAN:MAYBE loses its VALUE",
        "kewisch+ical.js/test/parser/dates.ics": "RDATE:20131210 gets the VALUE=DATE it lacks",
        "kewisch+ical.js/test/parser/float.ics": "X-INVALID-FLOAT;VALUE=FLOAT:my foo! loses its VALUE",
        "kewisch+ical.js/test/parser/integer.ics": "X-INVALID;VALUE=INTEGER:foobar loses its VALUE",
    ]

    @Test("The names and media types are those that are registered")
    func names() {
        #expect(CalendarForm.jCal.mediaType == "application/calendar+json")
        #expect(CalendarForm.xCal.mediaType == "application/calendar+xml")
        #expect(CalendarForm.csv.contentType.hasPrefix("text/csv"))
        #expect(CalendarForm(rawValue: "jcal") == .jCal)
        #expect(CalendarForm.allCases.map(\.rawValue) == ["ics", "jcal", "xcal", "csv"])
    }
}
