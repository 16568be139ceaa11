// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Logging
import NIOCore
import Server
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

extension TestServer {
    /// Returns what happened in circle c after a number, in order.
    func activity(since: Int = 0, as user: String? = nil) async throws -> [JSONValue] {
        let answer = try await call(.get, "/v1/circles/c/activity?since=\(since)&limit=1000", as: user).expect(200)
        return try #require(answer.json["items"]?.array)
    }

    /// Returns the number of the latest change of circle c.
    func latestChange() async throws -> Int {
        try #require(try await call(.get, "/v1/circles/c/changes?limit=1").expect(200).json["latest"]?.integer)
    }

    @discardableResult
    func undo(_ number: Int, as user: String? = nil) async throws -> Answer {
        try await call(.post, "/v1/circles/c/activity/\(number)/undo", as: user)
    }
}

@Suite("What happened in a circle")
struct ActivityTests {
    private static let task: JSONValue = [
        "title": "Pills", "dueAt": "2026-03-03T09:00:00Z", "notes": "With water", "reminders": [15],
    ]

    private static func with(_ changes: [ByteString: JSONValue]) -> JSONValue {
        .object((task.object ?? [:]).merging(changes) { $1 })
    }

    @Test("Each change says who, by which way, and the fields that it changed, before and after")
    func entries() async throws {
        try await TestServer.withPasswords { server in
            let start = try await server.latestChange()
            let ann = try await server.session("ann")
            try await server.put("tasks", "t", Self.task)
            server.clock.advance(seconds: 60)
            _ = try await server.bearing(
                ann, .put, "/v1/circles/c/tasks/t", Self.with(["title": "More pills", "notes": .null])
            ).expect(200)
            try await server.call(.delete, "/v1/circles/c/tasks/t", as: "ben").expect(204)
            try await server.call(.put, "/v1/circles/c/patients/mom", ["displayName": "Mum"], as: "ann").expect(200)
            let found = try await server.activity(since: start, as: "vic")
            #expect(found.map { $0["change"]?.string } == ["created", "updated", "deleted", "updated"])
            #expect(found.map { $0["number"]?.integer } == (1...4).map { start + $0 })
            #expect(found[0]["by"]?.string?.hasPrefix("key:") == true)
            #expect(found.dropFirst().map { $0["by"]?.string } == ["user:ann", "user:ben", "user:ann"])
            #expect(found.allSatisfy { $0["via"] == "api" })
            #expect(found.map { $0["type"]?.string } == ["item", "item", "item", "patient"])
            #expect(found[0]["before"] == .null && found[0]["after"]?["title"] == "Pills")
            #expect(found[0]["after"]?["dueAt"] == "2026-03-03T01:00:00-08:00")
            #expect(found[1]["before"] == ["title": "Pills", "notes": "With water"])
            #expect(found[1]["after"] == ["title": "More pills", "notes": .null])
            #expect(found[1]["at"] == "2026-03-02T12:01:00Z")
            #expect(found[1]["undoableUntil"] == "2026-04-01T12:01:00Z")
            #expect(found[2]["before"]?["title"] == "More pills" && found[2]["after"] == .null)
            #expect(found[2]["reach"] == "/v1/circles/c/tasks/t/reach")
            #expect(found[3]["undoableUntil"] == .null && found[3]["reach"] == .null)
            try await server.call(.get, "/v1/circles/c/tasks/t/reach").expect(200)
            try await server.call(.get, "/v1/circles/c/activity", as: "stranger").expect(404)
        }
    }

