// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Quotas")
struct QuotaTests {
    private static func few(_ change: (inout Quotas) -> Void) -> ServerSettings {
        var settings = ServerSettings()
        change(&settings.quotas)
        return settings
    }

    private static func expectLimit(_ answer: Answer, _ most: Int) throws {
        let reply = try answer.expect(409)
        #expect(reply.json["code"] == "limit-reached" && reply.text.contains("at most \(most) "), "\(reply.text)")
    }

    @Test("A viewer does not make 1,500 feeds; the host application makes more for them, and a deleted one makes room")
    func feeds() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func make(_ label: Int, _ user: String?) async throws -> Answer {
                let label = JSONValue.string("f\(label)")
                let body: JSONValue = user == nil ? ["label": label, "userId": "vic"] : ["label": label]
                return try await server.call(.post, "/v1/circles/c/feeds", body, as: user)
            }
            var made: [String] = []
            for label in 0..<50 { made.append(try await make(label, "vic").expect(201).json["id"]?.string ?? "") }
            try Self.expectLimit(try await make(50, "vic"), 50)
            // One that has ended is there still.
            try await server.call(.post, "/v1/feeds/\(made[0])/revoke", as: "vic").expect(200)
            try Self.expectLimit(try await make(50, "vic"), 50)
            try await server.call(.delete, "/v1/feeds/\(made[0])", as: "vic").expect(204)
            try await make(50, "vic").expect(201)
            // The first of one label is named before any limit.
            #expect(try await make(50, "vic").expect(409).json["feedId"] != nil)
            for label in 51..<60 { try await make(label, nil).expect(201) }
        }
    }

    @Test("A connection counts until its events are removed")
    func endingConnections() async throws {
        try await TestServer.run(settings: Self.few { $0.connectionsPerUser = 2 }) { server in
            try await server.makeCircle()
            let ids = [try await server.connect(label: "a"), try await server.connect(label: "b")]
            for id in ids {
                _ = try await server.call(.delete, "/v1/connections/\(id)?events=remove", as: "ann")
            }
            #expect(try await server.services.store.read { try $0.connectionEverKnown(ids[0]) }?.ending == .all)
            let body: JSONValue = ["provider": "caldav", "label": "c"]
            try Self.expectLimit(try await server.call(.post, "/v1/circles/c/connections", body, as: "ann"), 2)
            try await server.services.store.record { for id in ids { try $0.deleteConnection(id, now: 1) } }
            try await server.call(.post, "/v1/circles/c/connections", body, as: "ann").expect(201)
        }
    }

    @Test("Nobody fills the audit trail; a host application is not slowed down, whoever it acts for")
    func auditedChanges() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let id = try await server.connect(label: "a")
            @Sendable func rename(_ number: Int, _ caller: Caller) async throws {
                var change = Connections.Change()
                change.label = .set("l\(number)")
                _ = try await server.services.connections.change(id, change, if: .none, for: caller)
            }
            let ann = Caller(.user("ann"), actor: AuditActor(user: "ann"))
            for number in 0..<500 { try await rename(number, ann) }
            let refusal = await #expect(throws: Refusal.self) { try await rename(500, ann) }
            #expect(refusal?.kind == .tooMany && refusal?.retryAfter == 1)
            try await server.call(.patch, "/v1/connections/\(id)", ["label": "z"], as: "ann").expect(200)
            server.clock.advance(seconds: 2)
            try await rename(501, ann)
        }
    }

    @Test("Addresses of feeds are not made without end, by a user who takes each away again")
    func mints() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let id = try await server.makeFeed(user: "vic").id
            for _ in 0..<100 { try await server.call(.post, "/v1/feeds/\(id)/regenerate", as: "vic").expect(200) }
            let reply = try await server.call(.post, "/v1/feeds/\(id)/regenerate", as: "vic").expect(429)
            #expect(reply.headers[.retryAfter] == "30")
            try await server.call(.post, "/v1/feeds/\(id)/regenerate").expect(200)
            server.clock.advance(seconds: 30)
            try await server.call(.post, "/v1/feeds/\(id)/regenerate", as: "vic").expect(200)
        }
    }

    @Test("Items have a bound by number and by bytes, one by one and in a batch, where every line says so")
    func items() async throws {
        let settings = Self.few { ($0.itemsPerCircle, $0.bytesPerCircle) = (5, 4000) }
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            func put(_ id: Int, _ notes: Int = 0, as user: String? = "ben") async throws -> Answer {
                try await server.call(
                    .put, "/v1/circles/c/tasks/t\(id)",
                    [
                        "title": "x", "dueAt": "2026-03-03T09:00:00Z",
                        "notes": .string(String(repeating: "n", count: notes)),
                    ], as: user)
            }
            for id in 0..<3 { try await put(id).expect(201) }
            func line(_ id: Int) -> String {
                #"{"op":"put","collection":"tasks","id":"t\#(id)","value":{"title":"x","dueAt":"2026-03-03T09:00:00Z"}}"#
            }
            let batch = try await server.raw(
                .post, "/v1/circles/c/batch",
                headers: [
                    .authorization: "Bearer \(server.key)", .contentType: "application/x-ndjson", .kalendsUser: "ben",
                ], body: ByteBuffer(string: (2..<9).map(line).joined(separator: "\n"))
            ).expect(200).json
            #expect(batch["applied"] == 2 && batch["unchanged"] == 1)
            let rejected = batch["rejected"]?.array ?? []
            #expect(rejected.map { $0["line"] } == [4, 5, 6, 7])
            #expect(rejected.allSatisfy { $0["errors"]?.array?.first?["code"] == "too-many" })
            try Self.expectLimit(try await put(9), 5)
            // A deleted one keeps its UID, and its place.
            try await server.call(.delete, "/v1/circles/c/tasks/t0", as: "ben").expect(204)
            try Self.expectLimit(try await put(9), 5)
            try await put(0).expect(201)
            try await put(1, 100).expect(200)
            try Self.expectLimit(try await put(2, 4000), 4000)
            try await put(9, as: nil).expect(201)
            try await put(2, 4000, as: nil).expect(200)
            let used = try await server.services.store.read { try $0.itemUsage(of: "c") }
            let bytes = try await server.services.store.read {
                try $0.rows("SELECT SUM(LENGTH(content)) AS bytes FROM schedule_items", []).first?.integer("bytes")
            }
            #expect(used.count == 6 && used.bytes == bytes)
        }
    }

    @Test("Imports have a bound by day, in files and bytes, and events have one")
    func imports() async throws {
        let settings = Self.few { ($0.importsPerDay, $0.importBytesPerDay, $0.eventsPerCircle) = (3, 2000, 2) }
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            func bring(_ text: String) async throws -> Answer {
                try await server.raw(
                    .post, "/v1/circles/c/imports?mode=commit",
                    headers: [
                        .authorization: "Bearer \(server.key)", .contentType: "text/calendar", .kalendsUser: "ben",
                    ], body: ByteBuffer(string: text))
            }
            try Self.expectLimit(try await bring(CalendarHost.calendar(["a": "A", "b": "B", "c": "C"])), 2)
            try await bring(CalendarHost.calendar(["a": "A", "b": "B"])).expect(201)
            try Self.expectLimit(try await bring(CalendarHost.calendar(["d": "D"])), 2)
            let reply = try await bring(CalendarHost.calendar(["a": "A"])).expect(429)
            #expect(reply.json["code"] == "limit-reached" && reply.text.contains("at most 3 files a day"))
            // It is noon.
            #expect(reply.headers[.retryAfter] == "43200")
            server.clock.advance(seconds: 43_200)
            let large = try await bring(
                "BEGIN:VCALENDAR\r\nX-X:\(String(repeating: "x", count: 2000))\r\nEND:VCALENDAR\r\n")
            #expect(try large.expect(429).text.contains("2000 bytes a day"))
        }
    }

    @Test(
        "Members, patients, devices, webhooks, followed calendars and changed occurrences have bounds, each with its number"
    )
    func others() async throws {
        let settings = Self.few {
            ($0.membersPerCircle, $0.patientsPerCircle, $0.devicesPerUser, $0.webhooks) = (4, 3, 2, 2)
            ($0.subscriptionsPerCircle, $0.occurrencesPerItem) = (2, 2)
        }
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            func member(_ id: String, as user: String? = "ann") async throws -> Answer {
                try await server.call(
                    .put, "/v1/circles/c/members/\(id)", ["displayName": "M", "role": "viewer"], as: user)
            }
            try await member("m1").expect(201)
            try Self.expectLimit(try await member("m2"), 4)
            try await server.call(.delete, "/v1/circles/c/members/m1").expect(204)
            try Self.expectLimit(try await member("m2"), 4)
            try await member("m1").expect(201)
            try await member("m2", as: nil).expect(201)
            func patient(_ id: String) async throws -> Answer {
                try await server.call(.put, "/v1/circles/c/patients/\(id)", ["displayName": "P"], as: "ann")
            }
            try await patient("p1").expect(201)
            try Self.expectLimit(try await patient("p2"), 3)
            try await patient("p1").expect(200)
            func device(_ id: String) async throws -> Answer {
                try await server.call(.post, "/sync/devices/register", ["deviceId": .string(id)], as: "ann")
            }
            for id in ["a", "b"] { try await device(id).expect(201) }
            let reply = try await device("c").expect(409)
            #expect(reply.json["code"] == "limit-reached" && reply.text.contains("2 devices"))
            for _ in 0..<2 { _ = try await server.makeWebhook("http://127.0.0.1:9/") }
            try Self.expectLimit(try await server.call(.post, "/v1/webhooks", ["url": "http://127.0.0.1:9/"]), 2)
            func follow(_ name: String) async throws -> Answer {
                try await server.call(
                    .post, "/v1/circles/c/subscriptions", ["url": .string("https://cal.example/\(name)")], as: "ann")
            }
            for name in ["a", "b"] { try await follow(name).expect(201) }
            try Self.expectLimit(try await follow("c"), 2)
            try await server.put(
                "appointments", "a",
                [
                    "patientId": "mom", "provider": "Dr", "startAt": "2026-03-03T09:00:00Z",
                    "recurrence": ["rrule": "FREQ=DAILY;COUNT=9"],
                ])
            func change(_ day: Int) async throws -> Answer {
                try await server.call(
                    .put, "/v1/circles/c/appointments/a/occurrences/2026030\(day)T090000Z", ["status": "cancelled"],
                    as: "ben")
            }
            for day in [3, 4] { try await change(day).expect(201) }
            try Self.expectLimit(try await change(5), 2)
            try await change(3).expect(200)
        }
    }

    @Test("The bytes of changed occurrences count in their circle, and a series may have 2 MiB of them")
    func occurrences() async throws {
        let settings = Self.few { $0.bytesPerCircle = 3 << 20 }
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            func series(_ id: String) async throws {
                try await server.put(
                    "appointments", id,
                    [
                        "patientId": "mom", "provider": "Dr", "startAt": "2026-03-03T09:00:00Z",
                        "recurrence": ["rrule": "FREQ=DAILY;COUNT=99"],
                    ])
            }
            for id in ["a", "b"] { try await series(id) }
            func change(_ id: String, _ day: Int, _ notes: Int = 60_000) async throws -> Answer {
                let first = try #require(Instant(rfc3339: "2026-03-03T09:00:00Z"))
                // The circle's clock goes forward on 8 March, before nine in the morning of UTC.
                let start = first.adding(seconds: day * 86_400 - (day > 5 ? 3600 : 0)).basic
                return try await server.call(
                    .put, "/v1/circles/c/appointments/\(id)/occurrences/\(start)",
                    ["notes": .string(String(repeating: "n", count: notes))], as: "ben")
            }
            func used() async throws -> Int { try await server.services.store.read { try $0.itemUsage(of: "c").bytes } }
            let before = try await used()
            for day in 0..<34 { try await change("a", day).expect(201) }
            try Self.expectLimit(try await change("a", 34), 2 << 20)
            try await change("a", 0, 10).expect(200)
            try await change("a", 34, 50_000).expect(201)
            var day = 0
            var answer = try await change("b", day)
            while answer.status == 201, day < 98 {
                day += 1
                answer = try await change("b", day)
            }
            try Self.expectLimit(answer, 3 << 20)
            let (bytes, count) = try await server.services.store.read { transaction in
                let all = try transaction.occurrences(of: nil, in: "c")
                return (all.reduce(0) { $0 + $1.content.utf8.count }, all.count)
            }
            #expect(try await used() == before + bytes + 700 * count)
            try await server.call(
                .delete, "/v1/circles/c/appointments/a/occurrences/20260303T090000Z", as: "ben"
            ).expect(204)
            try await server.call(.delete, "/v1/circles/c/appointments/a", as: "ben").expect(204)
            try await server.call(.delete, "/v1/circles/c/appointments/b", as: "ben").expect(204)
            #expect(try await used() == before)
        }
    }

    @Test("Every quota is a setting, and has a default that is no obstacle")
    func settings() async throws {
        let flags = Dictionary(uniqueKeysWithValues: Quotas.settings.map { ($0.setting.name, "7") })
        let set = try await ServerSettings(flags: flags, configFile: nil, environment: [:])
        for setting in Quotas.settings { #expect(set.quotas[keyPath: setting.path] == 7, "\(setting.setting.name)") }
        let plain = try await ServerSettings(
            flags: [:], configFile: nil, environment: ["KALENDS_MAX_FEEDS_PER_USER": "9"])
        #expect(plain.quotas.feedsPerUser == 9 && plain.quotas.itemsPerCircle >= 200_000)
        #expect(plain.quotas.clamped(to: .operatorAtHand).feedsPerUser == 90)
        #expect(plain.quotas.clamped(to: .user("ann")).feedsPerUser == 9)
        await #expect(throws: ServerSettings.Invalid.self) {
            try await ServerSettings(flags: ["maxWebhooks": "0"], configFile: nil, environment: [:])
        }
    }
}
