// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Undoing a change")
struct UndoTests {
    private static let task: JSONValue = ["title": "Pills", "dueAt": "2026-03-03T09:00:00Z", "notes": "With water"]
    private static let series: JSONValue = [
        "patientId": "mom", "provider": "Dr. Who", "startAt": "2026-03-03T09:00:00Z",
        "recurrence": ["rrule": "FREQ=DAILY;COUNT=5"],
    ]
    private static let path = "/v1/circles/c/tasks/t"
    private static let appointment = "/v1/circles/c/appointments/a"

    private static func with(_ value: JSONValue, _ changes: [ByteString: JSONValue]) -> JSONValue {
        .object((value.object ?? [:]).merging(changes) { $1 })
    }

    /// Runs a server with a circle; `start` is the number of its latest change.
    private static func run(
        _ body: @escaping @Sendable (_ server: TestServer, _ start: Int) async throws -> Void
    ) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await body(server, try await server.latestChange())
        }
    }

    @Test("What was deleted comes back with its id, its UID and a higher SEQUENCE, and feeds show it again")
    func deletion() async throws {
        try await Self.run { server, start in
            try await server.put("tasks", "t", Self.task)
            let before = try await server.call(.get, Self.path).expect(200).json
            let feed = try await server.makeFeed()
            #expect(try await server.raw(.get, feed.path).expect(200).values("UID").count == 1)
            try await server.call(.delete, Self.path).expect(204)
            #expect(try await server.raw(.get, feed.path).expect(200).values("UID").isEmpty)
            let number = try await server.latestChange()
            server.clock.advance(seconds: 60)
            let done = try await server.undo(number, as: "ben").expect(200).json
            #expect(done["change"] == "created" && done["by"] == "user:ben" && done["undoes"] == .integer(number))
            let after = try await server.call(.get, Self.path).expect(200).json
            for name in ["title", "dueAt", "notes", "uid", "createdAt"] { #expect(after[name] == before[name]) }
            #expect(try #require(after["sequence"]?.integer) > #require(before["sequence"]?.integer))
            let shown = try await server.raw(.get, feed.path).expect(200)
            #expect(shown.values("UID") == [try #require(before["uid"]?.string)])
            // It is announced like any change, and only once.
            let reply = try await server.call(.get, "/v1/circles/c/changes?since=\(number)").expect(200)
            #expect(reply.json["items"]?.array?.map { $0["change"]?.string } == ["created"])
            let again = try await server.undo(number).expect(409)
            #expect(again.json["code"] == "undo-state" && again.json["undoneBy"] == done["number"])
            let entry = try await server.activity(since: start).first { $0["number"] == .integer(number) }
            #expect(entry?["undoneBy"] == done["number"] && entry?["undoableUntil"] == .null)
        }
    }

    @Test("What was created is deleted, and an undo can be undone")
    func creation() async throws {
        try await Self.run { server, start in
            try await server.put("tasks", "t", Self.task)
            try await server.undo(start + 1).expect(200)
            try await server.call(.get, Self.path).expect(404)
            try await server.undo(start + 2).expect(200)
            #expect(try await server.call(.get, Self.path).expect(200).json["title"] == "Pills")
            try await server.undo(start + 3).expect(200)
            try await server.call(.get, Self.path).expect(404)
        }
    }

    @Test("Only the fields of the change get their values back, and those that others changed since stay")
    func update() async throws {
        try await Self.run { server, start in
            try await server.put("tasks", "t", Self.task)
            try await server.put("tasks", "t", Self.with(Self.task, ["title": "More pills"]))
            try await server.put("tasks", "t", Self.with(Self.task, ["title": "More pills", "notes": "With milk"]))
            try await server.undo(start + 2).expect(200)
            let now = try await server.call(.get, Self.path).expect(200).json
            #expect(now["title"] == "Pills" && now["notes"] == "With milk")
            #expect(try await server.activity(since: start + 3)[0]["after"] == ["title": "Pills"])
        }
    }

    @Test("If somebody changed the same since, the refusal says who, when and with which change")
    func changedSince() async throws {
        try await Self.run { server, start in
            try await server.put("tasks", "t", Self.task)
            try await server.put("tasks", "t", Self.with(Self.task, ["title": "More pills"]))
            try await server.put("tasks", "t", Self.with(Self.task, ["title": "More pills", "notes": "With milk"]))
            server.clock.advance(seconds: 60)
            try await server.call(.put, Self.path, Self.with(Self.task, ["title": "No pills"]), as: "ben").expect(200)
            server.clock.advance(seconds: 60)
            try await server.call(.put, Self.path, Self.with(Self.task, ["title": "No pills", "reminders": [5]]))
                .expect(200)
            let refused = try await server.undo(start + 2).expect(409).json
            #expect(refused["code"] == "changed-since" && refused["by"] == "user:ben")
            #expect(refused["at"] == "2026-03-02T12:01:00Z" && refused["number"] == .integer(start + 4))
            #expect(refused["detail"]?.string?.hasPrefix("Ben changed this since, at 2026-03-02T12:01:00Z") == true)
            // The creation as a whole: the first change after it is in the way.
            #expect(try await server.undo(start + 1).expect(409).json["number"] == .integer(start + 2))
            try await server.call(.delete, Self.path, as: "ann").expect(204)
            #expect(try await server.undo(start + 5).expect(409).json["by"] == "user:ann")
            try await server.put("tasks", "t", Self.task)
            let again = try await server.undo(start + 6).expect(409).json
            #expect(again["code"] == "changed-since" && again["number"] == .integer(start + 7))
        }
    }

    @Test("An undo needs the right to change the schedule, and a change that can be undone")
    func refusals() async throws {
        try await Self.run { server, start in
            try await server.put("tasks", "t", Self.task)
            try await server.undo(start + 1, as: "vic").expect(403)
            try await server.undo(start + 1, as: "stranger").expect(404)
            #expect(try await server.undo(start + 2).expect(404).json["code"] == "change-not-found")
            #expect(try await server.undo(start).expect(409).json["code"] == "undo-state")
            try await server.call(.post, "/v1/circles/c/activity/x/undo").expect(404)
            // Another one's feed is nobody's business.
            _ = try await server.makeFeed(user: "ben")
            try await server.undo(start + 2, as: "ann").expect(404)
            try await server.undo(start + 2, as: "ben").expect(409)
            // What an item needs may have gone.
            try await server.put("tasks", "t", Self.with(Self.task, ["patientId": "dad"]))
            try await server.call(.delete, Self.path).expect(204)
            let number = try await server.latestChange()
            try await server.call(.delete, "/v1/circles/c/patients/dad").expect(204)
            let refused = try await server.undo(number).expect(409).json
            #expect(refused["code"] == "undo-state")
            #expect(refused["detail"]?.string?.contains("no such patient") == true)
        }
    }

    private static func starts(_ server: TestServer) async throws -> [String] {
        let list = try await server.call(.get, appointment + "/occurrences").expect(200)
        return try #require(list.json["items"]?.array).compactMap { $0["originalStart"]?.string }
    }

    @Test("A single day of a series is put back by itself, as long as the series has it")
    func occurrence() async throws {
        try await Self.run { server, start in
            try await server.put("appointments", "a", Self.series)
            let day = Self.appointment + "/occurrences/20260304T090000Z"
            try await server.call(.put, day, ["status": "cancelled"]).expect(201)
            try await server.call(.put, day, ["status": "cancelled", "notes": "Ill"]).expect(200)
            try await server.call(.delete, day).expect(204)
            let found = try await server.activity(since: start + 1)
            #expect(found.map { $0["type"]?.string } == ["occurrence", "occurrence", "occurrence"])
            #expect(found[1]["before"] == ["notes": .null] && found[1]["after"] == ["notes": "Ill"])
            #expect(found[2]["occurrence"] == "20260304T090000Z")
            try await server.undo(start + 4).expect(200)
            #expect(try await server.call(.get, day).expect(200).json["notes"] == "Ill")
            try await server.undo(start + 3).expect(200)
            #expect(try await server.call(.get, day).expect(200).json["notes"] == .null)
            try await server.undo(start + 2).expect(200)
            try await server.call(.get, day).expect(404)
            // The undo of the first one brings back a day that the series no longer has.
            try await server.put("appointments", "a", Self.with(Self.series, ["startAt": "2026-03-03T10:00:00Z"]))
            #expect(try await server.undo(start + 7).expect(409).json["code"] == "undo-state")
        }
    }

    @Test("With a series, its changed days come back, and go again with the undo of that")
    func series() async throws {
        try await Self.run { server, start in
            try await server.put("appointments", "a", Self.series)
            let days: [(String, JSONValue)] = [("20260304", ["notes": "Ill"]), ("20260306", ["status": "cancelled"])]
            for (day, value) in days {
                try await server.call(.put, Self.appointment + "/occurrences/\(day)T090000Z", value).expect(201)
            }
            let before = try await server.call(.get, Self.appointment + "/occurrences").expect(200).json
            try await server.call(.delete, Self.appointment).expect(204)
            let deleted = try await server.latestChange()
            let back = try await server.undo(deleted).expect(200).json
            #expect(try await server.call(.get, Self.appointment + "/occurrences").expect(200).json == before)
            let parts = try await server.activity(since: deleted + 1)
            #expect(parts.count == 2 && parts.allSatisfy { $0["partOf"] == back["number"] })
            #expect(parts.allSatisfy { $0["undoableUntil"] == .null })
            #expect(try await server.undo(deleted + 2).expect(409).json["partOf"] == back["number"])
            try await server.undo(deleted + 1).expect(200)
            try await server.call(.get, Self.appointment).expect(404)
            try await server.undo(try await server.latestChange()).expect(200)
            #expect(try await server.call(.get, Self.appointment + "/occurrences").expect(200).json == before)

            // A series that moves loses its changed days, which come back with the undo.
            let moved = try await server.latestChange() + 1
            try await server.put("appointments", "a", Self.with(Self.series, ["startAt": "2026-03-03T10:00:00Z"]))
            #expect(try await Self.starts(server).isEmpty)
            try await server.undo(moved).expect(200)
            #expect(try await server.call(.get, Self.appointment + "/occurrences").expect(200).json == before)
            // Nobody's changed day is deleted with a series whose creation is undone.
            let refused = try await server.undo(start + 1).expect(409).json
            #expect(refused["code"] == "changed-since")
        }
    }

    @Test("Random changes that are undone the last first lead back to the first state", arguments: 1...6)
    func backAndForth(seed: Int) async throws {
        try await Self.run { server, _ in
            var random = SplitMix(seed: UInt64(seed))
            try await server.put("tasks", "t0", Self.task)
            try await server.put("appointments", "a0", Self.series)
            let first = try await Self.state(server)
            let start = try await server.latestChange()
            for _ in 0..<40 { try await Self.change(server, &random) }
            let last = try await Self.state(server)
            let end = try await server.latestChange()
            try await Self.undoAll(server, from: start, to: end)
            #expect(try await Self.state(server) == first)
            // And the undos, too.
            let undone = try await server.latestChange()
            try await Self.undoAll(server, from: end, to: undone)
            #expect(try await Self.state(server) == last)
        }
    }

    /// Undoes all changes after a number, the last first, but for those that are parts of others.
    private static func undoAll(_ server: TestServer, from start: Int, to end: Int) async throws {
        let wholes = try await server.activity(since: start).filter {
            $0["partOf"] == .null && ($0["number"]?.integer ?? 0) <= end
        }
        for number in wholes.compactMap({ $0["number"]?.integer }).reversed() {
            try await server.undo(number).expect(200)
        }
    }

    /// Returns all that a person set, without revisions and times of change.
    private static func state(_ server: TestServer) async throws -> [JSONValue] {
        var found: [JSONValue] = []
        for list in ["tasks", "appointments"] {
            let items = try await server.call(.get, "/v1/circles/c/\(list)?limit=1000").expect(200).json["items"]?.array
            for item in try #require(items) {
                var members = item.object ?? [:]
                for name in ["sequence", "updatedAt", "createdAt"] { members[ByteString(name)] = nil }
                found.append(.object(members))
                guard list == "appointments", item["recurrence"] != .null, let id = item["id"]?.string else { continue }
                found.append(
                    try await server.call(.get, "/v1/circles/c/appointments/\(id)/occurrences?limit=1000").expect(200)
                        .json)
            }
        }
        return found
    }

    /// Makes some change or tries to.
    private static func change(_ server: TestServer, _ random: inout SplitMix) async throws {
        let task = "/v1/circles/c/tasks/t\(random.below(3))"
        let series = "/v1/circles/c/appointments/a\(random.below(2))"
        let day = "\(series)/occurrences/2026030\(3 + random.below(5))T\(random.below(2) == 0 ? "09" : "10")0000Z"
        let answer =
            switch random.below(10) {
            case 0: try await server.call(.delete, task)
            case 1...3:
                try await server.call(
                    .put, task,
                    with(
                        Self.task,
                        [
                            "title": .string("T\(random.below(3))"), "reminders": [.integer(random.below(2))],
                            "timeZone": random.below(2) == 0 ? .null : "Europe/Berlin",
                        ]))
            case 4: try await server.call(.delete, series)
            case 5, 6:
                try await server.call(
                    .put, series,
                    with(
                        Self.series,
                        [
                            "startAt": .string("2026-03-03T\(random.below(3) == 0 ? "10" : "09"):00:00Z"),
                            "location": random.below(2) == 0 ? .null : "Room 4",
                        ]))
            case 7, 8:
                try await server.call(
                    .put, day, ["notes": .string("N\(random.below(3))"), "provider": .string("P\(random.below(2))")])
            default: try await server.call(.delete, day)
            }
        #expect(answer.status < 500 && answer.status != 422, "\(answer.text)")
    }

    @Test("Of an undo and an edit of the same field at once, one comes first, and nothing is lost", arguments: 1...4)
    func atOnce(round: Int) async throws {
        try await Self.run { server, start in
            try await server.put("tasks", "t", Self.task)
            try await server.put("tasks", "t", Self.with(Self.task, ["title": "More pills"]))
            async let edit = server.call(.put, Self.path, Self.with(Self.task, ["title": "No pills"]), as: "ben")
            async let first = server.undo(start + 2)
            async let second = server.undo(start + 2)
            let (edited, undos) = (try await edit, [try await first, try await second])
            try edited.expect(200)
            // Whoever comes second finds what the first did.
            #expect(undos.count(where: { $0.status == 200 }) <= 1)
            #expect(undos.allSatisfy { $0.status == 200 || $0.status == 409 })
            #expect(try await server.call(.get, Self.path).expect(200).json["title"] == "No pills")
            let found = try await server.activity(since: start + 2)
            #expect(found.count == (undos.contains { $0.status == 200 } ? 2 : 1))
            // Each starts from what the one before left.
            for (one, next) in zip(found, found.dropFirst()) { #expect(one["after"] == next["before"]) }
        }
    }
}
