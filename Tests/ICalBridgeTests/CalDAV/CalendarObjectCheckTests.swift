// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

@Suite("CalDAV objects: what is stored as one")
struct CalendarObjectCheckTests {
    private func check(_ lines: [String]) throws(CalendarObjectFault) -> CheckedObject {
        try CalendarObjectCheck.checked(Array(Reading.calendar(lines).utf8))
    }

    private func fault(_ lines: [String]) -> CalendarObjectFault? {
        do throws(CalendarObjectFault) {
            _ = try check(lines)
            return nil
        } catch {
            return error
        }
    }

    private func code(_ lines: [String]) -> Sentence.Code? {
        switch fault(lines) {
        case .invalidData(let sentence), .invalidObject(let sentence): sentence.code
        case .unsupportedComponent, nil: nil
        }
    }

    private func part(_ name: String, uid: String? = "a@example.org", _ lines: String...) -> [String] {
        ["BEGIN:\(name)"] + (uid.map { ["UID:\($0)"] } ?? []) + ["DTSTAMP:20260101T000000Z"] + lines + ["END:\(name)"]
    }

    private func seconds(_ text: String) throws -> Int { try #require(Instant(basic: text)).seconds }

    @Test("An event, a task and a journal entry are objects, with their UID and kind")
    func kinds() throws {
        for name in ["VEVENT", "VTODO", "VJOURNAL"] {
            let checked = try check(part(name, uid: "a\\,b", "DTSTART:20260310T090000Z"))
            #expect(checked.uid == "a,b")
            #expect(checked.component == name)
        }
        #expect(fault(part("VFREEBUSY", "DTSTART:20260310T090000Z")) == .unsupportedComponent)
        #expect(fault(part("VAVAILABILITY")) == .unsupportedComponent)
    }

    @Test("Pitfall 14: two UIDs in an object, and one UID twice, are refused")
    func pitfall14() {
        let start = "DTSTART:20260310T090000Z"
        #expect(code(part("VEVENT", start) + part("VEVENT", uid: "b", start)) == .objectUIDs)
        #expect(code(part("VEVENT", start) + part("VEVENT", start)) == .objectTwice)
        #expect(code(part("VEVENT", uid: nil, start)) == .objectWithoutUID)
        #expect(code(part("VEVENT", uid: "", start)) == .objectWithoutUID)
        let changed = part("VEVENT", "RECURRENCE-ID:20260311T090000Z", "DTSTART:20260311T100000Z")
        #expect(fault(part("VEVENT", start, "RRULE:FREQ=DAILY;COUNT=3") + changed) == nil)
        #expect(fault(changed) == nil)
    }

    @Test("A METHOD, several kinds, and nothing at all are refused")
    func objects() {
        let start = "DTSTART:20260310T090000Z"
        #expect(code(["METHOD:REQUEST"] + part("VEVENT", start)) == .objectMethod)
        #expect(code(part("VEVENT", start) + part("VTODO", start)) == .objectKinds)
        #expect(code([]) == .objectEmpty)
    }

    @Test("A zone needs a VTIMEZONE, unless its name is the IANA's")
    func zones() {
        let zone = [
            "BEGIN:VTIMEZONE", "TZID:Room", "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:+0300",
            "TZOFFSETTO:+0300", "END:STANDARD", "END:VTIMEZONE",
        ]
        let event = part("VEVENT", "DTSTART;TZID=Room:20260310T090000")
        #expect(code(event) == .objectZone)
        #expect(fault(zone + event) == nil)
        #expect(fault(part("VEVENT", "DTSTART;TZID=Europe/Berlin:20260310T090000")) == nil)
        #expect(code(part("VEVENT", "DTSTART;TZID=W. Europe Standard Time:20260310T090000")) == .objectZone)
        #expect(code(part("VEVENT", "DTSTART:20260310T090000Z", "EXDATE;TZID=\"Room\":20260310T090000")) == .objectZone)
    }

    @Test("What is not iCalendar, or has a part that cannot be read, is refused")
    func data() {
        func invalid(_ text: [UInt8]) -> Sentence.Code? {
            do throws(CalendarObjectFault) {
                _ = try CalendarObjectCheck.checked(text)
                return nil
            } catch {
                guard case .invalidData(let sentence) = error else { return nil }
                return sentence.code
            }
        }
        let good = Array(Reading.calendar(part("VEVENT", "DTSTART:20260310T090000Z")).utf8)
        #expect(invalid(good) == nil)
        #expect(invalid([]) == .objectUnreadable)
        #expect(invalid(Array("hello".utf8)) == .objectUnreadable)
        #expect(invalid(Array(good.dropLast(16))) == .objectUnreadable)
        #expect(invalid(good + good) == .objectUnreadable)
        #expect(
            invalid(
                Array(Reading.calendar(part("VEVENT", "SUMMARY:\u{E9}", "DTSTART:20260310T090000Z")).utf8)
                    .filter { $0 != 0xC3 }) == .objectUnreadable)
        #expect(code(part("VEVENT", "SUMMARY:no start")) == .objectPart)
        #expect(code(part("VEVENT", "DTSTART:20260332T090000Z")) == .objectPart)
        #expect(code(part("VEVENT", "DTSTART:20260310T090000Z", "RRULE:FREQ=SOMETIMES")) == .objectPart)
    }

