// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("A circle's collections, read by calendar apps")
struct CircleReadingTests {
    @Test("Each circle is two collections, whose segments double the tilde")
    func collections() async throws {
        try await TestServer.withCircle { server in
            try await server.call(.put, "/v1/circles/a~b", ["name": "AB", "timeZone": "Europe/Berlin"]).expect(201)
            try await server.call(
                .put, "/v1/circles/a~b/members/ann", ["displayName": "Ann", "role": "viewer"]
            ).expect(201)
            let app = CalendarApp(server: server)
            let all = try await app.source.collections(of: app.caller)
            #expect(all.map(\.segment) == ["a~~b", "a~~b~tasks", "c", "c~tasks"])
            #expect(all.map(\.mayWrite) == [false, false, true, true])
            #expect(all.map(\.components) == [[.event], [.task], [.event], [.task]])
            for one in all {
                #expect(try await app.source.collection(one.segment, of: app.caller)?.kind == one.kind)
            }
            for wrong in ["a~b", "c~task", "x", "c~tasks~tasks", "~", ""] {
                #expect(try await app.source.collection(wrong, of: app.caller) == nil, "\(wrong)")
            }
            let other = CalendarApp(server: server, circleIDs: ["c"])
            #expect(try await other.source.collections(of: other.caller).map(\.segment) == ["c", "c~tasks"])
            #expect(try await other.source.collection("a~~b", of: other.caller) == nil)
            let stranger = CalendarApp(server: server, user: "eve")
            #expect(try await stranger.source.collections(of: stranger.caller).isEmpty)
            #expect(try await stranger.source.collection("c", of: stranger.caller) == nil)
        }
    }

