// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import Storage
import Testing

@testable import ServerTestSupport

@Suite("Feeds with their owner's own entries")
struct OwnFeedTests {
    private static let both: JSONValue = ["includePersonal": true, "includePlanned": true]

    private static func plan(_ server: TestServer, _ title: String, _ more: [ByteString: JSONValue] = [:]) async throws
    {
        let own: [ByteString: JSONValue] = [
            "external_id": "P1", "title": .string(title), "start_at": "2026-03-05T09:00:00-08:00",
            "end_at": "2026-03-05T09:30:00-08:00",
        ]
        let body: JSONValue = [
            "range_start": "2026-03-01T00:00:00Z", "range_end": "2026-04-01T00:00:00Z",
            "events": [.object(own.merging(more) { $1 })],
        ]
        try await server.call(.post, "/api/apple_sync/planned_upsert", body, as: "ann").expect(200)
    }

    private static func put(_ server: TestServer, _ id: String, _ more: [ByteString: JSONValue] = [:]) async throws {
        let own: [ByteString: JSONValue] = [
            "title": "Choir", "date": "2026-03-04", "startTime": "19:00", "endTime": "21:00", "location": "Hall",
            "description": "Bring the score",
        ]
        let path = "/v1/users/ann/events/\(id)"
        let answer = try await server.call(.put, path, .object(own.merging(more) { $1 }))
        #expect([200, 201].contains(answer.status), "\(answer.text)")
    }

