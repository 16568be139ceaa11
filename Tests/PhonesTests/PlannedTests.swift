// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("What phones have planned")
struct PlannedTests {
    private static let path = "/api/apple_sync/planned_upsert"

    private static func settings() -> ServerSettings {
        var settings = ServerSettings()
        settings.companion = CompanionToken(Concealed("a companion's token"), user: "ann")
        return settings
    }

    private static func plan(
        _ id: String, _ title: JSONValue = "Weekly sync", _ start: String = "2026-03-04T09:00:00-08:00",
        _ end: String = "2026-03-04T09:30:00-08:00", _ more: [ByteString: JSONValue] = [:]
    ) -> JSONValue {
        let own: [ByteString: JSONValue] = [
            "external_id": .string(id), "title": title, "start_at": .string(start), "end_at": .string(end),
            "is_all_day": false, "source_calendar_name": "Work Outlook",
        ]
        return .object(own.merging(more) { $1 })
    }

    private static func send(
        _ server: TestServer, _ events: [JSONValue], from: String = "2026-03-01T00:00:00Z",
        to: String = "2026-04-01T00:00:00Z", token: String = "a companion's token"
    ) async throws -> Answer {
        let body: JSONValue = ["range_start": .string(from), "range_end": .string(to), "events": .array(events)]
        return try await server.raw(
            .post, path, headers: [.authorization: "Bearer \(token)", .contentType: "application/json"],
            body: ByteBuffer(bytes: try body.serialized()))
    }

