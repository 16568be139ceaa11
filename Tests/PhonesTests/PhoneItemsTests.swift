// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("A circle's items on phones")
struct PhoneItemsTests {
    @Test(
        "Items come to users with an apple connection, by its config, with circle and collection, and never as theirs")
    func shown() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            try await server.put("tasks", "pills", ["title": "Pills", "dueAt": "2026-03-05T09:00:00-08:00"])
            try await bench.appointment("dentist", "2026-03-06T10:00:00-08:00")
            #expect(try await phone.changes().events.isEmpty)
            let id = try await bench.connect(["syncTasks": false])
            let shown = try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200).json
            #expect(shown["state"] == "active" && shown["provider"] == "apple")
            let events = try await phone.changes().events
            let event = try #require(events.first)
            #expect(events.count == 1 && event["collection"] == "appointments" && event["circleId"] == "c")
            #expect(event["itemId"] == "dentist" && event["connectionId"] == .string(id) && event["turn"] == 1)
            #expect(event["date"] == "2026-03-06" && event["startTime"] == "10:00" && event["endTime"] == "11:00")
            #expect(event["timeZone"] == "America/Los_Angeles" && event["allDay"] == false)
            #expect(event["externalId"] == .null && event["provider"] == "manual" && event["syncState"] == "pending")
            #expect(event["mark"]?.string?.hasPrefix("kalends:/") == true)
            // Apple's changes have it once a phone gave it an id, and the person's own events never.
            #expect(try await phone.changes(path: "/sync/apple/events/changes").events.isEmpty)
            let answer = try await phone.upsert(bench.sent(event, as: "X1"))
            #expect(answer["updated"] == 1 && answer["events"]?.array?.first?["syncState"] == "linked")
            let linked = try await phone.changes(path: "/sync/apple/events/changes").events
            #expect(linked.count == 1 && linked[0]["externalId"] == "X1" && linked[0]["syncState"] == "linked")
            #expect(linked[0]["title"] == event["title"] && linked[0]["id"] == event["id"])
            let own = try await server.call(.get, "/v1/users/ann/events", as: "ann").expect(200).json
            #expect(own["items"] == [])
            let one = "/v1/users/ann/events/\(event["id"]?.string ?? "")"
            try await server.call(.get, one, as: "ann").expect(404)
            try await server.call(.delete, one, as: "ann").expect(404)
            try await server.call(.patch, one, ["title": "x"], as: "ann").expect(404)
            try await server.call(.put, one, ["title": "x", "date": "2026-03-06"], as: "ann").expect(409)
            #expect(try await Phone(server, of: "ben").changes().events.isEmpty)
        }
    }

    @Test("What the config no longer shows comes as deleted, and what it shows again comes again")
    func config() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            try await server.put("tasks", "pills", ["title": "Pills", "dueAt": "2026-03-05T09:00:00-08:00"])
            try await bench.appointment("dentist", "2026-03-06T10:00:00-08:00")
            let id = try await bench.connect()
            let (events, since) = try await phone.changes()
            #expect(events.count == 2)
            server.clock.advance(seconds: 60)
            try await bench.change(id, ["config": ["syncTasks": false]])
            let (gone, then) = try await phone.changes(since: since)
            #expect(gone.map { $0["itemId"] } == ["pills"] && gone.first?["syncState"] == "deleted")
            server.clock.advance(seconds: 60)
            try await bench.change(id, ["config": ["syncTasks": true]])
            let (back, last) = try await phone.changes(since: then)
            #expect(back.map { $0["itemId"] } == ["pills"] && back.first?["syncState"] == "pending")
            // Without a change nothing comes, and nothing is written.
            let version = try await bench.runs(id)
            #expect(try await phone.changes(since: last).events.isEmpty)
            #expect(try await bench.runs(id) == version)
        }
    }

    @Test("With events=remove all items come as deleted, with keep nothing comes", arguments: ["remove", "keep"])
    func ended(how: String) async throws {
        try await PhoneBench.run { bench in
            let phone = try await Phone(bench.server)
            for number in 0..<15 { try await bench.appointment("a\(number)", "2026-03-06T10:00:00-08:00") }
            let id = try await bench.connect()
            let (events, since) = try await phone.changes()
            #expect(events.count == 15)
            try await bench.server.call(.delete, "/v1/connections/\(id)?events=\(how)", as: "ann").expect(204)
            let after = try await phone.changes(since: since).events
            #expect(after.count == (how == "remove" ? 15 : 0))
            #expect(after.allSatisfy { $0["syncState"] == "deleted" })
            let whole = try await phone.changes().events
            #expect(whole.count == after.count)
        }
    }

    @Test("A member who leaves the circle loses the items from that day on; the past stays on the phone")
    func leaving() async throws {
        try await PhoneBench.run { bench in
            let phone = try await Phone(bench.server, of: "ben")
            for (name, day) in [("before", "2026-02-27"), ("today", "2026-03-02"), ("after", "2026-03-09")] {
                try await bench.appointment(name, "\(day)T10:00:00-08:00")
            }
            _ = try await bench.connect(user: "ben")
            let (events, since) = try await phone.changes()
            #expect(events.count == 3)
            try await bench.server.call(.delete, "/v1/circles/c/members/ben").expect(204)
            // What is under way in the background is finished now.
            try await bench.server.services.tidying.tidy()
            let after = try await phone.changes(since: since).events
            #expect(after.compactMap { $0["itemId"]?.string }.sorted() == ["after", "today"])
            #expect(after.allSatisfy { $0["syncState"] == "deleted" })
        }
    }

    @Test("A move on the phone moves the appointment; any other edit is put back, comes again, and is recorded")
    func edits() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            try await bench.appointment("dentist", "2026-03-06T10:00:00-08:00")
            let id = try await bench.connect()
            let event = try await phone.changes().events[0]
            try await phone.upsert(bench.sent(event, as: "X1"))
            let (_, since) = try await phone.changes()
            server.clock.advance(seconds: 600)
            let moved = try await phone.upsert(
                bench.sent(event, as: "X1", ["startTime": "14:00", "endTime": "15:00"]))
            #expect(moved["updated"] == 1 && moved["events"]?.array?[0]["syncState"] == "linked")
            let item = try await server.item("appointments", "dentist")
            #expect(item["startAt"] == "2026-03-06T14:00:00-08:00" && item["endAt"] == "2026-03-06T15:00:00-08:00")
            let (echo, then) = try await phone.changes(since: since)
            #expect(echo.count == 1 && echo[0]["startTime"] == "14:00")
            server.clock.advance(seconds: 600)
            try await phone.upsert(
                bench.sent(echo[0], as: "X1", ["title": "My own words"]))
            let (again, last) = try await phone.changes(since: then)
            #expect(again.count == 1 && again[0]["title"] == event["title"] && again[0]["startTime"] == "14:00")
            let conflicts = try await server.call(.get, "/v1/connections/\(id)/conflicts", as: "ann").expect(200).json
            let record = try #require(conflicts["items"]?.array?.first)
            #expect(record["kind"] == "editedThere" && record["state"] == "resolved")
            #expect(record["fields"]?.array?.first?["calendar"] == "My own words")
            // Nothing more comes of it.
            #expect(try await phone.changes(since: last).events.isEmpty)
            #expect(try await bench.open(id).isEmpty)
        }
    }

    @Test("A time that was changed on both sides: the later one more than five minutes apart, else the phone's; open")
    func bothChanged() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            for name in ["near", "later", "earlier"] { try await bench.appointment(name, "2026-03-06T10:00:00-08:00") }
            let id = try await bench.connect()
            let events = try await phone.changes().events
            for event in events { try await phone.upsert(bench.sent(event, as: "X-\(event["itemId"]?.string ?? "")")) }
            let since = try await phone.changes().nextSince
            server.clock.advance(seconds: 3600)
            let base = server.clock.now
            // The phone was away in the meantime: it moved at `base`, and says so when it comes back.
            server.clock.advance(seconds: -400)
            try await bench.appointment("earlier", "2026-03-06T12:00:00-08:00")
            server.clock.advance(seconds: 500)
            try await bench.appointment("near", "2026-03-06T12:00:00-08:00")
            server.clock.advance(seconds: 300)
            try await bench.appointment("later", "2026-03-06T12:00:00-08:00")
            server.clock.advance(seconds: 3600)
            var states: [String: JSONValue] = [:]
            for event in events {
                let name = event["itemId"]?.string ?? ""
                let answer = try await phone.upsert(
                    bench.sent(
                        event, as: "X-\(name)",
                        ["startTime": "16:00", "endTime": "17:00", "lastModified": .integer(base)]))
                states[name] = answer["events"]?.array?[0]["syncState"]
            }
            #expect(states == ["near": "conflict", "later": "conflict", "earlier": "conflict"])
            func start(_ name: String) async throws -> String? {
                try await server.item("appointments", name)["startAt"]?.string
            }
            #expect(try await start("near") == "2026-03-06T16:00:00-08:00")
            #expect(try await start("earlier") == "2026-03-06T16:00:00-08:00")
            #expect(try await start("later") == "2026-03-06T12:00:00-08:00")
            let after = try await phone.changes(since: since).events
            #expect(after.allSatisfy { $0["syncState"] == "conflict" })
            let times = Dictionary(
                after.compactMap { event in event["itemId"]?.string.map { ($0, event["startTime"]?.string ?? "") } },
                uniquingKeysWith: { $1 })
            #expect(times == ["near": "16:00", "later": "12:00", "earlier": "16:00"])
            let open = try await bench.open(id)
            #expect(open.count == 3)
            // A person decides: the phone hears of it, and of that it is decided.
            let record = try #require(open.first { $0["itemId"] == "near" })
            let position = try await phone.changes().nextSince
            server.clock.advance(seconds: 60)
            try await server.call(
                .post, "/v1/conflicts/\(record["id"]?.string ?? "")/resolve", ["keep": "kalends"], as: "ann"
            ).expect(200)
            let decided = try await phone.changes(since: position).events
            #expect(decided.count == 1 && decided[0]["startTime"] == "12:00" && decided[0]["syncState"] == "linked")
            #expect(try await start("near") == "2026-03-06T12:00:00-08:00")
            #expect(try await bench.open(id).count == 2)
        }
    }

    @Test("A deletion on the phone cancels no appointment: it is open; a task stays away until it changes")
    func deletions() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            try await bench.appointment("dentist", "2026-03-06T10:00:00-08:00")
            try await server.put("tasks", "pills", ["title": "Pills", "dueAt": "2026-03-05T09:00:00-08:00"])
            let id = try await bench.connect()
            for event in try await phone.changes().events {
                let name = event["itemId"]?.string ?? ""
                try await phone.upsert(bench.sent(event, as: name))
                let answer = try await phone.upsert([
                    "externalId": .string(name), "syncState": "deleted", "id": event["id"] ?? .null,
                ])
                #expect(answer["updated"] == 1)
                let isTask = name == "pills"
                #expect(answer["events"]?.array?[0]["syncState"] == (isTask ? "deleted" : "conflict"))
            }
            #expect(try await server.item("appointments", "dentist")["status"] != "cancelled")
            let open = try await bench.open(id)
            #expect(open.count == 1 && open[0]["kind"] == "deletedThere" && open[0]["itemId"] == "dentist")
            let since = try await phone.changes().nextSince
            #expect(try await phone.changes(since: since).events.isEmpty)
            server.clock.advance(seconds: 60)
            try await server.put("tasks", "pills", ["title": "Two pills", "dueAt": "2026-03-05T09:00:00-08:00"])
            let (back, then) = try await phone.changes(since: since)
            #expect(back.count == 1 && back[0]["itemId"] == "pills" && back[0]["syncState"] == "pending")
            server.clock.advance(seconds: 60)
            try await server.call(
                .post, "/v1/conflicts/\(open[0]["id"]?.string ?? "")/resolve", ["keep": "kalends"], as: "ann"
            ).expect(200)
            let again = try await phone.changes(since: then).events
            #expect(again.count == 1 && again[0]["itemId"] == "dentist" && again[0]["externalId"] == .null)
        }
    }

    @Test("A change here beats the deletion of what the phone had before: it comes again as a new event")
    func lateDeletion() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            try await bench.appointment("dentist", "2026-03-06T10:00:00-08:00")
            let id = try await bench.connect()
            let event = try await phone.changes().events[0]
            try await phone.upsert(bench.sent(event, as: "X1"))
            let since = try await phone.changes().nextSince
            server.clock.advance(seconds: 600)
            try await bench.appointment("dentist", "2026-03-06T13:00:00-08:00")
            // The phone has not heard of it.
            try await phone.upsert(["externalId": "X1", "syncState": "deleted"])
            #expect(try await bench.open(id).isEmpty)
            let (after, then) = try await phone.changes(since: since)
            #expect(after.filter { $0["syncState"] == "deleted" }.map { $0["externalId"] } == ["X1"])
            let living = try #require(after.first { $0["syncState"] != "deleted" })
            #expect(after.count == 2 && living["startTime"] == "13:00" && living["externalId"] == .null)
            #expect(living["itemId"] == "dentist" && living["mark"] != event["mark"])
            // Of what it has heard of, the deletion waits for a person.
            try await phone.upsert(bench.sent(living, as: "X2"))
            let heard = try await phone.changes(since: then).nextSince
            #expect(try await phone.changes(since: heard).events.isEmpty)
            try await phone.upsert(["externalId": "X2", "syncState": "deleted"])
            #expect(try await bench.open(id).map { $0["kind"] } == ["deletedThere"])
        }
    }

    @Test(
        "What a phone had before our change takes nothing back, whether or not it says what it had",
        arguments: [true, false])
    func late(says: Bool) async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            try await bench.appointment("dentist", "2026-03-06T10:00:00-08:00")
            let id = try await bench.connect()
            let event = try await phone.changes().events[0]
            let linked = try await phone.upsert(bench.sent(event, as: "X1"))
            let since = try await phone.changes().nextSince
            server.clock.advance(seconds: 600)
            // Moved here, twice; the phone does not know of it, and sends what it has with notes of its own.
            try await bench.appointment("dentist", "2026-03-06T12:00:00-08:00")
            _ = try await bench.look(id)
            server.clock.advance(seconds: 600)
            try await bench.appointment("dentist", "2026-03-06T13:00:00-08:00")
            let base = linked["events"]?.array?[0]["updatedAt"] ?? .null
            try await phone.upsert(
                bench.sent(
                    event, as: "X1", ["description": "typed there", "updatedAt": says ? base : .null]))
            #expect(try await server.item("appointments", "dentist")["startAt"] == "2026-03-06T13:00:00-08:00")
            let after = try await phone.changes(since: since).events
            #expect(after.count == 1 && after[0]["startTime"] == "13:00")
            #expect(after[0]["description"] == event["description"])
            #expect(try await bench.open(id).isEmpty)
        }
    }

    @Test("A viewer's move is put back; so is a move on a connection of one way")
    func oneWay() async throws {
        try await PhoneBench.run { bench in
            let server = bench.server
            try await bench.appointment("dentist", "2026-03-06T10:00:00-08:00")
            for (user, config) in [("vic", [:] as JSONValue), ("ann", ["twoWay": false])] {
                let phone = try await Phone(server, of: user)
                _ = try await bench.connect(user: user, config)
                let (events, since) = try await phone.changes()
                try await phone.upsert(
                    bench.sent(events[0], as: "X1", ["startTime": "15:00", "endTime": "16:00"]))
                let after = try await phone.changes(since: since).events
                #expect(after.count == 1 && after[0]["startTime"] == "10:00" && after[0]["externalId"] == "X1")
                #expect(
                    try await server.item("appointments", "dentist")["startAt"] == "2026-03-06T10:00:00-08:00")
            }
        }
    }

    @Test("A series is one event, and a changed occurrence one of its own, both ways")
    func series() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            try await server.put(
                "appointments", "physio",
                [
                    "patientId": "mom", "provider": "Physio", "startAt": "2026-03-03T10:00:00-08:00",
                    "endAt": "2026-03-03T11:00:00-08:00", "timeZone": "America/Los_Angeles",
                    "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=6"],
                ])
            _ = try await bench.connect()
            let (events, since) = try await phone.changes()
            let series = try #require(events.first)
            #expect(events.count == 1 && series["recurrence"]?["rrule"] == "FREQ=WEEKLY;COUNT=6")
            try await phone.upsert(bench.sent(series, as: "S"))
            // The phone moves the second one, across the change of the clocks.
            let start = "2026-03-10T17:00:00Z"
            server.clock.advance(seconds: 60)
            let sent = try await phone.upsert(
                .sent(
                    "S", series["title"]?.string ?? "",
                    [
                        "externalInstanceId": .string(start), "date": "2026-03-11", "startTime": "09:00",
                        "endTime": "10:00", "timeZone": "America/Los_Angeles",
                        "recurrence": series["recurrence"] ?? .null,
                    ]))
            #expect(sent["created"] == 1, "\(sent)")
            let path = "/v1/circles/c/appointments/physio/occurrences"
            let changed = try await server.call(.get, path).expect(200).json["items"]?.array ?? []
            #expect(changed.count == 1 && changed.first?["startAt"] == "2026-03-11T09:00:00-07:00", "\(changed)")
            // What the phone did not say about it is as in the series.
            #expect(try await bench.open(try #require(series["connectionId"]?.string)).isEmpty)
            let records = try await server.call(
                .get, "/v1/connections/\(series["connectionId"]?.string ?? "")/conflicts", as: "ann"
            ).expect(200).json
            #expect(records["items"] == [])
            // And here the third one is moved, and the fourth is cancelled.
            server.clock.advance(seconds: 60)
            let middle = try await phone.changes(since: since).nextSince
            try await server.call(
                .put, "\(path)/20260317T170000Z",
                ["startAt": "2026-03-18T10:00:00-07:00", "endAt": "2026-03-18T11:00:00-07:00"]
            ).expect(201)
            try await server.call(.put, "\(path)/20260324T170000Z", ["status": "cancelled"]).expect(201)
            let after = try await phone.changes(since: middle).events
            let third = try #require(after.first { $0["externalInstanceId"] == "2026-03-17T17:00:00Z" })
            #expect(third["externalId"] == "S" && third["date"] == "2026-03-18" && third["startTime"] == "10:00")
            let master = try #require(after.first { $0["externalInstanceId"] == .null })
            #expect(master["recurrence"]?["exdates"] == ["2026-03-24T17:00:00Z"])
            // The phone deletes the fifth one: the appointment stays, and the deletion waits for a person.
            try await phone.upsert([
                "externalId": "S", "externalInstanceId": "2026-03-31T17:00:00Z", "syncState": "deleted",
            ])
            let open = try await bench.open(try #require(series["connectionId"]?.string))
            #expect(open.map { $0["kind"] } == ["deletedThere"])
        }
    }
}
