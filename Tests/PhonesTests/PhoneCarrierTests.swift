// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Storage
import Testing

@testable import ServerTestSupport

@Suite("One phone carries a connection at a time")
struct PhoneCarrierTests {
    private static let week = 7 * 86_400

    private static func carried(_ phone: Phone) async throws -> JSONValue {
        let status = try await phone.call(.get, "/sync/apple/status").expect(200).json
        return try #require(status["connections"]?.array?.first)
    }

    @Test("The first device that asks carries it; another gets neither items nor deletions, and is refused as stale")
    func first() async throws {
        try await PhoneBench.run { bench in
            let (one, two) = (
                try await Phone(bench.server), try await Phone(bench.server, named: "phone-2")
            )
            try await bench.appointment("dentist", "2026-03-06T10:00:00-08:00")
            let id = try await bench.connect()
            #expect(try await Self.carried(one)["carrier"] == .null)
            let events = try await one.changes().events
            #expect(events.count == 1)
            #expect(try await two.changes().events.isEmpty)
            let carried = try await Self.carried(one)
            #expect(carried["isCarrier"] == true && carried["carrier"]?["deviceId"] == "phone-1")
            #expect(carried["turn"] == 1 && carried["circleId"] == "c" && carried["state"] == "active")
            let other = try await Self.carried(two)
            #expect(other["isCarrier"] == false && other["carrier"] == carried["carrier"])
            let refused = try await two.upsert(bench.sent(events[0], as: "X2"))
            let fault = try #require(refused["rejected"]?.array?.first)
            #expect(fault["index"] == 0 && fault["errors"]?.array?.first?["code"] == "stale")
            #expect(fault["errors"]?.array?.first?["pointer"] == "/events/0/externalId")
            try await bench.server.call(.delete, "/v1/connections/\(id)?events=remove", as: "ann").expect(204)
            #expect(try await two.changes().events.isEmpty)
            #expect(try await one.changes().events.map { $0["syncState"] } == ["deleted"])
            // Who asks without a device's token sees the items that no device carries.
            _ = try await bench.connect(label: "again")
            let seen = try await bench.server.call(.get, "/sync/events/changes", as: "ann").expect(200).json
            #expect(seen["events"]?.array?.map { $0["itemId"] } == ["dentist"])
            #expect(try await two.changes().events.count == 1)
            let unseen = try await bench.server.call(.get, "/sync/events/changes", as: "ann").expect(200).json
            #expect(unseen["events"] == [])
        }
    }

    @Test("A person gives it to another device: the items come anew under the next turn; an unknown device is 422")
    func chosen() async throws {
        try await PhoneBench.run { bench in
            let server = bench.server
            let (one, two) = (try await Phone(server), try await Phone(server, named: "phone-2"))
            _ = try await Phone(server, of: "ben", named: "bens")
            try await bench.appointment("dentist", "2026-03-06T10:00:00-08:00")
            let id = try await bench.connect()
            let event = try await one.changes().events[0]
            try await one.upsert(bench.sent(event, as: "X1", ["turn": event["turn"] ?? .null]))
            let since = try await one.changes().nextSince
            let path = "/v1/connections/\(id)/device"
            for (body, pointer) in [
                (["deviceId": "phone-9"] as JSONValue, "/deviceId"), (["deviceId": "bens"], "/deviceId"),
                ([:], "/deviceId"), (["deviceId": 7], "/deviceId"), (["deviceId": "phone-2", "x": 1], "/x"),
            ] {
                #expect(try await server.call(.put, path, body, as: "ann").expect(422).pointers == [pointer])
            }
            try await server.call(.put, path, ["deviceId": "phone-2"], as: "ben").expect(404)
            let done = try await server.call(.put, path, ["deviceId": "phone-2"], as: "ann").expect(200).json
            #expect(done["id"] == .string(id))
            // The one before hears nothing of it, not even of deletions.
            server.clock.advance(seconds: 60)
            try await bench.appointment("dentist", "2026-03-06T12:00:00-08:00")
            #expect(try await one.changes(since: since).events.isEmpty)
            let items = try await two.changes(since: since).events
            #expect(items.count == 1 && items[0]["turn"] == 2 && items[0]["externalId"] == .null)
            #expect(items[0]["startTime"] == "12:00" && items[0]["mark"] == event["mark"])
            // What it still sends is refused, by whatever it knows the event: no double comes of it.
            for sent in [
                bench.sent(event, as: "X1"), bench.sent(event, as: "X1", ["id": .null]),
                bench.sent(event, as: "new", ["turn": 1]),
                ["externalId": "X1", "syncState": "deleted"] as JSONValue,
            ] {
                let answer = try await one.upsert(sent)
                #expect(answer["rejected"]?.array?.first?["errors"]?.array?.first?["code"] == "stale", "\(answer)")
            }
            // The new one finds its event by the mark; an iCloud calendar may know it by the same id.
            let linked = try await two.upsert(bench.sent(items[0], as: "X1", ["turn": 2]))
            #expect(linked["updated"] == 1 && linked["rejected"] == [])
            // The first one gets it back: what it sends of its first turn is refused, of its third one taken.
            try await server.call(.put, path, ["deviceId": "phone-1"], as: "ann").expect(200)
            let again = try await one.changes(since: since).events
            #expect(again.count == 1 && again[0]["turn"] == 3)
            let late = try await one.upsert(bench.sent(event, as: "X1", ["turn": 1]))
            #expect(late["rejected"]?.array?.count == 1)
            let right = try await one.upsert(bench.sent(again[0], as: "X1", ["turn": 3]))
            #expect(right["rejected"] == [] && right["updated"] == 1)
            let own = try await server.call(.get, "/v1/users/ann/events", as: "ann").expect(200).json
            #expect(own["items"] == [])
        }
    }