    private static func planned(_ server: TestServer, _ query: String = "") async throws -> [JSONValue] {
        try #require(
            try await server.call(.get, "/v1/users/ann/planned\(query)").expect(200).json["items"]?.array)
    }

    @Test("Of plans that come at once, one is there in the end, whole, and its usage is right")
    func atOnce() async throws {
        try await TestServer.run(settings: Self.settings()) { server in
            for _ in 0..<5 {
                try await withThrowingTaskGroup { group in
                    for plan in 0..<8 {
                        group.addTask {
                            let events = (0..<10 + plan).map { Self.plan("\(plan % 3)-\($0)", .string("Plan \(plan)")) }
                            try await Self.send(server, events).expect(200)
                        }
                    }
                    try await group.waitForAll()
                }
                let titles = try await Self.planned(server).map { $0["title"]?.string ?? "" }
                let plan = try #require(titles.first.flatMap { Int($0.dropFirst(5)) })
                #expect(titles.allSatisfy { $0 == "Plan \(plan)" } && titles.count == 10 + plan)
                let usage = try await server.services.store.read { try $0.plannedUsage(of: "ann") }
                #expect(usage.count == titles.count)
                let bytes = titles.count * ("Plan 0".count + "Work Outlook".count + 3) + max(0, titles.count - 10)
                #expect(usage.bytes == bytes)
            }
        }
    }

    @Test("The body of the companion's description is taken as it stands, twice with the same outcome")
    func verbatim() async throws {
        try await TestServer.run(settings: Self.settings()) { server in
            let body = """
                {
                  "range_start": "2026-01-20T00:00:00Z",
                  "range_end": "2026-02-19T00:00:00Z",
                  "events": [
                    {
                      "external_id": "eventIdentifier-from-EventKit",
                      "title": "Weekly sync",
                      "start_at": "2026-01-21T09:00:00-08:00",
                      "end_at": "2026-01-21T09:30:00-08:00",
                      "is_all_day": false,
                      "source_calendar_name": "Work Outlook"
                    }
                  ]
                }
                """
            for expected in [
                ["ok": true, "deleted": 0, "upserted": 1, "unchanged": 0, "failed": []],
                ["ok": true, "deleted": 0, "upserted": 0, "unchanged": 1, "failed": []],
            ] as [JSONValue] {
                let answer = try await server.raw(
                    .post, Self.path, headers: [.authorization: "Bearer a companion's token"],
                    body: ByteBuffer(string: body))
                #expect(try answer.expect(200).json == expected)
            }
            #expect(
                try await Self.planned(server) == [
                    [
                        "externalId": "eventIdentifier-from-EventKit", "title": "Weekly sync",
                        "startAt": "2026-01-21T09:00:00-08:00", "endAt": "2026-01-21T09:30:00-08:00",
                        "allDay": false, "sourceCalendarName": "Work Outlook",
                    ]
                ])
        }
    }

    @Test("What overlaps the range and is not in the body goes; what only touches it, or lies beyond, stays")
    func range() async throws {
        try await TestServer.run(settings: Self.settings()) { server in
            func at(_ id: String, _ start: String, _ end: String) -> JSONValue { Self.plan(id, "T", start, end) }
            let all = [
                at("before", "2026-03-09T22:00:00Z", "2026-03-10T00:00:00Z"),
                at("into", "2026-03-09T23:00:00Z", "2026-03-10T01:00:00Z"),
                at("within", "2026-03-12T09:00:00Z", "2026-03-12T10:00:00Z"),
                at("series", "2026-03-13T09:00:00Z", "2026-03-13T10:00:00Z"),
                at("series", "2026-03-14T09:00:00Z", "2026-03-14T10:00:00Z"),
                at("out", "2026-03-19T23:00:00Z", "2026-03-20T01:00:00Z"),
                at("after", "2026-03-20T00:00:00Z", "2026-03-20T01:00:00Z"),
                at("around", "2026-03-01T00:00:00Z", "2026-03-31T00:00:00Z"),
            ]
            #expect(try await Self.send(server, all).expect(200).json["upserted"] == 8)
            // One occurrence of the series moved, which is another start.
            let moved = at("series", "2026-03-14T11:00:00Z", "2026-03-14T12:00:00Z")
            let report = try await Self.send(
                server, [all[3], moved], from: "2026-03-10T00:00:00Z", to: "2026-03-20T00:00:00Z"
            ).expect(200).json
            #expect(report["deleted"] == 5 && report["upserted"] == 1 && report["unchanged"] == 1)
            let left = try await Self.planned(server).map { $0["externalId"]?.string ?? "" }
            #expect(left == ["before", "series", "series", "after"])
            #expect(try await Self.planned(server, "?from=2026-03-14T00:00:00Z&to=2026-03-20T00:00:00Z").count == 1)
            #expect(try await Self.planned(server, "?from=2026-03-20T00:30:00Z").count == 1)
            let first = try await server.call(.get, "/v1/users/ann/planned?limit=2").expect(200).json
            let cursor = try #require(first["nextCursor"]?.string)
            #expect(try await Self.planned(server, "?limit=2&cursor=\(cursor)").count == 2)
            try await server.call(.get, "/v1/users/ann/planned?from=2026-03-14").expect(422)
            try await server.call(.get, "/v1/users/ann/planned?cursor=YQ").expect(422)
            try await server.call(.get, "/v1/users/ann/planned", as: "ben").expect(404)
        }
    }

    @Test("An event that fails names its index and field, and leaves what is stored of it")
    func failing() async throws {
        try await TestServer.run(settings: Self.settings()) { server in
            #expect(try await Self.send(server, [Self.plan("A"), Self.plan("B")]).expect(200).json["upserted"] == 2)
            let report = try await Self.send(
                server,
                [
                    Self.plan("A", "New", "soon"), Self.plan("C", 5), "x",
                    Self.plan("D", .null, "2026-03-05T09:00:00Z", "2026-03-05T08:00:00Z"),
                    Self.plan("E", "", "2026-03-05T09:00:00Z", "2026-03-05T09:00:00Z"),
                    Self.plan("F", .null, "2026-03-06T09:00:00Z", "2026-03-06T09:30:00Z", ["is_all_day": .null]),
                ]
            ).expect(200).json
            #expect(report["ok"] == true && report["deleted"] == 1 && report["upserted"] == 2)
            let failed = try #require(report["failed"]?.array)
            #expect(failed.compactMap { $0["index"]?.integer } == [0, 1, 2, 3])
            for (one, field) in zip(failed, ["start_at", "title", "external_id", "end_at"]) {
                #expect(one["error"]?.string?.contains("\(field): ") == true, "\(one)")
            }
            let titles = try await Self.planned(server).map { [$0["externalId"]?.string, $0["title"]?.string] }
            #expect(titles == [["A", "Weekly sync"], ["E", "Planned"], ["F", "Planned"]])
        }
    }

    @Test("Nothing but the named fields is in the database's files, the log or an answer")
    func titleOnly() async throws {
        try await TestServer.run(settings: Self.settings()) { server in
            let secret = "dr-k-oncology-91c"
            let more: [ByteString: JSONValue] = [
                "notes": .string(secret), "attendees": [["name": .string(secret)]], "location": .string(secret),
                "url": .string(secret), "organizer": ["email": .string(secret)], "alarms": [.string(secret)],
            ]
            let good = Self.plan("A", "The only title", "2026-03-04T09:00:00Z", "2026-03-04T10:00:00Z", more)
            let bad = Self.plan("B", "T", "never", "2026-03-04T10:00:00Z", more)
            let body: JSONValue = [
                "range_start": "2026-03-01T00:00:00Z", "range_end": "2026-04-01T00:00:00Z",
                "events": [good, bad], "device": .string(secret), "account": [.string(secret)],
            ]
            let phone = try await Phone(server)
            let answer = try await phone.call(.post, Self.path, body).expect(200)
            #expect(answer.json["upserted"] == 1 && !answer.text.contains(secret))
            let listed = try await server.call(.get, "/v1/users/ann/planned").expect(200)
            #expect(listed.json["items"]?.array?.count == 1 && !listed.text.contains(secret))
            #expect(!server.log.text.contains(secret) && !server.log.text.contains("The only title"))
            var found = false
            for file in try FileManager.default.contentsOfDirectory(at: server.folder, includingPropertiesForKeys: nil)
            {
                let bytes = try Data(contentsOf: file)
                #expect(!bytes.holds(Data(secret.utf8)), "\(file.lastPathComponent)")
                found = found || bytes.holds(Data("The only title".utf8))
            }
            #expect(found)
        }
    }

    @Test("Only the token, or a credential of a user, opens the route; anything else is told Invalid sync token")
    func credentials() async throws {
        try await TestServer.run(settings: Self.settings()) { server in
            for token in ["another token", "", "a companion's token and more", server.key + "x"] {
                let refused = try await Self.send(server, [], token: token).expect(401)
                #expect(refused.json["detail"] == "Invalid sync token" && refused.json["code"] == "sync-token-invalid")
            }
            #expect(try await server.raw(.post, Self.path).expect(401).json["detail"] == "Invalid sync token")
            // The token opens nothing else.
            let header: HTTPFields = [.authorization: "Bearer a companion's token"]
            try await server.raw(.get, "/v1/users/ann/planned", headers: header).expect(401)
            try await server.raw(.get, "/sync/apple/status", headers: header).expect(401)
            let body: JSONValue = [
                "range_start": "2026-03-01T00:00:00Z", "range_end": "2026-04-01T00:00:00Z", "events": [Self.plan("A")],
            ]
            try await server.call(.post, Self.path, body).expect(403)
            try await server.call(.post, Self.path, body, as: "ben").expect(200)
            #expect(try await Self.planned(server).isEmpty)
        }
        // Without the setting there is no such token.
        try await TestServer.run { server in
            for token in ["a companion's token", ""] { try await Self.send(server, [], token: token).expect(401) }
        }
    }

    @Test("Only a wrong body is 422")
    func bodies() async throws {
        try await TestServer.run(settings: Self.settings()) { server in
            let phone = try await Phone(server)
            func pointers(_ body: JSONValue) async throws -> [String] {
                try await phone.call(.post, Self.path, body).expect(422).pointers
            }
            #expect(try await pointers([:]) == ["/range_start", "/range_end", "/events"])
            let days: JSONValue = ["range_start": "2026-03-01", "range_end": 5, "events": "x"]
            #expect(try await pointers(days) == ["/range_start", "/range_end", "/events"])
            let turned: JSONValue = [
                "range_start": "2026-03-01T00:00:00Z", "range_end": "2026-03-01T00:00:00Z", "events": [],
            ]
            #expect(try await pointers(turned) == ["/range_end"])
            let many = Array(repeating: Self.plan("A"), count: 5001)
            #expect(try await Self.send(server, many).expect(422).pointers == ["/events"])
            let most = try await Self.send(server, Array(many.dropLast())).expect(200).json
            #expect(most["upserted"] == 1 && most["unchanged"] == 4999)
        }
    }

    @Test("The mock phone sends a week, prints what became of it, and ends with 1 when its token is wrong")
    func mock() async throws {
        let token = "a token for the mock phone"
        let server = try await RunningServer(environment: [
            "COMPANION_SYNC_TOKEN": token, "KALENDS_COMPANION_SYNC_USER": "ann",
        ])
        defer { server.remove() }
        let script = packageRoot.appending(path: "Scripts/mock_apple_sync.py").path
        func run(_ token: String) async throws -> ProgramResult {
            let url = "http://127.0.0.1:\(server.port)"
            return try await runProgram(
                "/usr/bin/env", ["python3", "-B", script, "--base-url", url, "--token", token])
        }
        let first = try await run(token)
        #expect(first.status == 0 && first.output == "deleted: 0\nupserted: 5\n", "\(first)")
        let again = try await run(token)
        #expect(again.status == 0 && again.output == "deleted: 0\nupserted: 0\n")
        let wrong = try await run("another")
        #expect(wrong.status == 1 && wrong.error.contains("Invalid sync token"))
        #expect(await server.stop() == 0 && !server.log.contains(token))
    }

    @Test("Guesses of the companion's token have to wait as guesses of passwords have, and devices go on")
    func guesses() async throws {
        try await TestServer.run(settings: Self.settings()) { server in
            let phone = try await Phone(server)
            var statuses: [Int] = []
            for number in 0..<12 { statuses.append(try await Self.send(server, [], token: "guess \(number)").status) }
            #expect(statuses.prefix(5).allSatisfy { $0 == 401 } && statuses.suffix(4).allSatisfy { $0 == 429 })
            let late = try await Self.send(server, []).expect(429)
            #expect(late.json["code"] == "too-many-tries" && late.headers[.retryAfter] != nil)
            let body: JSONValue = [
                "range_start": "2026-03-01T00:00:00Z", "range_end": "2026-03-02T00:00:00Z", "events": [],
            ]
            try await phone.call(.post, Self.path, body).expect(200)
            server.clock.advance(seconds: 3600)
            try await Self.send(server, []).expect(200)
            // No header at all is no guess.
            for _ in 0..<30 {
                try await server.raw(.post, Self.path, body: ByteBuffer(bytes: try body.serialized())).expect(401)
            }
            try await Self.send(server, []).expect(200)
        }
    }
}
