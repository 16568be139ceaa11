// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import ICalBridge

@Suite("What calendar apps make of a file")
struct VerdictTests {
    private static let samples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Samples")

    private func sample(_ path: String) throws -> [CalendarClient: ClientVerdict] {
        Verdicts.of([UInt8](try Data(contentsOf: Self.samples.appending(path: path))))
    }

    @Test("Each rule speaks of each of its apps where its cause is, and not where the cause alone is missing")
    func rules() {
        for row in VerdictRow.all {
            for client in row.clients {
                let bad = Verdicts.of(row.bad)[client]
                let reason = bad?.reasons.first { $0.rule == row.rule }
                #expect(reason?.outcome == row.outcome, "\(row.rule) \(client)")
                #expect(reason?.message.contains(row.says) == true, "\(row.rule) \(client): \(reason?.message ?? "")")
                let good = Verdicts.of(row.good)[client]
                #expect(good?.reasons.contains { $0.rule == row.rule } == false, "\(row.rule) \(client)")
            }
        }
    }

    @Test("Every row of the tables is tried, with all of its apps")
    func allRulesAreTried() {
        func pairs(_ rows: [(String, [CalendarClient])]) -> Set<String> {
            Set(rows.flatMap { rule, clients in clients.map { "\(rule) \($0.rawValue)" } })
        }
        let reported = pairs(ClientRule.all.map { ($0.id, $0.clients) })
        #expect(reported == pairs(VerdictRow.all.map { ($0.rule, $0.clients) }))
        // Each rule about an app is written once, and names its source.
        #expect(reported.count == ClientRule.all.map(\.clients.count).reduce(0, +))
        for rule in ClientRule.all {
            let known = ["[code] ", "[issue] ", "[doc] ", "[blog] ", "RFC "]
            #expect(known.contains { rule.source.hasPrefix($0) }, "\(rule.id)")
        }
    }

    @Test("A verdict is the gravest of its reasons, which come first")
    func gravestFirst() throws {
        let toDo = ["BEGIN:VTODO", "UID:t", "DTSTAMP:20260101T000000Z", "END:VTODO"]
        let google = try #require(Verdicts.of(Reading.calendar(toDo))[.google])
        #expect(google.outcome == .refuses)
        #expect(google.reasons.map(\.rule) == ["to-dos-alone", "name-missing"])
        #expect(google.reasons.map(\.outcome) == [.refuses, .takes])
        let both = Reading.calendar(toDo + Reading.event(["DTSTART;VALUE=DATE:20260101"]))
        #expect(Verdicts.of(both)[.google]?.outcome == .partly)
        #expect(Verdicts.of(both)[.thunderbird]?.outcome == .takes)
        #expect(Verdicts.of(both)[.thunderbird]?.reasons == [])
    }

    @Test("What is said of an event's EXRULE is not said of a to-do's")
    func exclusionRuleOfToDo() {
        let toDo = [
            "BEGIN:VTODO", "UID:t", "DTSTAMP:20260101T000000Z", "DTSTART:20260105T090000Z", "RRULE:FREQ=DAILY;COUNT=5",
            "EXRULE:FREQ=WEEKLY;BYDAY=WE", "END:VTODO",
        ]
        let text = Reading.calendar(toDo + Reading.event(["DTSTART;VALUE=DATE:20260105"]))
        #expect(Reading.of(text).codes.contains("exclusion-rule"))
        #expect(Verdicts.of(text)[.thunderbird]?.reasons.contains { $0.rule == "exclusion-rule" } == false)
    }

    @Test("Exports of the large apps are taken by all of them")
    func exports() throws {
        for name in ["google", "outlook", "apple"] {
            let verdicts = try sample("exports/\(name)-export.ics")
            #expect(verdicts.count == CalendarClient.allCases.count)
            #expect(verdicts.values.allSatisfy { $0.outcome == .takes }, "\(name)")
        }
        let html = try #require(try sample("exports/google-export.ics")[.thunderbird])
        #expect(html.reasons.map(\.rule) == ["html"])
        #expect(try sample("exports/outlook-export.ics")[.thunderbird]?.reasons == [])
    }

