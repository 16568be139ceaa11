// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Testing

@testable import ServerTestSupport

extension ClientRulesTests {
    @Test("Every visible change raises SEQUENCE, LAST-MODIFIED and DTSTAMP, of overrides too")
    func changesRaiseRevisions() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.makeFeed()
            var before = try await server.events(feed.path)
            func changes(_ what: String, _ titles: [String], _ act: () async throws -> Void) async throws {
                server.clock.advance(seconds: 60)
                try await act()
                let after = try await server.events(feed.path)
                let old = Dictionary(grouping: before, by: \.key)
                let changed = after.filter { event in old[event.key].map { $0[0].shown != event.shown } ?? false }
                #expect(Set(changed.map(\.uid)).count == titles.count, "\(what)")
                for title in titles {
                    #expect(changed.contains { $0["SUMMARY"]?.contains(title) == true }, "\(what): \(title)")
                }
                for event in changed {
                    let earlier = try #require(old[event.key]?.first)
                    #expect(event.sequence > earlier.sequence, "\(what)")
                    for name in ["LAST-MODIFIED", "DTSTAMP"] {
                        #expect(try #require(event[name]) > #require(earlier[name]), "\(what)")
                    }
                    let master = try #require(after.first { $0.uid == event.uid && $0["RECURRENCE-ID"] == nil })
                    #expect(event.sequence >= master.sequence, "\(what)")
                }
                before = after
            }
            try await changes("a title", ["Refill"]) {
                try await server.put("tasks", "pills", ["title": "Refill now", "dueAt": "2026-03-03T09:00:00-08:00"])
            }
            try await changes("a place", ["Dr. Wu"]) {
                try await server.put("appointments", "visit", Family.visit(location: "Oak St 7"))
            }
            try await changes("a reminder", ["Dr. Wu"]) {
                try await server.put("appointments", "visit", Family.visit(location: "Oak St 7", reminders: [5]))
            }
            try await changes("an occurrence", ["Gym"]) {
                try await server.call(
                    .put, "/v1/circles/c/appointments/weekly/occurrences/20260331T160000Z",
                    ["startAt": "2026-03-31T12:00:00-07:00"]
                ).expect(200)
            }
            try await changes("who does it", ["Mom - Benjamin"]) {
                try await server.call(.put, "/v1/circles/c/members/ben", ["displayName": "Benjamin", "role": "member"])
                    .expect(200)
            }
            try await changes("for whom", ["Papa - Dr. Wu", "Shift: Papa"]) {
                try await server.call(.put, "/v1/circles/c/patients/dad", ["displayName": "Papa"]).expect(200)
            }
            try await changes("the circle's zone", ["Refill", "Gym", "Papa - Dr. Wu", "Shift: Papa"]) {
                try await server.call(
                    .put, "/v1/circles/c", ["name": "Our family", "timeZone": "America/Denver"]
                ).expect(200)
            }
        }
    }

    @Test("A shift that passes to somebody of the same name is a visible change")
    func sameName() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.call(.put, "/v1/circles/c/members/anne", ["displayName": "Ann", "role": "member"])
                .expect(201)
            var shift: [ByteString: JSONValue] = [
                "patientId": "mom", "ownerId": "ann", "startDate": "2026-03-05", "endDate": "2026-03-05",
            ]
            try await server.put("shifts", "s", .object(shift))
            let feed = try await server.makeFeed()
            let before = try #require(try await server.events(feed.path).first)
            #expect(before["TRANSP"] == "OPAQUE")
            server.clock.advance(seconds: 60)
            shift["ownerId"] = "anne"
            try await server.put("shifts", "s", .object(shift))
            let after = try #require(try await server.events(feed.path).first)
            #expect(after["TRANSP"] == "TRANSPARENT")
            #expect(after.sequence > before.sequence)
        }
    }

    @Test("DTSTAMP and LAST-MODIFIED are the stored change, never the clock")
    func stampsAreStored() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let stored = try #require(
                try await server.call(.get, "/v1/circles/c/tasks/pills").json["updatedAt"]?.string)
            let (one, two) = (try await server.makeFeed(), try await server.makeFeed(label: "second"))
            let first = try await server.raw(.get, one.path).expect(200)
            server.clock.advance(seconds: 5 * 3600)
            #expect(try await server.raw(.get, two.path).expect(200).body == first.body)
            let task = try #require(first.events.first { $0["SUMMARY"]?.contains("Refill") == true })
            #expect(task["DTSTAMP"] == Instant(rfc3339: stored)?.basic)
            for event in first.events { #expect(event["DTSTAMP"] == event["LAST-MODIFIED"]) }
        }
    }

    @Test("A UID is an item's for good, the same in every feed, and made of no id")
    func uid() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let (ann, ben) = (try await server.makeFeed(), try await server.makeFeed(user: "ben"))
            let uids = try await server.events(ann.path).map(\.uid)
            #expect(try await server.events(ben.path).map(\.uid) == uids)
            // Not "dad", which the random hexadecimal digits of a UID spell now and then.
            for id in ["pills", "visit", "weekly", "ask", "mom"] {
                #expect(!uids.contains { $0.contains(id) })
            }
            try await server.call(.delete, "/v1/circles/c/tasks/pills").expect(204)
            try await server.put("tasks", "other", ["title": "Other", "dueAt": "2026-03-03T09:00:00-08:00"])
            let after = try await server.events(ann.path)
            let other = try #require(after.first { $0["SUMMARY"] == "CK: Other" })
            #expect(!uids.contains(other.uid))
            #expect(Set(after.map(\.uid)).subtracting([other.uid]).isSubset(of: uids))
        }
    }
}
