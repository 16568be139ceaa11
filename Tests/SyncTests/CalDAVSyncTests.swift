// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import Foundation
import HTTPTypes
import ICalBridge
import Logging
import Outbound
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Connections with real CalDAV servers", .enabled(if: Programs.python != nil))
struct CalDAVSyncTests {
    /// A server of ours whose circle has three appointments, and a person's calendar that was connected over HTTP.
    struct Scene: Sendable {
        let server: TestServer
        let person: CalDAVPerson
        let connection: String
        var path: String { "/v1/connections/\(connection)" }

        var sync: ConnectionSync {
            server.services.connectionSync(Logger(label: "t") { _ in server.log })
        }

        static func play(_ name: String, _ body: @escaping @Sendable (Scene) async throws -> Void) async throws {
            let host = try await CalDAVHost(name)
            defer { host.stop() }
            var settings = ServerSettings()
            settings.connections.privateCaldavHosts = [host.host]
            let clock = TestClock(Int(Date().timeIntervalSince1970 * 1000))
            try await TestServer.run(clock: clock, settings: settings) { server in
                try await server.makeCircle()
                for number in 0..<3 {
                    try await server.put(
                        "appointments", "a\(number)",
                        [
                            "patientId": "mom", "provider": .string("Dr. Number\(number)"),
                            "startAt": .string(clock.winterTime(day: 5 + number, hour: 9)),
                        ])
                }
                let made = try await server.call(
                    .post, "/v1/circles/c/connections", ["provider": "caldav"], as: "ann"
                ).expect(201)
                let id = try #require(made.json["id"]?.string)
                let path = "/v1/connections/\(id)"
                try await server.call(.post, "\(path)/sync", as: "ann").expect(409)
                try await server.call(
                    .put, "\(path)/account",
                    [
                        "url": .string(host.address), "username": .string(CalDAVHost.username),
                        "password": .string(CalDAVHost.password),
                    ], as: "ann"
                ).expect(200)
                let chosen = try await server.call(.put, "\(path)/calendar", ["create": [:]], as: "ann").expect(200)
                let calendar = try #require(chosen.json["calendarId"]?.string)
                try await body(
                    Scene(server: server, person: CalDAVPerson(host: host, calendar: calendar), connection: id))
            }
        }

        /// Returns another connection with the same account, whose calendar is still to be chosen.
        func another() async throws -> Scene {
            let made = try await server.call(.post, "/v1/circles/c/connections", ["provider": "caldav"], as: "ann")
                .expect(201)
            let next = Scene(server: server, person: person, connection: try #require(made.json["id"]?.string))
            try await server.call(
                .put, "\(next.path)/account",
                [
                    "url": .string(person.host.address), "username": .string(CalDAVHost.username),
                    "password": .string(CalDAVHost.password),
                ], as: "ann"
            ).expect(200)
            return next
        }

        func preview() async throws -> JSONValue {
            try await server.call(.post, "\(path)/sync?mode=preview", as: "ann").expect(200).json
        }

        @discardableResult
        func run() async throws -> JSONValue {
            let promised = try await server.call(.post, "\(path)/sync", as: "ann").expect(202)
            try await sync.once()
            let run = try #require(promised.json["runId"]?.string)
            return try await server.call(.get, "/v1/runs/\(run)", as: "ann").expect(200).json
        }

        func conflicts() async throws -> [JSONValue] {
            let list = try await server.call(.get, "\(path)/conflicts", as: "ann").expect(200)
            return (list.json["items"]?.array ?? []).filter { $0["state"] == "open" }
        }

        func start(_ id: String) async throws -> Instant {
            try #require(Instant(rfc3339: try await server.item("appointments", id)["startAt"]?.string ?? ""))
        }

        func move(_ id: String, day: Int, hour: Int) async throws {
            try await server.put(
                "appointments", id,
                [
                    "patientId": "mom", "provider": .string("Dr. Number\(id.dropFirst())"),
                    "startAt": .string(server.clock.winterTime(day: day, hour: hour)),
                ])
        }
    }

    static let foreign = """
        BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Somebody//EN\r\nBEGIN:VEVENT\r\nUID:own-dentist\r\n\
        DTSTAMP:20260101T000000Z\r\nDTSTART:20300105T090000Z\r\nDTEND:20300105T100000Z\r\nSUMMARY:Own dentist\r\n\
        X-MINE:yes\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n
        """

