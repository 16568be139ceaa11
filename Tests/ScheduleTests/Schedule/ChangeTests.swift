// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Changes of a circle")
struct ChangeTests {
    /// Returns the changes after a number, each as `type change id`.
    private static func changes(_ server: TestServer, since: Int, as user: String? = nil) async throws -> [String] {
        let answer = try await server.call(.get, "/v1/circles/c/changes?since=\(since)&limit=1000", as: user)
            .expect(200)
        return try #require(answer.json["items"]?.array).map { item in
            [item["type"], item["change"], item["collection"], item["id"], item["occurrence"]].compactMap { $0?.string }
                .joined(separator: " ")
        }
    }

    private static func latest(_ server: TestServer) async throws -> Int {
        try #require(try await server.call(.get, "/v1/circles/c/changes?limit=1").expect(200).json["latest"]?.integer)
    }

    @Test("Each creation, change and deletion is listed once, in order, and what changes nothing is not")
    func everything() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            #expect(
                try await Self.changes(server, since: 0) == [
                    "circle created", "member created ann", "member created ben", "member created vic",
                    "patient created mom", "patient created dad",
                ])
            let start = try await Self.latest(server)
            #expect(start == 6)
            for title in ["Pills", "Pills", "More pills"] {
                try await server.put("tasks", "t", ["title": .string(title), "dueAt": "2026-03-03T09:00:00Z"])
            }
            try await server.call(.put, "/v1/circles/c/tasks/t", ["title": 1]).expect(422)
            try await server.put(
                "appointments", "a",
                [
                    "patientId": "mom", "provider": "Dr. Who", "startAt": "2026-03-03T09:00:00Z",
                    "recurrence": ["rrule": "FREQ=DAILY;COUNT=5"],
                ])
            let occurrence = "/v1/circles/c/appointments/a/occurrences/20260304T090000Z"
            try await server.call(.put, occurrence, ["status": "cancelled"]).expect(201)
            try await server.call(.delete, occurrence).expect(204)
            try await server.call(.delete, "/v1/circles/c/tasks/t").expect(204)
            try await server.call(.delete, "/v1/circles/c/tasks/t").expect(404)
            try await server.put("tasks", "t", ["title": "Pills", "dueAt": "2026-03-03T09:00:00Z"])
            try await server.call(.put, "/v1/circles/c", ["name": "Family", "timeZone": "Europe/Berlin"]).expect(200)
            try await server.call(.put, "/v1/circles/c/members/ben", ["displayName": "Benny", "role": "member"])
                .expect(200)
            try await server.call(.delete, "/v1/circles/c/patients/dad").expect(204)
            let feed = try await server.makeFeed(user: "ben").id
            try await server.call(.patch, "/v1/feeds/\(feed)", ["label": "x"]).expect(200)
            try await server.call(.post, "/v1/feeds/\(feed)/regenerate").expect(200)
            try await server.call(.delete, "/v1/circles/c/members/ben").expect(204)
            let file =
                "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:u\r\nDTSTAMP:20260101T000000Z\r\n"
                + "DTSTART:20260303T090000Z\r\nSUMMARY:Gym\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
            let made = try await server.raw(
                .post, "/v1/circles/c/imports?mode=commit",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
                body: .init(string: file)
            ).expect(201)
            let id = try #require(made.json["id"]?.string)
            try await server.call(.post, "/v1/imports/\(id)/undo").expect(200)
            #expect(
                try await Self.changes(server, since: start) == [
                    "item created tasks t", "item updated tasks t", "item created appointments a",
                    "occurrence created appointments a 20260304T090000Z",
                    "occurrence deleted appointments a 20260304T090000Z", "item deleted tasks t",
                    "item created tasks t",
                    "circle updated", "member updated ben", "patient deleted dad", "feed created \(feed)",
                    "feed updated \(feed)", "feed updated \(feed)", "feed updated \(feed)", "member deleted ben",
                    "import created \(id)", "import deleted \(id)",
                ])
            // Other people's feeds are nobody's business.
            #expect(try await Self.changes(server, since: start, as: "ann").allSatisfy { !$0.hasPrefix("feed") })
        }
    }

    @Test("Pages follow one another without a gap, and a circle of others has no changes")
    func pages() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let lines = (0..<250).map {
                #"{"op":"put","collection":"tasks","id":"t\#($0)","value":{"title":"x","dueAt":"2026-03-03T09:00:00Z"}}"#
            }
            try await server.raw(
                .post, "/v1/circles/c/batch",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "application/x-ndjson"],
                body: .init(string: lines.joined(separator: "\n"))
            ).expect(200)
            var (numbers, since) = ([Int](), "0")
            while true {
                let answer = try await server.call(.get, "/v1/circles/c/changes?since=\(since)&limit=97", as: "vic")
                    .expect(200)
                numbers += answer.json["items"]?.array?.compactMap { $0["number"]?.integer } ?? []
                guard let next = answer.json["nextCursor"]?.string else { break }
                since = next
            }
            #expect(numbers == Array(1...256))
            try await server.call(.get, "/v1/circles/c/changes", as: "stranger").expect(404)
            #expect(
                try await server.call(.get, "/v1/circles/c/changes?since=-1").expect(422).pointers == ["/query/since"])
        }
    }

    @Test("A number from before what is kept, or ahead of all there is, is answered 410 with where to go on")
    func gone() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.services.store.record { try $0.pruneChanges(before: 0, keeping: 2) }
            let old = try await server.call(.get, "/v1/circles/c/changes?since=3").expect(410)
            #expect(old.json["latest"] == 6 && old.json["oldest"] == 5)
            #expect(try await Self.changes(server, since: 4).count == 2)
            try await server.call(.get, "/v1/circles/c/changes?since=7").expect(410)
            // However old, the newest stays, so that the numbers go on.
            try await server.services.store.record { try $0.pruneChanges(before: .max, keeping: 2) }
            #expect(try await Self.changes(server, since: 5) == ["patient created dad"])
            try await server.call(.delete, "/v1/circles/c").expect(204)
            try await server.call(.get, "/v1/circles/c/changes").expect(404)
            try await server.call(.put, "/v1/circles/c", ["name": "Again", "timeZone": "UTC"]).expect(201)
            #expect(try await Self.changes(server, since: 6) == ["circle deleted", "circle created"])
        }
    }
}
