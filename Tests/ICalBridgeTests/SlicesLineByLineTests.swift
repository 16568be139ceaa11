// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ICalBridge

@Suite("A line that is odd is read as if all were read with care", .ownThread)
struct SlicesLineByLineTests {
    private static let plain = [
        "DTSTART;TZID=Europe/Berlin:20260105T090000", "DTSTART;VALUE=DATE:20260105", "DTSTART:20260105T090000Z",
        "DTEND;TZID=Europe/Berlin:20260105T100000", "DTEND:20260105T100000Z", "DURATION:PT1H", "SUMMARY:Visit",
        "DESCRIPTION:First\\, then", "LOCATION:Main Street", "STATUS:CONFIRMED", "CLASS:PRIVATE", "TRANSP:OPAQUE",
        "SEQUENCE:2", "CREATED:20250101T000000Z", "LAST-MODIFIED:20250101T000000Z", "URL:https://example.org/",
        "CATEGORIES:a,b", "RRULE:FREQ=DAILY;COUNT=3", "EXDATE;TZID=Europe/Berlin:20260106T090000",
        "RDATE:20260110T090000Z", "ATTENDEE;CN=A:mailto:a@example.org", "X-A:b", "PRIORITY:5", "DUE:20260106T090000Z",
        "RECURRENCE-ID:20260105T090000Z", "COMMENT:Hm", "X-MICROSOFT-CDO-ALLDAYEVENT:TRUE",
    ]

    private static let odd = [
        "DTSTART:20260105T090000", "DTSTART:2026-01-05T09:00:00", "DTSTART;TZID=Nowhere:20260105T090000",
        "DTSTART;TZID=America/New_York:20260105T090000Z", "DTEND;VALUE=DATE:20260105", "DTEND:20261399T000000Z",
        "DURATION:P1DT", "SUMMARY: Spaces ", "SUMMARY:C:\\temp", "SUMMARY:Canceled: Visit",
        "SUMMARY;LANGUAGE=de:Besuch",
        "SUMMARY:a\\\\,b", "DESCRIPTION;ENCODING=QUOTED-PRINTABLE:caf=C3=A9 =3Cbr=3E", "DESCRIPTION:<p>One</p><br>Two",
        "LOCATION;ALTREP=\"https://example.org/\";CHARSET=UTF-8:Here", "STATUS: tentative ", "STATUS;X=1:CANCELLED",
        "CLASS;X=1:public", "TRANSP:MAYBE", "TRANSP:transparent", "SEQUENCE:x", "SEQUENCE:-1", "CREATED:20250101",
        "CREATED;TZID=Europe/Berlin:20250101T000000", "LAST-MODIFIED:never", "DCREATED:20240101T000000Z",
        "URL:https://example.org/a b", "URL:", "CATEGORIES;LANGUAGE=de:c", "RRULE:FREQ=OFTEN", "RRULE:D3 #5",
        "EXRULE:FREQ=WEEKLY", "EXDATE:20260107", "EXDATE;TZID=Nowhere:20260107T090000",
        "RDATE;VALUE=PERIOD:20260111T090000Z/PT2H", "ATTACH:https://example.org/a.pdf",
        "ATTACH;ENCODING=BASE64;VALUE=BINARY:QUJD", "REQUEST-STATUS:2.0;Success", "X-LIC-ERROR:no",
        "AALARM:20260105T083000Z;;;", "X-A;ENCODING=QUOTED-PRINTABLE:=CC=81=CC=81",
        "RECURRENCE-ID;RANGE=THISANDFUTURE:20260106T090000Z",
        "UID:two", "UID;X=1:three", "not a property", "SUMMARY", "X-A;B",
        "DESCRIPTION:e" + String(repeating: "\u{301}", count: 40), "SUMMARY:\u{202E}olleh", "GEO;X=\"1:2",
    ]

    private static let alarms = [
        ["BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:Soon", "TRIGGER:-PT30M", "END:VALARM"],
        ["BEGIN:VALARM", "ACTION:AUDIO", "TRIGGER;RELATED=END:PT5M", "ATTACH:Basso", "END:VALARM"],
        ["BEGIN:VALARM", "TRIGGER:20260105T080000Z", "END:VALARM"], ["BEGIN:VALARM", "ACTION:DISPLAY", "END:VALARM"],
        ["BEGIN:VALARM", "DESCRIPTION;ENCODING=QUOTED-PRINTABLE:a=CC=81", "TRIGGER:-PT1M", "END:VALARM"],
        ["BEGIN:X-A", "SUMMARY:x", "END:X-A"],
    ]

