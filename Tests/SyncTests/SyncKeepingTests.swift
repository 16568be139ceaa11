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
