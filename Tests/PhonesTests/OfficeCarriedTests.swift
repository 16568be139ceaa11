// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import HTTPTypes
import ICalBridge
import Logging
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Office days that connections and phones carry")
struct OfficeCarriedTests {
    private static let path = "/v1/users/ann/office-days"

    private static func set(_ server: TestServer, _ settings: JSONValue) async throws {
        try await server.call(.patch, "\(path)/settings", settings, as: "ann").expect(200)
    }

    private static func say(_ server: TestServer, _ date: String, _ status: String) async throws {
        try await server.call(.put, "\(path)/days/\(date)", ["status": .string(status)], as: "ann").expect(200)
    }

    private static func event(_ server: TestServer, _ date: String) async throws -> JSONValue {
        let list = try await server.call(.get, "\(path)?from=\(date)&to=\(date)", as: "ann").expect(200).json
        return list["items"]?.array?.first?["event"] ?? .null
    }

    /// Switches office days on for Ann in Los Angeles, carried by a connection.
    private static func enable(_ server: TestServer, _ id: String) async throws {
        try await set(
            server,
            [
                "enabled": true, "deviceTimeZone": "America/Los_Angeles", "target": ["connectionId": .string(id)],
                "officeAddress": "1 Main Street",
            ])
    }

    @Test("A connection's run writes them with UID and notes; a second run writes nothing; settings rewrite the future")
    func written() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let id = try await server.connect()
            try await bench.sync.once()
            try await Self.enable(server, id)
            for day in 2...13 { try await Self.say(server, "2026-03-\(day < 10 ? "0" : "")\(day)", "inOffice") }
            try await bench.sync.once()
            let calendar = bench.calendars[id]
            #expect(calendar.live.count == 12)
            let second = try #require(calendar.event(of: "2026-03-03"))
            #expect(second.entry.title == "Office Day" && second.entry.location == "1 Main Street")
            #expect(second.entry.availability == .free && second.mark?.item.collection == .officeDays)
            #expect(
                second.entry.notes == """
                    Status: In Office
                    Office Hours: 9:00 AM – 5:00 PM
                    Total Office Days This Month: 2/15
                    UID: iod-2026-03-03-inOffice-\(try await Self.uid(server, "2026-03-03").suffix(8))
                    """)
            #expect(second.entry.span == (try .at("2026-03-03T09:00:00-08:00", "2026-03-03T17:00:00-08:00")))
            let writes = calendar.writes
            try await bench.run(id)
            #expect(calendar.writes == writes)
            // The past stays, today and the future follow the settings.
            server.clock.advance(seconds: 4 * 86_400)
            try await Self.set(server, ["officeTitle": "HQ"])
            try await bench.sync.once()
            #expect(calendar.live.values.count { $0.entry.title == "HQ" } == 8)
            #expect(calendar.event(of: "2026-03-05")?.entry.title == "Office Day")
            let stats = try await server.call(.get, "/v1/stats").expect(200).json["officeDays"]
            #expect(stats?["enabled"] == 1 && stats?["users"] == 1 && (stats?["writes"]?.integer ?? 0) >= 20)
            #expect(stats?["activation"] == .number(0.3333) && stats?["retention30Days"] == .null)
            // One user has them on, so that a user's days are all days.
            let days = try #require(stats?["days"]?.integer)
            #expect(days > 0 && [.integer(days), .number(Double(days))].contains(stats?["daysPerUser"]))
            #expect(stats?["errors"] == 0 && [0, .number(0)].contains(stats?["errorsPerThousandWrites"]))
            let status = try await server.call(.get, "\(Self.path)/status", as: "ann").expect(200).json
            #expect(status["state"] == "active" && status["banner"] == .null)
            // Taking all of them away is the person's word: nothing holds it.
            try await server.call(.post, "\(Self.path)/cleanup", as: "ann").expect(200)
            try await bench.sync.once()
            #expect(calendar.live.isEmpty)
            #expect(try await bench.connection(id)["attention"] == [])
        }
    }

    private static func uid(_ server: TestServer, _ date: String) async throws -> String {
        try #require(try await event(server, date)["uid"]?.string)
    }

    @Test("What a person edited there is never written again, and what they deleted stays away")
    func theirs() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let id = try await server.connect()
            try await Self.enable(server, id)
            for day in 3...6 { try await Self.say(server, "2026-03-0\(day)", "inOffice") }
            try await bench.sync.once()
            let calendar = bench.calendars[id]
            calendar.edit("2026-03-04") { $0.title = "With the client" }
            calendar.delete(["2026-03-05"])
            server.clock.advance(seconds: 900)
            try await bench.run(id)
            #expect(try await Self.event(server, "2026-03-04")["state"] == "unmanaged")
            #expect(try await Self.event(server, "2026-03-05")["state"] == "removed")
            try await Self.set(server, ["officeTitle": "HQ"])
            try await Self.say(server, "2026-03-03", "remote")
            try await bench.run(id)
            #expect(calendar.live.count == 3 && calendar.titles == ["HQ", "Remote Work", "With the client"])
            #expect(calendar.event(of: "2026-03-05") == nil)
            #expect(try await bench.conflicts(id).isEmpty)
            // A clean-up leaves what is theirs.
            try await server.call(.post, "\(Self.path)/cleanup", as: "ann").expect(200)
            try await bench.run(id)
            #expect(calendar.titles == ["With the client"])
        }
    }

    @Test("A key that is bound to the connection's circle finds none of them in its records")
    func bound() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let id = try await server.connect()
            try await server.put("tasks", "pills", ["title": "Pills", "dueAt": "2026-03-05T09:00:00-08:00"])
            try await Self.enable(server, id)
            for day in 3...4 { try await Self.say(server, "2026-03-0\(day)", "inOffice") }
            try await bench.sync.once()
            let key = try #require(
                try await server.call(.post, "/v1/keys", ["name": "bound", "circles": ["c"]]).expect(201).json["key"]?
                    .string)
            let own = "/v1/connections/\(id)"
            for part in ["mappings", "journal", "mappings?limit=1", "journal?limit=1"] {
                let whole = try await server.call(.get, "\(own)/\(part)").expect(200)
                #expect(part.contains("limit") || whole.text.contains("office-days"), "\(part)")
                let known = try await server.bearing(key, .get, "\(own)/\(part)").expect(200)
                let collections = known.json["items"]?.array?.map { $0["collection"] }
                #expect(collections == ["tasks"] && !known.text.contains("Office"), "\(part): \(known.text)")
                #expect(known.json["nextCursor"] == .null)
            }
            bench.calendars[id].delete(["2026-03-04"])
            try await Self.say(server, "2026-03-05", "inOffice")
            let preview = "\(own)/sync?mode=preview"
            #expect(try await server.call(.post, preview).expect(200).text.contains("office-days"))
            #expect(try await !server.bearing(key, .post, preview).expect(200).text.contains("office-days"))
        }
    }

    @Test("What is in the calendar as it is to be there is no edit: a run that was broken off wrote it")
    func brokenOff() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let id = try await server.connect()
            try await Self.enable(server, id)
            for day in 3...4 { try await Self.say(server, "2026-03-0\(day)", "inOffice") }
            try await bench.sync.once()
            try await Self.set(server, ["officeTitle": "HQ"])
            bench.calendars[id].edit("2026-03-03") { $0.title = "HQ" }
            server.clock.advance(seconds: 900)
            try await bench.run(id)
            #expect(bench.calendars[id].titles == ["HQ", "HQ"])
            for day in ["2026-03-03", "2026-03-04"] {
                #expect(try await Self.event(server, day)["state"] == "managed")
            }
        }
    }

    @Test("Another calendar gets today and the future, and the past stays where it was")
    func switched() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let (one, two) = (try await server.connect(), try await server.connect(label: "two", calendar: "cal"))
            try await Self.enable(server, one)
            for day in 2...9 { try await Self.say(server, "2026-03-0\(day)", "inOffice") }
            try await bench.sync.once()
            server.clock.advance(seconds: 3 * 86_400)
            try await Self.set(server, ["target": ["connectionId": .string(two)]])
            try await bench.sync.once()
            let (first, second) = (bench.calendars[one], bench.calendars[two])
            #expect(first.live.values.compactMap { $0.mark?.item.id }.sorted().last == "2026-03-04")
            #expect(second.live.values.compactMap { $0.mark?.item.id }.sorted().first == "2026-03-05")
            #expect(first.live.count == 3 && second.live.count == 5)
            try await Self.set(server, ["target": ["feed": true]])
            try await bench.sync.once()
            #expect(first.live.count == 3 && second.live.isEmpty)
        }
    }

    @Test("A banner says that a calendar is gone or read-only, and goes when it is mended")
    func banners() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let id = try await server.connect()
            try await Self.enable(server, id)
            let calendar = bench.calendars[id]
            for (kind, text) in [
                (ProviderFailure.Kind.forbidden, "calendar is read-only"), (.calendarMissing, "calendar not found"),
            ] {
                calendar.fail(ProviderFailure(kind, "No."))
                try await Self.say(server, "2026-03-03", kind == .forbidden ? "inOffice" : "remote")
                try await bench.sync.once()
                let status = try await server.call(.get, "\(Self.path)/status", as: "ann").expect(200).json
                #expect(status["state"] == "paused")
                #expect(status["banner"]?["text"] == .string("Calendar sync paused — \(text). Fix"), "\(status)")
                server.clock.advance(seconds: 7 * 3600)
                try await bench.sync.once()
                let mended = try await server.call(.get, "\(Self.path)/status", as: "ann").expect(200).json
                #expect(mended["state"] == "active" && mended["banner"] == .null, "\(mended)")
            }
        }
    }

    @Test("A phone carries them without a connection: written, edited, deleted, cleaned up; and says when it may not")
    func phone() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            try await Self.set(
                server, ["enabled": true, "deviceTimeZone": "America/Los_Angeles", "target": ["device": true]])
            for day in 3...6 { try await Self.say(server, "2026-03-0\(day)", "inOffice") }
            let other = try await Phone(server, named: "phone-2")
            let (events, since) = try await phone.changes()
            #expect(events.map { $0["collection"] } == Array(repeating: "office-days", count: 4))
            #expect(events.allSatisfy { $0["circleId"] == nil && $0["connectionId"] == "office-days" })
            #expect(events[0]["title"] == "Office Day" && events[0]["startTime"] == "09:00")
            #expect(events[0]["description"]?.string?.contains("UID: iod-2026-03-03-inOffice-") == true)
            #expect(try await other.changes().events.isEmpty)
            for (number, event) in events.enumerated() {
                let answer = try await phone.upsert(bench.sent(event, as: "O\(number)"))
                #expect(answer["updated"] == 1)
            }
            try await phone.upsert(bench.sent(events[1], as: "O1", ["title": "With the client"]))
            try await phone.upsert(["externalId": "O2", "syncState": "deleted"])
            #expect(try await Self.event(server, "2026-03-03")["state"] == "managed")
            #expect(try await Self.event(server, "2026-03-04")["state"] == "unmanaged")
            #expect(try await Self.event(server, "2026-03-05")["state"] == "removed")
            let middle = try await phone.changes(since: since).nextSince
            try await Self.set(server, ["officeTitle": "HQ"])
            let rewritten = try await phone.changes(since: middle).events
            #expect(rewritten.compactMap { $0["itemId"]?.string } == ["2026-03-03", "2026-03-06"])
            #expect(rewritten.allSatisfy { $0["title"] == "HQ" && $0["externalId"] != .null })
            // The phone may not write any more, and then may again.
            let report: JSONValue = ["events": [], "problem": "permissionRevoked"]
            try await phone.call(.post, "/sync/apple/events/upsert", report).expect(200)
            let paused = try await server.call(.get, "\(Self.path)/status", as: "ann").expect(200).json
            #expect(paused["banner"]?["text"] == "Calendar sync paused — permission revoked. Fix")
            try await other.upsert()
            try await phone.upsert()
            let active = try await server.call(.get, "\(Self.path)/status", as: "ann").expect(200).json
            #expect(active["state"] == "active" && active["banner"] == .null)
            let position = try await phone.changes().nextSince
            try await server.call(.post, "\(Self.path)/cleanup", as: "ann").expect(200)
            let gone = try await phone.changes(since: position).events
            #expect(gone.map { $0["syncState"] } == ["deleted", "deleted"])
            let own = try await server.call(.get, "/v1/users/ann/events", as: "ann").expect(200).json
            #expect(own["items"] == [])
        }
    }
}
