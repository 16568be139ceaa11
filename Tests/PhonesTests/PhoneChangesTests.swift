// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("What a phone takes along")
struct PhoneChangesTests {
    /// How many seeds the test of a reader under load tries.
    static let seeds = Int(ProcessInfo.processInfo.environment["KALENDS_SEEDS"] ?? "") ?? 8

    @Test("Two events of one millisecond at a page's border both arrive, each once, in their order")
    func border() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let events = (0..<25).map { JSONValue.sent("E\($0)", "T\($0)") }
            try await phone.call(.post, "/sync/apple/events/upsert", ["events": .array(events)]).expect(200)
            for limit in 1...6 {
                let (found, next) = try await phone.changes(limit: limit)
                #expect(found.compactMap { $0["externalId"]?.string } == (0..<25).map { "E\($0)" })
                let times = found.compactMap { $0["updatedAt"]?.integer }
                #expect(times == times.sorted() && Set(times).count == 25 && next == times.last)
                let after = try await phone.call(.get, "/sync/events/changes?since=\(next)").expect(200).json
                #expect(after["events"] == [] && after["nextSince"] == .integer(next) && after["hasMore"] == false)
                #expect(after["serverTime"] == .integer(server.clock.now))
            }
        }
    }

    @Test("The limit is 500 unless said, 2,000 at most, and above that 422")
    func limits() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let events = (0..<501).map { JSONValue.sent("E\($0)") }
            try await phone.call(.post, "/sync/apple/events/upsert", ["events": .array(events)]).expect(200)
            let page = try await phone.call(.get, "/sync/apple/events/changes").expect(200).json
            #expect(page["events"]?.array?.count == 500 && page["hasMore"] == true)
            let whole = try await phone.call(.get, "/sync/apple/events/changes?limit=2000").expect(200).json
            #expect(whole["events"]?.array?.count == 501 && whole["hasMore"] == false)
            for query in ["limit=2001", "limit=0", "limit=x", "since=-1", "since=x", "since=99999999999999999999"] {
                try await phone.call(.get, "/sync/events/changes?\(query)").expect(422)
            }
            try await phone.call(.get, "/sync/events/changes?sinc=1").expect(400)
        }
    }

    @Test("Apple's changes are those that are linked with Apple; all changes are all")
    func providers() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            try await server.call(.put, "/v1/users/ann/events/ours", ["title": "O", "date": "2026-03-04"]).expect(201)
            try await phone.upsert(.sent("E1"))
            func ids(_ path: String) async throws -> [String?] {
                try await phone.changes(path: path).events.map { $0["externalId"]?.string ?? $0["id"]?.string }
            }
            #expect(try await ids("/sync/events/changes") == ["ours", "E1"])
            #expect(try await ids("/sync/apple/events/changes") == ["E1"])
            try await phone.upsert(.sent("E2", "O", ["id": "ours", "startTime": .null, "endTime": .null]))
            #expect(try await ids("/sync/apple/events/changes") == ["E1", "E2"])
            let bens = try await Phone(server, of: "ben")
            #expect(try await bens.changes().events.isEmpty)
            // A session's or a token's holder is served as a device is.
            try await server.call(.get, "/sync/events/changes", as: "ann").expect(200)
            try await server.call(.get, "/sync/events/changes").expect(403)
        }
    }

    @Test("The status says who asks, what there is and what time it is")
    func status() async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            try await phone.upsert(.sent("E1"), .sent("E2", "T", ["syncState": "conflict"]))
            try await server.call(.put, "/v1/users/ann/events/ours", ["title": "O", "date": "2026-03-04"]).expect(201)
            let status = try await phone.call(.get, "/sync/apple/status").expect(200).json
            #expect(status["ok"] == true && status["provider"] == "apple" && status["user"] == "ann")
            #expect(status["device"]?["deviceId"] == "phone-1" && status["serverTime"] == .integer(server.clock.now))
            #expect(status["counts"] == ["events": 3, "linked": 1, "pending": 1, "conflicts": 1])
            #expect(status["capabilities"]?.array?.isEmpty == false && status["connections"] == [])
            let person = try await server.call(.get, "/sync/apple/status", as: "ann").expect(200).json
            #expect(person["device"] == nil && person["counts"] == status["counts"])
        }
    }

    @Test(
        "A reader that keeps only nextSince ends equal to the server, while others write in the same milliseconds",
        arguments: 0..<Self.seeds)
    func underLoad(seed: Int) async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let isDone = Mutex(false)
            // The clock does not move for most of it: all of a writer's edits happen in one millisecond.
            let reader = Task {
                var (known, since, rounds): ([String: JSONValue], Int, Int) = ([:], 0, 0)
                var seen: Set<Int> = []
                while true {
                    let last = isDone.withLock { $0 }
                    let limit = 1 + (seed * 37 + rounds * 13) % 60
                    let page = try await phone.call(.get, "/sync/events/changes?since=\(since)&limit=\(limit)")
                        .expect(200).json
                    for event in page["events"]?.array ?? [] {
                        known[event["id"]?.string ?? ""] = event
                        let (isFirst, _) = seen.insert(event["updatedAt"]?.integer ?? 0)
                        #expect(isFirst)
                    }
                    since = page["nextSince"]?.integer ?? 0
                    rounds += 1
                    if last, page["hasMore"] == false { return known }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        var random = SplitMix(seed: UInt64(seed * 10 + writer))
                        for round in 0..<12 {
                            if Int.random(in: 0..<6, using: &random) == 0 { server.clock.advance(milliseconds: 1) }
                            let events = (0..<25).map { number in
                                let id = "E\(Int.random(in: 0..<60, using: &random))"
                                if Int.random(in: 0..<8, using: &random) == 0 {
                                    return ["externalId": .string(id), "syncState": "deleted"] as JSONValue
                                }
                                return .sent(id, "\(writer)/\(round)/\(number)")
                            }
                            try await phone.call(.post, "/sync/apple/events/upsert", ["events": .array(events)])
                                .expect(200)
                        }
                    }
                }
                try await group.waitForAll()
            }
            isDone.withLock { $0 = true }
            let known = try await reader.value
            let whole = try await phone.changes(limit: 2000).events
            #expect(known.count == whole.count && whole.count > 20)
            for event in whole { #expect(known[event["id"]?.string ?? ""] == event) }
        }
    }
}
