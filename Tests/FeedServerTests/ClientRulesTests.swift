// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Testing

@testable import FeedServer

/// What is known of real calendar apps makes forty rules; each has a test by its number here, or a reason in `reasons`.
///
/// Other suites test the same things in depth; here a look at what leaves the server is enough. Where our contract
/// says otherwise than a rule (cancelled items, reminders, showing an address again), the contract is tested.
@Suite("What calendar apps need of a feed")
struct ClientRulesTests {
    /// The rules that no request can show.
    private static let reasons: [Int: String] = [
        19: "Port 80 and the way from it to https are the proxy's in front; here certificates make it https alone."
    ]

    @Test("Every rule from 1 to 40 is tested, or there is a reason")
    func table() throws {
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let tested = source.matches(of: #/@Test\(\s*"Rule (\d+): /#).compactMap { Int($0.1) }
        #expect(Set(tested).count == tested.count)
        #expect(Set(tested).isDisjoint(with: Self.reasons.keys))
        #expect(Set(tested).union(Self.reasons.keys) == Set(1...40))
    }

    // MARK: Revisions and identity

    @Test("Rule 1: Every visible change raises SEQUENCE, LAST-MODIFIED and DTSTAMP, of overrides too")
    func rule1() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.makeFeed()
            var before = try await server.events(feed.path)
            func changes(_ what: String, _ titles: [String], _ act: () async throws -> Void) async throws {
                server.clock.advance(seconds: 60)
                try await act()
                let after = try await server.events(feed.path)
                let old = Dictionary(grouping: before, by: \.key)
                let changed = after.filter { event in old[event.key].map { $0[0].shown != event.shown } ?? false }
                #expect(Set(changed.map(\.uid)).count == titles.count, "\(what)")
                for title in titles {
                    #expect(changed.contains { $0["SUMMARY"]?.contains(title) == true }, "\(what): \(title)")
                }
                for event in changed {
                    let earlier = try #require(old[event.key]?.first)
                    #expect(event.sequence > earlier.sequence, "\(what)")
                    for name in ["LAST-MODIFIED", "DTSTAMP"] {
                        #expect(try #require(event[name]) > #require(earlier[name]), "\(what)")
                    }
                    let master = try #require(after.first { $0.uid == event.uid && $0["RECURRENCE-ID"] == nil })
                    #expect(event.sequence >= master.sequence, "\(what)")
                }
                before = after
            }
            try await changes("a title", ["Refill"]) {
                try await server.put("tasks", "pills", ["title": "Refill now", "dueAt": "2026-03-03T09:00:00-08:00"])
            }
            try await changes("a place", ["Dr. Wu"]) {
                try await server.put("appointments", "visit", Family.visit(location: "Oak St 7"))
            }
            try await changes("a reminder", ["Dr. Wu"]) {
                try await server.put("appointments", "visit", Family.visit(location: "Oak St 7", reminders: [5]))
            }
            try await changes("an occurrence", ["Gym"]) {
                try await server.call(
                    .put, "/v1/circles/c/appointments/weekly/occurrences/20260331T160000Z",
                    ["startAt": "2026-03-31T12:00:00-07:00"]
                ).expect(200)
            }
            try await changes("who does it", ["Mom - Benjamin"]) {
                try await server.call(.put, "/v1/circles/c/members/ben", ["displayName": "Benjamin", "role": "member"])
                    .expect(200)
            }
            try await changes("for whom", ["Papa - Dr. Wu", "Shift: Papa"]) {
                try await server.call(.put, "/v1/circles/c/patients/dad", ["displayName": "Papa"]).expect(200)
            }
            try await changes("the circle's zone", ["Refill", "Gym", "Papa - Dr. Wu", "Shift: Papa"]) {
                try await server.call(
                    .put, "/v1/circles/c", ["name": "Our family", "timeZone": "America/Denver"]
                ).expect(200)
            }
        }
    }

    @Test("Rule 1, in its last corner: a shift that passes to somebody of the same name")
    func sameName() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.call(.put, "/v1/circles/c/members/anne", ["displayName": "Ann", "role": "member"])
                .expect(201)
            var shift: [String: JSONValue] = [
                "patientId": "mom", "ownerId": "ann", "startDate": "2026-03-05", "endDate": "2026-03-05",
            ]
            try await server.put("shifts", "s", .object(shift))
            let feed = try await server.makeFeed()
            let before = try #require(try await server.events(feed.path).first)
            #expect(before["TRANSP"] == "OPAQUE")
            server.clock.advance(seconds: 60)
            shift["ownerId"] = "anne"
            try await server.put("shifts", "s", .object(shift))
            let after = try #require(try await server.events(feed.path).first)
            #expect(after["TRANSP"] == "TRANSPARENT")
            #expect(after.sequence > before.sequence)
        }
    }

    @Test("Rule 2: DTSTAMP and LAST-MODIFIED are the stored change, never the clock")
    func rule2() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let stored = try #require(
                try await server.call(.get, "/v1/circles/c/tasks/pills").json["updatedAt"]?.string)
            let (one, two) = (try await server.makeFeed(), try await server.makeFeed(label: "second"))
            let first = try await server.raw(.get, one.path).expect(200)
            server.clock.advance(seconds: 5 * 3600)
            #expect(try await server.raw(.get, two.path).expect(200).body == first.body)
            let task = try #require(first.events.first { $0["SUMMARY"]?.contains("Refill") == true })
            #expect(task["DTSTAMP"] == Instant(rfc3339: stored)?.basic)
            for event in first.events { #expect(event["DTSTAMP"] == event["LAST-MODIFIED"]) }
        }
    }

    @Test("Rule 3: A UID is an item's for good, the same in every feed, and made of no id")
    func rule3() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let (ann, ben) = (try await server.makeFeed(), try await server.makeFeed(user: "ben"))
            let uids = try await server.events(ann.path).map(\.uid)
            #expect(try await server.events(ben.path).map(\.uid) == uids)
            for id in ["pills", "visit", "weekly", "ask", "mom", "dad"] {
                #expect(!uids.contains { $0.contains(id) })
            }
            try await server.call(.delete, "/v1/circles/c/tasks/pills").expect(204)
            try await server.put("tasks", "other", ["title": "Other", "dueAt": "2026-03-03T09:00:00-08:00"])
            let after = try await server.events(ann.path)
            let other = try #require(after.first { $0["SUMMARY"] == "CK: Other" })
            #expect(!uids.contains(other.uid))
            #expect(Set(after.map(\.uid)).subtracting([other.uid]).isSubset(of: uids))
        }
    }

    // MARK: Time

    @Test("Rule 4: A VTIMEZONE is our own: a plain name, one part a season, since 1970, by a yearly rule")
    func rule4() async throws {
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

    @Test("Rule 5: Every TZID is defined once, and what repeats is on a zone's clock")
    func rule5() async throws {
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
    @Test("Rule 5, for imports: a time that floats in a file is on the circle's clock in the feed")
    func floating() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.importFile("UID:a", "DTSTART:20260310T090000", "DTEND:20260310T100000", "SUMMARY:Floats")
            let event = try #require(try await server.events(try await server.makeFeed().path).first)
            #expect(event.parameters("DTSTART") == "TZID=America/Los_Angeles")
        }
    }

    @Test("Rule 22: A day is a DATE, and its end the day after the last")
    func rule22() async throws {
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

    @Test("Rule 23: An end lies after its start or is left out, and is said once")
    func rule23() async throws {
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

    @Test("Rule 24: EXDATE and RECURRENCE-ID are of the series' kind and zone, UNTIL is in UTC")
    func rule24() async throws {
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
        }
    }

    // MARK: What is shown

    @Test("Rule 6: Tasks and follow-ups are events; to-dos come to those alone who ask for them")
    func rule6() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(!feed.text.contains("VTODO"))
            #expect(feed.values("SUMMARY").contains { $0.contains("Refill") })
            #expect(feed.values("SUMMARY").contains { $0.contains("Ask") })
            let asked = try await server.makeFeed(label: "Thunderbird", config: ["tasksAs": "todos"])
            #expect(try await server.raw(.get, asked.path).expect(200).text.contains("BEGIN:VTODO"))
        }
    }

    @Test("Rule 8: A feed without events is a calendar without events, never an empty body")
    func rule8() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let off: JSONValue = [
                "includeTasks": false, "includeShifts": false, "includeAppointments": false, "includeFollowUps": false,
                "includeImported": false,
            ]
            let feed = try await server.raw(.get, try await server.makeFeed(config: off).path).expect(200)
            #expect(feed.events.isEmpty)
            #expect(feed.calendarLines.first == "BEGIN:VCALENDAR")
            #expect(feed.calendarLines.suffix(2) == ["END:VCALENDAR", ""])
        }
    }

    @Test("Rule 9: A calendar has both its names at every level of detail, and the address is in neither")
    func rule9() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for (label, config) in [
                ("full", ["detail": "full"]), ("titles", ["detail": "titles"]), ("busy", ["detail": "busy"]),
                ("minimal", ["showMinimalDetails": true]),
            ] as [(String, JSONValue)] {
                let feed = try await server.makeFeed(label: label, config: config)
                let answer = try await server.raw(.get, feed.path).expect(200)
                let names = answer.values("NAME") + answer.values("X-WR-CALNAME")
                #expect(names.count == 2 && Set(names).count == 1)
                #expect(names.allSatisfy { !$0.isEmpty && !$0.contains("/") })
            }
        }
    }

    @Test("Rule 12: A series is one event with a rule, a busy year stays below 1 MB, and a feed above says so")
    func rule12() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.makeFeed()
            #expect(try await server.events(feed.path).count { $0["RRULE"] != nil } == 1)
            // Two things to do on every day of the window.
            func fill(_ from: Int, _ to: Int, notes: String) async throws {
                let start = try #require(Instant(rfc3339: "2026-01-01T09:00:00Z"))
                let lines = try (from..<to).map { index in
                    let line: JSONValue = [
                        "op": "put", "collection": "tasks", "id": .string("n\(index)"),
                        "value": [
                            "title": .string("Something to do, number \(index)"), "notes": .string(notes),
                            "dueAt": .string(start.adding(seconds: index * 41_000).description), "reminders": [15],
                        ],
                    ]
                    return String(decoding: try line.serialized(), as: UTF8.self)
                }
                let answer = try await server.raw(
                    .post, "/v1/circles/c/batch",
                    headers: [.authorization: "Bearer \(server.key)", .contentType: "application/x-ndjson"],
                    body: ByteBuffer(string: lines.joined(separator: "\n"))
                ).expect(200)
                #expect(answer.json["applied"]?.integer == to - from)
            }
            try await fill(0, 900, notes: "Call first, and take the card along.")
            #expect(try await server.raw(.get, feed.path).expect(200).body.count < 1_000_000)
            try await fill(0, 100, notes: String(repeating: "long ", count: 3000))
            let whole = try await server.raw(.get, feed.path).expect(200)
            #expect(whole.body.count > 1_000_000 && whole.events.count > 900)
            let told = try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200)
            #expect(told.json["health"] != nil)
        }
    }

    @Test("Rule 21: Readers are asked to come back every hour, in both ways of asking")
    func rule21() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let lines = try await server.raw(.get, try await server.makeFeed().path).expect(200).calendarLines
            #expect(lines.contains("REFRESH-INTERVAL;VALUE=DURATION:PT1H"))
            #expect(lines.contains("X-PUBLISHED-TTL:PT1H"))
        }
    }

    /// The contract keeps a cancelled item, under its own title, until it is deleted.
    @Test("Rule 25: What is cancelled stays as CANCELLED with a higher SEQUENCE until it is deleted")
    func rule25() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.makeFeed()
            server.clock.advance(seconds: 60)
            try await server.put("appointments", "visit", Family.visit(status: "cancelled"))
            try await server.put(
                "tasks", "pills", ["title": "Refill", "dueAt": "2026-03-03T09:00:00-08:00", "status": "cancelled"])
            let cancelled = try await server.events(feed.path).filter { $0["STATUS"] == "CANCELLED" }
            #expect(
                Set(cancelled.compactMap { $0["SUMMARY"] }).isSuperset(of: ["CK Appt: Dad - Dr. Wu", "CK: Refill"]))
            #expect(cancelled.allSatisfy { $0.sequence > 0 })
            try await server.call(.delete, "/v1/circles/c/appointments/visit").expect(204)
            #expect(!(try await server.events(feed.path)).contains { $0["SUMMARY"]?.contains("Dr. Wu") == true })
        }
    }

    @Test("Rule 26: The reader is busy in their own shifts and appointments, and free in all else")
    func rule26() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            for (user, isBusy) in [("ben", true), ("ann", false)] {
                for event in try await server.events(try await server.makeFeed(user: user).path) {
                    let title = try #require(event["SUMMARY"])
                    let busy = title.contains("Appt") || (title.contains("Mom - Ben") && isBusy)
                    #expect(event["TRANSP"] == (busy ? "OPAQUE" : "TRANSPARENT"), "\(title)")
                    #expect(event["X-MICROSOFT-CDO-BUSYSTATUS"] == (busy ? "BUSY" : "FREE"), "\(title)")
                }
            }
        }
    }

    @Test("Rule 27: A feed is published, and nobody's mail address is in it")
    func rule27() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            try await server.importFile(
                "UID:a", "DTSTART:20260310T090000Z", "SUMMARY:Meeting", "ORGANIZER;CN=Boss:mailto:boss@example.com",
                "ATTENDEE;CN=Ann;SENT-BY=\"mailto:secretary@example.com\":mailto:ann@example.com",
                "CONTACT:Boss\\, boss@example.com", "ATTACH:https://files.example.com/secret")
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(feed.values("SUMMARY").contains("Meeting"))
            #expect(feed.values("METHOD") == ["PUBLISH"])
            for word in ["ATTENDEE", "ORGANIZER", "mailto:", "example.com"] {
                #expect(!feed.text.replacing("\r\n ", with: "").contains(word), "\(word)")
            }
        }
    }

    /// The contract sends reminders unless a feed is set to have none.
    @Test("Rule 28: Reminders are an item's own, of what is still to be done, and can be left out")
    func rule28() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            try await server.importFile(
                "UID:a", "DTSTART:20260310T090000Z", "SUMMARY:Loud", "BEGIN:VALARM", "ACTION:AUDIO", "TRIGGER:-PT1H",
                "END:VALARM")
            func alarms(_ label: String, _ config: JSONValue = [:]) async throws -> [String] {
                let feed = try await server.makeFeed(label: label, config: config)
                return try await server.raw(.get, feed.path).expect(200).values("ACTION")
            }
            #expect(try await alarms("all") == ["DISPLAY", "DISPLAY"])
            #expect(try await alarms("quiet", ["includeReminders": false]) == [])
            #expect(try await alarms("titles", ["detail": "titles"]) == [])
            try await server.put("appointments", "visit", Family.visit(reminders: [5]))
            #expect(try await alarms("more").count == 3)
            try await server.put("appointments", "visit", Family.visit(status: "cancelled", reminders: [5]))
            #expect(try await alarms("cancelled").count == 2)
        }
    }

    @Test("Rule 29: Notes are plain text, whatever signs are in them")
    func rule29() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put(
                "tasks", "t", ["title": "T", "dueAt": "2026-03-03T09:00:00Z", "notes": "a < b && c > d\n<b>bold</b>"])
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(feed.events.first?["DESCRIPTION"] == "a < b && c > d\\n<b>bold</b>")
            for word in ["ALTREP", "X-ALT-DESC", "FMTTYPE"] { #expect(!feed.text.contains(word)) }
        }
    }

    @Test("Rule 30: No control character and no word of libical's errors leaves the server")
    func rule30() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let text = "A\u{01}B\u{08}C\u{0B}D\u{1B}E\u{7F}F\tG"
            for title in [text, text + "\r\nX-INJECTED:1\r\nEND:VEVENT"] {
                let answer = try await server.call(
                    .put, "/v1/circles/c/tasks/t\(title.count)",
                    ["title": .string(title), "notes": .string(title), "dueAt": "2026-03-03T09:00:00Z"])
                #expect([201, 422].contains(answer.status))
            }
            try await server.importFile(
                "UID:a\u{01}b", "DTSTART:20260310T090000Z", "SUMMARY:\(text)", "LOCATION:", "RRULE:FREQ=NEVER",
                "X-LIC-ERROR;X-LIC-ERRORTYPE=VALUE-PARSE-ERROR:No value for LOCATION", "CATEGORIES:\(text),x",
                "X-OTHER;X-P=\(text):\(text)", "URL:https://x.example/\(text)")
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(!feed.events.isEmpty)
            let strange = feed.body.filter { $0 < 32 && ![9, 10, 13].contains($0) || $0 == 127 }
            #expect(strange.isEmpty)
            #expect(!feed.calendarLines.contains { $0.hasPrefix("X-INJECTED") })
            #expect(feed.calendarLines.filter { $0.hasPrefix("X-LIC-ERROR") } == [])
        }
    }

    /// Home Assistant refuses the whole feed for one STATUS, PRIORITY or GEO that is none.
    @Test("Rule 31: Only legal values, what a calendar has once is there once, DTSTAMP and UID in every event")
    func rule31() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            for (index, line) in [
                "CLASS:TOP SECRET", "STATUS:NEEDS-ACTION", "STATUS:Busy", "TRANSP:MAYBE", "CLASS:public",
                "STATUS:Tentative", "TRANSP:transparent", "PRIORITY:high", "PRIORITY:55", "GEO:abc",
                "SEQUENCE:-1", "SEQUENCE:1700000000000",
            ].enumerated() {
                try await server.importFile("UID:\(index)", "DTSTART:20260310T090000Z", line, "SUMMARY:\(line)")
            }
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            for (name, value) in [("VERSION", "2.0"), ("CALSCALE", "GREGORIAN"), ("PRODID", nil)] {
                #expect(feed.values(name).count == 1)
                if let value { #expect(feed.values(name) == [value]) }
            }
            let legal: [String: Set<String>] = [
                "CLASS": ["PUBLIC", "PRIVATE", "CONFIDENTIAL"], "STATUS": ["TENTATIVE", "CONFIRMED", "CANCELLED"],
                "TRANSP": ["OPAQUE", "TRANSPARENT"],
            ]
            #expect(feed.events.count >= 12 + 6)
            var illegal: [String] = []
            for event in feed.events {
                for name in ["UID", "DTSTAMP", "DTSTART", "SEQUENCE"] {
                    #expect(event.lines.count { $0.hasPrefix(name + ":") || $0.hasPrefix(name + ";") } == 1)
                }
                #expect((0...Int(Int32.max)).contains(event.sequence), "\(event.lines)")
                for (name, values) in legal {
                    if let value = event[name], !values.contains(value) { illegal.append("\(name):\(value)") }
                }
                if let text = event["PRIORITY"], text.wholeMatch(of: /[0-9]/) == nil {
                    illegal.append("PRIORITY:\(text)")
                }
                if let text = event["GEO"], text.wholeMatch(of: /-?[0-9.]+;-?[0-9.]+/) == nil {
                    illegal.append("GEO:\(text)")
                }
            }
            #expect(illegal == [])
        }
    }

    // MARK: HTTP

    @Test("Rule 7: An ended address is 410, an unknown one 404: no password, no page, no way elsewhere")
    func rule7() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let (revoked, left) = (try await server.makeFeed(), try await server.makeFeed(user: "ben"))
            try await server.call(.post, "/v1/feeds/\(revoked.id)/revoke").expect(200)
            try await server.call(.delete, "/v1/circles/c/members/ben").expect(204)
            let unknown = "/feeds/\(String(repeating: "A", count: 43))/x.ics"
            for (path, status) in [(revoked.path, 410), (left.path, 410), (unknown, 404)] {
                for method in [HTTPRequest.Method.get, .head] {
                    let answer = try await server.raw(method, path, headers: [.accept: "text/html"]).expect(status)
                    #expect(answer.headers[.wwwAuthenticate] == nil && answer.headers[.location] == nil)
                    #expect(answer.headers[.contentType] == "text/plain; charset=utf-8")
                }
            }
        }
    }

    @Test("Rule 10: An address is the token, then a friendly name, without a query")
    func rule10() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for (name, last) in [
                ("Our family", "Our-family.ics"), ("Oma & Opa / Pflege?", "Oma-Opa-Pflege.ics"), ("家族", "calendar.ics"),
                ("../x.y%2F", "x-y-2F.ics"),
            ] {
                try await server.call(
                    .put, "/v1/circles/c", ["name": .string(name), "timeZone": "America/Los_Angeles"]
                ).expect(200)
                let feed = try await server.makeFeed(label: name)
                let parts = feed.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
                #expect(parts.count == 3 && parts.first == "feeds")
                #expect(parts.last.map(String.init) == last)
                try await server.raw(.get, feed.path).expect(200)
            }
        }
    }

    @Test("Rule 11: Both validators work, the tag goes first, and the date moves when something goes")
    func rule11() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "t", ["title": "T", "dueAt": "2026-03-03T09:00:00-08:00"])
            try await server.put("tasks", "u", ["title": "U", "dueAt": "2026-03-09T09:00:00-08:00"])
            let feed = try await server.makeFeed(config: ["pastDays": 1])
            server.clock.advance(seconds: 5)
            var last = try await server.raw(.get, feed.path).expect(200)
            func validators() throws -> (etag: String, date: String) {
                (try #require(last.headers[.eTag]), try #require(last.headers[.lastModified]))
            }
            for what in ["deleted", "out of the window"] {
                let old = try validators()
                for headers in [[.ifNoneMatch: old.etag], [.ifModifiedSince: old.date]] as [HTTPFields] {
                    let same = try await server.raw(.get, feed.path, headers: headers).expect(304)
                    #expect(same.headers[.eTag] == old.etag && same.headers[.lastModified] == old.date)
                }
                try await server.raw(
                    .get, feed.path, headers: [.ifNoneMatch: "\"x\"", .ifModifiedSince: old.date]
                ).expect(200)
                try await server.raw(.get, feed.path, headers: [.ifModifiedSince: "soon"]).expect(200)
                if what == "deleted" {
                    server.clock.advance(seconds: 60)
                    try await server.call(.delete, "/v1/circles/c/tasks/t").expect(204)
                } else {
                    server.clock.advance(seconds: 10 * 86_400)
                }
                last = try await server.raw(.get, feed.path, headers: [.ifModifiedSince: old.date]).expect(200)
                #expect(last.values("SUMMARY") == (what == "deleted" ? ["CK: U"] : []))
                let new = try validators()
                #expect(try #require(Instant(httpDate: new.date)) > #require(Instant(httpDate: old.date)), "\(what)")
                server.clock.advance(seconds: 5)
                last = try await server.raw(.get, feed.path).expect(200)
            }
        }
    }

    /// gzip ended subscriptions in Outlook.
    @Test("Rule 13: The bytes are sent as they are, to Microsoft's programs whatever they accept")
    func rule13() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let path = try await server.makeFeed().path
            let plain = try await server.raw(.get, path).expect(200).body
            for agent in [
                "Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17126; Pro)",
                "Microsoft.Exchange/15.20 (Windows NT 10.0; Win64; x64)",
            ] {
                let answer = try await server.raw(
                    .get, path, headers: [.userAgent: agent, .acceptEncoding: "gzip, deflate, br"]
                ).expect(200)
                #expect(answer.headers[.contentEncoding] == nil && answer.body == plain)
            }
        }
    }

    @Test("Rule 14: The type has its charset; UTF-8 without a BOM, CRLF, at most 75 octets a line")
    func rule14() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            try await server.put(
                "tasks", "long",
                ["title": .string(String(repeating: "Größe 👩🏽‍⚕️", count: 30)), "dueAt": "2026-03-03T09:00:00Z"])
            let answer = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(answer.headers[.contentType] == "text/calendar; charset=utf-8")
            #expect(String(validating: answer.body, as: UTF8.self) != nil)
            #expect(answer.body.starts(with: "BEGIN:VCALENDAR\r\n".utf8))
            let lines = answer.body.split(separator: 10, omittingEmptySubsequences: false)
            #expect(lines.last?.isEmpty == true)
            for line in lines.dropLast() {
                #expect(line.last == 13 && line.count <= 76)
                #expect(String(validating: line, as: UTF8.self) != nil)
                #expect(!line.dropLast().contains(13))
            }
        }
    }

    @Test("Rule 15: HEAD is GET without the body; other methods are 405 and change nothing")
    func rule15() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.makeFeed()
            let get = try await server.raw(.get, feed.path).expect(200)
            let head = try await server.raw(.head, feed.path).expect(200)
            #expect(head.body.isEmpty)
            for field in get.headers where field.name != .date {
                #expect(head.headers[field.name] == field.value, "\(field.name)")
            }
            for method in ["PROPFIND", "PUT", "OPTIONS"] {
                let verb = try #require(HTTPRequest.Method(rawValue: method))
                let answer = try await server.raw(verb, feed.path, headers: [.ifMatch: "nothing"]).expect(405)
                #expect(answer.headers[.allow] == "GET, HEAD")
            }
            #expect(try await server.raw(.get, feed.path).expect(200).body == get.body)
        }
    }

    @Test("Rule 16: No reader is refused for its name, robots.txt forbids nothing, and no feed is indexed")
    func rule16() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let bytes = try await server.raw(.get, feed.path).expect(200).body
            for agent in [
                "", "Google-Calendar-Importer", "Mac+OS+X/10.12.2 (16C67) CalendarAgent/384", "Python-urllib/3.11",
                "HomeAssistant/2025.5.0.dev0 httpx/0.28.1 Python/3.13", "curl/8.0", "Nextcloud Webcal Service", "bot",
            ] {
                let answer = try await server.raw(.get, feed.path, headers: [.userAgent: agent]).expect(200)
                #expect(answer.body == bytes && answer.headers[.xRobotsTag] == "noindex")
            }
            let robots = try await server.raw(.get, "/robots.txt")
            #expect(robots.status == 404 || !robots.text.lowercased().contains("disallow: /"))
        }
    }

    @Test("Rule 17: Who reads a live feed is never slowed or refused, whatever else comes from there")
    func rule17() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.makeFeed()
            // As many as cost nothing: a test waits for no brake.
            for index in 0..<10 { try await server.raw(.get, "/feeds/wrong\(index)/x.ics").expect(404) }
            for _ in 0..<50 {
                let answer = try await server.raw(.get, feed.path)
                #expect(answer.status == 200 && answer.headers[.retryAfter] == nil)
            }
        }
    }

    @Test("Rule 18: Every form of an address answers by itself, without a redirect")
    func rule18() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let path = try await server.makeFeed().path
            let token = path.split(separator: "/")[1]
            for path in [path, "/feeds/\(token).ics", "/functions/v1/ical-feed/\(token)"] {
                #expect(try await server.raw(.get, path).expect(200).headers[.location] == nil)
            }
        }
    }

    @Test("Rule 37: A shared cache keeps nothing, neither a calendar nor an end")
    func rule37() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let first = try await server.raw(.get, feed.path).expect(200)
            let etag = try #require(first.headers[.eTag])
            let second = try await server.raw(.get, feed.path, headers: [.ifNoneMatch: etag]).expect(304)
            for answer in [first, second] { #expect(answer.headers[.cacheControl] == "private, no-cache") }
            try await server.call(.post, "/v1/feeds/\(feed.id)/revoke").expect(200)
            #expect(try await server.raw(.get, feed.path).expect(410).headers[.cacheControl] == "no-store")
            #expect(try await server.raw(.get, "/feeds/x/x.ics").expect(404).headers[.cacheControl] == "no-store")
        }
    }

    @Test("Rule 38: A subscription is no attachment; a download is")
    func rule38() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(feed.headers[.contentDisposition] == nil)
            let file = try await server.call(.get, "/v1/circles/c/export.ics").expect(200)
            #expect(file.headers[.contentDisposition]?.hasPrefix("attachment") == true)
        }
    }

    // MARK: Secrets

    @Test("Rule 20: An address comes as https or http and as webcal, never as webcals")
    func rule20() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.call(.post, "/v1/circles/c/feeds", ["userId": "ann"]).expect(201).json
            let (url, webcal) = (try #require(made["url"]?.string), try #require(made["webcalUrl"]?.string))
            #expect(url.hasPrefix("http://calendar.example/"))
            #expect(webcal == url.replacing("http://", with: "webcal://"))
            var settings = ServerSettings()
            settings.publicURL = "https://calendar.example"
            let links = settings.links(.make(.feed), name: "x")
            #expect(links["url"]?.string?.hasPrefix("https://") == true)
            #expect(links["webcalUrl"]?.string?.hasPrefix("webcal://calendar.example/") == true)
        }
    }

    /// The contract shows an address again to its owner; it is stored sealed for that.
    @Test("Rule 32: A token is 256 bits of base64url, listed by a hint with its last use and its readers")
    func rule32() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var tokens: Set<String> = []
            for number in 0..<20 {
                let feed = try await server.makeFeed(label: "\(number)")
                let token = try #require(feed.path.split(separator: "/").dropFirst().first)
                #expect(token.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
                tokens.insert(String(token))
                if number > 0 { continue }
                try await server.raw(.get, feed.path, headers: [.userAgent: "Google-Calendar-Importer"]).expect(200)
            }
            #expect(tokens.count == 20)
            let list = try await server.call(.get, "/v1/circles/c/feeds", as: "ann").expect(200)
            for token in tokens { #expect(!list.text.contains(token)) }
            let first = try #require(list.json["items"]?.array?.first { $0["label"] == "0" })
            #expect(first["lastAccessedAt"] == "2026-03-02T12:00:00Z")
            #expect(first["clients"]?.array?.first?["client"] == "Google Calendar")
            let hint = try #require(first["tokenHint"]?.string)
            #expect(!hint.isEmpty && hint.count <= 8)
        }
    }

    @Test("Rule 33: A person has an address for each purpose; each ends alone, and all when they leave")
    func rule33() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let (phone, desk, ann) = (
                try await server.makeFeed(user: "ben", label: "phone"),
                try await server.makeFeed(user: "ben", label: "desk"), try await server.makeFeed()
            )
            try await server.call(.post, "/v1/feeds/\(phone.id)/revoke", as: "ben").expect(200)
            try await server.raw(.get, phone.path).expect(410)
            try await server.raw(.get, desk.path).expect(200)
            // A changed role counts from the next read; a viewer may read.
            try await server.call(.put, "/v1/circles/c/members/ben", ["displayName": "Ben", "role": "viewer"])
                .expect(200)
            try await server.raw(.get, desk.path).expect(200)
            try await server.call(.delete, "/v1/circles/c/members/ben").expect(204)
            try await server.raw(.get, desk.path).expect(410)
            try await server.raw(.get, ann.path).expect(200)
        }
    }

    @Test("Rule 34: A token opens its feed, for reading, and no wish in the address widens it")
    func rule34() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.makeFeed(config: ["detail": "busy", "includeShifts": false])
            let bytes = try await server.raw(.get, feed.path).expect(200).body
            for query in ["detail=full", "includeShifts=true", "config=%7B%7D", "userId=ben", "pastDays=3660"] {
                #expect(try await server.raw(.get, "\(feed.path)?\(query)").expect(200).body == bytes)
            }
            let token = String(feed.path.split(separator: "/")[1])
            for scheme in ["Bearer", "Device"] {
                for path in ["/v1/circles", "/v1/circles/c/tasks", "/v1/feeds/\(feed.id)"] {
                    try await server.raw(.get, path, headers: [.authorization: "\(scheme) \(token)"]).expect(401)
                }
            }
        }
    }

    @Test("Rule 35: A token is in no log, no error and no header")
    func rule35() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let token = String(feed.path.split(separator: "/")[1])
            var told = ""
            for (method, path) in [
                (.get, feed.path), (.head, feed.path), (.put, feed.path), (.get, feed.path + "/deeper"),
                (.get, "/feeds/\(token)x/x.ics"), (.get, feed.path + "?a=b"),
            ] as [(HTTPRequest.Method, String)] {
                let answer = try await server.raw(method, path)
                told += answer.text + answer.headers.map { "\($0.name): \($0.value)\n" }.joined()
                if answer.status == 200 { #expect(answer.headers[.referrerPolicy] == "no-referrer") }
            }
            #expect(!told.contains(token) && !server.log.text.contains(token))
            #expect(server.log.text.contains("/feeds/{token}"))
        }
    }

    @Test("Rule 36: There are levels of detail, each within the one before, and the limits of revoking are told")
    func rule36() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            var told: [Set<String>] = []
            for (label, config) in [
                ("1", ["detail": "full"]), ("2", ["detail": "titles"]), ("3", ["showMinimalDetails": true]),
                ("4", ["detail": "busy"]),
            ] as [(String, JSONValue)] {
                let feed = try await server.raw(.get, try await server.makeFeed(label: label, config: config).path)
                let names = feed.events.flatMap(\.lines).map { String($0.prefix { $0 != ":" && $0 != ";" }) }
                told.append(Set(names))
            }
            #expect(told[1].isStrictSubset(of: told[0]))
            #expect(told[2].isSubset(of: told[1]) && told[3].isSubset(of: told[2]))
        }
        #expect(try Self.document("README.md").contains("What was fetched stays with them after a revoke."))
        #expect(try Self.document("SECURITY.md").contains("A calendar app that has read a feed keeps its copy."))
    }

    // MARK: Words and checks

    @Test("Rule 39: The delays that people will see are told as they are")
    func rule39() throws {
        let text = try Self.document("README.md")
        #expect(text.contains("Google every 4 to 24 hours"))
        #expect(text.contains("Outlook on the web every 3 to 24"))
        #expect(text.contains("Apple as set"))
        // And of rule 19 what is the operator's.
        #expect(text.contains("Use https: a feed's address is its only secret."))
    }

    /// The other parsers are in `OtherReadersTests`.
    @Test("Rule 40: A feed of everything reads back without a problem, and a small one is this text")
    func rule40() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            try await server.importFile(
                "UID:a", "DTSTART;TZID=Asia/Tokyo:20260310T090000", "RRULE:FREQ=DAILY;COUNT=9", "SUMMARY:Series")
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            let reading = CalendarReader().read(feed.body)
            #expect(reading.problems.map(\.message) == [])
            #expect(reading.events.count == feed.events.count)
            #expect(Set(feed.events.map(\.key)).count == feed.events.count)
        }
        try await TestServer.run { server in
            try await server.makeCircle(zone: "Asia/Kolkata")
            try await server.put(
                "tasks", "t",
                ["title": "Refill, now", "dueAt": "2026-03-03T09:00:00+05:30", "reminders": [15], "notes": "1\n2"])
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            let text = feed.text.replacing(/UID:[0-9a-f-]{36}/, with: "UID:-").replacing("\r\n", with: "\n")
            #expect(text == Self.golden)
        }
    }

    private static let golden = """
        BEGIN:VCALENDAR
        VERSION:2.0
        PRODID:-//Kalends//Kalends//EN
        CALSCALE:GREGORIAN
        METHOD:PUBLISH
        NAME:Our family
        X-WR-CALNAME:Our family
        DESCRIPTION:The schedule of Our family\\, kept by Kalends.
        X-WR-CALDESC:The schedule of Our family\\, kept by Kalends.
        REFRESH-INTERVAL;VALUE=DURATION:PT1H
        X-PUBLISHED-TTL:PT1H
        BEGIN:VTIMEZONE
        TZID:Asia/Kolkata
        BEGIN:STANDARD
        DTSTART:19700101T000000
        TZOFFSETFROM:+0530
        TZOFFSETTO:+0530
        TZNAME:IST
        END:STANDARD
        END:VTIMEZONE
        BEGIN:VEVENT
        UID:-
        DTSTAMP:20260302T120000Z
        DTSTART;TZID=Asia/Kolkata:20260303T090000
        DTEND;TZID=Asia/Kolkata:20260303T093000
        SUMMARY:CK: Refill\\, now
        DESCRIPTION:1\\n2
        STATUS:CONFIRMED
        TRANSP:TRANSPARENT
        CATEGORIES:Task
        SEQUENCE:0
        CREATED:20260302T120000Z
        LAST-MODIFIED:20260302T120000Z
        X-MICROSOFT-CDO-BUSYSTATUS:FREE
        BEGIN:VALARM
        ACTION:DISPLAY
        TRIGGER:-PT15M
        DESCRIPTION:CK: Refill\\, now
        END:VALARM
        END:VEVENT
        END:VCALENDAR

        """

    /// A document of the repository, its lines run together.
    private static func document(_ name: String) throws -> String {
        try String(contentsOf: packageRoot.appending(path: name), encoding: .utf8)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// One of everything.
private enum Family {
    static func visit(
        location: String = "Main St 5", status: String = "confirmed", reminders: [Int] = []
    ) -> JSONValue {
        [
            "patientId": "dad", "provider": "Dr. Wu", "startAt": "2026-03-04T09:00:00-08:00",
            "location": .string(location), "status": .string(status),
            "reminders": .array(reminders.map { .integer($0) }),
        ]
    }

    static let weekly: JSONValue = [
        "patientId": "mom", "provider": "Gym", "startAt": "2026-03-03T09:00:00-08:00",
        "recurrence": [
            "rrule": "FREQ=WEEKLY;COUNT=9", "exdates": ["2026-03-24T09:00:00-07:00"],
            "rdates": ["2026-03-26T09:00:00-07:00"],
        ],
        "reminders": [30],
    ]
}

extension TestServer {
    /// The circle of `makeCircle` with a task, three shifts, an appointment, a series with a cancelled occurrence, and a
    /// follow-up.
    fileprivate func fillCircle() async throws {
        try await makeCircle()
        try await put("tasks", "pills", ["title": "Refill", "dueAt": "2026-03-03T09:00:00-08:00", "reminders": [15]])
        try await put(
            "shifts", "days",
            ["patientId": "mom", "ownerId": "ben", "startDate": "2026-03-05", "endDate": "2026-03-06"])
        try await put(
            "shifts", "hours",
            ["patientId": "dad", "startAt": "2026-03-07T22:00:00-08:00", "endAt": "2026-03-08T06:00:00-07:00"])
        try await put("appointments", "visit", Family.visit())
        try await put("appointments", "weekly", Family.weekly)
        try await call(
            .put, "/v1/circles/c/appointments/weekly/occurrences/20260331T160000Z", ["status": "cancelled"]
        ).expect(201)
        try await put(
            "follow-ups", "ask",
            ["description": "Ask about dosage", "dueAt": "2026-03-04T09:00:00-08:00", "timeZone": "America/New_York"])
    }

    /// Imports an event of these lines.
    fileprivate func importFile(_ lines: String...) async throws {
        let file =
            [
                "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Example//Test//EN", "BEGIN:VEVENT",
                "DTSTAMP:20260301T000000Z",
            ]
            + lines + ["END:VEVENT", "END:VCALENDAR", ""]
        let answer = try await raw(
            .post, "/v1/circles/c/imports?mode=commit",
            headers: [.authorization: "Bearer \(key)", .contentType: "text/calendar"],
            body: ByteBuffer(string: file.joined(separator: "\r\n")))
        #expect(answer.status == 201 || answer.status == 200, "\(answer.text)")
    }

    fileprivate func events(_ path: String) async throws -> [FeedEvent] {
        try await raw(.get, path).expect(200).events
    }
}

/// An event as its lines.
private struct FeedEvent: Sendable {
    /// Between BEGIN and END, without its alarms.
    var lines: [String]

    var uid: String { self["UID"] ?? "" }
    var sequence: Int { self["SEQUENCE"].flatMap { Int($0) } ?? -1 }
    var key: String { uid + " " + (self["RECURRENCE-ID"] ?? "") }
    /// What a person sees of it.
    var shown: [String]

    private func all(_ name: String) -> [Substring] {
        lines.filter { $0.hasPrefix(name + ":") || $0.hasPrefix(name + ";") }.map { $0.dropFirst(name.count) }
    }

    subscript(name: String) -> String? {
        all(name).first.map { String($0.drop { $0 != ":" }.dropFirst()) }
    }

    func allParameters(_ name: String) -> [String] { all(name).map { String($0.prefix { $0 != ":" }.dropFirst()) } }
    func parameters(_ name: String) -> String { allParameters(name).first ?? "" }

    /// The time of a property, for comparison within one zone.
    func instant(_ name: String) -> Instant? {
        guard let text = self[name] else { return nil }
        guard let wall = CivilDateTime(basic: text.prefix(15)) else { return nil }
        guard let zone = parameters(name).split(separator: "=").last.flatMap({ TimeZoneReference(String($0)) }) else {
            return Instant(utc: wall)
        }
        return zone.rules.instant(of: wall)
    }
}

extension Answer {
    fileprivate var events: [FeedEvent] {
        calendarLines.split(separator: "BEGIN:VEVENT").dropFirst().map { rest in
            let all = Array(rest.prefix { $0 != "END:VEVENT" })
            let own = Array(all.prefix { $0 != "BEGIN:VALARM" })
            let revision = ["SEQUENCE:", "LAST-MODIFIED:", "DTSTAMP:"]
            return FeedEvent(lines: own, shown: all.filter { line in !revision.contains { line.hasPrefix($0) } })
        }
    }
}
