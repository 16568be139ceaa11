// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Testing

@testable import ServerTestSupport

extension ClientRulesTests {
    @Test("Tasks and follow-ups are events; only readers who ask for to-dos get them")
    func tasksAreEvents() async throws {
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

    @Test("A feed without events is a calendar without events, never an empty body")
    func emptyFeed() async throws {
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

    @Test("A calendar has both its names at every level of detail, and the address is in neither")
    func calendarNames() async throws {
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

    @Test("A series is one event with a rule, a busy year stays below 1 MB, and a feed above says so")
    func seriesAndSize() async throws {
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
            let reply = try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200)
            #expect(reply.json["health"] != nil)
        }
    }

    @Test("Readers are asked to come back every hour, in both ways of asking")
    func refreshHints() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let lines = try await server.raw(.get, try await server.makeFeed().path).expect(200).calendarLines
            #expect(lines.contains("REFRESH-INTERVAL;VALUE=DURATION:PT1H"))
            #expect(lines.contains("X-PUBLISHED-TTL:PT1H"))
        }
    }

    /// A cancelled item stays under its own title until it is deleted.
    @Test("What is cancelled stays as CANCELLED with a higher SEQUENCE until it is deleted")
    func cancelled() async throws {
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

    @Test("The reader is busy in their own shifts and appointments, and free in all else")
    func busyOrFree() async throws {
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

    @Test("A feed is published, and nobody's mail address is in it")
    func published() async throws {
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

    /// A feed sends reminders unless it is set not to.
    @Test("Reminders are an item's own, of what is still to be done, and can be left out")
    func reminders() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            try await server.importFile(
                "UID:a", "DTSTART:20260310T090000Z", "SUMMARY:Loud", "BEGIN:VALARM", "ACTION:AUDIO", "TRIGGER:-PT1H",
                "END:VALARM")
            func alarms(_ label: String, _ config: JSONValue = [:]) async throws -> [String] {
                let feed = try await server.makeFeed(label: label, config: config)
                return try await server.raw(.get, feed.path).expect(200).values("ACTION")
            }
            #expect(try await alarms("all").sorted() == ["AUDIO", "DISPLAY", "DISPLAY"])
            #expect(try await alarms("quiet", ["includeReminders": false]) == [])
            #expect(try await alarms("titles", ["detail": "titles"]) == [])
            try await server.put("appointments", "visit", Family.visit(reminders: [5]))
            #expect(try await alarms("more").count == 4)
            try await server.put("appointments", "visit", Family.visit(status: "cancelled", reminders: [5]))
            #expect(try await alarms("cancelled").count == 3)
        }
    }

    @Test("Notes are plain text, whatever signs are in them")
    func notesArePlain() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put(
                "tasks", "t", ["title": "T", "dueAt": "2026-03-03T09:00:00Z", "notes": "a < b && c > d\n<b>bold</b>"])
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(feed.events.first?["DESCRIPTION"] == "a < b && c > d\\n<b>bold</b>")
            for word in ["ALTREP", "X-ALT-DESC", "FMTTYPE"] { #expect(!feed.text.contains(word)) }
        }
    }

    @Test("No control character and no text of libical's errors leaves the server")
    func controlCharacters() async throws {
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

    /// Home Assistant refuses the whole feed for one invalid STATUS, PRIORITY or GEO.
    @Test("Only legal values, what a calendar has once is there once, DTSTAMP and UID in every event")
    func legalValues() async throws {
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
}
