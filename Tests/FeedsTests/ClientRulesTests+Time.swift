// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Testing

@testable import ServerTestSupport

extension ClientRulesTests {
    @Test("A VTIMEZONE is our own: a plain name, one part a season, since 1970, by a yearly rule")
    func timeZones() async throws {
        try await TestServer.run { server in
            try await server.makeCircle(zone: "Europe/Berlin")
            try await server.put("tasks", "t", ["title": "T", "dueAt": "2026-03-03T09:00:00Z"])
            let lines = try await server.raw(.get, try await server.makeFeed().path).expect(200).calendarLines
            let start = try #require(lines.firstIndex(of: "BEGIN:VTIMEZONE"))
            let end = try #require(lines.lastIndex(of: "END:VTIMEZONE"))
            #expect(
                lines[start...end].joined(separator: "\n") == """
                    BEGIN:VTIMEZONE
                    TZID:Europe/Berlin
                    BEGIN:STANDARD
                    DTSTART:19701025T030000
                    RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
                    TZOFFSETFROM:+0200
                    TZOFFSETTO:+0100
                    TZNAME:CET
                    END:STANDARD
                    BEGIN:DAYLIGHT
                    DTSTART:19700329T020000
                    RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
                    TZOFFSETFROM:+0100
                    TZOFFSETTO:+0200
                    TZNAME:CEST
                    END:DAYLIGHT
                    END:VTIMEZONE
                    """)
        }
    }

    @Test("Every TZID is defined once, and what repeats is on a zone's clock")
    func zonesAreDefined() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            try await server.importFile(
                "UID:a", "DTSTART;TZID=Asia/Tokyo:20260310T090000", "RRULE:FREQ=DAILY;COUNT=9",
                "EXDATE;TZID=Europe/Paris:20260311T010000")
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            let used = Set(feed.calendarLines.compactMap { $0.firstMatch(of: /^[A-Z-]+;TZID=([^:;]+)/)?.1 })
            let defined = feed.values("TZID")
            #expect(used.count >= 3)
            #expect(Set(defined) == Set(used.map(String.init)) && defined.count == used.count)
            for event in feed.events where event["RRULE"] != nil {
                #expect(event.parameters("DTSTART").contains("TZID="), "\(event.lines)")
            }
        }
    }

    /// Google and Microsoft read a time without a zone as UTC.
    @Test("A time that floats in a file is on the circle's clock in the feed")
    func floating() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.importFile("UID:a", "DTSTART:20260310T090000", "DTEND:20260310T100000", "SUMMARY:Floats")
            let event = try #require(try await server.events(try await server.makeFeed().path).first)
            #expect(event.parameters("DTSTART") == "TZID=America/Los_Angeles")
        }
    }

    @Test("A day is a DATE, and its end the day after the last")
    func days() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            try await server.importFile("UID:a", "DTSTART;VALUE=DATE:20260310", "SUMMARY:Without end")
            try await server.importFile(
                "UID:b", "DTSTART;VALUE=DATE:20260310", "DTEND;VALUE=DATE:20260310", "SUMMARY:Ends as it begins")
            let days = try await server.events(try await server.makeFeed().path).filter {
                $0.parameters("DTSTART") == "VALUE=DATE"
            }
            #expect(days.count == 3)
            for event in days {
                guard let end = event["DTEND"] else {
                    // Without an end a day lasts that day, unless a duration says more.
                    #expect(event["DURATION"] == nil)
                    continue
                }
                #expect(event.parameters("DTEND") == "VALUE=DATE")
                #expect(try end > #require(event["DTSTART"]), "\(event.lines)")
            }
            let shift = try #require(days.first { $0["SUMMARY"]?.contains("Shift") == true })
            #expect((shift["DTSTART"], shift["DTEND"]) == ("20260305", "20260307"))
        }
    }

    @Test("An end lies after its start or is left out, and is said once")
    func ends() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            for (index, end) in [
                "DTEND:20260310T090000Z", "DTEND:20260310T080000Z", "DTEND:20260310T100000Z\r\nDURATION:PT3H",
                "DURATION:PT30M", "DURATION:PT0S", "DURATION:-PT1H", "DTEND;VALUE=DATE:20260310",
                "DTEND;TZID=Europe/Paris:20260310T100000",
            ].enumerated() {
                try await server.importFile("UID:\(index)", "DTSTART:20260310T090000Z", end, "SUMMARY:\(index)")
            }
            let events = try await server.events(try await server.makeFeed().path)
            #expect(events.count >= 8 + 6)
            var atOnce: [String] = []
            for event in events {
                #expect(event["DTEND"] == nil || event["DURATION"] == nil, "\(event.lines)")
                #expect(event["DURATION"]?.hasPrefix("-") != true, "\(event.lines)")
                guard let start = event.instant("DTSTART"), let end = event.instant("DTEND") else { continue }
                #expect(end >= start, "\(event.lines)")
                if end == start { atOnce.append(event["SUMMARY"] ?? "") }
            }
            #expect(atOnce == [])
        }
    }

    @Test("EXDATE and RECURRENCE-ID are of the series' kind and zone, UNTIL is in UTC")
    func exceptionsAndUntil() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            for (id, until) in [("u1", "20260401"), ("u2", "20260401T120000"), ("u3", "20260401T120000Z")] {
                var appointment = Family.weekly.object ?? [:]
                appointment["recurrence"] = ["rrule": .string("FREQ=WEEKLY;UNTIL=\(until)")]
                try await server.put("appointments", id, .object(appointment))
            }
            try await server.importFile(
                "UID:g", "DTSTART;TZID=Europe/Berlin:20260310T090000", "RRULE:FREQ=DAILY;UNTIL=20260320",
                "EXDATE:20260311T080000Z", "EXDATE;TZID=America/New_York:20260312T040000", "SUMMARY:From Google")
            try await server.importFile(
                "UID:d", "DTSTART;VALUE=DATE:20260310", "RRULE:FREQ=DAILY;UNTIL=20260320T000000Z", "SUMMARY:Days")
            for (id, start) in [
                ("RECURRENCE-ID;VALUE=DATE:20260313", "20260313T140000"),
                ("RECURRENCE-ID:20260314T080000Z", "20260314T140000"),
                ("RECURRENCE-ID:20260315T090000", "20260315T140000"),
            ] {
                try await server.importFile(
                    "UID:g", id, "DTSTART;TZID=Europe/Berlin:\(start)", "SUMMARY:Later")
            }
            let events = try await server.events(try await server.makeFeed().path)
            let masters = events.filter { $0["RRULE"] != nil }
            #expect(masters.count == 6)
            for event in events {
                let master = try #require(events.first { $0.uid == event.uid && $0["RECURRENCE-ID"] == nil })
                let kind = master.parameters("DTSTART")
                for name in ["RECURRENCE-ID", "EXDATE", "RDATE"] where event[name] != nil {
                    #expect(event.allParameters(name).allSatisfy { $0 == kind }, "\(event.lines)")
                }
                if let until = event["RRULE"]?.firstMatch(of: /UNTIL=([0-9TZ]+)/)?.1 {
                    #expect(kind == "VALUE=DATE" ? until.count == 8 : until.hasSuffix("Z"), "\(event.lines)")
                }
            }
            #expect(masters.contains { $0["EXDATE"] != nil } && events.contains { $0["RECURRENCE-ID"] != nil })
            #expect(
                events.filter { $0["SUMMARY"] == "Later" }.map { $0["RECURRENCE-ID"] }
                    == ["20260313T090000", "20260314T090000", "20260315T090000"])
        }
    }
}
