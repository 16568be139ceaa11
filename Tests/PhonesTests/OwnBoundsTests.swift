// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Storage
import Testing

@testable import CalendarSync
@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Bounds of a person's own events")
struct OwnBoundsTests {
    private static func few(_ change: (inout Quotas) -> Void) -> ServerSettings {
        var settings = ServerSettings()
        change(&settings.quotas)
        return settings
    }

    /// A rule that is short but takes long to expand.
    private static let costly: JSONValue = [
        "rrule": """
        FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23;\
        BYMINUTE=0,5,10,15,20,25,30,35,40,45,50,55;BYSECOND=0,10,20,30,40,50;BYSETPOS=-1;COUNT=100000
        """
    ]

    @Test("A user's events have at most so many bytes, and every way of changing one counts")
    func bytes() async throws {
        try await TestServer.run(settings: Self.few { $0.personalBytesPerUser = 1000 }) { server in
            func put(_ id: String, _ length: Int) async throws -> Answer {
                let text = JSONValue.string(String(repeating: "x", count: length))
                let body: JSONValue = ["title": "T", "date": "2026-03-04", "description": text]
                return try await server.call(.put, "/v1/users/ann/events/\(id)", body, as: "ann")
            }
            func bytes() async throws -> Int {
                try await server.services.store.read { try $0.personalCalendar(of: "ann").bytes }
            }
            try await put("a", 499).expect(201)
            try await put("b", 499).expect(201)
            #expect(try await bytes() == 1000)
            let reply = try await put("c", 0).expect(409)
            #expect(reply.json["code"] == "limit-reached" && reply.text.contains("at most 1000 bytes"), "\(reply.text)")
            try await put("a", 500).expect(409)
            try await put("a", 400).expect(200)
            #expect(try await bytes() == 901)
            // A phone's names of it count too, and what does not fit is rejected by itself.
            let phone = try await Phone(server)
            let answer = try await phone.upsert(
                .sent("x1", "One"), .sent("x2", "Two", ["description": .string(String(repeating: "y", count: 200))]))
            #expect(answer["created"] == 1)
            #expect(answer["rejected"]?.array?.first?["index"] == 1)
            let before = try await bytes()
            #expect(before > 901 && before < 1000)
            // The same again is nothing more, and a deletion is always taken.
            try await phone.upsert(.sent("x1", "One"))
            #expect(try await bytes() == before)
            try await server.call(.delete, "/v1/users/ann/events/b", as: "ann").expect(204)
            #expect(try await bytes() == before)
            // Somebody else's do not count as ann's.
            let other: JSONValue = ["title": "T", "date": "2026-03-04"]
            try await server.call(.put, "/v1/users/ben/events/a", other, as: "ben").expect(201)
        }
    }

    @Test("What phones have planned has at most so many bytes, and what goes makes room")
    func planned() async throws {
        try await TestServer.run(settings: Self.few { $0.plannedBytesPerUser = 100 }) { server in
            func send(_ titles: [String]) async throws -> JSONValue {
                let events = titles.enumerated().map { index, title -> JSONValue in
                    [
                        "external_id": .string("\(index)"), "title": .string(title),
                        "start_at": "2026-03-04T09:00:00Z", "end_at": "2026-03-04T09:30:00Z",
                    ]
                }
                let body: JSONValue = [
                    "range_start": "2026-03-01T00:00:00Z", "range_end": "2026-04-01T00:00:00Z",
                    "events": .array(events),
                ]
                return try await server.call(.post, "/api/apple_sync/planned_upsert", body, as: "ann").expect(200).json
            }
            func usage() async throws -> Usage {
                try await server.services.store.read { try $0.plannedUsage(of: "ann") }
            }
            let long = String(repeating: "p", count: 49)
            #expect(try await send([long, long])["upserted"] == 2)
            #expect(try await usage() == Usage(count: 2, bytes: 100))
            let full = try await send([long, long, "more"])
            #expect(full["upserted"] == 0 && full["failed"]?.array?.first?["index"] == 2, "\(full)")
            let shorter = try await send(["short", long, "more"])
            #expect(shorter["upserted"] == 2, "\(shorter)")
            #expect(try await usage() == Usage(count: 3, bytes: 6 + 50 + 5))
            #expect(try await send([])["deleted"] == 3)
            #expect(try await usage() == Usage())
        }
    }

