// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("A person's own events")
struct PersonalEventTests {
    private let path = "/v1/users/ann/events"

    @Test("An event is made, read, replaced, changed and deleted, with tags and conditions")
    func life() async throws {
        try await TestServer.run { server in
            let made = try await server.call(
                .post, path,
                [
                    "title": "Choir", "date": "2026-03-04", "startTime": "19:00:00", "endTime": "21:00",
                    "location": "Hall", "description": "Bring the score", "timeZone": "Europe/Vienna",
                ], as: "ann"
            ).expect(201)
            let id = try #require(made.json["id"]?.string)
            #expect(made.headers[.location] == "\(path)/\(id)")
            #expect(made.json["startTime"] == "19:00" && made.json["allDay"] == false)
            #expect(made.json["provider"] == "manual" && made.json["syncState"] == "pending")
            #expect(made.json["createdAt"] == .integer(server.clock.now))
            #expect(made.json["externalId"] == .null && made.json["deletedAt"] == nil)
            let read = try await server.call(.get, "\(path)/\(id)").expect(200)
            #expect(read.json == made.json && read.headers[.eTag] == made.headers[.eTag])
            let tag = try #require(read.headers[.eTag])
            try await server.call(.get, "\(path)/\(id)", headers: [.ifNoneMatch: tag]).expect(304)

            let changed = try await server.call(
                .patch, "\(path)/\(id)", ["location": .null, "endTime": "21:30"], headers: [.ifMatch: tag]
            ).expect(200)
            #expect(changed.json["location"] == .null && changed.json["endTime"] == "21:30")
            #expect(changed.json["description"] == "Bring the score")
            try await server.call(.patch, "\(path)/\(id)", ["title": "x"], headers: [.ifMatch: tag]).expect(412)
            try await server.call(.delete, "\(path)/\(id)", headers: [.ifMatch: tag]).expect(412)
            // What is not said in a PUT is not there; what was read may be sent back.
            var whole = try #require(changed.json.object)
            whole["description"] = nil
            whole["title"] = ""
            let replaced = try await server.call(.put, "\(path)/\(id)", .object(whole)).expect(200)
            #expect(replaced.json["description"] == .null && replaced.json["title"] == "Untitled")
            let again = try await server.call(.put, "\(path)/\(id)", .object(whole)).expect(200)
            #expect(again.json == replaced.json)
            try await server.call(.delete, "\(path)/\(id)").expect(204)
            try await server.call(.get, "\(path)/\(id)").expect(404)
            try await server.call(.delete, "\(path)/\(id)").expect(404)
            try await server.call(.put, "\(path)/\(id)", ["title": "Back", "date": "2026-03-05"]).expect(201)
        }
    }

    @Test("Whatever has no start lasts whole days; ends, zones and recurrence follow their rules")
    func times() async throws {
        try await TestServer.run { server in
            func put(_ body: [ByteString: JSONValue]) async throws -> Answer {
                let own: [ByteString: JSONValue] = ["title": "T", "date": "2026-03-04"]
                return try await server.call(.put, "\(path)/e", .object(own.merging(body) { $1 }))
            }
            #expect(try await put([:]).expect(201).json["allDay"] == true)
            #expect(try await put(["endDate": "2026-03-06"]).expect(200).json["endDate"] == "2026-03-06")
            #expect(try await put(["startTime": "09:00"]).expect(200).json["allDay"] == false)
            // The night is over on the next day.
            let night = try await put(["startTime": "23:00", "endTime": "01:00"]).expect(200)
            #expect(night.json["endDate"] == "2026-03-05")
            let moved = try await server.call(.patch, "\(path)/e", ["date": "2026-03-31"]).expect(200)
            #expect(moved.json["endDate"] == "2026-04-01" && moved.json["endTime"] == "01:00")
            let cleared = try await server.call(.patch, "\(path)/e", ["allDay": true]).expect(200)
            #expect(cleared.json["startTime"] == .null && cleared.json["endTime"] == .null)

            for (body, pointers) in [
                (["endTime": "10:00"], ["/endTime"]), (["endDate": "2026-03-03"], ["/endDate"]),
                (["startTime": "10:00", "endTime": "09:00", "endDate": "2026-03-04"], ["/endTime"]),
                (["startTime": "24:00"], ["/startTime"]), (["startTime": "9:00"], ["/startTime"]),
                (["startTime": "٠٩:00"], ["/startTime"]), (["startTime": 900], ["/startTime"]),
                (["date": "2026-02-30"], ["/date"]), (["date": .null], ["/date"]),
                (["timeZone": "Mars/Base"], ["/timeZone"]), (["colour": "red"], ["/colour"]),
                (["recurrence": ["rrule": "FREQ=SECONDLY"]], ["/recurrence/rrule"]),
                (["recurrence": ["rrule": "often"]], ["/recurrence/rrule"]),
                (["recurrence": ["rrule": "FREQ=DAILY", "until": 1]], ["/recurrence/until"]),
                (["recurrence": ["rdates": ["2026-03-04T09:00:00Z", "soon"]]], ["/recurrence/rdates/1"]),
            ] as [([ByteString: JSONValue], [String])] {
                #expect(try await put(body).expect(422).pointers == pointers, "\(body)")
            }
            let series = try await put([
                "startTime": "09:00",
                "recurrence": ["rrule": "RRULE:FREQ=WEEKLY;COUNT=3", "exdates": ["2026-03-11T09:00:00+01:00"]],
            ]).expect(200)
            #expect(series.json["recurrence"]?["rrule"] == "FREQ=WEEKLY;COUNT=3")
            #expect(series.json["recurrence"]?["exdates"] == ["2026-03-11T09:00:00+01:00"])
            #expect(try await put(["recurrence": [:]]).expect(200).json["recurrence"] == nil)
        }
    }