    @Test("After seven days of absence another one that asks takes over, and at once from one that was removed")
    func absence() async throws {
        try await PhoneBench.run { bench in
            let server = bench.server
            let (one, two) = (try await Phone(server), try await Phone(server, named: "phone-2"))
            try await bench.appointment("dentist", "2026-03-16T10:00:00-08:00")
            _ = try await bench.connect()
            #expect(try await one.changes().events.count == 1)
            server.clock.advance(seconds: Self.week - 60)
            #expect(try await two.changes().events.isEmpty)
            server.clock.advance(seconds: 120)
            #expect(try await two.changes().events.count == 1)
            #expect(try await one.changes().events.isEmpty)
            #expect(try await Self.carried(one)["carrier"]?["deviceId"] == "phone-2")
            // A carrier that asks keeps it.
            server.clock.advance(seconds: Self.week - 60)
            _ = try await two.changes()
            server.clock.advance(seconds: 3600)
            #expect(try await one.changes().events.isEmpty)
            let device = try await two.call(.get, "/sync/apple/status").expect(200).json["device"]?["id"]?.string
            try await server.call(.delete, "/v1/devices/\(device ?? "")", as: "ann").expect(204)
            #expect(try await one.changes().events.count == 1)
        }
    }

    @Test("A device that only brings events, or asks only for those that are linked, carries nothing")
    func mirrors() async throws {
        try await PhoneBench.run { bench in
            let (one, two) = (try await Phone(bench.server), try await Phone(bench.server, named: "phone-2"))
            try await bench.appointment("dentist", "2026-03-06T10:00:00-08:00")
            _ = try await bench.connect()
            try await one.upsert(.sent("E1", "Yoga"))
            #expect(try await one.changes(path: "/sync/apple/events/changes").events.count == 1)
            #expect(try await Self.carried(one)["carrier"] == .null)
            #expect(try await two.changes().events.contains { $0["itemId"] == "dentist" })
            #expect(try await Self.carried(two)["isCarrier"] == true)
        }
    }

    @Test("The choice of a device is in the audit trail and in the circle's changes, for its user")
    func noted() async throws {
        try await PhoneBench.run { bench in
            let phone = try await Phone(bench.server)
            let id = try await bench.connect()
            _ = try await phone.changes()
            let whole = try await bench.server.call(.get, "/v1/audit").expect(200).text
            #expect(whole.contains("connection.deviceChosen") && whole.contains(id))
            let changes = try await bench.server.call(.get, "/v1/circles/c/changes", as: "ann").expect(200).text
            #expect(changes.contains(id))
            let bens = try await bench.server.call(.get, "/v1/circles/c/changes", as: "ben").expect(200).text
            #expect(!bens.contains(id))
        }
    }
}