    @Test("Many planned events go at once, and only those of the range")
    func manyGo() async throws {
        try await TestServer.run { server in
            let body: (String, String, Range<Int>) -> JSONValue = { from, to, numbers in
                let events = numbers.map { number -> JSONValue in
                    let day = "2026-03-\(10 + number % 10)"
                    return [
                        "external_id": .string("e\(number)"), "title": "T", "start_at": .string("\(day)T09:00:00Z"),
                        "end_at": .string("\(day)T10:00:00Z"),
                    ]
                }
                return ["range_start": .string(from), "range_end": .string(to), "events": .array(events)]
            }
            let path = "/api/apple_sync/planned_upsert"
            let all = try await server.call(
                .post, path, body("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", 0..<1030), as: "ann"
            ).expect(200).json
            #expect(all["upserted"] == 1030)
            // Of three days, all but the first 20 that were there.
            let some = try await server.call(
                .post, path, body("2026-03-10T00:00:00Z", "2026-03-13T00:00:00Z", 0..<3), as: "ann"
            ).expect(200).json
            #expect(some["deleted"] == 306 && some["unchanged"] == 3, "\(some)")
            #expect(try await server.services.store.read { try $0.plannedUsage(of: "ann").count } == 724)
        }
    }

    @Test("A rule that takes more work than it may is refused before it is stored, with its index and field")
    func costlyRules() async throws {
        try await TestServer.run { server in
            let body: JSONValue = ["title": "T", "date": "1900-01-01", "startTime": "09:00", "recurrence": Self.costly]
            for method in [HTTPRequest.Method.put, .post] {
                let path = "/v1/users/ann/events" + (method == .put ? "/e" : "")
                let reply = try await server.call(method, path, body, as: "ann").expect(422)
                #expect(reply.json["errors"]?.array?.first?["code"] == "rule-too-costly", "\(reply.text)")
            }
            try await server.call(
                .put, "/v1/users/ann/events/e", ["title": "T", "date": "1900-01-01"], as: "ann"
            ).expect(201)
            let reply = try await server.call(
                .patch, "/v1/users/ann/events/e", ["recurrence": Self.costly], as: "ann"
            ).expect(422)
            #expect(reply.json["errors"]?.array?.first?["pointer"] == "/recurrence/rrule", "\(reply.text)")
            let answer = try await Phone(server).upsert(
                .sent("x1"), .sent("x2", "Costly", ["recurrence": Self.costly]),
                .sent("x3", "Plain", ["recurrence": ["rrule": "FREQ=WEEKLY;BYDAY=MO"]]))
            #expect(answer["created"] == 2)
            let rejected = answer["rejected"]?.array?.first
            #expect(rejected?["index"] == 1)
            #expect(rejected?["errors"]?.array?.first?["pointer"] == "/events/1/recurrence/rrule", "\(answer)")
        }
    }

    @Test("What a user has of their own counts where a feed of theirs shows it")
    func room() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for number in 0..<4 {
                let text = JSONValue.string(String(repeating: "n", count: 60_000))
                let body: JSONValue = ["title": "T", "date": "2026-03-04", "description": text]
                try await server.call(.put, "/v1/users/ann/events/e\(number)", body, as: "ann").expect(201)
            }
            let services = server.services
            let budget = services.memory.circles
            let circle = try await services.room(forCircle: "c", for: "ann")
            let without = budget.used
            let both = try await services.room(forCircle: "c", andOwnOf: "ann", for: "ben")
            #expect(budget.used - without >= 4 * 60_000 * 4)
            withExtendedLifetime((circle, both)) {}
        }
    }

    @Test("The preview of a run ends early when it is long, and its cursor leads on to the rest")
    func longPreview() throws {
        let items = (0..<60_000).map { number in
            PreviewItem(
                item: ItemKey(.appointments, "item-\(number)"), change: .create,
                direction: .out, fields: [])
        }
        let preview = SyncRun.Preview(counts: RunRecord.Counts(), items: items, hold: nil)
        var (found, start): ([String], Int?) = ([], 0)
        while let from = start {
            let text = Array(try preview.text(from: from, RequestMemory(.unlimited).answer).whole.pieces.joined())
            #expect(text.count < PageText.mostBytes + 1000)
            let json = try JSONValue(parsing: text)
            #expect(json["counts"]?["created"] == 0 && json["held"] == .null)
            found += json["items"]?.array?.compactMap { $0["itemId"]?.string } ?? []
            start = json["nextCursor"]?.string.map { _ in found.count }
        }
        #expect(found == items.map(\.item.id))
    }
}
