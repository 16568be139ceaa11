// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import FeedServer
@testable import KalendsCore

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
            #expect(try await server.services.undecidedItems(of: own) == [ItemKey(.tasks, "pills")])
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
}
