// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("What calendar apps change and delete comes back")
struct CircleBackTests {
    private static let alarm = "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n"

    private static func last(_ server: TestServer, as user: String? = nil) async throws -> JSONValue? {
        try await server.call(.get, "/v1/circles/c/activity?limit=1000", as: user).expect(200).json["items"]?.array?
            .last
    }

    private static func undo(
        _ entry: JSONValue?, _ server: TestServer, as user: String? = nil
    ) async throws -> Answer {
        let number = try #require(entry?["number"]?.integer)
        return try await server.call(.post, "/v1/circles/c/activity/\(number)/undo", as: user)
    }

    private static func imported(_ app: CalendarApp) async throws -> String {
        try #require(try await app.members().first { $0.name.hasSuffix("+imported.ics") }?.name)
    }

    @Test("What apps hold of imported events without a zone is not current once the circle moves to another clock")
    func zone() async throws {
        try await TestServer.withCircle { server in
            try await server.bring(
                [["UID:float", "DTSTART:20260310T090000", "SUMMARY:Breakfast"]], as: "ben"
            ).expect(201)
            let app = CalendarApp(server: server, user: "ben")
            let name = try await Self.imported(app)
            let (number, before) = (try await app.collection().number, try await app.text(name))
            try await server.call(
                .put, "/v1/circles/c", ["name": "Family", "timeZone": "Asia/Tokyo"]
            ).expect(200)
            let after = try await app.text(name)
            #expect(after != before, "\(after)")
            let listed = try await app.members().first { $0.name == name }
            let read = try await app.member(name)
            #expect(listed == read && listed != nil)
            let fault = await CalendarApp.fault {
                _ = try await app.source.changes(of: app.collection(), after: number, limit: 100)
            }
            guard case .invalidSyncToken = fault else {
                Issue.record("\(String(describing: fault))")
                return
            }
            let now = try await app.collection().number
            let changes = try await app.source.changes(of: app.collection(), after: now, limit: 100)
            #expect(changes.changed.isEmpty && changes.removed.isEmpty)
        }
    }

    @Test("An alarm of one occurrence is kept for its person, although nothing else of the occurrence differs")
    func alarm() async throws {
        try await TestServer.withCircle { server in
            let (app, other) = (CalendarApp(server: server, user: "ben"), CalendarApp(server: server))
            let text = try await app.text("physio.ics")
            let master =
                try #require(text.components(separatedBy: "BEGIN:VEVENT\r\n").dropFirst().first)
                .components(separatedBy: "END:VEVENT").first ?? ""
            var override = master.components(separatedBy: "\r\n").filter {
                !$0.hasPrefix("RRULE") && !$0.hasPrefix(" ")
            }
            .joined(separator: "\r\n")
            let zone = "TZID=America/Los_Angeles"
            override = override.replacingOccurrences(of: "20260303T", with: "20260317T")
            let added =
                "END:VEVENT\r\nBEGIN:VEVENT\r\n\(override)RECURRENCE-ID;\(zone):20260317T090000\r\n"
                + Self.alarm + "END:VEVENT\r\nEND:VCALENDAR"
            try await app.edit("physio.ics", ("END:VEVENT\r\nEND:VCALENDAR", added))
            let kept = try await app.text("physio.ics")
            let parts = kept.components(separatedBy: "BEGIN:VEVENT\r\n").dropFirst()
            #expect(parts.count == 2, "\(kept)")
            #expect(parts.last?.contains("RECURRENCE-ID;\(zone):20260317T090000") == true, "\(kept)")
            #expect(parts.last?.contains("DTSTART;\(zone):20260317T090000") == true)
            #expect(parts.last?.contains("TRIGGER:-PT5M") == true && parts.first?.contains("TRIGGER:-PT5M") == false)
            #expect(try await !other.text("physio.ics").contains("RECURRENCE-ID"))
            let own = try await server.call(.get, "/v1/circles/c/appointments/physio/occurrences").json["items"]?.array
            #expect(own?.isEmpty == true, "\(String(describing: own))")
            // The app sends it again with its next change, and it goes with its occurrence.
            try await app.edit("physio.ics", ("SUMMARY:", "COLOR:red\r\nSUMMARY:"))
            #expect(try await app.text("physio.ics").components(separatedBy: "TRIGGER:-PT5M").count == 2)
            try await server.put(
                "appointments", "physio",
                [
                    "patientId": "mom", "provider": "Kim", "startAt": "2026-03-03T09:00:00-08:00",
                    "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=2"],
                ])
            let short = try await app.text("physio.ics")
            #expect(!short.contains("RECURRENCE-ID") && short.contains("COLOR:red"), "\(short)")
        }
    }
}