    @Test("The list goes on after a number, begins at a time or a day, and comes in pages")
    func parts() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let start = try await server.latestChange()
            for number in 0..<7 {
                server.clock.advance(seconds: 3600)
                try await server.put("tasks", "t\(number)", Self.task)
            }
            func numbers(_ query: String) async throws -> [Int] {
                let answer = try await server.call(.get, "/v1/circles/c/activity?\(query)").expect(200)
                return try #require(answer.json["items"]?.array).compactMap { $0["number"]?.integer }
            }
            #expect(try await numbers("since=\(start + 4)") == [start + 5, start + 6, start + 7])
            #expect(try await numbers("from=2026-03-02T18:00:00Z") == [start + 6, start + 7])
            #expect(try await numbers("from=2026-03-02T18:00:00Z&since=\(start + 6)") == [start + 7])
            #expect(try await numbers("from=2026-03-02").count == start + 7)
            #expect(try await numbers("from=2026-03-09") == [])
            var (found, cursor): ([Int], String?) = ([], nil)
            repeat {
                let query = "limit=3&since=\(start)" + (cursor.map { "&cursor=\($0)" } ?? "")
                let page = try await server.call(.get, "/v1/circles/c/activity?\(query)").expect(200)
                found += page.json["items"]?.array?.compactMap { $0["number"]?.integer } ?? []
                cursor = page.json["nextCursor"]?.string
            } while cursor != nil
            #expect(found == (1...7).map { start + $0 })
            #expect(
                try await server.call(.get, "/v1/circles/c/activity?from=never").expect(422).pointers
                    == ["/query/from"])
            try await server.call(.get, "/v1/circles/c/activity?since=\(start + 8)").expect(410)
        }
    }

    @Test("A file is one entry with the address that undoes it, and pages and phones are ways of their own")
    func ways() async throws {
        try await TestServer.withPasswords { server in
            let start = try await server.latestChange()
            let file = OneCalendar.text([OneCalendar.event("u", "Gym"), OneCalendar.event("v", "Yoga")])
            let made = try await server.raw(
                .post, "/v1/circles/c/imports?mode=commit",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
                body: ByteBuffer(string: file)
            ).expect(201)
            let id = try #require(made.json["id"]?.string)
            let found = try await server.activity(since: start)
            #expect(found.count == 1)
            #expect(found[0]["via"] == "import" && found[0]["undoImport"] == .string("/v1/imports/\(id)/undo"))
            let refused = try await server.undo(start + 1).expect(409)
            #expect(refused.json["code"] == "undo-state")
            try await server.call(.post, "/v1/imports/\(id)/undo").expect(200)

            // What the use cases learn from their callers.
            for way in [ChangeAuthor.Way.page, .google, .phone] {
                let caller = KalendsCore.Caller(.user("ann"), actor: AuditActor(user: "ann"), way: way)
                try await server.services.patients.touch("mom", way.rawValue, for: caller)
            }
            let ways = try await server.activity(since: start + 2).map { $0["via"]?.string }
            #expect(ways == ["page", "google", "phone"])
        }
    }

    @Test("A newcomer does not see what was there before they came, and may not bring it back; an owner does")
    func newcomers() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let start = try await server.latestChange()
            try await server.put("tasks", "t", Self.task)
            try await server.call(.delete, "/v1/circles/c/tasks/t").expect(204)
            server.clock.advance(seconds: 60)
            try await server.call(.put, "/v1/circles/c/members/new", ["displayName": "New", "role": "member"])
                .expect(201)
            let shown = try await server.activity(since: start, as: "new")
            #expect(shown.count == 3)
            #expect(shown.allSatisfy { $0["before"] == .null && $0["after"] == .null })
            #expect(shown.prefix(2).allSatisfy { $0["undoableUntil"] == .null })
            try await server.undo(start + 2, as: "new").expect(403)
            try await server.call(.put, "/v1/circles/c/members/new", ["displayName": "New", "role": "owner"])
                .expect(200)
            #expect(try await server.activity(since: start, as: "new")[1]["before"]?["title"] == "Pills")
            try await server.undo(start + 2, as: "new").expect(200)
        }
    }

    @Test(
        "What was there before is kept for thirty days or what the setting says, and the changes themselves longer",
        arguments: [30, 2])
    func days(kept: Int) async throws {
        var settings = ServerSettings()
        settings.retention.activity = kept
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let start = try await server.latestChange()
            try await server.put("tasks", "t", Self.task)
            try await server.put("tasks", "t", Self.with(["title": "Other"]))
            server.clock.advance(seconds: kept * 86_400 - 1)
            #expect(try await server.activity(since: start)[1]["before"] == ["title": "Pills"])
            server.clock.advance(seconds: 1)
            let old = try await server.activity(since: start)
            #expect(old.count == 2)
            #expect(old.allSatisfy { $0["before"] == .null && $0["after"] == .null && $0["undoableUntil"] == .null })
            let refused = try await server.undo(start + 2).expect(410)
            #expect(refused.json["code"] == "changes-forgotten" && refused.text.contains("for \(kept) days"))
            func count() async throws -> Int {
                try await server.services.store.read {
                    try $0.keptContents(of: "t", "tasks", part: "", in: "c", after: 0, limit: 10).count
                }
            }
            #expect(try await count() == 1)
            let housekeeping = Housekeeping(
                services: server.services, logger: Logger(label: "t") { _ in server.log })
            try await housekeeping.prune(server.clock.now + 1)
            #expect(try await count() == 0)
        }
    }

    @Test(
        "What a deleted item said goes with what was kept of its deletion; its UID and revision go on",
        arguments: [0, 600])
    func emptied(kept bytes: Int) async throws {
        var settings = ServerSettings()
        // So few bytes that the next change takes what was kept of the deletion, before its days are over.
        if bytes > 0 { settings.quotas.keptBytesPerCircle = bytes }
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let start = try await server.latestChange()
            let said = Self.with(["title": "Canaria", "notes": "Canaria", "patientId": "mom"])
            func task() async throws -> JSONValue {
                try await server.call(.get, "/v1/circles/c/tasks/t").expect(200).json
            }
            try await server.put("tasks", "t", said)
            let made = try await task()
            try await server.put("tasks", "other", Self.task)
            try await server.call(.delete, "/v1/circles/c/tasks/t").expect(204)
            func content() async throws -> String? {
                try await server.services.store.read { try $0.itemEverKnown("t", "tasks", in: "c")?.content }
            }
            #expect(try await content()?.contains("Canaria") == true)
            if bytes > 0 {
                try await server.put("tasks", "other", Self.with(["title": "Other"]))
            } else {
                server.clock.advance(seconds: 31 * 86_400)
                try await Housekeeping(services: server.services, logger: Logger(label: "t") { _ in server.log })
                    .prune(server.clock.now)
            }
            #expect(try await content() == "")
            let used = try await server.services.store.read { try $0.itemUsage(of: "c") }
            let other = try await server.services.store.read { try $0.item("other", "tasks", in: "c") }
            #expect(used.bytes == other?.content.utf8.count && used.count == 2)
            try await server.undo(start + 3).expect(410)
            try await server.call(.get, "/v1/circles/c/tasks/t/reach").expect(404)
            #expect(try await server.activity(since: start).count > 2)
            let services = server.services
            let faults = try await StoredRows.faults(
                in: services.store, services.maintenance, services.settings.kinds)
            #expect(faults.isEmpty, "\(faults)")
            try await server.put("tasks", "t", Self.task)
            let again = try await task()
            #expect(again["uid"] == made["uid"] && again["sequence"]?.integer ?? 0 > made["sequence"]?.integer ?? 0)
        }
    }

    @Test("What is kept of a circle has its share, and the oldest makes room")
    func share() async throws {
        var settings = ServerSettings()
        settings.quotas.keptBytesPerCircle = 45_000
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let start = try await server.latestChange()
            for number in 0..<10 {
                let notes = String(repeating: "\(number)", count: 10_000)
                try await server.put("tasks", "t", Self.with(["notes": .string(notes)]))
            }
            let found = try await server.activity(since: start)
            #expect(found.count == 10)
            #expect(found.map { $0["undoableUntil"] != .null } == (0..<10).map { $0 >= 6 })
            #expect(try await server.undo(start + 4).expect(410).json["code"] == "changes-forgotten")
            // Even the creation, of which nothing is stored, could not be told from what came later.
            try await server.undo(start + 1).expect(410)
            try await server.undo(start + 10).expect(200)
            try await server.undo(start + 9).expect(200)
        }
    }

    @Test("A deleted circle leaves nothing of what its items were")
    func removal() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "t", Self.task)
            try await server.call(.delete, "/v1/circles/c/tasks/t").expect(204)
            try await server.call(.delete, "/v1/circles/c").expect(204)
            try await server.services.tidying.tidy()
            let left = try await server.services.store.read {
                try $0.keptContents(of: "t", "tasks", part: "", in: "c", after: 0, limit: 10)
            }
            #expect(left.isEmpty)
        }
    }
}

extension Patients {
    /// Changes the name of a patient of circle c.
    fileprivate func touch(_ id: String, _ name: String, for caller: KalendsCore.Caller) async throws {
        _ = try await put(id, in: "c", displayName: name, if: .none, for: caller)
    }
}
