// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import HTTPTypes
import Logging
import Server
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Which records of connections are kept, and for how long")
struct SyncKeepingTests {
    private static let day = 86_400

    private static func tidy(_ server: TestServer) async throws {
        try await Housekeeping(services: server.services, logger: Logger(label: "t") { _ in server.log })
            .prune(server.clock.now)
    }

    /// Lets days pass one at a time, as for a running server.
    private static func wait(_ server: TestServer, days: Int) async throws {
        for _ in 0..<days {
            server.clock.advance(seconds: day)
            try await tidy(server)
        }
    }

    @Test("That an event was deleted is known for a year; links that live stay")
    func tombstones() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(2)
            let id = try await server.connect()
            try await bench.sync.once()
            try await Self.tidy(server)
            try await server.call(.delete, "/v1/circles/c/appointments/a0").expect(204)
            try await bench.run(id)
            func states() async throws -> [String] {
                try await server.services.store.read { try $0.syncLinks(of: id).map(\.state) }
            }
            #expect(try await states() == ["deleted", "linked"])
            try await Self.wait(server, days: 365)
            #expect(try await states() == ["deleted", "linked"])
            try await Self.wait(server, days: 1)
            #expect(try await states() == ["linked"])
        }
    }

    @Test("Runs that found nothing to do are listed for a day, those that wrote for 90, and the latest for good")
    func runs() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(1)
            let id = try await server.connect()
            try await Self.tidy(server)
            let first = try await bench.run(id)
            for _ in 0..<3 { try await bench.run(id) }
            server.clock.advance(seconds: 1)
            let last = try await bench.run(id)
            func kept() async throws -> [String] {
                try await server.services.store.read { transaction in
                    try transaction.syncRuns(of: id, before: .max, limit: 100).map(\.id)
                }
            }
            #expect(try await kept().count == 5)
            try await Self.wait(server, days: 2)
            #expect(try await kept() == [last.id, first.id])
            try await Self.wait(server, days: 90)
            #expect(try await kept() == [last.id])
        }
    }

    @Test("A step that removes old records ends with the first MiB of them, however many rows it may remove")
    func heavy() async throws {
        try await SyncBench.run { bench in
            let (server, now) = (bench.server, bench.server.clock.now)
            let id = try await server.connect()
            let text = String(repeating: "x", count: 300_000)
            let steps = try await server.services.store.record { transaction in
                for number in 0..<12 {
                    try transaction.putSyncConflict(
                        SyncConflictRow(
                            connectionID: id, id: "c\(number)", collection: "tasks", itemID: "t", isOpen: false, at: 1,
                            content: text), now: now)
                    try transaction.putSyncLink(
                        SyncLinkRow(
                            connectionID: id, collection: "tasks", itemID: "t\(number)", state: "deleted",
                            externalID: nil, lastSyncedAt: nil, since: 1, content: text))
                }
                // The newest line stays.
                let lines = (0..<13).map { number in
                    SyncJournalRow(
                        connectionID: id, id: "j\(number)", runID: "r", at: 1, direction: "out", change: "create",
                        content: text)
                }
                try transaction.addSyncJournal(lines, of: id)
                // Four rows are the first with a MiB or more.
                var steps = [0, 0, 0]
                while try transaction.pruneSyncConflicts(before: now, limit: 512) { steps[0] += 1 }
                while try transaction.pruneSyncJournal(before: now, limit: 512) { steps[1] += 1 }
                while try transaction.pruneSyncLinks(before: now, limit: 512) { steps[2] += 1 }
                return steps
            }
            #expect(steps == [3, 3, 3])
            try await server.services.store.read { transaction throws in
                #expect(try transaction.syncConflicts(of: id, before: .max, limit: 100).isEmpty)
                #expect(try transaction.syncJournal(of: id, before: .max, limit: 100).map(\.id) == ["j12"])
                #expect(try transaction.syncLinks(of: id).isEmpty)
            }
        }
    }

    @Test("Records that are too many go as far as they have to, the oldest first")
    func surplus() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let id = try await server.connect()
            let left = try await server.services.store.record { transaction in
                let lines = (0..<13).map { number in
                    SyncJournalRow(
                        connectionID: id, id: "j\(number)", runID: "r", at: 1, direction: "out", change: "create",
                        content: String(repeating: "x", count: 300_000))
                }
                try transaction.addSyncJournal(lines, of: id)
                while try transaction.trimSyncRecords(of: id, to: 1_000_000, limit: 512) {}
                return try transaction.syncJournal(of: id, before: .max, limit: 100).map(\.id)
            }
            #expect(left == ["j12", "j11", "j10"])
        }
    }

    @Test("Links to a calendar that was left before a run ended there go in small steps, but none of another calendar")
    func leftEarly() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let id = try await server.connect()
            let (isRefused, steps) = try await server.services.store.record { transaction in
                for number in 0..<12 {
                    try transaction.putSyncLink(
                        SyncLinkRow(
                            connectionID: id, collection: "appointments", itemID: "x\(number)", state: "linked",
                            externalID: "e\(number)", lastSyncedAt: nil, since: 1,
                            content: String(repeating: "x", count: 300_000)))
                }
                try transaction.putSyncOperation("o", of: id, content: "x")
                try transaction.putSyncPosition(of: id, content: "a")
                // A run has stored another position, so the links belong to its calendar.
                let isRefused = try !transaction.forgetSomeSyncLinks(of: id, at: "b", limit: 512)
                var steps = [try transaction.syncLinks(of: id).count]
                while try transaction.forgetSomeSyncLinks(of: id, at: "a", limit: 512) {
                    steps.append(try transaction.syncLinks(of: id).count)
                }
                return (isRefused, steps)
            }
            #expect(isRefused && steps == [12, 8, 4, 0, 0])
            try await server.services.store.read { transaction throws in
                #expect(try transaction.syncOperations(of: id).isEmpty)
                #expect(try transaction.syncPosition(of: id) == nil)
            }
        }
    }

    @Test("A connection that ends is gone for everybody at once, and what was recorded of it goes in small steps")
    func removal() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(3)
            let id = try await server.connect()
            try await bench.sync.once()
            try await SyncSamples.put(in: server, of: id, now: server.clock.now)
            let now = server.clock.now
            try await server.services.store.record { transaction in
                try transaction.putCredential(
                    ConnectionCredential(connectionID: id, sealed: "s", account: "a", version: 1, now: now))
                try transaction.deleteConnection(id, now: now)
            }
            try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(404)
            try await server.call(.get, "/v1/conflicts/conflict-\(id)", as: "ann").expect(404)
            try await server.services.store.read { transaction in
                let links = try transaction.syncLinks(of: id)
                #expect(links.count == 4)
                #expect(try transaction.credential(ofConnection: id) == nil)
                #expect(try transaction.endingConnections(limit: 10).isEmpty)
                #expect(try transaction.connectionCount(of: "ann", in: "c") == 0)
            }
            // No run begins with it, and a step removes no more than it may.
            try await bench.sync.once()
            let steps = try await server.services.store.record { transaction in
                var steps = 1
                while try transaction.purgeConnection(id, limit: 1) { steps += 1 }
                return steps
            }
            #expect(steps > 4 + 1 + 1)
            #expect(try await server.services.store.read { try $0.connectionEverKnown(id) } == nil)
        }
    }

    @Test("What could not be removed of a connection is removed later, and one that lives is not touched")
    func laterRemoval() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(3)
            let (gone, kept) = (try await server.connect(label: "gone"), try await server.connect(label: "kept"))
            try await bench.sync.once()
            let now = server.clock.now
            let isLeft = try await server.services.store.record { transaction in
                try transaction.deleteConnection(gone, now: now)
                return try transaction.purgeConnection(kept, limit: 100)
            }
            #expect(!isLeft)
            try await server.services.tidying.tidy()
            try await server.services.store.read { transaction in
                let links = try transaction.syncLinks(of: kept)
                #expect(links.count == 3)
                #expect(try transaction.connectionEverKnown(gone) == nil)
                #expect(try transaction.connection(kept) != nil)
            }
        }
    }
}