    @Test("A feed shows its owner's events and plans when it is told to, to the owner alone, by its level of detail")
    func shown() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await Self.put(server, "e")
            try await Self.plan(server, "Weekly sync")
            let none = try await server.makeFeed()
            #expect(try await server.raw(.get, none.path).expect(200).values("SUMMARY").isEmpty)
            let bens = try await server.makeFeed(user: "ben", config: Self.both)
            #expect(try await server.raw(.get, bens.path).expect(200).values("SUMMARY").isEmpty)
            func feed(_ detail: String, _ more: [ByteString: JSONValue] = [:]) async throws -> Answer {
                let own: [ByteString: JSONValue] = [
                    "includePersonal": true, "includePlanned": true, "detail": .string(detail),
                ]
                let made = try await server.makeFeed(label: detail, config: .object(own.merging(more) { $1 }))
                return try await server.raw(.get, made.path).expect(200)
            }
            let full = try await feed("full")
            #expect(full.values("SUMMARY") == ["Choir", "Weekly sync"])
            #expect(full.values("LOCATION") == ["Hall"] && full.eventValues("DESCRIPTION") == ["Bring the score"])
            #expect(full.eventValues("DTSTART") == ["20260304T190000", "20260305T090000"])
            #expect(full.values("TRANSP") == ["OPAQUE", "OPAQUE"])
            let titles = try await feed("titles")
            #expect(titles.values("SUMMARY") == ["Choir", "Weekly sync"] && titles.values("LOCATION").isEmpty)
            let busy = try await feed("busy")
            #expect(busy.values("SUMMARY") == ["Busy", "Busy"])
            #expect(!busy.text.contains("Choir") && !busy.text.contains("Weekly") && !busy.text.contains("score"))
            let minimal = try await server.makeFeed(
                label: "minimal", config: ["includePersonal": true, "showMinimalDetails": true])
            #expect(try await server.raw(.get, minimal.path).expect(200).values("SUMMARY") == ["CK Event"])
            // Whatever patients a feed is about, they are the owner's own.
            #expect(try await feed("full ", ["detail": "full", "patientIds": ["mom"]]).values("SUMMARY").count == 2)
        }
    }

    @Test("Every change of what is the owner's makes another feed, and none of anything else does")
    func validators() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let phone = try await Phone(server)
            let feed = try await server.makeFeed(config: Self.both)
            let other = try await server.makeFeed(label: "without")
            func tag(_ path: String) async throws -> String? {
                try await server.raw(.get, path).expect(200).headers[.eTag]
            }
            var (last, without) = (try await tag(feed.path), try await tag(other.path))
            func expectChange(_ what: String, _ change: () async throws -> Void) async throws {
                server.clock.advance(seconds: 2)
                try await change()
                let held = try await server.raw(.get, feed.path, headers: [.ifNoneMatch: last ?? ""])
                #expect(held.status == 200, "\(what)")
                let now = try await tag(feed.path)
                #expect(now != last, "\(what)")
                try await server.raw(.get, feed.path, headers: [.ifNoneMatch: now ?? ""]).expect(304)
                last = now
                #expect(try await tag(other.path) == without, "\(what)")
            }
            try await expectChange("put") { try await Self.put(server, "e") }
            try await expectChange("patch") {
                try await server.call(.patch, "/v1/users/ann/events/e", ["location": .null]).expect(200)
            }
            try await expectChange("upsert") { try await phone.upsert(.sent("E1")) }
            try await expectChange("zone") {
                try await server.call(.put, "/v1/users/ann", ["timeZone": "Asia/Tokyo"]).expect(201)
            }
            try await expectChange("plan") { try await Self.plan(server, "Dentist") }
            try await expectChange("another plan") { try await Self.plan(server, "Dentist, moved") }
            try await expectChange("deletion there") {
                try await phone.upsert(["externalId": "E1", "syncState": "deleted"])
            }
            try await expectChange("deletion here") {
                try await server.call(.delete, "/v1/users/ann/events/e").expect(204)
            }
            try await expectChange("configuration") {
                try await server.call(.patch, "/v1/feeds/\(feed.id)", ["config": ["includePlanned": false]]).expect(200)
            }
            // Of what it does not show, and of what another has, it hears nothing.
            try await Self.put(server, "e2")
            last = try await tag(feed.path)
            try await server.call(.put, "/v1/users/ben/events/e", ["title": "B", "date": "2026-03-04"]).expect(201)
            try await phone.upsert(.sent("E9", "T", ["date": "2031-03-04"]))
            #expect(try await tag(feed.path) == last)
            without = try await tag(other.path)
            #expect(without != nil)
        }
    }

    @Test("A series repeats with its changed occurrences under one UID; a day lasts as long as it was said to")
    func series() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.call(.put, "/v1/users/ann", ["timeZone": "Europe/Vienna"]).expect(201)
            let phone = try await Phone(server)
            try await phone.upsert(
                .sent(
                    "S", "Choir",
                    [
                        "recurrence": [
                            "rrule": "FREQ=WEEKLY;UNTIL=20260401", "exdates": ["2026-03-18T08:00:00Z"],
                        ]
                    ]),
                .sent("S", "Concert", ["externalInstanceId": "2026-03-11T09:00:00+01:00", "date": "2026-03-12"]),
                .sent("S", "Gone", ["externalInstanceId": "2026-03-25T08:00:00Z"]),
                ["externalId": "S", "externalInstanceId": "2026-03-25T08:00:00Z", "syncState": "deleted"],
                .sent("D", "Trip", ["startTime": .null, "endTime": .null, "endDate": "2026-03-06"]),
                .sent("O", "Alone", ["externalInstanceId": "2026-03-10"]))
            let feed = try await server.makeFeed(config: Self.both)
            let answer = try await server.raw(.get, feed.path).expect(200)
            let lines = answer.calendarLines
            #expect(Set(answer.values("SUMMARY")) == ["Choir", "Concert", "Trip", "Alone"])
            #expect(lines.contains("DTSTART;TZID=Europe/Vienna:20260304T090000"))
            #expect(lines.contains("RRULE:FREQ=WEEKLY;UNTIL=20260401T215959Z"))
            #expect(lines.contains("RECURRENCE-ID;TZID=Europe/Vienna:20260311T090000"))
            let excluded = answer.values("EXDATE").joined(separator: ",").components(separatedBy: ",")
            #expect(excluded.sorted() == ["20260318T090000", "20260325T090000"])
            #expect(lines.contains("DTSTART;VALUE=DATE:20260304") && lines.contains("DTEND;VALUE=DATE:20260307"))
            #expect(Set(answer.values("UID")).count == 3 && answer.values("UID").count == 4)
            #expect(answer.values("RECURRENCE-ID").count == 1)
            // The same, whichever way it is made.
            let preview = try await server.call(.get, "/v1/feeds/\(feed.id)/preview").expect(200).json
            let found: [String] = preview["events"]?.array?.compactMap { $0["summary"]?.string } ?? []
            #expect(Set(found) == ["Choir", "Concert", "Trip", "Alone"])
            #expect(preview["events"]?.array?.allSatisfy { $0["collection"] == "personal" } == true)
            let health = try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200).json["health"]
            #expect(health?["bytes"] == .integer(answer.body.count))
            let other = try await server.raw(.get, feed.path, headers: [.accept: "application/calendar+json"])
            #expect(try other.expect(200).text.contains("Concert"))
        }
    }

    @Test("A planned day is the phone's day, and what is outside of the window is left out")
    func planned() async throws {
        try await TestServer.run { server in
            try await server.makeCircle(zone: "Asia/Tokyo")
            let feed = try await server.makeFeed(config: ["includePlanned": true, "pastDays": 0, "futureDays": 30])
            for (end, until) in [
                ("2026-03-05T23:59:59-08:00", "20260306"), ("2026-03-06T00:00:00-08:00", "20260306"),
                ("2026-03-06T23:59:59-08:00", "20260307"), ("2026-03-05T00:00:00-08:00", "20260306"),
            ] {
                let day: [ByteString: JSONValue] = [
                    "is_all_day": true, "start_at": "2026-03-05T00:00:00-08:00", "end_at": .string(end),
                ]
                try await Self.plan(server, "Company day", day)
                let answer = try await server.raw(.get, feed.path).expect(200)
                #expect(answer.eventValues("DTSTART") == ["20260305"] && answer.values("DTEND") == [until], "\(end)")
            }
            // The UID and what readers take for a revision go on.
            let first = try await server.raw(.get, feed.path).expect(200)
            try await Self.plan(
                server, "Renamed",
                [
                    "is_all_day": true, "start_at": "2026-03-05T00:00:00-08:00",
                    "end_at": "2026-03-05T00:00:00-08:00",
                ])
            let renamed = try await server.raw(.get, feed.path).expect(200)
            #expect(renamed.values("UID") == first.values("UID"))
            let before = try #require(first.values("SEQUENCE").first.flatMap { Int($0) })
            let after = try #require(renamed.values("SEQUENCE").first.flatMap { Int($0) })
            #expect(after > before)
            server.clock.advance(seconds: 40 * 86_400)
            #expect(try await server.raw(.get, feed.path).expect(200).values("SUMMARY").isEmpty)
            let preview = try await server.call(.get, "/v1/feeds/\(feed.id)/preview?from=2026-03-01").expect(200).json
            #expect(preview["events"] == [])
        }
    }
}
