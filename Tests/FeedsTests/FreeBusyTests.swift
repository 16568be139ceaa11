// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("When people are busy")
struct FreeBusyTests {
    /// Two visits that overlap, a tentative one, a cancelled one, a task, and shifts of Ann and Ben.
    private static func fill(_ server: TestServer) async throws {
        try await server.makeCircle()
        for (id, start, end, status) in [
            ("a", "2026-03-04T09:00:00-08:00", "2026-03-04T10:00:00-08:00", "confirmed"),
            ("b", "2026-03-04T09:30:00-08:00", "2026-03-04T11:00:00-08:00", "confirmed"),
            ("c", "2026-03-05T09:00:00-08:00", "2026-03-05T10:00:00-08:00", "tentative"),
            ("d", "2026-03-06T09:00:00-08:00", "2026-03-06T10:00:00-08:00", "cancelled"),
        ] {
            try await server.put(
                "appointments", id,
                [
                    "patientId": "mom", "provider": "Dr. Wu", "startAt": .string(start), "endAt": .string(end),
                    "status": .string(status),
                ])
        }
        try await server.put("tasks", "t", ["title": "Pills", "dueAt": "2026-03-07T09:00:00-08:00"])
        for (owner, day) in [("ann", "2026-03-10"), ("ben", "2026-03-12")] {
            try await server.put(
                "shifts", owner,
                ["patientId": "mom", "ownerId": .string(owner), "startDate": .string(day), "endDate": .string(day)])
        }
    }

    private static func path(_ feed: (id: String, path: String)) -> String { String(feed.path.dropLast(3) + "ifb") }

