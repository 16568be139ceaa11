// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import Testing

@testable import ServerTestSupport

@Suite("The schedule")
struct ScheduleTests {
    private static let task: JSONValue = ["title": "Refill pills", "dueAt": "2026-03-03T09:00:00-08:00"]

    @Test("An item that is put is read back with what it got")
    func putAndGet() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.call(.put, "/v1/circles/c/tasks/t1", Self.task).expect(201).json
            #expect(made["dueAt"] == "2026-03-03T09:00:00-08:00")
            #expect(made["durationMinutes"] == 30)
            #expect(made["status"] == "open")
            #expect(made["sequence"] == 0)
            #expect(made["uid"]?.string?.count == 36)
            let read = try await server.call(.get, "/v1/circles/c/tasks/t1").expect(200).json
            #expect(read == made)
        }
    }

    @Test("A read item can be put back as it is, and nothing changes")
    func idempotent() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.call(.put, "/v1/circles/c/tasks/t1", Self.task).expect(201).json
            server.clock.advance(seconds: 60)
            let again = try await server.call(.put, "/v1/circles/c/tasks/t1", made).expect(200).json
            #expect(again == made)
        }
    }

    @Test("An item that is deleted and put again keeps its UID and goes on above its SEQUENCE")
    func revival() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let first = try await server.call(.put, "/v1/circles/c/tasks/t1", Self.task).expect(201).json
            try await server.call(.delete, "/v1/circles/c/tasks/t1").expect(204)
            try await server.call(.get, "/v1/circles/c/tasks/t1").expect(404)
            try await server.call(.delete, "/v1/circles/c/tasks/t1").expect(404)
            let second = try await server.call(.put, "/v1/circles/c/tasks/t1", Self.task).expect(201).json
            #expect(second["uid"] == first["uid"])
            #expect(second["sequence"] == 1)
        }
    }

    @Test("A refused item names every fault by its pointer")
    func everyFault() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await server.call(
                .put, "/v1/circles/c/tasks/t1",
                [
                    "title": 7, "dueAt": "tomorrow", "durationMinutes": 0, "timeZone": "Mars/Olympus", "status": "done",
                    "reminders": [10, -1, "x"], "tittle": "typo",
                ]
            ).expect(422)
            #expect(answer.headers[.contentType] == "application/problem+json")
            #expect(
                Set(answer.pointers) == [
                    "/title", "/dueAt", "/durationMinutes", "/timeZone", "/status", "/reminders/1", "/reminders/2",
                    "/tittle",
                ])
        }
    }

    @Test("Unknown patients and owners are refused with a pointer", arguments: ["patientId", "ownerId"])
    func unknownReference(name: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var task = Self.task.object ?? [:]
            task[name] = "nobody"
            let answer = try await server.call(.put, "/v1/circles/c/tasks/t1", .object(task)).expect(422)
            #expect(answer.pointers == ["/\(name)"])
        }
    }

    @Test(
        "A shift has times or days, in order, not both",
        arguments: [
            (["startAt": "2026-03-03T09:00:00Z", "endAt": "2026-03-03T09:00:00Z"], ["/endAt"]),
            (["startDate": "2026-03-03", "endDate": "2026-03-02"], ["/endDate"]),
            (["startDate": "2026-03-03"], ["/endDate"]),
            (["startAt": "2026-03-03T09:00:00Z"], ["/endAt"]),
            ([:], ["/endAt", "/startAt"]),
            (
                ["startDate": "2026-02-30", "endDate": "2026-03-02"], ["/startDate"]
            ),
            (
                [
                    "startAt": "2026-03-03T09:00:00Z", "endAt": "2026-03-03T10:00:00Z", "startDate": "2026-03-03",
                    "endDate": "2026-03-03",
                ], ["/startAt"]
            ),
        ] as [([String: String], [String])])
    func shiftTimes(fields: [String: String], pointers: [String]) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var shift = Dictionary(uniqueKeysWithValues: fields.map { (ByteString($0), JSONValue.string($1)) })
            shift["patientId"] = "mom"
            let answer = try await server.call(.put, "/v1/circles/c/shifts/s1", .object(shift)).expect(422)
            #expect(answer.pointers.sorted() == pointers)
        }
    }

    @Test("An update that names a stale state is refused, one that names the present state is done")
    func conditional() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.call(.put, "/v1/circles/c/tasks/t1", Self.task).expect(201)
            let etag = try #require(made.headers[.eTag])
            let changed: JSONValue = ["title": "Refill", "dueAt": "2026-03-03T09:00:00-08:00"]
            try await server.call(.put, "/v1/circles/c/tasks/t1", changed, headers: [.ifMatch: "\"old\""]).expect(412)
            try await server.call(.put, "/v1/circles/c/tasks/t1", changed, headers: [.ifNoneMatch: "*"]).expect(412)
            try await server.call(.put, "/v1/circles/c/tasks/t1", changed, headers: [.ifMatch: etag]).expect(200)
            try await server.call(.put, "/v1/circles/c/tasks/t1", Self.task, headers: [.ifMatch: etag]).expect(412)
            try await server.call(.get, "/v1/circles/c/tasks/t1", headers: [.ifNoneMatch: "W/\"x\", \(etag)"]).expect(
                200)
        }
    }

    @Test("A change that calendars do not show leaves the revision alone")
    func invisibleChange() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "t1", Self.task)
            var task = Self.task.object ?? [:]
            task["patientId"] = "mom"
            let answer = try await server.call(.put, "/v1/circles/c/tasks/t1", .object(task)).expect(200)
            #expect(answer.json["sequence"] == 0)
            #expect(answer.json["patientId"] == "mom")
        }
    }

    @Test("A body that is not JSON is 400, one over 1 MiB is 413, an id with a space is 400")
    func bodies() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let headers: HTTPFields = [.authorization: "Bearer \(server.key)"]
            try await server.raw(.put, "/v1/circles/c/tasks/t", headers: headers, body: ByteBuffer(string: "{")).expect(
                400)
            let notes = String(repeating: "x", count: 1 << 20)
            try await server.call(
                .put, "/v1/circles/c/tasks/t", ["title": "a", "dueAt": "2026-03-03T09:00:00Z", "notes": .string(notes)]
            ).expect(413)
            try await server.call(.put, "/v1/circles/c/tasks/a%20b", Self.task).expect(400)
            try await server.call(.put, "/v1/circles/c/tasks/a%3Ab", Self.task).expect(201)
            try await server.call(.get, "/v1/circles/c/tasks/a:b").expect(200)
        }
    }

    @Test("Lists are paged in order of id and filtered by time")
    func lists() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for day in 10...19 {
                try await server.put("tasks", "t\(day)", ["title": "a", "dueAt": .string("2026-03-\(day)T09:00:00Z")])
            }
            var ids: [String] = []
            var cursor = ""
            repeat {
                let page = try await server.call(.get, "/v1/circles/c/tasks?limit=4\(cursor)").expect(200).json
                ids += page["items"]?.array?.compactMap { $0["id"]?.string } ?? []
                cursor = page["nextCursor"]?.string.map { "&cursor=\($0)" } ?? ""
            } while !cursor.isEmpty
            #expect(ids == (10...19).map { "t\($0)" })
            let some = try await server.call(
                .get, "/v1/circles/c/tasks?from=2026-03-12T00:00:00Z&to=2026-03-14T00:00:00Z"
            ).expect(200).json
            #expect(some["items"]?.array?.count == 2)
            try await server.call(.get, "/v1/circles/c/tasks?limit=0").expect(422)
            try await server.call(.get, "/v1/circles/c/tasks?cursor=!!").expect(422)
        }
    }

    @Test("With updatedSince the tombstones of deleted items come too")
    func tombstones() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "t1", Self.task)
            try await server.put("tasks", "t2", Self.task)
            server.clock.advance(seconds: 100)
            try await server.call(.delete, "/v1/circles/c/tasks/t1").expect(204)
            let changed = try await server.call(.get, "/v1/circles/c/tasks?updatedSince=2026-03-02T12:01:00Z").expect(
                200)
            let items = changed.json["items"]?.array ?? []
            #expect(items.count == 1)
            #expect(items.first?["deletedAt"]?.string == "2026-03-02T12:01:40Z")
        }
    }

    @Test("A recurring appointment takes changed and cancelled occurrences, and only such that it has")
    func occurrences() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put(
                "appointments", "a1",
                [
                    "patientId": "mom", "provider": "Dr. Wu", "startAt": "2026-03-03T09:00:00-08:00",
                    "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=3"],
                ])
            let base = "/v1/circles/c/appointments/a1/occurrences"
            // The second week lies after the change to daylight time.
            try await server.call(.put, "\(base)/20260310T160000Z", ["startAt": "2026-03-10T11:00:00-07:00"]).expect(
                201)
            try await server.call(.put, "\(base)/20260317T160000Z", ["status": "cancelled"]).expect(201)
            try await server.call(.put, "\(base)/20260310T170000Z", ["status": "cancelled"]).expect(404)
            try await server.call(.put, "\(base)/20260324T160000Z", ["status": "cancelled"]).expect(404)
            try await server.call(.put, "\(base)/tomorrow", ["status": "cancelled"]).expect(400)
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(
                feed.calendarLines.filter { $0.hasPrefix("RECURRENCE-ID") } == [
                    "RECURRENCE-ID;TZID=America/Los_Angeles:20260310T090000",
                    "RECURRENCE-ID;TZID=America/Los_Angeles:20260317T090000",
                ])
            #expect(feed.values("SEQUENCE") == ["2", "2", "2"])
            #expect(feed.values("STATUS") == ["CONFIRMED", "CONFIRMED", "CANCELLED"])
            try await server.call(.delete, "\(base)/20260310T160000Z").expect(204)
            try await server.call(.delete, "\(base)/20260310T160000Z").expect(404)
        }
    }

    @Test(
        "A rule that RFC 5545 forbids is refused with its pointer",
        arguments: [
            "FREQ=SOMETIMES", "FREQ=WEEKLY;COUNT=2;UNTIL=20270101", "FREQ=DAILY;BYDAY=1MO", "COUNT=3", "FREQ=SECONDLY",
        ])
    func badRule(text: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await server.call(
                .put, "/v1/circles/c/appointments/a1",
                [
                    "patientId": "mom", "provider": "Dr. Wu", "startAt": "2026-03-03T09:00:00-08:00",
                    "recurrence": ["rrule": .string(text)],
                ]
            ).expect(422)
            #expect(answer.pointers == ["/recurrence/rrule"])
        }
    }

    @Test("A changed occurrence is found where it was moved to, in lists and feeds")
    func movedOccurrence() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("appointments", "a1", Self.series)
            let base = "/v1/circles/c/appointments"
            let moved: JSONValue = ["startAt": "2026-12-15T09:00:00-08:00"]
            try await server.call(.put, "\(base)/a1/occurrences/20250114T170000Z", moved).expect(201)
            let list = try await server.call(.get, "\(base)?from=2026-12-15&to=2026-12-16").expect(200)
            #expect(list.json["items"]?.array?.count == 1)
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(feed.calendarLines.contains("DTSTART;TZID=America/Los_Angeles:20261215T090000"))
        }
    }

    @Test("Changed occurrences end with the series they belong to")
    func orphans() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var series = Self.series.object ?? [:]
            series["startAt"] = "2026-03-03T09:00:00-08:00"
            try await server.put("appointments", "a1", .object(series))
            let base = "/v1/circles/c/appointments/a1/occurrences"
            try await server.call(.put, "\(base)/20260310T160000Z", ["location": "Room 2"]).expect(201)
            let path = try await server.makeFeed().path
            series["status"] = "cancelled"
            try await server.put("appointments", "a1", .object(series))
            #expect(try await server.raw(.get, path).values("STATUS") == ["CANCELLED", "CANCELLED"])
            series["startAt"] = "2026-03-04T09:00:00-08:00"
            try await server.put("appointments", "a1", .object(series))
            #expect(try await server.raw(.get, path).values("RECURRENCE-ID").isEmpty)
        }
    }

    private static let series: JSONValue = [
        "patientId": "mom", "provider": "Dr. Wu", "startAt": "2025-01-07T09:00:00-08:00",
        "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=4"],
    ]

    @Test("In the hour that occurs twice each task keeps its instant")
    func repeatedHour() async throws {
        try await TestServer.run(clock: TestClock(1_793_966_400_000)) { server in
            try await server.makeCircle()
            try await server.put("tasks", "first", ["title": "a", "dueAt": "2026-11-01T01:30:00-07:00"])
            try await server.put("tasks", "second", ["title": "b", "dueAt": "2026-11-01T01:30:00-08:00"])
            let lines = try await server.raw(.get, try await server.makeFeed().path).expect(200).calendarLines
            #expect(
                lines.filter { $0.hasPrefix("DTSTART") && !$0.contains(":1970") } == [
                    "DTSTART:20261101T083000Z", "DTSTART:20261101T093000Z",
                ])
            #expect(lines.contains("DTEND:20261101T090000Z") && lines.contains("DTEND:20261101T100000Z"))
        }
    }

    @Test("Missing references of an item are reported together with its other faults")
    func allFaultsTogether() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await server.call(
                .put, "/v1/circles/c/tasks/t1",
                ["id": "t2", "title": "", "patientId": "zz", "ownerId": "zz", "bogus": 1]
            ).expect(422)
            #expect(Set(answer.pointers) == ["/id", "/title", "/dueAt", "/patientId", "/ownerId", "/bogus"])
        }
    }

    @Test("A condition guards a deletion as it guards a change")
    func conditionalDeletion() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "t1", Self.task)
            let feed = try await server.makeFeed()
            let paths = [
                "/v1/circles/c/tasks/t1", "/v1/circles/c/members/ben", "/v1/circles/c/patients/dad",
                "/v1/feeds/\(feed.id)",
                "/v1/circles/c",
            ]
            for path in paths {
                try await server.call(.delete, path, headers: [.ifMatch: "\"stale\""]).expect(412)
            }
            for path in paths { try await server.call(.delete, path, headers: [.ifMatch: "*"]).expect(204) }
        }
    }

    @Test("An all-day shift is listed on its days in the circle's zone, and on no other")
    func allDayInLists() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put(
                "shifts", "s1", ["patientId": "mom", "startDate": "2026-12-03", "endDate": "2026-12-05"])
            func count(_ query: String) async throws -> Int? {
                try await server.call(.get, "/v1/circles/c/shifts?\(query)").expect(200).json["items"]?.array?.count
            }
            #expect(try await count("from=2026-12-05T20:00:00-08:00") == 1)
            #expect(try await count("from=2026-12-06") == 0)
            #expect(try await count("to=2026-12-03") == 0)
            #expect(try await count("to=2026-12-04") == 1)
        }
    }

    @Test("A path that is no route's is a problem document too", arguments: ["/v1/nothing", "/feeds", "/a/b/c"])
    func unknownPath(path: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.raw(.get, path).expect(404)
            #expect(answer.headers[.contentType] == "application/problem+json")
        }
    }

    @Test("A path with an empty part reaches nothing: an id of dots that a client resolves deletes no circle")
    func emptyPart() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for path in ["/v1/circles/c/", "/v1/circles/c/tasks/", "/v1//circles/c", "//v1/circles/c"] {
                let answer = try await server.call(.delete, path).expect(404)
                #expect(answer.headers[.contentType] == "application/problem+json")
                _ = try await server.call(.get, path).expect(404)
            }
            _ = try await server.call(.get, "/v1/circles/c").expect(200)
        }
    }
}