    @Test(
        "From the account to the last run: preview, both directions, a conflict, a deletion, and the end",
        arguments: [
            "radicale", "xandikos",
        ])
    func whole(_ name: String) async throws {
        try await Scene.play(name) { scene in
            let (server, person) = (scene.server, scene.person)
            try await person.put(Self.foreign)
            // What is shown before is what is done, and the look changes nothing.
            let before = try await scene.preview()
            #expect(before["counts"]?["created"] == 3 && before["held"] == .null)
            #expect(try await person.resources().count == 1)
            let first = try await scene.run()
            #expect(first["counts"] == before["counts"] && first["status"] == "success", "\(first)")
            let shown = try await person.resources()
            #expect(shown.count == 4 && shown.count { $0.text.contains("Dr. Number") } == 3)
            #expect(shown.allSatisfy { !$0.text.contains("ATTENDEE") && !$0.text.contains("ORGANIZER") })
            let quiet = try await scene.run()
            #expect(quiet["counts"]?["unchanged"] == 3 && quiet["requests"] == 1, "\(quiet)")

            // From here to there.
            try await scene.move("a0", day: 6, hour: 14)
            try await scene.run()
            #expect(try await person.resource(with: "Number0").text.contains("T140000"))

            // From there to here, and the preview says so.
            let old = try await scene.start("a1")
            server.clock.advance(seconds: 3600)
            try await person.move("Number1", hours: 2)
            let pull = try await scene.preview()
            #expect(pull["counts"]?["pulled"] == 1 && pull["items"]?.array?.first?["direction"] == "in")
            #expect(try await scene.start("a1") == old)
            let pulled = try await scene.run()
            #expect(pulled["counts"] == pull["counts"], "\(pulled)")
            #expect(try await scene.start("a1") == old.adding(seconds: 7200))

            // Both sides moved the same one.
            try await person.move("Number2", hours: 3)
            try await scene.move("a2", day: 7, hour: 20)
            try await scene.run()
            let open = try await scene.conflicts()
            #expect(open.count == 1 && open.first?["kind"] == "bothChanged" && open.first?["itemId"] == "a2", "\(open)")
            let conflict = try #require(open.first?["id"]?.string)
            try await server.call(.post, "/v1/conflicts/\(conflict)/resolve", ["keep": "kalends"], as: "ann").expect(
                200)
            try await scene.run()
            #expect(try await scene.conflicts().isEmpty)
            #expect(try await person.resource(with: "Number2").text.contains("T200000"))
            #expect(try await server.item("appointments", "a2")["startAt"]?.string?.contains("T20:00:00") == true)

            // An event that was deleted there deletes nothing here.
            let gone = try await person.resource(with: "Number0")
            try await person.delete(gone)
            try await scene.run()
            let missing = try await scene.conflicts()
            #expect(missing.count == 1 && missing.first?["kind"] == "deletedThere")
            #expect(try await server.item("appointments", "a0")["status"] != "cancelled")

            // What comes out of the bin is not cancelled here, whether or not a run has seen it.
            try await person.put(gone.text, at: gone.path)
            let question = try #require(missing.first?["id"]?.string)
            try await server.call(.post, "/v1/conflicts/\(question)/resolve", ["keep": "calendar"], as: "ann").expect(
                409)
            #expect(try await scene.run()["status"] == "success")
            #expect(try await scene.conflicts().isEmpty)
            #expect(try await server.item("appointments", "a0")["status"] != "cancelled")
            #expect(try await person.resource(with: "Number0").path == gone.path)

            // The end takes away what was ours, and nothing else.
            try await server.call(.delete, "\(scene.path)?events=remove", as: "ann").expect(204)
            try await scene.sync.once()
            let rest = try await person.resources()
            #expect(rest.count == 1 && rest.first?.text.contains("X-MINE:yes") == true)
            let id = scene.connection
            try await server.services.store.read { transaction throws in
                #expect(try transaction.connectionEverKnown(id) == nil)
                #expect(try transaction.credential(ofConnection: id) == nil)
                #expect(try transaction.syncLinks(of: id).isEmpty)
            }
        }
    }

    @Test("A calendar that is there can be chosen; another connection after the end finds its events again")
    func chosen() async throws {
        try await Scene.play("radicale") { scene in
            let server = scene.server
            try await scene.run()
            #expect(try await scene.person.resources().count == 3)
            // Without `events`, the events stay.
            try await server.call(.delete, scene.path, as: "ann").expect(204)
            #expect(try await scene.person.resources().count == 3)
            let next = try await scene.another()
            let list = try await server.call(.get, "\(next.path)/calendars", as: "ann").expect(200)
            #expect(list.json["items"]?.array?.contains { $0["calendarId"]?.string == scene.person.calendar } == true)
            try await server.call(
                .put, "\(next.path)/calendar", ["calendarId": "https://elsewhere.example/cal/"], as: "ann"
            ).expect(422)
            try await server.call(
                .put, "\(next.path)/calendar", ["calendarId": .string(scene.person.calendar)], as: "ann"
            ).expect(200)
            let run = try await next.run()
            #expect(run["counts"]?["created"] == 0 && run["status"] == "success", "\(run)")
            #expect(try await scene.person.resources().count == 3)
        }
    }
}
