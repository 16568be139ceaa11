// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Storage
import Synchronization
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("What a feed shows")
struct FeedContentTests {
    private func fill(_ server: TestServer) async throws {
        try await server.makeCircle()
        try await server.put(
            "tasks", "open",
            [
                "title": "Refill, or call; then \\ wait", "dueAt": "2026-03-03T09:00:00-08:00",
                "reminders": [15, 60, 15],
                "notes": "Line one\nline two", "patientId": "mom",
            ])
        try await server.put(
            "tasks", "done",
            ["title": "Done", "dueAt": "2026-03-03T10:00:00-08:00", "status": "completed", "reminders": [5]])
        try await server.put(
            "shifts", "days",
            ["patientId": "mom", "ownerId": "ben", "startDate": "2026-03-05", "endDate": "2026-03-06"])
        try await server.put(
            "shifts", "hours",
            ["patientId": "dad", "startAt": "2026-03-07T22:00:00-08:00", "endAt": "2026-03-08T06:00:00-07:00"])
        try await server.put(
            "appointments", "visit",
            [
                "patientId": "dad", "provider": "Dr. Wu", "startAt": "2026-03-04T14:00:00+01:00",
                "timeZone": "Europe/Berlin",
                "location": "Main St 5", "status": "tentative",
            ])
        try await server.put(
            "follow-ups", "ask",
            ["description": "Ask about dosage", "dueAt": "2026-03-04T09:00:00-08:00", "durationMinutes": 10])
    }

    @Test("Each kind has its title, time and length")
    func kinds() async throws {
        try await TestServer.run { server in
            try await fill(server)
            let lines = try await server.raw(.get, try await server.makeFeed().path).expect(200).calendarLines
            for line in [
                "SUMMARY:CK: Refill\\, or call\\; then \\\\ wait", "DTSTART;TZID=America/Los_Angeles:20260303T090000",
                "DTEND;TZID=America/Los_Angeles:20260303T093000", "DESCRIPTION:Line one\\nline two",
                "SUMMARY:CK Shift: Mom - Ben", "DTSTART;VALUE=DATE:20260305", "DTEND;VALUE=DATE:20260307",
                "SUMMARY:CK Shift: Dad", "DTSTART;TZID=America/Los_Angeles:20260307T220000",
                "DTEND;TZID=America/Los_Angeles:20260308T060000", "SUMMARY:CK Appt: Dad - Dr. Wu",
                "DTSTART;TZID=Europe/Berlin:20260304T140000", "DTEND;TZID=Europe/Berlin:20260304T150000",
                "LOCATION:Main St 5", "STATUS:TENTATIVE", "SUMMARY:CK Follow-up: Ask about dosage",
                "DTEND;TZID=America/Los_Angeles:20260304T091000", "TRIGGER:-PT15M", "TRIGGER:-PT1H",
                "TZID:America/Los_Angeles", "TZID:Europe/Berlin",
            ] {
                #expect(lines.contains(line), "\(line)")
            }
            #expect(lines.count { $0 == "BEGIN:VALARM" } == 2)
            #expect(!lines.contains { $0.contains("Done") })
        }
    }