    @Test("A resource has the text of the feed, a strong ETag and a name of its own")
    func texts() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server)
            let (events, tasks) = (try await app.members(), try await app.members("c~tasks"))
            #expect(events.map(\.name) == ["day+shifts.ics", "knee.ics", "physio.ics"])
            #expect(tasks.map(\.name) == ["call+follow-ups.ics", "pills.ics"])
            let feed = try await server.makeFeed(config: ["futureDays": 400])
            let lines = Set(try await server.raw(.get, feed.path).expect(200).calendarLines)
            for member in events {
                let text = try await app.text(member.name)
                #expect(text.utf8.count == member.size && !text.contains("METHOD"))
                let own = text.components(separatedBy: "BEGIN:VEVENT").dropFirst().joined()
                    .replacingOccurrences(of: "\r\n ", with: "").components(separatedBy: "\r\n")
                #expect(own.allSatisfy(lines.contains), "\(own)")
                #expect(try await app.member(member.name) == member)
            }
            let pills = try await app.text("pills.ics", in: "c~tasks")
            #expect(pills.contains("BEGIN:VTODO") && pills.contains("STATUS:NEEDS-ACTION"))
            #expect(pills.contains("SUMMARY:CK: Pills") && pills.contains("DUE;TZID=America/Los_Angeles:20260306T0800"))
            // A shift makes only its owner busy.
            #expect(try await app.text("day+shifts.ics").contains("TRANSP:TRANSPARENT"))
            #expect(try await CalendarApp(server: server, user: "ben").text("day+shifts.ics").contains("TRANSP:OPAQUE"))
            #expect(try await app.member("pills.ics") == nil)
            #expect(try await app.member("none.ics") == nil)
        }
    }

    @Test("Resources that are asked for by their names need no list of the whole circle")
    func namesAlone() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server)
            let collection = try await app.collection()
            let names = ["knee.ics", "none.ics", "pills.ics", "physio.ics"]
            let sizes = try await app.source.sizes(of: collection, named: names)
            let found = try await app.source.resources(of: collection, named: names)
            for (size, resource) in zip(sizes, found) {
                guard let exact = resource?.member.size else { continue }
                #expect((exact / 2...exact * 2).contains(size), "\(size) for \(exact)")
            }
            #expect(sizes.map { $0 > 0 } == [true, false, false, true])
            let (services, user) = (server.services, app.user)
            try await services.store.read { transaction in
                let reader = try CircleReader("c", for: user, services.settings, in: transaction)
                #expect(throws: CircleIndexes.Missing.self) {
                    _ = try services.circleIndexes.current(reader, made: nil)
                }
            }
        }
    }

    @Test("Completed tasks stay, and private events are their owner's alone")
    func rights() async throws {
        try await TestServer.withCircle { server in
            try await server.put(
                "tasks", "done", ["title": "Done", "dueAt": "2020-03-06T08:00:00-08:00", "status": "completed"])
            let app = CalendarApp(server: server)
            let done = try await app.text("done.ics", in: "c~tasks")
            #expect(done.contains("STATUS:COMPLETED") && done.contains("\r\nCOMPLETED:"))
            try await server.bring(
                [OneCalendar.event("open", "Open"), OneCalendar.event("own", "Secret", "CLASS:PRIVATE")], as: "ann"
            ).expect(201)
            #expect(try await app.members().count == 5)
            #expect(try await CalendarApp(server: server, user: "ben").members().count == 4)
        }
    }

    @Test("Changes since a number are exactly what changed; a number of the future is no token")
    func changes() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server)
            let start = try await app.collection()
            func changed(_ number: Int, _ segment: String = "c") async throws -> CollectionChanges {
                try await app.source.changes(of: app.collection(segment), after: number, limit: 100)
            }
            #expect(try await changed(start.number).changed.isEmpty)
            try await server.call(.delete, "/v1/circles/c/shifts/day").expect(204)
            try await server.put("tasks", "new", ["title": "New", "dueAt": .null])
            let events = try await changed(start.number)
            #expect(events.changed.isEmpty && events.removed == ["day+shifts.ics"])
            let tasks = try await changed(start.number, "c~tasks")
            #expect(tasks.changed.map(\.name) == ["new.ics"] && tasks.removed.isEmpty)
            #expect(try await app.collection().number == events.number)
            try await server.bring([OneCalendar.event("open", "Open")], as: "ann").expect(201)
            let imported = try await changed(events.number)
            #expect(imported.changed.count == 1 && imported.changed.first?.name.hasSuffix("+imported.ics") == true)
            let fault = await CalendarApp.fault { _ = try await changed(imported.number + (1 << 26)) }
            guard case .invalidSyncToken = fault else {
                Issue.record("\(String(describing: fault))")
                return
            }
        }
    }

    @Test("A deletion that is older than changes are kept makes a number too old")
    func tooOld() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server)
            let start = try await app.collection()
            try await server.call(.delete, "/v1/circles/c/shifts/day").expect(204)
            server.clock.advance(seconds: 91 * 86_400)
            let fault = await CalendarApp.fault {
                _ = try await app.source.changes(of: app.collection(), after: start.number, limit: 10)
            }
            guard case .invalidSyncToken = fault else {
                Issue.record("\(String(describing: fault))")
                return
            }
        }
    }

    @Test("Resources of a span are found, those without an end among them")
    func spans() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server)
            func names(_ from: String, _ to: String, _ segment: String = "c") async throws -> [String] {
                let (from, to) = (try #require(Instant(rfc3339: from)), try #require(Instant(rfc3339: to)))
                return try await app.source.resources(
                    of: app.collection(segment), component: nil, span: from.seconds..<to.seconds, after: nil, limit: 9
                ).map(\.member.name)
            }
            #expect(try await names("2026-04-20T00:00:00Z", "2026-05-01T00:00:00Z") == ["physio.ics"])
            #expect(try await names("2026-03-06T00:00:00Z", "2026-03-07T00:00:00Z").count == 3)
            try await server.put("tasks", "some", ["title": "Some day", "dueAt": .null])
            let later = try await names("2030-01-01T00:00:00Z", "2030-02-01T00:00:00Z", "c~tasks")
            #expect(later == ["some.ics"])
        }
    }

    @Test("A task without a date is in lists, exports and its collection, and in no feed")
    func undated() async throws {
        try await TestServer.withCircle { server in
            try await server.put("tasks", "some", ["title": "Some day", "dueAt": .null, "reminders": [5]])
            #expect(try await server.value("tasks/some", "dueAt") == .null)
            let listed = try await server.call(.get, "/v1/circles/c/tasks").expect(200).json["items"]?.array
            #expect(listed?.count == 2)
            let app = CalendarApp(server: server)
            let text = try await app.text("some.ics", in: "c~tasks")
            #expect(text.contains("SUMMARY:CK: Some day") && !text.contains("DUE") && !text.contains("VALARM"))
            let feed = try await server.makeFeed(config: ["tasksAs": "todos", "futureDays": 3660])
            let shown = try await server.raw(.get, feed.path).expect(200).text
            #expect(shown.contains("Pills") && !shown.contains("Some day"))
            let file = try await CircleExport.file(of: "c", for: .operatorAtHand, server.services.feedContext)
            #expect(String(decoding: try file.bytes, as: UTF8.self).contains("SUMMARY:CK: Some day"))
            try await server.call(.put, "/v1/circles/c/tasks/x", ["title": "No date at all"]).expect(422)
        }
    }
}
