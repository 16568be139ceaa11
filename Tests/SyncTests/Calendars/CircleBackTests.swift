// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Logging
import Server
import Storage
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

    @Test("An imported event that an app changed or deleted is shown with what it was, and put back by an undo")
    func imported() async throws {
        try await TestServer.withCircle { server in
            try await server.bring([OneCalendar.event("party", "Party", "LOCATION:Here")], as: "ben").expect(201)
            let (app, other) = (CalendarApp(server: server, user: "ben"), CalendarApp(server: server))
            let name = try await Self.imported(app)
            try await app.edit(name, ("SUMMARY:Party", "SUMMARY:Fete"), ("T090000Z", "T100000Z"))
            let change = try await Self.last(server)
            #expect(change?["type"] == "event" && change?["change"] == "updated" && change?["id"] == "party")
            #expect(change?["by"] == "user:ben" && change?["via"] == "caldav" && change?["reach"] == .null)
            #expect(change?["before"]?["title"] == "Party" && change?["after"]?["title"] == "Fete")
            #expect(change?["before"]?["startAt"] == "2026-03-10T02:00:00-07:00", "\(String(describing: change))")
            #expect(change?["after"]?["startAt"] == "2026-03-10T03:00:00-07:00" && change?["after"]?["location"] == nil)
            let number = try await other.collection().number
            let done = try await Self.undo(change, server, as: "ann").expect(200).json
            #expect(done["change"] == "updated" && done["by"] == "user:ann" && done["undoes"] == change?["number"])
            #expect(done["after"]?["title"] == "Party")
            let text = try await other.text(name)
            #expect(text.contains("SUMMARY:Party") && text.contains("20260310T090000Z"), "\(text)")
            let changes = try await other.source.changes(of: other.collection(), after: number, limit: 10)
            #expect(changes.changed.map(\.name) == [name] && changes.removed.isEmpty)
            try await Self.undo(change, server).expect(409)
            // It is Ben's own as before.
            try await app.edit(name, ("SUMMARY:Party", "SUMMARY:Ball"))
            try await app.delete(name)
            let deletion = try await Self.last(server)
            #expect(deletion?["change"] == "deleted" && deletion?["before"]?["title"] == "Ball")
            #expect(deletion?["after"] == .null)
            let back = try await Self.undo(deletion, server).expect(200).json
            #expect(back["change"] == "created" && back["after"]?["title"] == "Ball")
            let again = try await app.text(name)
            #expect(again.contains("SUMMARY:Ball") && again.contains("UID:party"))
            #expect(again.contains("SEQUENCE:4"), "\(again)")
            // An undo is undone, too.
            try await Self.undo(back, server).expect(200)
            #expect(try await app.member(name) == nil)
        }
    }

    @Test("An undo of an imported event says who changed it since, and that a file did so is a reason, too")
    func importedSince() async throws {
        try await TestServer.withCircle { server in
            try await server.bring([OneCalendar.event("party", "Party")], as: "ben").expect(201)
            let app = CalendarApp(server: server, user: "ben")
            let name = try await Self.imported(app)
            try await app.edit(name, ("SUMMARY:Party", "SUMMARY:Fete"))
            let first = try await Self.last(server)
            try await app.edit(name, ("SUMMARY:Fete", "SUMMARY:Ball"))
            let second = try await Self.last(server)
            let refusal = try await Self.undo(first, server).expect(409).json
            #expect(refusal["code"] == "changed-since" && refusal["by"] == "user:ben")
            #expect(refusal["number"] == second?["number"])
            try await server.bring([OneCalendar.event("party", "Dance", "SEQUENCE:9")], as: "ben").expect(201)
            try await Self.undo(second, server).expect(409)
            #expect(try await app.text(name).contains("SUMMARY:Dance"))
            server.clock.advance(seconds: 31 * 86_400)
            try await app.delete(name)
            let deletion = try await Self.last(server)
            server.clock.advance(seconds: 30 * 86_400)
            try await Self.undo(deletion, server).expect(410)
        }
    }

    @Test("Of a private event that an app changes nobody else hears, and nobody else undoes it")
    func secret() async throws {
        try await TestServer.withCircle { server in
            try await server.bring([OneCalendar.event("secret", "Secret", "CLASS:PRIVATE")], as: "ben").expect(201)
            let app = CalendarApp(server: server, user: "ben")
            try await app.delete(try await Self.imported(app))
            let deletion = try await Self.last(server, as: "ben")
            #expect(deletion?["type"] == "event" && deletion?["before"]?["title"] == "Secret")
            #expect(try await Self.last(server, as: "ann")?["type"] != "event")
            try await Self.undo(deletion, server, as: "ann").expect(404)
            try await Self.undo(deletion, server, as: "ben").expect(200)
            #expect(try await app.text(try await Self.imported(app)).contains("SUMMARY:Secret"))
            let other = CalendarApp(server: server)
            #expect(try await !other.members().contains { $0.name.hasSuffix("+imported.ics") })
            // After an erasure not even its UID is left.
            func uids() async throws -> [String] {
                try await server.services.store.read {
                    try $0.rows("SELECT item_id FROM changes UNION ALL SELECT item_id FROM kept_contents", [])
                        .compactMap { $0.text("item_id") }
                }
            }
            #expect(try await uids().count { $0.contains("secret") } == 4)
            try await server.call(.delete, "/v1/users/ben?erase=true").expect(200)
            #expect(try await !uids().contains { $0.contains("secret") })
        }
    }

    @Test("What an app deletes and puts back under its name is what it was, with what the app may change of it")
    func putBack() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server, user: "ben")
            for (segment, path, field) in [
                ("c", "shifts/day", "ownerId"), ("c", "appointments/knee", "provider"),
                ("c~tasks", "tasks/pills", "title"),
                ("c~tasks", "follow-ups/call", "description"), ("c", "appointments/physio", "provider"),
            ] {
                let before = try await server.call(.get, "/v1/circles/c/\(path)").expect(200).json
                let uid = try #require(before["uid"]?.string)
                var found: String?
                for member in try await app.members(segment) {
                    let text = try await app.text(member.name, in: segment)
                    if text.contains("UID:\(uid)\r\n") { found = member.name }
                }
                let name = try #require(found)
                let text = try await app.text(name, in: segment)
                try await app.delete(name, in: segment)
                try await server.call(.get, "/v1/circles/c/\(path)").expect(404)
                let noted = text.replacingOccurrences(of: "SUMMARY:", with: "COMMENT:Back\r\nSUMMARY:X ")
                try await app.put(noted, as: name, in: segment)
                let after = try await server.call(.get, "/v1/circles/c/\(path)").expect(200).json
                for same in ["uid", "startAt", "endAt", "dueAt", "patientId", "reminders", "recurrence", "notes"] {
                    #expect(after[same] == before[same], "\(path): \(same)")
                }
                if segment == "c" { #expect(after[field] == before[field]) }
                #expect(try #require(after["sequence"]?.integer) > #require(before["sequence"]?.integer))
                #expect(try await app.text(name, in: segment).contains("COMMENT:Back"))
                for kind in ["shifts", "appointments", "tasks", "follow-ups"] {
                    let all = try await server.call(.get, "/v1/circles/c/\(kind)").expect(200).json["items"]?.array
                    #expect(all?.count == (kind == "appointments" ? 2 : 1), "\(path): \(kind)")
                }
            }
        }
    }

    @Test("What was deleted long ago comes back as the app has it, with its UID and a higher revision")
    func putBackLate() async throws {
        try await TestServer.withCircle { server in
            let (app, path) = (CalendarApp(server: server, user: "ben"), "/v1/circles/c/appointments/knee")
            let before = try await server.call(.get, path).expect(200).json
            let uid = try #require(before["uid"]?.string)
            var found: (name: String, text: String)?
            for member in try await app.members() {
                let text = try await app.text(member.name)
                if text.contains("UID:\(uid)\r\n") { found = (member.name, text) }
            }
            let (name, text) = try #require(found)
            try await app.delete(name)
            server.clock.advance(seconds: 31 * 86_400)
            try await Housekeeping(services: server.services, logger: Logger(label: "t") { _ in server.log })
                .prune(server.clock.now)
            let item = try await server.services.store.read { try $0.itemEverKnown("knee", "appointments", in: "c") }
            #expect(item?.isEmptied == true)
            try await app.put(text, as: name)
            let after = try await server.call(.get, path).expect(200).json
            for same in ["uid", "startAt", "endAt"] { #expect(after[same] == before[same], "\(same)") }
            #expect(try #require(after["sequence"]?.integer) > #require(before["sequence"]?.integer))
            #expect(try await app.text(name).contains("UID:\(uid)\r\n"))
        }
    }

    @Test("An imported event that its person deletes and puts back is the imported one, and no appointment")
    func importedPutBack() async throws {
        try await TestServer.withCircle { server in
            try await server.bring(
                [OneCalendar.event("party", "Party", "LOCATION:Here", "RRULE:FREQ=DAILY;COUNT=3")], as: "ben"
            ).expect(201)
            let app = CalendarApp(server: server, user: "ben")
            let name = try await Self.imported(app)
            let text = try await app.text(name)
            try await app.delete(name)
            let number = try await app.collection().number
            #expect(try await app.put(text, as: name).isNew)
            #expect(try await Self.imported(app) == name)
            let back = try await app.text(name)
            #expect(back.contains("SUMMARY:Party") && back.contains("LOCATION:Here") && back.contains("COUNT=3"))
            let changes = try await app.source.changes(of: app.collection(), after: number, limit: 10)
            #expect(changes.changed.map(\.name) == [name] && changes.removed.isEmpty)
            let all = try await server.call(.get, "/v1/circles/c/appointments").expect(200).json["items"]?.array
            #expect(all?.count == 2)
            #expect(try await Self.last(server)?["change"] == "created")
        }
    }

    @Test("A private event that shows a derived UID is itself after its person deleted it and put it back")
    func derivedPutBack() async throws {
        try await TestServer.withCircle { server in
            try await server.bring([OneCalendar.event("party", "Party")], as: "ann").expect(201)
            try await server.bring(
                [OneCalendar.event("party", "Surprise", "CLASS:PRIVATE", "LOCATION:Here")], as: "ben"
            ).expect(201)
            let app = CalendarApp(server: server, user: "ben")
            var found: (name: String, text: String)?
            for member in try await app.members() {
                let text = try await app.text(member.name)
                if text.contains("SUMMARY:Surprise") { found = (member.name, text) }
            }
            let (name, text) = try #require(found)
            #expect(text.contains("@derived\r\n"))
            try await app.delete(name)
            // A change of what has the UID by itself is not the last one of this.
            let other = CalendarApp(server: server, user: "ann")
            let party = try #require(try await other.members().first { ResourceNames.isImported($0.name) })
            try await other.edit(party.name, (from: "SUMMARY:Party", to: "SUMMARY:A large party"))
            #expect(try await app.put(text, as: name).isNew)
            let back = try await app.text(name)
            for line in ["SUMMARY:Surprise", "CLASS:PRIVATE", "LOCATION:Here"] {
                #expect(back.contains(line + "\r\n"))
            }
            func uid(_ text: String) -> String? { text.components(separatedBy: "\r\n").first { $0.hasPrefix("UID:") } }
            #expect(uid(back) == uid(text))
            let all = try await server.call(.get, "/v1/circles/c/appointments").expect(200).json["items"]?.array
            #expect(all?.count == 2)
        }
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