    @Test("The span holds every occurrence and every alarm")
    func spans() throws {
        let span = try #require(
            try check(
                part(
                    "VEVENT", "DTSTART:20260310T090000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=3",
                    "BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:x", "TRIGGER:-P2D", "END:VALARM")
            ).span)
        #expect(span.lowerBound <= (try seconds("20260308T090000Z")))
        #expect(span.lowerBound > (try seconds("20260305T000000Z")))
        #expect(span.upperBound > (try seconds("20260312T100000Z")))
        #expect(span.upperBound < (try seconds("20260315T000000Z")))
        let plain = try #require(try check(part("VEVENT", "DTSTART:20260310T090000Z", "DURATION:PT1H")).span)
        #expect(plain.count < 3700)
        let moved = try #require(
            try check(
                part("VEVENT", "DTSTART:20260310T090000Z", "RRULE:FREQ=DAILY;COUNT=2")
                    + part("VEVENT", "RECURRENCE-ID:20260311T090000Z", "DTSTART:20260501T090000Z")
            ).span)
        #expect(moved.contains(try seconds("20260501T090000Z")))
    }

    @Test("A day is wide enough for each reader's clock")
    func floating() throws {
        let span = try #require(try check(part("VEVENT", "DTSTART;VALUE=DATE:20260310")).span)
        for zone in ["Pacific/Kiritimati", "Etc/GMT+12"] {
            let rules = try #require(TimeZoneReference(zone)).rules
            let start = rules.instant(of: CivilDateTime(startOf: Reading.day("20260310")))
            #expect(span.contains(start.seconds) && span.contains(start.seconds + 86_399))
        }
    }

    @Test("What never ends has a span from its start on, and what has no place in time has none")
    func unbounded() throws {
        let endless = try #require(try check(part("VEVENT", "DTSTART:20260310T090000Z", "RRULE:FREQ=DAILY")).span)
        #expect(try endless.contains(seconds("99991231T090000Z")) && !endless.contains(seconds("20260309T090000Z")))
        #expect(try check(part("VTODO", "SUMMARY:some day")).span == nil)
        #expect(try check(part("VTODO", "CREATED:20260310T090000Z")).span == nil)
        let done = try #require(try check(part("VTODO", "COMPLETED:20260310T090000Z")).span)
        #expect(done.contains(try seconds("20260310T090000Z")))
        #expect(try check(part("VTODO", "DUE:20260310T090000Z")).span?.contains(seconds("20260310T090000Z")) == true)
    }
}