    private static func component(_ random: inout SplitMix) -> [String] {
        var lines = (0..<random.below(10)).map { _ in plain[random.below(plain.count)] }
        if random.below(5) > 0 { lines.append("UID:\(random.below(40))@example.org") }
        if random.below(5) > 0 { lines.append("DTSTAMP:20260101T000000Z") }
        if random.below(3) > 0 { lines.append(plain[random.below(3)]) }
        for _ in 0..<random.below(4) { lines.append(odd[random.below(odd.count)]) }
        lines.shuffle(using: &random)
        for _ in 0..<max(0, random.below(5) - 2) { lines += alarms[random.below(alarms.count)] }
        let name = random.below(6) > 0 ? "VEVENT" : ["VTODO", "VJOURNAL", "VFREEBUSY"][random.below(3)]
        return ["BEGIN:\(name)"] + lines + ["END:\(name)"]
    }

    private static func read(_ bytes: [UInt8], _ decoder: CalendarReader.Decoder) -> CalendarReading {
        var options = CalendarReader.Options(limits: .large)
        options.threads = 1
        options.decoder = decoder
        return CalendarReader(options: options).read(bytes)
    }

    @Test("Components of any lines in any order", arguments: 0..<12)
    func components(_ seed: Int) {
        var random = SplitMix(seed: UInt64(seed))
        var events = 0
        for _ in 0..<25 {
            let lines = (0..<8).flatMap { _ in Self.component(&random) }
            let bytes = Array(Reading.calendar(lines).utf8)
            let alone = Self.read(bytes, .libical)
            #expect(alone == Self.read(bytes, .libicalAlways), "\(Reading.calendar(lines))")
            #expect(alone == Self.read(bytes, .swift), "\(Reading.calendar(lines))")
            events += alone.events.count
        }
        #expect(events > 80)
    }

    @Test("Lines with any bytes changed, taken out or doubled", arguments: 0..<8)
    func mutations(_ seed: Int) {
        var random = SplitMix(seed: 1000 + UInt64(seed))
        for _ in 0..<40 {
            var bytes = Array(Reading.calendar((0..<3).flatMap { _ in Self.component(&random) }).utf8)
            for _ in 0..<random.below(12) {
                let index = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[index] = UInt8(random.below(256))
                case 1: bytes.remove(at: index)
                case 2: bytes.insert(Array(":;,=\\\"\r\n \t<^".utf8)[random.below(12)], at: index)
                default: bytes.insert(bytes[random.below(bytes.count)], at: index)
                }
            }
            let alone = Self.read(bytes, .libical)
            #expect(alone == Self.read(bytes, .libicalAlways), "\(String(decoding: bytes, as: UTF8.self))")
            #expect(alone == Self.read(bytes, .swift), "\(String(decoding: bytes, as: UTF8.self))")
        }
    }

    @Test("libical reads only the odd line")
    func slices() throws {
        let lines = Reading.event(["DTSTART:20260105T090000Z", "SUMMARY: Spaces", "DESCRIPTION:Plain", "X-A:b"])
        let tree = Self.tree(lines)
        let component = try #require(tree.calendars.first?.components.first)
        var context = ReadingContext(
            ZoneTable(ZoneResolver(definitions: [], calendarZone: nil, assumed: nil)), options: .init())
        var reader = ComponentReader(component, bytes: tree.text.bytes)
        let read = reader.read(&context)
        let event = try #require(read)
        #expect(event.summary == " Spaces" && event.description == "Plain" && event.otherProperties.count == 1)
        let slice = String(decoding: context.slice.bytes, as: UTF8.self)
        #expect(slice.contains("SUMMARY:") && !slice.contains("DESCRIPTION") && !slice.contains("DTSTART"))
    }

    private static func tree(_ lines: [String]) -> ComponentTree {
        var log = ProblemLog(limit: 100)
        let text = SourceText(Array(Reading.calendar(lines).utf8), log: &log)
        return ComponentTree(text, limits: .init(), log: &log)
    }
}