    @Test("The list is in pages, by days, and without what was deleted")
    func listed() async throws {
        try await TestServer.run { server in
            for day in 1...9 {
                let body: JSONValue = ["title": "T", "date": .string("2026-03-0\(day)")]
                try await server.call(.put, "\(path)/e\(day)", body).expect(201)
            }
            let series: JSONValue = ["title": "S", "date": "2026-01-01", "recurrence": ["rrule": "FREQ=DAILY"]]
            try await server.call(.put, "\(path)/s", series).expect(201)
            try await server.call(.delete, "\(path)/e7").expect(204)
            func ids(_ query: String) async throws -> [String] {
                let answer = try await server.call(.get, "\(path)?\(query)", as: "ann").expect(200)
                return answer.json["items"]?.array?.compactMap { $0["id"]?.string } ?? []
            }
            #expect(try await ids("").count == 9)
            #expect(try await ids("limit=2") == ["e1", "e2"])
            #expect(try await ids("limit=2&cursor=ZTI") == ["e3", "e4"])
            // A day more on each side, because days begin at other times elsewhere.
            #expect(try await ids("from=2026-03-08&to=2026-03-08") == ["e8", "e9", "s"])
            #expect(try await ids("from=2026-03-09T12:00:00Z&to=2026-03-09T13:00:00Z") == ["e8", "e9", "s"])
            try await server.call(.get, "\(path)?from=soon", as: "ann").expect(422)
            try await server.call(.get, "\(path)?since=1", as: "ann").expect(400)
        }
    }

    @Test("Another user's events are not there, and a device opens none of these routes")
    func others() async throws {
        try await TestServer.run { server in
            try await server.call(.put, "\(path)/e", ["title": "Mine", "date": "2026-03-04"], as: "ann").expect(201)
            for route in [path, "\(path)/e", "\(path)/none"] {
                #expect(try await server.call(.get, route, as: "ben").expect(404).json["code"] == "user-not-found")
            }
            let change: JSONValue = ["title": "Yours"]
            try await server.call(.patch, "\(path)/e", change, as: "ben").expect(404)
            try await server.call(.delete, "\(path)/e", as: "ben").expect(404)
            try await server.call(.post, path, ["title": "x", "date": "2026-03-04"], as: "ben").expect(404)
            // The same id is another event of another user's.
            try await server.call(.put, "/v1/users/ben/events/e", ["title": "B", "date": "2026-03-04"], as: "ben")
                .expect(201)
            #expect(try await server.call(.get, "\(path)/e", as: "ann").expect(200).json["title"] == "Mine")
            let phone = try await Phone(server)
            for method in [HTTPRequest.Method.get, .put, .patch, .delete] {
                try await phone.call(method, "\(path)/e").expect(403)
            }
            try await phone.call(.get, "/v1/users/ann").expect(403)
        }
    }

    @Test("A user has a zone of their own, which only they and the host application set")
    func zone() async throws {
        try await TestServer.run { server in
            let none = try await server.call(.get, "/v1/users/ann", as: "ann").expect(200)
            #expect(none.json["timeZone"] == .null && none.json["id"] == "ann")
            let made = try await server.call(.put, "/v1/users/ann", ["timeZone": "Asia/Tokyo"], as: "ann").expect(201)
            try await server.call(.put, "/v1/users/ann", ["timeZone": "Asia/Tokyo"]).expect(200)
            #expect(try await server.call(.get, "/v1/users/ann").expect(200).json == made.json)
            try await server.call(.put, "/v1/users/ann", ["timeZone": "Nowhere"]).expect(422)
            try await server.call(.put, "/v1/users/ann", ["zone": "UTC"]).expect(422)
            for method in [HTTPRequest.Method.get, .put] {
                try await server.call(method, "/v1/users/ann", method == .put ? [:] : nil, as: "ben").expect(404)
            }
            let tag = try #require(made.headers[.eTag])
            let cleared = try await server.call(
                .put, "/v1/users/ann", ["timeZone": .null], headers: [.ifMatch: tag]
            ).expect(200)
            #expect(cleared.json["timeZone"] == .null)
            try await server.call(.put, "/v1/users/ann", [:], headers: [.ifMatch: tag]).expect(412)
        }
    }

    @Test("A user has as many events as the setting allows, deleted ones counted, and the refusal says so")
    func limited() async throws {
        var settings = ServerSettings()
        settings.quotas.personalEventsPerUser = 2
        try await TestServer.run(settings: settings) { server in
            let body: JSONValue = ["title": "T", "date": "2026-03-04"]
            try await server.call(.put, "\(path)/a", body, as: "ann").expect(201)
            try await server.call(.put, "\(path)/b", body, as: "ann").expect(201)
            try await server.call(.delete, "\(path)/b", as: "ann").expect(204)
            #expect(
                try await server.call(.put, "\(path)/c", body, as: "ann").expect(409).json["code"] == "limit-reached")
            try await server.call(.put, "\(path)/b", body, as: "ann").expect(201)
            let report = try await Phone(server).upsert(.sent("E1"))
            #expect(report["rejected"]?.array?.first?["errors"]?.array?.first?["code"] == "too-many")
        }
    }
}
