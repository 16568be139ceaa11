// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("One invitation in several circles")
struct SharedUIDTests {
    private static let invitation = CalendarApp.object(
        "VEVENT", "UID:invitation@x", "DTSTART:20260310T100000Z", "DTEND:20260310T110000Z", "SUMMARY:Eyes",
        "CATEGORIES:Kid,Mom")

    /// Calls a body with the circle `c` and another family's, `d`, whose owner is Dora.
    private static func withTwoCircles(_ body: @escaping @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.withCircle { server in
            try await server.call(.put, "/v1/circles/d", ["name": "Others", "timeZone": "Europe/Vienna"]).expect(201)
            try await server.call(
                .put, "/v1/circles/d/members/dora", ["displayName": "Dora", "role": "owner"]
            ).expect(201)
            try await server.call(.put, "/v1/circles/d/patients/kid", ["displayName": "Kid"]).expect(201)
            try await body(server)
        }
    }

    private static func uids(_ circle: String, _ server: TestServer) async throws -> [JSONValue?] {
        try await server.call(.get, "/v1/circles/\(circle)/appointments").expect(200).json["items"]?.array?
            .filter { $0["provider"] == "Eyes" }.map { $0["uid"] } ?? []
    }

    @Test("Two families put the same invitation into their circles, and each keeps its UID and its name")
    func families() async throws {
        try await Self.withTwoCircles { server in
            let (ann, dora) = (CalendarApp(server: server), CalendarApp(server: server, user: "dora"))
            try await ann.put(Self.invitation, as: "invitation@x.ics")
            try await dora.put(Self.invitation, as: "invitation@x.ics", in: "d")
            #expect(try await dora.text("invitation@x.ics", in: "d").contains("UID:invitation@x\r\n"))
            for circle in ["c", "d"] { #expect(try await Self.uids(circle, server) == ["invitation@x"]) }
            // Each is on its own: what is deleted and made again goes on under its own id.
            func item() async throws -> JSONValue? {
                try await server.call(.get, "/v1/circles/d/appointments").expect(200).json["items"]?.array?.first
            }
            let id = try await item()?["id"]
            let number = try await dora.collection("d").number
            try await dora.delete("invitation@x.ics", in: "d")
            #expect(try await ann.text("invitation@x.ics").contains("UID:invitation@x\r\n"))
            try await dora.put(Self.invitation, as: "again.ics", in: "d")
            let again = try await item()
            #expect(again?["id"] == id && again?["uid"] == "invitation@x" && (again?["sequence"]?.integer ?? 0) > 0)
            // Who has not looked since hears that nothing has the former name, until something has it once more.
            func changes() async throws -> CollectionChanges {
                try await dora.source.changes(of: dora.collection("d"), after: number, limit: 100)
            }
            let seen = try await changes()
            #expect(seen.removed == ["invitation@x.ics"] && seen.changed.map(\.name) == ["again.ics"])
            try await dora.put(
                Self.invitation.replacingOccurrences(of: "UID:invitation@x", with: "UID:other"), as: "invitation@x.ics",
                in: "d")
            let later = try await changes()
            #expect(later.removed.isEmpty && later.changed.map(\.name).sorted() == ["again.ics", "invitation@x.ics"])
        }
    }

    @Test("A circle that comes back under its id takes no number of its former life")
    func formerLife() async throws {
        try await Self.withTwoCircles { server in
            let dora = CalendarApp(server: server, user: "dora")
            try await dora.put(Self.invitation, as: "i.ics", in: "d")
            let number = try await dora.collection("d").number
            try await server.call(.delete, "/v1/circles/d").expect(204)
            try await eventually("The circle is gone.") {
                try await server.call(.put, "/v1/circles/d", ["name": "New", "timeZone": "UTC"]).status == 201
            }
            try await server.call(
                .put, "/v1/circles/d/members/dora", ["displayName": "Dora", "role": "owner"]
            ).expect(201)
            try await server.call(.put, "/v1/circles/d/patients/kid", ["displayName": "Kid"]).expect(201)
            let fault = await CalendarApp.fault {
                _ = try await dora.source.changes(of: dora.collection("d"), after: number, limit: 100)
            }
            guard case .invalidSyncToken = fault else {
                Issue.record("\(String(describing: fault))")
                return
            }
            let now = try await dora.collection("d").number
            try await dora.put(Self.invitation, as: "i.ics", in: "d")
            let seen = try await dora.source.changes(of: dora.collection("d"), after: now, limit: 100)
            #expect(seen.changed.map(\.name) == ["i.ics"])
        }
    }

    @Test("How much is done of a task does not outlast its status")
    func reopened() async throws {
        try await TestServer.withCircle { server in
            let ann = CalendarApp(server: server)
            let task = CalendarApp.object(
                "VTODO", "UID:reopened", "SUMMARY:Refill", "DUE:20260305T100000Z", "STATUS:COMPLETED",
                "COMPLETED:20260304T100000Z", "PERCENT-COMPLETE:100")
            try await ann.put(task, as: "reopened.ics", in: "c~tasks")
            #expect(try await ann.text("reopened.ics", in: "c~tasks").contains("PERCENT-COMPLETE:100"))
            let items = try await server.call(.get, "/v1/circles/c/tasks").expect(200).json["items"]?.array
            let id = try #require(items?.first { $0["title"] == "Refill" }?["id"]?.string)
            try await server.call(
                .put, "/v1/circles/c/tasks/\(id)", ["title": "Refill", "dueAt": "2026-03-05T10:00:00Z"]
            ).expect(200)
            let text = try await ann.text("reopened.ics", in: "c~tasks")
            #expect(!text.contains("PERCENT-COMPLETE") && !text.contains("STATUS:COMPLETED"), "\(text)")
        }
    }

    @Test("Who sees it in one of their circles hears where it is, unless the password or the circle is not there")
    func sameUser() async throws {
        try await Self.withTwoCircles { server in
            try await server.call(
                .put, "/v1/circles/d/members/ann", ["displayName": "Ann", "role": "member"]
            ).expect(201)
            let ann = CalendarApp(server: server)
            try await ann.put(Self.invitation, as: "i.ics")
            let fault = await CalendarApp.fault { try await ann.put(Self.invitation, as: "i.ics", in: "d") }
            guard case .uidConflict("c", "i.ics") = fault else {
                Issue.record("\(String(describing: fault))")
                return
            }
            let bound = CalendarApp(server: server, circleIDs: ["d"])
            try await bound.put(Self.invitation, as: "i.ics", in: "d")
            #expect(try await Self.uids("d", server) == ["invitation@x"])
            try await bound.delete("i.ics", in: "d")
            try await server.call(.delete, "/v1/circles/c").expect(204)
            try await ann.put(Self.invitation, as: "i.ics", in: "d")
            #expect(try await Self.uids("d", server) == ["invitation@x"])
        }
    }

    @Test("A file is imported into a circle although another one has an item with the UID of an event in it")
    func imports() async throws {
        try await Self.withTwoCircles { server in
            try await CalendarApp(server: server).put(Self.invitation, as: "i.ics")
            let event = OneCalendar.event("invitation@x", "Eyes of the kid")
            for (circle, created) in [("c", 0), ("d", 1)] {
                let answer = try await server.bring([event], as: nil, to: circle).expect(201)
                #expect(answer.json["counts"]?["created"]?.integer == created, "\(answer.text)")
            }
        }
    }

    @Test("What others keep private in the circle under a UID stays the only one that they see under it")
    func hidden() async throws {
        try await TestServer.withCircle { server in
            try await server.bring(
                [OneCalendar.event("invitation@x", "Secret", "CLASS:PRIVATE")], as: "ben"
            ).expect(201)
            let (ann, ben) = (CalendarApp(server: server), CalendarApp(server: server, user: "ben"))
            try await ann.put(Self.invitation, as: "i.ics")
            var uids: [String] = []
            for member in try await ben.members() {
                let text = try await ben.text(member.name)
                uids += text.components(separatedBy: "\r\n").filter { $0.hasPrefix("UID:") }
            }
            #expect(uids.count == 5 && Set(uids).count == 5, "\(uids)")
            #expect(uids.contains("UID:invitation@x"))
        }
    }
}
