// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Connections")
struct ConnectionTests {
    /// The configuration of a connection that was created without one: the defaults.
    private static let standard: JSONValue = [
        "syncTasks": true, "syncShifts": true, "syncAppointments": true, "syncFollowUps": true,
        "includeReminders": true, "showMinimalDetails": false, "detail": "full", "patientIds": .null,
        "completedTasks": "remove", "twoWay": true, "syncIntervalMinutes": 15, "pastDays": 30, "futureDays": 400,
    ]

    private static func settings(google: Bool = true, microsoft: Bool = true) -> ServerSettings {
        var settings = ServerSettings()
        if google {
            settings.connections.googleClientID = "g"
            settings.connections.googleClientSecret = Concealed("gs")
        }
        if microsoft {
            settings.connections.microsoftClientID = "m"
            settings.connections.microsoftClientSecret = Concealed("ms")
        }
        return settings
    }

    @Test("A connection begins without an account, one of a phone at once active, with the defaults")
    func begins() async throws {
        try await TestServer.run(settings: Self.settings()) { server in
            try await server.makeCircle()
            for provider in ["google", "outlook", "caldav", "apple"] {
                let made = try await server.call(
                    .post, "/v1/circles/c/connections", ["provider": .string(provider)], as: "ann"
                ).expect(201)
                let id = try #require(made.json["id"]?.string)
                #expect(made.headers[.location] == "/v1/connections/\(id)")
                #expect(made.json["state"] == .string(provider == "apple" ? "active" : "unauthorized"))
                #expect(made.json["config"] == Self.standard && made.json["isTwoWay"] == true)
                #expect(made.json["userId"] == "ann" && made.json["circleId"] == "c" && made.json["label"] == .null)
                #expect(made.json["counts"] == ["linked": 0, "pending": 0, "conflicts": 0])
                #expect(made.json["attention"] == [] && made.json["nextSyncAt"] == .null)
                for name in [
                    "accountId", "accountName", "calendarId", "calendarName", "lastSyncAt", "lastSyncStatus",
                    "lastSyncError",
                ] {
                    #expect(made.json[name] == .null, "\(name)")
                }
                let read = try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200)
                #expect(read.json == made.json)
                let tag = try #require(read.headers[.eTag])
                try await server.call(.get, "/v1/connections/\(id)", as: "ann", headers: [.ifNoneMatch: tag]).expect(
                    304)
            }
            let list = try await server.call(.get, "/v1/circles/c/connections", as: "ann").expect(200)
            #expect(list.json["items"]?.array?.count == 4 && list.json["nextCursor"] == .null)
        }
    }

    @Test("One connection per user, circle and provider needs no label; more are distinguished by labels")
    func labels() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func make(_ body: JSONValue, as user: String = "ann") async throws -> Answer {
                try await server.call(.post, "/v1/circles/c/connections", body, as: user)
            }
            let first = try await make(["provider": "caldav"]).expect(201).json
            let second = try await make(["provider": "caldav"]).expect(409)
            #expect(second.json["code"] == "label-taken" && second.json["connectionId"] == first["id"])
            #expect(second.json["detail"]?.string?.contains(first["id"]?.string ?? "?") == true)
            let work = try await make(["provider": "caldav", "label": "Work"]).expect(201).json
            try await make(["provider": "caldav", "label": "Work"]).expect(409)
            try await make(["provider": "apple", "label": "Work"]).expect(201)
            try await make(["provider": "caldav"], as: "ben").expect(201)
            let path = "/v1/connections/\(try #require(work["id"]?.string))"
            let moved = try await server.call(.patch, path, ["label": .null], as: "ann").expect(409)
            #expect(moved.json["connectionId"] == first["id"])
            try await server.call(.patch, path, ["label": "Other"], as: "ann").expect(200)
            // A label is free again once its connection has ended.
            try await make(["provider": "caldav", "label": "Work"]).expect(201)
            try await server.call(.delete, "/v1/connections/\(try #require(first["id"]?.string))", as: "ann").expect(
                204)
            try await make(["provider": "caldav"]).expect(201)
        }
    }

    @Test("What is not set up is listed with the setting that is missing, and refused with it")
    func unavailable() async throws {
        try await TestServer.run(settings: Self.settings(google: false)) { server in
            try await server.makeCircle()
            let list = try await server.call(.get, "/v1/circles/c/connections", as: "ann").expect(200)
            #expect(
                list.json["providers"] == [
                    [
                        "provider": "google", "isAvailable": false,
                        "missingSettings": ["KALENDS_GOOGLE_CLIENT_ID", "KALENDS_GOOGLE_CLIENT_SECRET"],
                    ],
                    ["provider": "outlook", "isAvailable": true, "missingSettings": []],
                    ["provider": "caldav", "isAvailable": true, "missingSettings": []],
                    ["provider": "apple", "isAvailable": true, "missingSettings": []],
                ])
            let refused = try await server.call(
                .post, "/v1/circles/c/connections", ["provider": "google"], as: "ann"
            ).expect(409)
            #expect(refused.json["code"] == "provider-unavailable")
            #expect(refused.json["settings"] == ["KALENDS_GOOGLE_CLIENT_ID", "KALENDS_GOOGLE_CLIENT_SECRET"])
            #expect(refused.json["detail"]?.string?.contains("KALENDS_GOOGLE_CLIENT_ID") == true)
            try await server.call(.post, "/v1/circles/c/connections", ["provider": "outlook"], as: "ann").expect(201)
        }
    }

    @Test("The configuration is checked field by field, keeps what is not named, and knows the circle's patients only")
    func configuration() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let wrong: JSONValue = [
                "syncTasks": 1, "detail": "all", "patientIds": ["a b"], "completedTasks": "x",
                "syncIntervalMinutes": 4, "pastDays": -1, "futureDays": 3661, "includeTasks": true,
            ]
            let faults = try await server.call(
                .post, "/v1/circles/c/connections", ["provider": "exchange", "config": wrong, "x": 1], as: "ann"
            ).expect(422)
            #expect(
                Set(faults.pointers) == [
                    "/provider", "/x", "/config/syncTasks", "/config/detail", "/config/patientIds/0",
                    "/config/completedTasks", "/config/syncIntervalMinutes", "/config/pastDays", "/config/futureDays",
                    "/config/includeTasks",
                ])
            let stranger = try await server.call(
                .post, "/v1/circles/c/connections", ["provider": "apple", "config": ["patientIds": ["mom", "eve"]]],
                as: "ann"
            ).expect(422)
            #expect(stranger.pointers == ["/config/patientIds/0"])
            let made = try await server.call(
                .post, "/v1/circles/c/connections",
                ["provider": "apple", "config": ["patientIds": ["mom"], "syncIntervalMinutes": 1440]], as: "ann"
            ).expect(201)
            let path = "/v1/connections/\(try #require(made.json["id"]?.string))"
            let changed = try await server.call(
                .patch, path, ["config": ["twoWay": false, "patientIds": .null, "syncIntervalMinutes": 5]], as: "ann"
            ).expect(200)
            var expected = try #require(Self.standard.object)
            expected["twoWay"] = false
            expected["syncIntervalMinutes"] = 5
            #expect(changed.json["config"] == .object(expected) && changed.json["isTwoWay"] == false)
            let old = try #require(made.headers[.eTag] ?? changed.headers[.eTag])
            let again = try await server.call(.patch, path, ["config": ["twoWay": true]], as: "ann").expect(200)
            try await server.call(.patch, path, ["label": "x"], as: "ann", headers: [.ifMatch: old]).expect(412)
            let tag = try #require(again.headers[.eTag])
            try await server.call(.patch, path, ["label": "x"], as: "ann", headers: [.ifMatch: tag]).expect(200)
        }
    }

    @Test("An active connection is paused and resumed; one that does not run cannot be paused")
    func pausing() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let phone = try await server.call(.post, "/v1/circles/c/connections", ["provider": "apple"], as: "ann")
            let path = "/v1/connections/\(try #require(phone.json["id"]?.string))"
            for _ in 1...2 {
                let paused = try await server.call(.patch, path, ["paused": true], as: "ann").expect(200)
                #expect(paused.json["state"] == "paused")
            }
            #expect(try await server.call(.patch, path, ["paused": false], as: "ann").json["state"] == "active")
            let other = try await server.call(.post, "/v1/circles/c/connections", ["provider": "caldav"], as: "ann")
            let refused = try await server.call(
                .patch, "/v1/connections/\(try #require(other.json["id"]?.string))", ["paused": true], as: "ann"
            ).expect(409)
            #expect(refused.json["code"] == "connection-inactive")
            let changes = try await server.call(.get, "/v1/circles/c/changes").expect(200).json["items"]?.array ?? []
            #expect(
                changes.filter { $0["type"] == "connection" && $0["id"] == phone.json["id"] }.map { $0["change"] } == [
                    "created", "updated", "updated",
                ])
            let bens = try await server.call(.get, "/v1/circles/c/changes", as: "ben").expect(200).json["items"]?.array
            #expect(bens?.contains { $0["type"] == "connection" } == false)
        }
    }

    @Test("Only its user and the host application see a connection; it ends with the membership and the circle")
    func ownership() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.call(.post, "/v1/circles/c/connections", ["provider": "apple"]).expect(422)
            try await server.call(.post, "/v1/circles/c/connections", ["provider": "apple", "userId": "eve"])
                .expect(422)
            let made = try await server.call(
                .post, "/v1/circles/c/connections", ["provider": "apple", "userId": "vic"]
            ).expect(201)
            let path = "/v1/connections/\(try #require(made.json["id"]?.string))"
            try await server.call(.get, path, as: "vic").expect(200)
            try await server.call(.get, path).expect(200)
            for method in [HTTPRequest.Method.get, .patch, .delete] {
                let answer = try await server.call(method, path, method == .patch ? [:] : nil, as: "ann").expect(404)
                #expect(answer.json["code"] == "connection-not-found")
            }
            let anns = try await server.call(.get, "/v1/circles/c/connections", as: "ann").expect(200)
            #expect(anns.json["items"] == [])
            let all = try await server.call(.get, "/v1/circles/c/connections").expect(200)
            #expect(all.json["items"]?.array?.count == 1)
            try await server.call(.delete, "/v1/circles/c/members/vic").expect(204)
            try await server.call(.get, path).expect(404)
            try await server.call(.put, "/v1/circles/c/members/vic", ["displayName": "V", "role": "viewer"]).expect(201)
            try await server.call(.get, path, as: "vic").expect(404)
            let second = try await server.call(.post, "/v1/circles/c/connections", ["provider": "apple"], as: "vic")
                .expect(201)
            try await server.call(.delete, "/v1/circles/c").expect(204)
            try await server.call(.get, "/v1/connections/\(try #require(second.json["id"]?.string))").expect(404)
            let left = try await server.services.store.read { try $0.endingConnections(limit: 10) }
            // Neither had written anything anywhere.
            #expect(left.isEmpty)
            try await server.services.tidying.tidy()
            #expect(try await server.services.store.read { try $0.connectionsBeingRemoved(limit: 10) }.isEmpty)
        }
    }

    @Test("A connection that wrote something elsewhere is kept out of sight until its last run, with what opens it")
    func ending() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func make(_ label: String) async throws -> String {
                let made = try await server.call(
                    .post, "/v1/circles/c/connections", ["provider": "caldav", "label": .string(label)], as: "ann"
                ).expect(201)
                let id = try #require(made.json["id"]?.string)
                try await server.services.store.record { transaction in
                    var own = try #require(try transaction.connection(id))
                    own.calendarID = "/cal/"
                    own.turn(to: .active, now: server.clock.now)
                    try transaction.recordConnection(own)
                    try transaction.putCredential(
                        ConnectionCredential(
                            connectionID: id, sealed: "v1.x", account: "a", version: 1, now: server.clock.now))
                }
                return id
            }
            let (kept, removed, left) = (try await make("kept"), try await make("removed"), try await make("left"))
            try await server.call(.delete, "/v1/connections/\(kept)?events=all", as: "ann").expect(422)
            try await server.call(.delete, "/v1/connections/\(kept)", as: "ann").expect(204)
            try await server.call(.delete, "/v1/connections/\(removed)?events=remove", as: "ann").expect(204)
            try await server.call(.delete, "/v1/circles/c/members/ann").expect(204)
            for id in [kept, removed, left] { try await server.call(.get, "/v1/connections/\(id)").expect(404) }
            try await server.services.store.read { transaction in
                #expect(try transaction.connectionEverKnown(kept) == nil)
                #expect(try transaction.credential(ofConnection: kept) == nil)
                #expect(try transaction.connectionEverKnown(removed)?.ending == .all)
                #expect(try transaction.connectionEverKnown(left)?.ending == .future)
                #expect(try transaction.credential(ofConnection: left) != nil)
                let ending = try transaction.endingConnections(limit: 10).map(\.id)
                #expect(ending.sorted() == [removed, left].sorted())
                #expect(try transaction.dueConnections(now: .max, limit: 10).isEmpty)
            }
        }
    }
}