    @Test("Samples with a known fault")
    func samples() throws {
        let zones = try #require(try sample("inbound/windows-zone-without-vtimezone.ics")[.outlook])
        #expect(zones.outcome == .partly)
        #expect(
            zones.reasons.first?.message
                == "an hour off on the desktop, nothing on the web: no VTIMEZONE for "
                + "Eastern Standard Time, W. Europe Standard Time"
        )
        // Its VTIMEZONE is in the file, under a TZID with a colon and commas.
        #expect(try sample("inbound/quoted-tzid-with-colon.ics")[.outlook]?.outcome == .takes)
        let page = try sample("malformed/login-page.html.ics")
        #expect(page.values.allSatisfy { $0.outcome == .refuses && $0.reasons.map(\.rule) == ["not-a-calendar"] })
        #expect(
            try sample("malformed/end-before-start.ics")[.apple]?.reasons.first?.message.hasPrefix("discards 2 ")
                == true)
        #expect(
            try sample("inbound/exdate-in-utc.ics")[.outlook]?.reasons.map(\.rule).contains("exception-elsewhere")
                == true)
        #expect(try sample("inbound/latin1-bytes.ics")[.evolution]?.outcome == .partly)
        #expect(try sample("inbound/utf-16.ics")[.evolution]?.reasons.map(\.rule) == ["one-calendar", "not-utf8"])
        #expect(try sample("inbound/vcalendar-1.0.ics").isEmpty)
    }

    @Test("A calendar in another form is judged by what it holds, not by its bytes")
    func otherForms() throws {
        let text = Reading.calendar(
            ["X-WR-CALNAME:Home"]
                + Reading.event(["DTSTART;TZID=Europe/Berlin:20260101T100000"])
                + ["BEGIN:VTODO", "UID:t", "DTSTAMP:20260101T000000Z", "END:VTODO"])
        let calendar = try #require(Reading.of(text).calendars.first)
        let verdicts = Verdicts.of(calendar.csv())
        #expect(verdicts[.google]?.reasons.map(\.rule).contains("not-a-calendar") == false)
        #expect(verdicts[.outlook]?.reasons.map(\.rule).contains("zone-undeclared") == false)
    }

    @Test("Problems that the reader does not list one by one are counted")
    func unlisted() throws {
        var options = CalendarReader.Options()
        options.limits.problemsOfAKind = 2
        let events = (0..<5).flatMap {
            ["BEGIN:VEVENT", "UID:\($0)", "DTSTAMP:20260101T000000Z", "DTSTART:20260105T090000Z"]
                + ["DTEND:20260105T080000Z", "END:VEVENT"]
        }
        let bytes = [UInt8](Reading.calendar(events).utf8)
        let reading = CalendarReader(options: options).read(bytes)
        #expect(reading.problems.map(\.unlisted) == [nil, nil, 3])
        let apple = try #require(reading.verdicts(of: bytes).first { $0.client == .apple })
        #expect(apple.reasons.map(\.message) == ["discards 5 events: the end is before the start"])
    }

    @Test("Numbers as people read them")
    func numbers() {
        #expect(
            [0, 7, 999, 1000, 1204, 1_234_567, -5000].map(\.grouped)
                == ["0", "7", "999", "1,000", "1,204", "1,234,567", "-5,000"])
        #expect(
            [1.of("event"), 2.of("event"), 1.the("to-do"), 1204.the("to-do")]
                == ["1 event", "2 events", "the to-do", "the 1,204 to-dos"])
    }
}

/// Short ways to get a verdict.
enum Verdicts {
    static func of(_ bytes: [UInt8]) -> [CalendarClient: ClientVerdict] {
        let verdicts = CalendarReader().read(anyForm: bytes).verdicts(of: bytes)
        return Dictionary(verdicts.map { ($0.client, $0) }) { first, _ in first }
    }

    static func of(_ text: String) -> [CalendarClient: ClientVerdict] { of([UInt8](text.utf8)) }
}