    @Test("Every line ends in CRLF and holds at most 75 octets, cut between characters")
    func folding() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let title = String(repeating: "Ärztin 👩🏽‍⚕️ ", count: 40)
            try await server.put("tasks", "t1", ["title": .string(title), "dueAt": "2026-03-03T09:00:00Z"])
            let body = try await server.raw(.get, try await server.makeFeed().path).expect(200).body
            var line: [UInt8] = []
            for (index, byte) in body.enumerated() {
                if byte == 10 {
                    #expect(body[index - 1] == 13)
                    #expect(line.count - 1 <= 75)
                    #expect(String(validating: line, as: UTF8.self) != nil)
                    line = []
                } else {
                    line.append(byte)
                }
            }
            #expect(line.isEmpty)
        }
    }

    @Test("Toggles by kind, by patient and for reminders leave out what they say")
    func toggles() async throws {
        try await TestServer.run { server in
            try await fill(server)
            func summaries(_ label: String, _ config: JSONValue) async throws -> [String] {
                try await server.raw(.get, try await server.makeFeed(label: label, config: config).path).expect(200)
                    .values("SUMMARY")
            }
            #expect(
                try await summaries("a", ["includeTasks": false, "includeShifts": false, "includeFollowUps": false])
                    == ["CK Appt: Dad - Dr. Wu"])
            #expect(
                try await summaries("b", ["patientIds": ["mom"]]).sorted() == [
                    "CK Shift: Mom - Ben", "CK: Refill\\, or call\\; then \\\\ wait",
                ])
            #expect(try await summaries("c", ["patientIds": []]).isEmpty)
            #expect(try await summaries("d", ["completedTasks": "keep"]).contains("CK: ✓ Done"))
            let quiet = try await server.makeFeed(label: "e", config: ["includeReminders": false])
            #expect(!(try await server.raw(.get, quiet.path)).text.contains("VALARM"))
            let short = try await summaries("f", ["pastDays": 0, "futureDays": 1])
            #expect(short == ["CK: Refill\\, or call\\; then \\\\ wait"])
        }
    }

    @Test(
        "A reduced feed holds no private word",
        arguments: [
            (
                ["detail": "titles"] as JSONValue, ["Main St", "Line one", "VALARM", "CATEGORIES"],
                "CK Appt: Dad - Dr. Wu"
            ),
            (
                ["showMinimalDetails": true] as JSONValue,
                ["Main St", "Line one", "VALARM", "Dad", "Mom", "Wu", "Refill", "dosage", "Ben", "family"], "CK Event"
            ),
            (
                ["detail": "busy", "showMinimalDetails": true] as JSONValue,
                ["Main St", "Line one", "VALARM", "Dad", "Mom", "Wu", "Refill", "CK Event", "family", "TRANSPARENT"],
                "Busy"
            ),
        ] as [(JSONValue, [String], String)])
    func levels(config: JSONValue, absent: [String], title: String) async throws {
        try await TestServer.run { server in
            try await fill(server)
            let answer = try await server.raw(.get, try await server.makeFeed(config: config).path).expect(200)
            for word in absent { #expect(!answer.text.contains(word), "\(word)") }
            #expect(answer.values("SUMMARY").contains(title))
            #expect(answer.values("SUMMARY").count == 5)
        }
    }

    @Test("A new level raises the revision only in that feed")
    func levelRevision() async throws {
        try await TestServer.run { server in
            try await fill(server)
            let (one, two) = (try await server.makeFeed(), try await server.makeFeed(label: "other"))
            server.clock.advance(seconds: 100)
            try await server.call(.patch, "/v1/feeds/\(one.id)", ["config": ["detail": "titles"]]).expect(200)
            let changed = try await server.raw(.get, one.path).expect(200)
            #expect(Set(changed.values("SEQUENCE")) == ["1"])
            #expect(Set(changed.values("LAST-MODIFIED")) == ["20260302T120140Z"])
            #expect(Set(try await server.raw(.get, two.path).expect(200).values("SEQUENCE")) == ["0"])
        }
    }

    @Test(
        "A change of an item raises SEQUENCE, DTSTAMP and LAST-MODIFIED of it alone; a name's change those it stands in"
    )
    func revision() async throws {
        try await TestServer.run { server in
            try await fill(server)
            let feed = try await server.makeFeed()
            func revisions() async throws -> [String: String] {
                let lines = try await server.raw(.get, feed.path).expect(200).calendarLines
                var found: [String: String] = [:]
                var current: [String: String] = [:]
                for line in lines {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    if parts.count == 2 { current[String(parts[0])] = String(parts[1]) }
                    if line == "END:VEVENT" {
                        #expect(current["DTSTAMP"] == current["LAST-MODIFIED"])
                        found[current["SUMMARY"] ?? ""] =
                            "\(current["SEQUENCE"] ?? "") \(current["LAST-MODIFIED"] ?? "")"
                    }
                }
                return found
            }
            let before = try await revisions()
            server.clock.advance(seconds: 60)
            try await server.put(
                "follow-ups", "ask", ["description": "Ask about dosage", "dueAt": "2026-03-04T10:00:00-08:00"])
            try await server.call(.put, "/v1/circles/c/members/ben", ["displayName": "Benjamin", "role": "member"])
                .expect(200)
            let after = try await revisions()
            #expect(after["CK Follow-up: Ask about dosage"] == "1 20260302T120100Z")
            #expect(after["CK Shift: Mom - Benjamin"] == "1 20260302T120100Z")
            for title in ["CK Shift: Dad", "CK Appt: Dad - Dr. Wu"] { #expect(after[title] == before[title]) }
        }
    }

    @Test("A member who has left keeps their name in old titles")
    func formerMember() async throws {
        try await TestServer.run { server in
            try await fill(server)
            try await server.call(.delete, "/v1/circles/c/members/ben").expect(204)
            let titles = try await server.raw(.get, try await server.makeFeed().path).expect(200).values("SUMMARY")
            #expect(titles.contains("CK Shift: Mom - Ben"))
            let shift: JSONValue = [
                "patientId": "mom", "ownerId": "ben", "startDate": "2026-03-09", "endDate": "2026-03-09",
            ]
            #expect(try await server.call(.put, "/v1/circles/c/shifts/new", shift).expect(422).pointers == ["/ownerId"])
        }
    }

    @Test("A preview lists what is shown, and each item left out with the rule")
    func preview() async throws {
        try await TestServer.run { server in
            try await fill(server)
            try await server.put("tasks", "far", ["title": "Far", "dueAt": "2036-03-03T09:00:00Z"])
            let feed = try await server.makeFeed(config: ["includeFollowUps": false, "patientIds": ["mom"]])
            let answer = try await server.call(.get, "/v1/feeds/\(feed.id)/preview?from=2026-01-01&to=2040-01-01")
                .expect(200).json
            let rules = Dictionary(
                uniqueKeysWithValues: (answer["leftOut"]?.array ?? []).map {
                    ($0["id"]?.string ?? "", $0["rule"]?.string ?? "")
                })
            #expect(
                rules == [
                    "ask": "kind-not-included", "visit": "patient-not-included", "hours": "patient-not-included",
                    "done": "patient-not-included", "far": "patient-not-included",
                ])
            #expect(answer["events"]?.array?.count == 2)
        }
    }

    @Test("Another title prefix or link revises every item, at the next start; an unchanged one revises none")
    func configurationAtStart() async throws {
        let clock = TestClock()
        let folder = FileManager.default.temporaryDirectory.appending(path: "prefix-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: folder) }
        func start(_ change: (inout ServerSettings) -> Void) async throws -> (revision: String, event: Answer) {
            clock.advance(seconds: 60)
            var settings = ServerSettings()
            settings.database = folder.appending(path: "k.sqlite").path
            change(&settings)
            let found = Mutex<(String, Answer)?>(nil)
            try await TestServer.run(clock: clock, settings: settings) { server in
                if try await server.call(.get, "/v1/circles/c").status == 404 { try await fill(server) }
                let feed = try await server.makeFeed(label: String(clock.now))
                let answer = try await server.raw(.get, feed.path).expect(200)
                let revision = "\(Set(answer.values("SEQUENCE"))) \(Set(answer.values("DTSTAMP")))"
                found.withLock { $0 = (revision, answer) }
            }
            return try #require(found.withLock { $0 })
        }
        let first = try await start { _ in }
        #expect(try await start { _ in }.revision == first.revision)
        let second = try await start { $0.titlePrefix = "Care" }
        #expect(second.revision == #"["1"] ["20260302T120300Z"]"#)
        #expect(second.event.values("SUMMARY").allSatisfy { $0.hasPrefix("Care") })
        #expect(second.event.values("URL").isEmpty)
        let third = try await start {
            $0.titlePrefix = "Care"
            $0.linkTemplate = "https://app.example/{circle}/{collection}/{id}"
        }
        #expect(third.revision == #"["2"] ["20260302T120400Z"]"#)
        #expect(third.event.values("URL").contains("https://app.example/c/follow-ups/ask"))
    }

    @Test("Tasks are to-dos where the feed asks for it, and the calendar has the colour it was given")
    func toDosAndColor() async throws {
        try await TestServer.run { server in
            try await fill(server)
            let feed = try await server.makeFeed(config: [
                "tasksAs": "todos", "completedTasks": "keep", "color": "Teal", "includeShifts": false,
                "includeAppointments": false, "includeFollowUps": false,
            ])
            let answer = try await server.raw(.get, feed.path).expect(200)
            #expect(answer.calendarLines.count { $0 == "BEGIN:VTODO" } == 2)
            #expect(!answer.text.contains("VEVENT") && !answer.text.contains("TRANSP"))
            #expect(answer.values("STATUS") == ["NEEDS-ACTION", "COMPLETED"])
            #expect(answer.values("COMPLETED") == ["20260302T120000Z"])
            #expect(answer.values("DUE") == ["20260303T090000", "20260303T100000"])
            #expect(answer.calendarLines.contains("TRIGGER;RELATED=END:-PT15M"))
            #expect(answer.values("COLOR") == ["teal"])
            #expect(answer.values("X-APPLE-CALENDAR-COLOR") == ["#008080"])
            #expect(answer.values("X-WR-CALDESC") == ["The schedule of Our family\\, kept by Kalends."])
            let bad = try await server.call(.patch, "/v1/feeds/\(feed.id)", ["config": ["color": "octarine"]]).expect(
                422)
            #expect(bad.pointers == ["/config/color"])
        }
    }
}
