// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Phones whose items and conflicts are many or large")
struct PhoneWeightTests {
    @Test("What waits for a decision is found without a look into the conflicts, which may be large")
    func undecided() async throws {
        try await PhoneBench.run { bench in
            let (server, id, now) = (bench.server, try await bench.connect(), bench.server.clock.now)
            let stored = try await server.services.store.record { transaction in
                for (conflict, item, isOpen) in [("f", "pills", true), ("g", "pills", true), ("h", "other", false)] {
                    try transaction.putSyncConflict(
                        SyncConflictRow(
                            connectionID: id, id: conflict, collection: "tasks", itemID: item, isOpen: isOpen, at: now,
                            content: "cannot be read"), now: now)
                }
                return try transaction.connection(id)
            }
            let own = try #require(stored)
            #expect(try await server.services.syncContext.undecidedItems(of: own) == [ItemKey(.tasks, "pills")])
        }
    }

    @Test("A circle's end is one short step, and its phones lose their items after that")
    func endOfCircle() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            try await bench.appointment("dentist", "2026-03-06T10:00:00-08:00")
            let id = try await bench.connect()
            let (events, since) = try await phone.changes()
            #expect(events.count == 1)
            let now = server.clock.now
            let living = try await server.services.store.record { transaction in
                _ = try transaction.deleteCircle("c", now: now)
                return try transaction.livingPhoneItems(of: id).count
            }
            #expect(living == 1)
            try await server.services.tidying.tidy()
            let (after, _) = try await phone.changes(since: since)
            #expect(after.count == 1 && after[0]["deletedAt"]?.integer != nil)
            #expect(try await server.services.store.read { try $0.connectionEverKnown(id) } == nil)
        }
    }

    @Test("A phone's end is one short step, and its items go in small ones after that")
    func endOfPhone() async throws {
        try await PhoneBench.run { bench in
            let (server, phone) = (bench.server, try await Phone(bench.server))
            for number in 0..<5 { try await bench.appointment("a\(number)", "2026-03-06T10:00:00-08:00") }
            let id = try await bench.connect()
            let (events, since) = try await phone.changes()
            #expect(events.count == 5)
            let now = server.clock.now
            let (living, steps) = try await server.services.store.record { transaction in
                let own = try #require(try transaction.connection(id))
                try transaction.endConnection(own, .all, now: now)
                var steps = [try transaction.livingPhoneItems(of: id).count]
                while try transaction.purgeConnection(id, limit: 2), steps.last != 0 {
                    steps.append(try transaction.livingPhoneItems(of: id).count)
                }
                return (try transaction.connection(id), steps)
            }
            #expect(living == nil && steps == [5, 3, 1, 0])
            try await server.services.tidying.tidy()
            let (after, _) = try await phone.changes(since: since)
            #expect(after.count == 5 && after.allSatisfy { $0["syncState"] == "deleted" })
            #expect(try await server.services.store.read { try $0.connectionEverKnown(id) } == nil)
        }
    }

    @Test("A connection whose open conflicts are too large does not run, nor read them for a preview")
    func largeConflicts() async throws {
        var settings = ServerSettings()
        settings.quotas.conflictBytesPerConnection = 100
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let (bench, phone) = (PhoneBench(server: server), try await Phone(server))
            let id = try await bench.connect()
            for number in 0..<12 { try await bench.appointment("a\(number)", "2026-03-06T10:00:00-08:00") }
            let events = try await phone.changes().events
            for number in events.indices { try await phone.upsert(bench.sent(events[number], as: "X\(number)")) }
            let preview = "/v1/connections/\(id)/sync?mode=preview"
            try await server.call(.post, preview, as: "ann").expect(200)
            for number in 0..<2 {
                server.clock.advance(seconds: 600)
                try await phone.upsert(bench.sent(events[number], as: "X\(number)", ["syncState": "deleted"]))
            }
            #expect(try await bench.open(id).count == 1)
            try await server.call(.post, preview, as: "ann").expect(409)
            let first = try #require(try await bench.open(id).first?["id"]?.string)
            try await server.call(.post, "/v1/conflicts/\(first)/dismiss", as: "ann").expect(200)
            try await server.call(.post, preview, as: "ann").expect(200)
        }
    }
}