    @Test func `a feed's address says when its reader is busy, merged, and not with what`() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let feed = try await server.makeFeed()
            let answer = try await server.raw(.get, Self.path(feed)).expect(200)
            #expect(answer.headers[.contentType] == "text/calendar; charset=utf-8; component=VFREEBUSY")
            #expect(
                answer.calendarLines.filter { $0.hasPrefix("FREEBUSY") } == [
                    "FREEBUSY:20260304T170000Z/20260304T190000Z", "FREEBUSY:20260310T070000Z/20260311T070000Z",
                    "FREEBUSY;FBTYPE=BUSY-TENTATIVE:20260305T170000Z/20260305T180000Z",
                ])
            for word in ["Wu", "Mom", "VAVAILABILITY", "SUMMARY"] { #expect(!answer.text.contains(word), "\(word)") }
            let tag = try #require(answer.headers[.eTag])
            try await server.raw(.get, Self.path(feed), headers: [.ifNoneMatch: tag]).expect(304)
            try await server.raw(.get, Self.path(feed), headers: [.ifMatch: "\"other\""]).expect(412)
            let head = try await server.raw(.head, Self.path(feed)).expect(200)
            #expect(head.headers[.eTag] == tag && head.text.isEmpty)
            try await server.services.counter.fold()
            #expect(try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200).json["accessCount"] == 2)
            try await server.call(.post, "/v1/feeds/\(feed.id)/revoke", [:]).expect(200)
            try await server.raw(.get, Self.path(feed)).expect(410)
        }
    }

    @Test func `start and end narrow what is answered, within the feed's days`() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let path = Self.path(try await server.makeFeed(config: ["futureDays": 5]))
            let part = try await server.raw(
                .get, path + "?start=2026-03-04T17:30:00Z&end=2026-03-05"
            ).expect(200)
            #expect(part.values("FREEBUSY") == ["20260304T173000Z/20260304T190000Z"])
            #expect(part.values("DTSTART") == ["20260304T173000Z"] && part.values("DTEND") == ["20260305T080000Z"])
            let whole = try await server.raw(.get, path + "?end=2030-01-01").expect(200)
            #expect(whole.values("DTEND") == ["20260308T080000Z"] && whole.values("FREEBUSY").count == 2)
            for query in ["start=x", "start=2026-03-05&end=2026-03-04", "start=2031-01-01"] {
                let refused = try await server.raw(.get, path + "?" + query).expect(400)
                #expect(refused.headers[.contentType] == "text/plain; charset=utf-8", "\(query)")
            }
            try await server.raw(.get, "/feeds/\(String(repeating: "A", count: 43))/x.ifb").expect(404)
        }
    }

    @Test func `availability is the reader's own shifts and office days, if the feed shows them`() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let settings: JSONValue = ["enabled": true, "deviceTimeZone": "America/New_York"]
            try await server.call(.patch, "/v1/users/ann/office-days/settings", settings, as: "ann").expect(200)
            let visit: JSONValue = ["startAt": "2026-03-02T08:00:00-05:00", "endAt": "2026-03-02T12:00:00-05:00"]
            try await server.call(.put, "/v1/users/ann/office-days/visits/a", visit, as: "ann").expect(201)
            func available(_ config: JSONValue) async throws -> [String]? {
                let feed = try await server.makeFeed(label: "\(config)", config: config)
                let text = try await server.raw(.get, Self.path(feed) + "?availability=1").expect(200).text
                guard text.contains("BEGIN:VAVAILABILITY\r\n") else { return nil }
                // Nobody is busy with being available.
                #expect(!text.contains("FREEBUSY:20260310T070000Z"))
                return text.components(separatedBy: "BEGIN:AVAILABLE\r\n").dropFirst().compactMap { part in
                    part.components(separatedBy: "\r\n").first { $0.hasPrefix("DTSTART:") }
                }
            }
            #expect(try await available([:]) == ["DTSTART:20260310T070000Z"])
            #expect(
                try await available(["includePersonal": true])
                    == ["DTSTART:20260302T140000Z", "DTSTART:20260310T070000Z"])
            // A VAVAILABILITY without any time would say that the reader never is available.
            #expect(try await available(["includeShifts": false]) == nil)
            // Which of the times are work is more than such a feed shows.
            #expect(try await available(["detail": "busy"]) == nil)
            // A day off is no time in which the reader is available, whatever the span.
            let feed = try await server.makeFeed(label: "day")
            let asked = Self.path(feed) + "?availability=1&start=2026-03-11&end=2026-03-12"
            let day = try await server.raw(.get, asked).expect(200).text
            #expect(day.contains("BEGIN:VAVAILABILITY\r\n") && !day.contains("BEGIN:AVAILABLE"))
        }
    }

    @Test func `a viewer asks when several members are busy, and learns no title`() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            try await server.bring(
                [["UID:p@x", "DTSTART:20260307T180000Z", "DTEND:20260307T190000Z", "SUMMARY:Doctor", "CLASS:PRIVATE"]],
                as: "ben"
            ).expect(201)
            let path = "/v1/circles/c/free-busy"
            let span: JSONValue = [
                "userIds": ["ann", "ben"], "from": "2026-03-04T18:00:00Z", "to": "2026-03-13T08:00:00Z",
            ]
            let answer = try await server.call(.post, path, span, as: "vic").expect(200)
            func busy(_ index: Int) -> [String] {
                let person = answer.json["people"]?.array?[index]
                return (person?["busy"]?.array ?? []).map {
                    "\($0["type"]?.string ?? "") \($0["start"]?.string ?? "")/\($0["end"]?.string ?? "")"
                }
            }
            let both = [
                "BUSY 2026-03-04T18:00:00Z/2026-03-04T19:00:00Z",
                "BUSY-TENTATIVE 2026-03-05T17:00:00Z/2026-03-05T18:00:00Z",
            ]
            #expect(busy(0) == both + ["BUSY 2026-03-10T07:00:00Z/2026-03-11T07:00:00Z"])
            #expect(
                busy(1) == both + [
                    "BUSY 2026-03-07T18:00:00Z/2026-03-07T19:00:00Z", "BUSY 2026-03-12T07:00:00Z/2026-03-13T07:00:00Z",
                ])
            #expect(answer.json["people"]?.array?.map { $0["userId"] } == ["ann", "ben"])
            for word in ["Doctor", "Wu", "Mom"] { #expect(!answer.text.contains(word), "\(word)") }
            try await server.call(.post, path, span, as: "zed").expect(404)
        }
    }

    @Test func `who is no member, and a span that is none or too long, is named`() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            func pointers(_ users: JSONValue, _ to: JSONValue) async throws -> [String] {
                try await server.call(
                    .post, "/v1/circles/c/free-busy", ["userIds": users, "from": "2026-03-04T18:00:00Z", "to": to]
                ).expect(422).pointers
            }
            #expect(try await pointers(["ann", "zed"], "2026-03-05T18:00:00Z") == ["/userIds/1"])
            #expect(try await pointers(["ann"], "2026-03-04T18:00:00Z") == ["/to"])
            #expect(try await pointers(["ann"], "2027-06-04T18:00:00Z") == ["/to"])
            #expect(try await pointers([], "2026-03-05T18:00:00Z") == ["/userIds"])
        }
    }

    @Test func `a series too dense to be looked at counts as a whole, and takes nobody's answer away`() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            try await server.bring(
                [
                    [
                        "UID:dense@x", "DTSTART:20260308T000000Z", "DURATION:PT30S", "SUMMARY:Beat",
                        "RRULE:FREQ=MINUTELY;COUNT=30000", "CLASS:PRIVATE",
                    ],
                    [
                        "UID:clear@x", "DTSTART:20260308T000000Z", "DURATION:PT1S", "SUMMARY:Beat",
                        "RRULE:FREQ=SECONDLY", "TRANSP:TRANSPARENT",
                    ],
                ], as: "ann"
            ).expect(201)
            let (from, to) = ("2026-03-01T00:00:00Z", "2026-04-30T00:00:00Z")
            let answer = try await server.call(
                .post, "/v1/circles/c/free-busy",
                ["userIds": ["ann", "ben"], "from": .string(from), "to": .string(to)], as: "ben"
            ).expect(200)
            func busy(_ index: Int) -> [String] {
                (answer.json["people"]?.array?[index]["busy"]?.array ?? []).compactMap {
                    $0["type"] == "BUSY" ? "\($0["start"]?.string ?? "")/\($0["end"]?.string ?? "")" : nil
                }
            }
            let visit = "2026-03-04T17:00:00Z/2026-03-04T19:00:00Z"
            #expect(busy(0) == [visit, "2026-03-08T00:00:00Z/2026-03-28T19:59:30Z"])
            #expect(busy(1) == [visit, "2026-03-12T07:00:00Z/2026-03-13T07:00:00Z"])
            let feed = try await server.makeFeed()
            let said = try await server.raw(.get, Self.path(feed) + "?start=\(from)&end=\(to)").expect(200)
            #expect(said.values("FREEBUSY").contains("20260308T000000Z/20260328T195930Z"))
        }
    }

    @Test func `asking when somebody is busy counts as a read, but not as having seen a change`() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let feed = try await server.makeFeed()
            func have() async throws -> JSONValue? {
                try await server.services.counter.fold()
                return try await server.call(.get, "/v1/circles/c/tasks/t/reach", as: "ann").expect(200).json["have"]
            }
            try await server.raw(.get, Self.path(feed)).expect(200)
            #expect(try await have() == 0)
            try await server.raw(.get, feed.path).expect(200)
            #expect(try await have() == 1)
        }
    }
}
