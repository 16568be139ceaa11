// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("What a phone sends")
struct PhoneUpsertTests {
    private func event(_ server: TestServer, _ id: JSONValue?) async throws -> JSONValue {
        try await server.call(.get, "/v1/users/ann/events/\(id?.string ?? "")").expect(200).json
    }

    @Test("The body of the agent's description is taken as it stands, once")
    func verbatim() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let body = """
                {
                  "sourceDevice": "ios-iphone15",
                  "events": [
                    {
                      "externalId": "<EventKit calendarItemIdentifier>",
                      "externalCalendarId": "<EKCalendar identifier>",
                      "title": "Meeting",
                      "date": "2026-01-19",
                      "startTime": "09:00",
                      "endTime": "10:00",
                      "description": "Optional notes",
                      "syncState": "linked",
                      "lastSyncedAt": 1768880522609
                    }
                  ]
                }
                """
            let first = try await phone.send(body).expect(200).json
            #expect(first["upserted"] == 1 && first["created"] == 1 && first["updated"] == 0)
            #expect(first["rejected"] == [] && first["serverTime"] == .integer(server.clock.now))
            let id = first["events"]?.array?.first?["id"]
            let stored = try await event(server, id)
            #expect(stored["provider"] == "apple" && stored["externalId"] == "<EventKit calendarItemIdentifier>")
            #expect(stored["externalCalendarId"] == "<EKCalendar identifier>" && stored["syncState"] == "linked")
            #expect(stored["lastSyncedAt"] == 1_768_880_522_609 && stored["sourceDevice"] == "ios-iphone15")
            #expect(stored["description"] == "Optional notes" && stored["date"] == "2026-01-19")
            let second = try await phone.send(body).expect(200).json
            #expect(second["upserted"] == 0 && second["unchanged"] == 1)
            #expect(second["events"]?.array?.first == first["events"]?.array?.first)
            #expect(try await event(server, id) == stored)
        }
    }

    @Test("A title that was cut within a character keeps neither its event nor the others back")
    func halves() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let body = #"""
                {"events": [{"externalId": "a", "title": "Lunch \ud83c", "date": "2026-01-19", "x": "\udf55"},
                {"externalId": "b", "title": "Dinner \ud83c\udf55", "date": "2026-01-19"}]}
                """#
            #expect(try await phone.send(body).expect(200).json["created"] == 2)
            #expect(try await phone.changes().events.map { $0["title"] } == ["Lunch \u{FFFD}", "Dinner 🍕"])
            #expect(try await phone.send(body).expect(200).json["unchanged"] == 2)
        }
    }

    @Test("What is missing or null stays, an empty text clears a text, and allDay clears both times")
    func nulls() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let all: [ByteString: JSONValue] = [
                "description": "Notes", "location": "Office", "timeZone": "Europe/Vienna", "endDate": "2026-03-04",
                "externalCalendarId": "C1", "lastSyncedAt": 5, "recurrence": ["rrule": "FREQ=DAILY"],
            ]
            let id = try await phone.upsert(.sent("E1", "A", all))["events"]?.array?.first?["id"]
            let before = try await event(server, id)
            let nothing: [ByteString: JSONValue] = all.mapValues { _ in .null }
                .merging(["startTime": .null, "endTime": .null, "allDay": .null, "syncState": .null, "id": .null]) {
                    $1
                }
            #expect(try await phone.upsert(.sent("E1", "A", nothing))["unchanged"] == 1)
            let bare: JSONValue = ["externalId": "E1", "title": "A", "date": "2026-03-04"]
            #expect(try await phone.upsert(bare)["unchanged"] == 1)
            #expect(try await event(server, id) == before)
            let texts: [ByteString: JSONValue] = [
                "description": "", "location": "", "timeZone": "", "externalCalendarId": "", "title": "",
            ]
            #expect(try await phone.upsert(.sent("E1", "A", texts))["updated"] == 1)
            let cleared = try await event(server, id)
            #expect(cleared["description"] == .null && cleared["location"] == .null && cleared["timeZone"] == nil)
            #expect(cleared["externalCalendarId"] == .null && cleared["title"] == "Untitled")
            #expect(cleared["startTime"] == "09:00" && cleared["recurrence"] == before["recurrence"])
            try await phone.upsert(.sent("E1", "A", ["allDay": true]))
            let day = try await event(server, id)
            #expect(day["allDay"] == true && day["startTime"] == .null && day["endTime"] == .null)
        }
    }

    @Test("Each event is judged by itself, and a rejection names its index, its externalId and every field")
    func judged() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let report = try await phone.upsert(
                .sent("E1"), ["externalId": "E2"], .sent("E3", "T", ["date": "soon", "startTime": 9]), "x",
                .sent("E5", "T", ["syncState": "gone", "lastSyncedAt": -1, "lastModified": "now", "id": 7]),
                ["title": "T", "date": "2026-03-04"], .sent("E7", String(repeating: "x", count: 1001)), .sent("E8"),
                .sent("E9", "T", ["externalInstanceId": "second"]), .sent("", "T"), .sent("E11", "T\u{1}"))
            #expect(report["created"] == 2 && report["upserted"] == 2 && report["unchanged"] == 0)
            let rejected = try #require(report["rejected"]?.array)
            let named = rejected.map { one in
                (one["index"]?.integer ?? -1, one["errors"]?.array?.compactMap { $0["pointer"]?.string } ?? [])
            }
            let expected: [Int: Set<String>] = [
                1: ["/events/1/title", "/events/1/date"], 2: ["/events/2/date", "/events/2/startTime"],
                3: ["/events/3", "/events/3/externalId", "/events/3/title", "/events/3/date"],
                4: [
                    "/events/4/syncState", "/events/4/lastSyncedAt", "/events/4/lastModified", "/events/4/id",
                ], 5: ["/events/5/externalId"], 6: ["/events/6/title"], 8: ["/events/8/externalInstanceId"],
                9: ["/events/9/externalId"], 10: ["/events/10/title"],
            ]
            #expect(Dictionary(named.map { ($0, Set($1)) }) { $1 } == expected)
            #expect(rejected.first?["externalId"] == "E2")
            #expect(report["events"]?.array?.compactMap { $0["index"]?.integer } == [0, 7])
        }
    }

    @Test("Only a wrong body is 422 and only a large one 413; 5,000 events are taken, and one more is not")
    func bodies() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            #expect(try await phone.send("{}").expect(422).pointers == ["/events"])
            #expect(try await phone.send("[]").expect(422).pointers.contains("/events"))
            #expect(try await phone.send(#"{"events": {}}"#).expect(422).pointers == ["/events"])
            #expect(
                try await phone.send(#"{"events": [], "sourceDevice": 4}"#).expect(422).pointers == ["/sourceDevice"])
            try await phone.send("{").expect(400)
            try await phone.send(#"{"events": []}"#).expect(200)
            let one = #"{"externalId":"E","title":"T","date":"2026-03-04"}"#
            func many(_ count: Int) -> String {
                #"{"events":["# + Array(repeating: one, count: count).joined(separator: ",") + "]}"
            }
            let report = try await phone.send(many(5000)).expect(200).json
            #expect(report["created"] == 1 && report["unchanged"] == 4999)
            #expect(try await phone.send(many(5001)).expect(422).pointers == ["/events"])
            let head = #"{"events": []"#
            for (length, status) in [(16 << 20, 200), (16 << 20 + 1, 413)] {
                try await phone.send(head + String(repeating: " ", count: length - head.utf8.count - 1) + "}")
                    .expect(status)
            }
            try await server.raw(.post, "/sync/apple/events/upsert", body: ByteBuffer(string: "{}")).expect(401)
        }
    }

    @Test("Of thousands of wrong events the first are listed and all counted, in an answer that stays short")
    func bounded() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let names = [
                "title", "date", "startTime", "endTime", "endDate", "timeZone", "allDay", "description", "location",
                "externalId", "syncState", "sourceDevice", "id", "start_at", "end_at", "external_id", "is_all_day",
            ]
            let bad = "{" + names.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
            let events = "[" + Array(repeating: bad, count: 5000).joined(separator: ",") + "]"
            for (path, body, list) in [
                ("/sync/apple/events/upsert", "{\"events\":\(events)}", "rejected"),
                (
                    "/api/apple_sync/planned_upsert",
                    "{\"range_start\":\"2026-03-01T00:00:00Z\",\"range_end\":\"2026-04-01T00:00:00Z\",\"events\":\(events)}",
                    "failed"
                ),
            ] {
                let answer = try await phone.send(body, to: path).expect(200)
                // It was ten mebibytes, and whoever does not read it keeps it in memory.
                #expect(answer.body.count < 2 << 20)
                let listed = answer.json[list]?.array ?? []
                #expect(!listed.isEmpty && listed.count <= BatchCounts.mostRejected)
                #expect(listed.compactMap { $0["index"]?.integer } == Array(0..<listed.count))
                #expect(answer.json[list + "LeftOut"] == .integer(5000 - listed.count))
            }
        }
    }

    @Test("The later change wins: by lastModified, else by arrival, and never one of the future")
    func lastWriter() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let now = server.clock.now
            let id = try await phone.upsert(.sent("E1", "First", ["lastModified": .integer(now - 9000)]))["events"]?
                .array?.first?["id"]
            server.clock.advance(seconds: 60)
            let patched = now + 60_000
            try await server.call(.patch, "/v1/users/ann/events/\(id?.string ?? "")", ["title": "Ours"]).expect(200)
            server.clock.advance(seconds: 60)
            let before = try await event(server, id)
            let late = try await phone.upsert(
                .sent("E1", "Late", ["lastModified": .integer(patched - 1), "description": "x", "lastSyncedAt": 9]))
            #expect(late["unchanged"] == 1 && late["upserted"] == 0 && late["rejected"] == [])
            #expect(try await event(server, id) == before)
            #expect(
                try await phone.upsert(.sent("E1", "Later", ["lastModified": .integer(patched + 1)]))["updated"] == 1)
            #expect(try await event(server, id)["title"] == "Later")
            // A clock that is ahead wins no later than now.
            try await phone.upsert(.sent("E1", "Ahead", ["lastModified": .integer(now + 9_000_000_000)]))
            server.clock.advance(milliseconds: 1)
            #expect(try await phone.upsert(.sent("E1", "Now"))["updated"] == 1)
            #expect(try await event(server, id)["title"] == "Now")
        }
    }

    @Test("A deletion is a change like others, and what comes after it brings the event back")
    func deletion() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let gone: JSONValue = ["externalId": "E1", "syncState": "deleted"]
            let unknown = try await phone.upsert(gone)
            #expect(unknown["unchanged"] == 1 && unknown["events"] == [] && unknown["rejected"] == [])
            let id = try await phone.upsert(.sent("E1", "A", ["description": "Notes"]))["events"]?.array?.first?["id"]
            server.clock.advance(seconds: 60)
            let path = "/v1/users/ann/events/\(id?.string ?? "")"
            let early: JSONValue = [
                "externalId": "E1", "syncState": "deleted", "lastModified": .integer(server.clock.now - 60_001),
            ]
            #expect(try await phone.upsert(early)["unchanged"] == 1)
            #expect(try await phone.upsert(gone)["updated"] == 1)
            try await server.call(.get, path).expect(404)
            #expect(try await phone.upsert(gone)["unchanged"] == 1)
            let tombstone = try #require(try await phone.changes().events.last)
            #expect(tombstone["syncState"] == "deleted" && tombstone["deletedAt"] == .integer(server.clock.now))
            let before: JSONValue = .sent("E1", "B", ["lastModified": .integer(server.clock.now - 1)])
            #expect(try await phone.upsert(before)["unchanged"] == 1)
            try await server.call(.get, path).expect(404)
            #expect(try await phone.upsert(.sent("E1", "B"))["updated"] == 1)
            let back = try await event(server, id)
            #expect(back["title"] == "B" && back["syncState"] == "linked" && back["deletedAt"] == nil)
            #expect(back["description"] == "Notes")
            // What was deleted here comes back by a later edit there, too.
            try await server.call(.delete, path).expect(204)
            #expect(try await phone.upsert(before)["unchanged"] == 1)
            #expect(try await phone.upsert(.sent("E1", "C"))["updated"] == 1)
        }
    }

    @Test("An event that a phone made for ours is linked by our id, and found by its own from then on")
    func linked() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let path = "/v1/users/ann/events/ours"
            let body: JSONValue = ["title": "Choir", "date": "2026-03-04", "startTime": "19:00"]
            let made = try await server.call(.put, path, body).expect(201).json
            server.clock.advance(seconds: 5)
            let link: [ByteString: JSONValue] = ["id": "ours", "startTime": "19:00", "endTime": .null]
            let report = try await phone.upsert(.sent("E1", "Choir", link))
            #expect(report["updated"] == 1 && report["events"]?.array?.first?["id"] == "ours")
            let stored = try await server.call(.get, path).expect(200).json
            #expect(stored["externalId"] == "E1" && stored["provider"] == "apple" && stored["syncState"] == "linked")
            #expect(stored["title"] == made["title"] && stored["sourceDevice"] == "phone-1")
            #expect(
                try await phone.upsert(.sent("E1", "Choir", ["startTime": "19:30", "endTime": "20:00"]))["updated"] == 1
            )
            // Another device that does not name itself is not the one that made it.
            let other = try await Phone(server, named: "phone-2")
            #expect(
                try await other.upsert(.sent("E1", "Choir", ["startTime": "19:40", "endTime": "20:00"]))["updated"] == 1
            )
            #expect(try await server.call(.get, path).expect(200).json["sourceDevice"] == "phone-1")
            // Another identity of the same event, as after a full sync of the phone's calendar.
            #expect(try await phone.upsert(.sent("E2", "Choir", link))["updated"] == 1)
            #expect(try await server.call(.get, path).expect(200).json["externalId"] == "E2")
            // One that lost the race for the title links all the same.
            try await server.call(.put, "/v1/users/ann/events/two", body).expect(201)
            let late: [ByteString: JSONValue] = ["id": "two", "lastModified": .integer(server.clock.now - 1)]
            #expect(try await phone.upsert(.sent("E3", "Old", late))["updated"] == 1)
            let two = try await server.call(.get, "/v1/users/ann/events/two").expect(200).json
            #expect(two["externalId"] == "E3" && two["title"] == "Choir")
            // An id that is not known makes another event; its name on the phone does not matter.
            for id in ["nobody's", "in space"] {
                let other = try await phone.upsert(.sent("E-\(id)", "T", ["id": .string(id)]))
                #expect(other["created"] == 1 && other["events"]?.array?.first?["id"] != .string(id))
            }
        }
    }

    @Test("Only a device changes the mapping; an edit from elsewhere leaves it")
    func mapping() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let more: [ByteString: JSONValue] = [
                "externalCalendarId": "C1", "lastSyncedAt": 7, "syncState": "conflict",
            ]
            let id = try await phone.upsert(.sent("E1", "A", more))["events"]?.array?.first?["id"]?.string ?? ""
            let path = "/v1/users/ann/events/\(id)"
            let names: [ByteString] = [
                "provider", "externalId", "externalCalendarId", "externalInstanceId", "syncState", "lastSyncedAt",
                "sourceDevice",
            ]
            let before = try await server.call(.get, path).expect(200).json
            let forged: JSONValue = [
                "title": "B", "provider": "google", "externalId": "E9", "externalCalendarId": "C9",
                "externalInstanceId": "2026-03-04", "syncState": "ignored", "lastSyncedAt": 1, "sourceDevice": "web",
            ]
            let patched = try await server.call(.patch, path, forged).expect(200).json
            #expect(patched["title"] == "B")
            for name in names { #expect(patched[name.string] == before[name.string], "\(name)") }
            let put: JSONValue = ["title": "C", "date": "2026-03-05", "externalId": .null, "syncState": .null]
            let replaced = try await server.call(.put, path, put).expect(200).json
            for name in names { #expect(replaced[name.string] == before[name.string], "\(name)") }
            #expect(try await phone.upsert(.sent("E1", "D"))["updated"] == 1)
        }
    }

    @Test("A changed occurrence is an event of its own, known by its original start however that is written")
    func occurrences() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let series: JSONValue = .sent("S", "Choir", ["recurrence": ["rrule": "FREQ=WEEKLY"]])
            let start = "2026-03-11T09:00:00-07:00"
            let changed: JSONValue = .sent(
                "S", "Concert", ["externalInstanceId": .string(start), "date": "2026-03-12"])
            let report = try await phone.upsert(series, changed)
            #expect(report["created"] == 2)
            let ids = report["events"]?.array?.compactMap { $0["id"]?.string } ?? []
            #expect(Set(ids).count == 2)
            let utc: JSONValue = .sent(
                "S", "Concert", ["externalInstanceId": "2026-03-11T16:00:00Z", "date": "2026-03-12"])
            #expect(try await phone.upsert(utc)["unchanged"] == 1)
            #expect(try await event(server, .string(ids[1]))["externalInstanceId"] == .string(start))
            #expect(try await phone.upsert(.sent("S", "Day", ["externalInstanceId": "2026-03-18"]))["created"] == 1)
            let gone: JSONValue = ["externalId": "S", "externalInstanceId": "2026-03-18", "syncState": "deleted"]
            #expect(try await phone.upsert(gone)["updated"] == 1)
            #expect(try await event(server, .string(ids[0]))["title"] == "Choir")
        }
    }

    @Test("Another user's phone knows nothing of an event, and one of the same ids is its own")
    func others() async throws {
        try await TestServer.run { server in
            let (anns, bens) = (try await Phone(server), try await Phone(server, of: "ben"))
            let id = try await anns.upsert(.sent("E1", "Ann's"))["events"]?.array?.first?["id"]
            let report = try await bens.upsert(.sent("E1", "Ben's", ["id": id ?? .null]))
            #expect(report["created"] == 1 && report["events"]?.array?.first?["id"] != id)
            #expect(try await bens.upsert(["externalId": "E1", "syncState": "deleted"])["updated"] == 1)
            #expect(try await event(server, id)["title"] == "Ann's")
            #expect(try await anns.changes().events.count == 1)
        }
    }

    @Test("What is not asked for reaches neither the database's files, nor the log, nor an answer")
    func unknownFields() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let secret = "kept-nowhere-7f3a"
            let extra: [ByteString: JSONValue] = [
                "attendees": [.object(["email": .string(secret), secret.bytes: 1])], secret.bytes: .string(secret),
                "recurrence": ["rrule": "FREQ=DAILY", "notes": .string(secret)], "alarms": .string(secret),
            ]
            let body: JSONValue = [
                "deviceName": .string(secret), "nested": [["deep": ["deeper": .string(secret)]]],
                "events": [.sent("E1", "Shown title", extra), .sent("E2", "T", extra.merging(["date": "x"]) { $1 })],
            ]
            let answer = try await phone.call(.post, "/sync/apple/events/upsert", body).expect(200)
            #expect(answer.json["created"] == 1 && !answer.text.contains(secret))
            // Also when the document breaks off, or has a name twice.
            for broken in [
                #"{"events": [{"\#(secret)": {"\#(secret)": [1 2]}}]}"#, #"{"events": [], "events": ["\#(secret)"]}"#,
                #"{"\#(secret)": "\#(secret)", "events": {"\#(secret)": 1}}"#,
            ] {
                let refused = try await phone.send(broken)
                #expect([400, 422].contains(refused.status) && !refused.text.contains(secret), "\(refused.text)")
            }
            // Two members with the same name do not matter where nothing is asked for.
            let twice =
                #"{"x": 1, "x": 2, "events": [{"externalId": "E9", "y": 1, "y": 2, "title": "T", "date": "2026-03-04"}]}"#
            #expect(try await phone.send(twice).expect(200).json["created"] == 1)
            #expect(!server.log.text.contains(secret))
            for file in try FileManager.default.contentsOfDirectory(at: server.folder, includingPropertiesForKeys: nil)
            {
                let bytes = try Data(contentsOf: file)
                #expect(!bytes.holds(Data(secret.utf8)), "\(file.lastPathComponent)")
            }
            let database = try Data(contentsOf: server.folder.appending(path: "k.sqlite-wal"))
            #expect(database.holds(Data("Shown title".utf8)))
        }
    }
}

extension String {
    fileprivate var bytes: ByteString { ByteString(self) }
}
