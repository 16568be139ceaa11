// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import CalendarSync
@testable import KalendsCore
@testable import ServerTestSupport

@Suite("The records of connections")
struct ConnectionRecordTests {
    private static func connection(
        _ server: TestServer, user: String = "ann", in circle: String = "c"
    ) async throws -> String {
        let made = try await server.call(.post, "/v1/circles/\(circle)/connections", ["provider": "caldav"], as: user)
            .expect(201)
        return try #require(made.json["id"]?.string)
    }

    @Test("The journal, conflicts and links are read in pieces: each may hold long notes, twice")
    func pieces() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let id = try await Self.connection(server)
            let at = Instant(milliseconds: server.clock.now)
            let entry = Entry(
                title: "T", notes: String(repeating: "n", count: 65_536), location: "",
                span: .timed(start: at, end: at.adding(seconds: 3600), zone: "UTC"))
            let item = ItemKey(.tasks, "x")
            let content = try SyncContent.text(
                JournalEntry(
                    id: "entry", run: "run", at: at, direction: .out, change: .update, item: item, generation: 0,
                    externalID: "event", reason: "edited", before: entry, after: entry))
            try await server.services.store.record { transaction in
                for number in 0..<100 {
                    try transaction.addSyncJournal(
                        [
                            SyncJournalRow(
                                connectionID: id, id: "e\(number)", runID: "run", at: server.clock.now,
                                direction: "out",
                                change: "update", content: content)
                        ], of: id)
                }
            }
            let counts: [Int] = try await server.services.connections.journal(
                of: id, before: .max, for: .signingIn("ann")
            ) { fetch in
                let first = try fetch(nil, 25)
                return [first.count, try fetch(first.last, 100).count]
            }
            #expect(counts == [25, 75])
            // A page ends at four mebibytes: that are not all of them.
            var (seen, cursor): (Set<ByteString>, String?) = ([], "")
            while let position = cursor {
                let part = try await server.call(
                    .get, "/v1/connections/\(id)/journal?limit=1000" + (position.isEmpty ? "" : "&cursor=\(position)"),
                    as: "ann"
                ).expect(200)
                #expect(part.body.count < 5 << 20)
                for one in part.json["items"]?.array ?? [] { seen.insert(ByteString(one["id"]?.string ?? "")) }
                cursor = part.json["nextCursor"]?.string
            }
            #expect(seen.count == 100)
        }
    }

    @Test("Runs, links, conflicts and the journal are listed with every field, for the connection's user only")
    func records() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let id = try await Self.connection(server)
            try await SyncSamples.put(in: server, of: id, now: server.clock.now)
            func first(_ part: String) async throws -> JSONValue {
                let list = try await server.call(.get, "/v1/connections/\(id)/\(part)", as: "ann").expect(200)
                #expect(list.json["nextCursor"] == .null)
                return try #require(list.json["items"]?.array?.first)
            }
            let run = try await first("runs")
            #expect(run["id"] == .string("run-\(id)") && run["connectionId"] == .string(id))
            #expect(run["trigger"] == "first" && run["state"] == "done" && run["status"] == "partial")
            #expect(run["startedAt"] == "2026-03-02T12:00:00Z" && run["endedAt"] == "2026-03-02T12:00:02Z")
            #expect(run["requests"] == 3 && run["held"] == .null && run["error"] == .null)
            #expect(
                run["counts"] == [
                    "created": 4, "updated": 0, "deleted": 0, "pulled": 0, "conflicts": 0, "failed": 1, "unchanged": 0,
                ])
            #expect(try await server.call(.get, "/v1/runs/run-\(id)", as: "ann").expect(200).json == run)
            let mapping = try await first("mappings")
            #expect(
                mapping == [
                    "collection": "appointments", "itemId": "x", "externalId": "event-1", "externalEtag": "\"1\"",
                    "direction": "out", "state": "linked", "reason": .null, "lastSyncedAt": "2026-03-02T12:00:00Z",
                ])
            let conflict = try await first("conflicts")
            #expect(
                conflict["fields"] == [
                    [
                        "field": "times", "base": "9:00", "kalends": "10:00", "calendar": "11:00", "kept": "calendar",
                    ]
                ])
            #expect(conflict["kind"] == "bothChanged" && conflict["occurrence"] == "2026-03-02T12:00:00Z")
            #expect(try await server.call(.get, "/v1/conflicts/conflict-\(id)", as: "ann").expect(200).json == conflict)
            let entry = try await first("journal")
            #expect(entry["before"] == .null && entry["reason"] == "new" && entry["runId"] == .string("run-\(id)"))
            #expect(entry["after"]?["recurrence"]?["rrule"] == "FREQ=WEEKLY;COUNT=4")
            #expect(entry["after"]?["occurrences"]?.array?.first?["location"] == "Room 5")

            let shown = try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200)
            #expect(shown.json["counts"] == ["linked": 1, "pending": 0, "conflicts": 1])
            #expect(shown.json["attention"]?.array?.map { $0["kind"] } == ["openConflicts"])
            let changes = try await server.call(.get, "/v1/circles/c/changes", as: "ann").json["items"]?.array ?? []
            #expect(changes.contains { $0["type"] == "conflict" && $0["id"] == .string("conflict-\(id)") })
            for path in [
                "/v1/connections/\(id)/runs", "/v1/connections/\(id)/journal", "/v1/connections/\(id)/mappings",
                "/v1/connections/\(id)/conflicts", "/v1/runs/run-\(id)", "/v1/conflicts/conflict-\(id)",
            ] {
                try await server.call(.get, path, as: "ben").expect(404)
            }
            #expect(try await server.call(.get, "/v1/runs/run-\(id)", as: "ben").json["code"] == "run-not-found")
            try await server.call(.delete, "/v1/connections/\(id)", as: "ann").expect(204)
            try await server.call(.get, "/v1/runs/run-\(id)", as: "ann").expect(404)
        }
    }

    @Test("The events of other connections are those of the same circle, where another has items with the same ids")
    func eventsOfOthers() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.call(.put, "/v1/circles/d", ["name": "Others", "timeZone": "UTC"]).expect(201)
            try await server.call(.put, "/v1/circles/d/members/ann", ["displayName": "Ann", "role": "owner"])
                .expect(201)
            let own = try await Self.connection(server)
            let all = [
                own, try await Self.connection(server, user: "ben"), try await Self.connection(server, in: "d"),
            ]
            try await server.services.store.record { transaction in
                for (number, id) in all.enumerated() {
                    for item in ["x", "y", "z"] {
                        try transaction.putSyncLink(
                            SyncLinkRow(
                                connectionID: id, collection: "tasks", itemID: item, state: "linked",
                                externalID: "\(item)\(number)", lastSyncedAt: nil, since: 1, content: "{}"))
                    }
                }
            }
            let found = try await server.services.store.read {
                try $0.eventIDs(ofItems: ["x", "y"], in: "tasks", exceptOf: own)
            }
            #expect(found.sorted() == ["x1", "y1"])
        }
    }

    @Test("Lists of a connection's records are paged without a gap, latest first")
    func pages() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let id = try await Self.connection(server)
            let at = Instant(seconds: server.clock.now / 1000)
            var (runs, links): ([(String, String)], [(String, String)]) = ([], [])
            for number in 0..<5 {
                let run = RunRecord(id: "r\(number)", trigger: .schedule, startedAt: at)
                runs.append((run.id, try SyncContent.text(run)))
                let link = CalendarSync.Link(item: ItemKey(.tasks, "t\(number)"), state: .pending, since: at)
                links.append((link.item.id, try SyncContent.text(link)))
            }
            let (allRuns, allLinks) = (runs, links)
            try await server.services.store.record { transaction in
                for (name, text) in allRuns {
                    try transaction.putSyncRun(
                        SyncRunRow(id: name, connectionID: id, state: .running, startedAt: 1, content: text),
                        RunCounts(isSuccess: true, writes: 0, errors: 0), now: 1)
                }
                for (name, text) in allLinks {
                    try transaction.putSyncLink(
                        SyncLinkRow(
                            connectionID: id, collection: "tasks", itemID: name, state: "pending", externalID: nil,
                            lastSyncedAt: nil, since: 1, content: text))
                }
            }
            func all(_ part: String, _ name: String) async throws -> [String] {
                var (found, cursor): ([String], String?) = ([], "")
                while let next = cursor {
                    let page = try await server.call(
                        .get, "/v1/connections/\(id)/\(part)?limit=2\(next.isEmpty ? "" : "&cursor=\(next)")", as: "ann"
                    ).expect(200).json
                    found += page["items"]?.array?.compactMap { $0[name]?.string } ?? []
                    cursor = page["nextCursor"]?.string
                }
                return found
            }
            #expect(try await all("runs", "id") == ["r4", "r3", "r2", "r1", "r0"])
            #expect(try await all("mappings", "itemId") == ["t0", "t1", "t2", "t3", "t4"])
            let shown = try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200)
            #expect(shown.json["counts"]?["pending"] == 5)
        }
    }

    @Test("Counters are numbers only: users, rates, and runs by provider in 1, 7 and 30 days, each run once")
    func statistics() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let id = try await Self.connection(server)
            _ = try await server.makeFeed()
            try await server.call(
                .post, "/v1/circles/c/connections", ["provider": "apple", "config": ["twoWay": false]], as: "ben"
            ).expect(201)
            for _ in 1...2 { try await SyncSamples.put(in: server, of: id, now: server.clock.now) }
            server.clock.advance(seconds: 8 * 86_400)
            let stats = try await server.call(.get, "/v1/stats").expect(200).json
            // Ann's has no account yet.
            #expect(stats["users"] == 3 && stats["usersWithConnection"] == 1 && stats["usersWithTwoWay"] == 0)
            #expect(stats["usersWithFeed"] == 1 && stats["connectionRate"] == .number(0.3333))
            let runs = stats["runs"]?.array?.filter { $0["provider"] == "caldav" } ?? []
            #expect(runs.map { $0["days"] } == [1, 7, 30] && runs.map { $0["runs"] } == [0, 0, 1])
            #expect(
                runs.last?["errorsPerThousandWrites"] == .number(250) || runs.last?["errorsPerThousandWrites"] == 250)
            #expect(runs.last?["successRate"] == .number(0) || runs.last?["successRate"] == 0)
            #expect(runs.first?["successRate"] == .null)
            try await server.call(.get, "/v1/stats", as: "ann").expect(403)
            // Counters outlive what they count.
            try await server.call(.delete, "/v1/connections/\(id)").expect(204)
            let after = try await server.call(.get, "/v1/stats").expect(200).json["runs"]
            #expect(after == stats["runs"])
        }
    }
}
