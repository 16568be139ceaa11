// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import Storage
import StoreConformance
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite(
    "Background work of several servers",
    .enabled(if: TestedPostgreSQL.address != nil, "There is no PostgreSQL: run by Scripts/postgresql.sh"))
struct SharedWorkTests {
    /// Runs two servers on one database, which share out the work where a test says so.
    private static func run(
        _ body: @escaping @Sendable (_ one: TestServer, _ other: TestServer) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kalends-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = ServerSettings()
        settings.server = try TestedPostgreSQL.place(folder.appending(path: "shared").path)
        settings.servers = .several
        settings.secretKey = Concealed(Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString())
        let shared = settings
        try await TestServer.run(settings: shared) { one in
            try await TestServer.run(settings: shared) { other in try await body(one, other) }
        }
    }

    private static func shards(_ server: TestServer) -> ShardWork { server.services.leases.shards }

    /// Has two servers share everything out.
    private static func share(_ one: TestServer, _ other: TestServer) async throws {
        for _ in 0..<3 {
            for server in [one, other] { while try await shards(server).step() {} }
        }
        #expect(shards(one).open.numbers == Array(0..<32) && shards(other).open.numbers == Array(32..<64))
    }

    /// An id in one of these shards.
    private static func id(in shards: Shards) -> String {
        (0...).lazy.map { "id\($0)" }.first { shards.contains(Shards.number(of: $0)) } ?? ""
    }

    @Test("Messages of each circle are sent by the server that has its shard, all of them once")
    func messages() async throws {
        try await HookReceiver.run { receiver in
            try await Self.run { one, other in
                try await Self.share(one, other)
                _ = try await one.makeWebhook(receiver.url)
                let circles = (0..<24).map { "c\($0)" }
                for circle in circles {
                    try await one.call(.put, "/v1/circles/\(circle)", ["name": "C", "timeZone": "UTC"]).expect(201)
                }
                for server in [one, other] { _ = try await server.sendWebhooks() }
                for server in [one, other] {
                    _ = try await server.sendWebhooks()
                    let sent = receiver.messages.compactMap(\.circle)
                    #expect(Set(sent).count == sent.count)
                }
                #expect(receiver.messages.compactMap(\.circle).sorted() == circles.sorted())
                let first = receiver.messages.compactMap(\.circle).map { Shards.number(of: $0) }
                #expect(first.contains { $0 < 32 } && first.contains { $0 >= 32 })
            }
        }
    }

    @Test("Work goes where its shard is, and a shard that is given up is not before its work is done")
    func handsOver() async throws {
        try await Self.run { one, other in
            #expect(Self.shards(one).open.isEmpty)
            #expect(try await Self.shards(one).work(of: "c") { true } == nil)
            _ = try await Self.shards(one).step()
            #expect(Self.shards(one).open == .all)
            let last = Self.id(in: Shards([63]))
            let (began, go) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
            async let work = Self.shards(one).work(of: last) { () -> String in
                began.continuation.finish()
                for await _ in go.stream {}
                try await one.services.store.record { try $0.set("work", to: "done") }
                return "done"
            }
            for await _ in began.stream {}
            for _ in 0..<3 {
                _ = try await Self.shards(other).step()
                _ = try await Self.shards(one).step()
            }
            _ = try await Self.shards(other).step()
            #expect(Self.shards(one).count == 33 && Self.shards(other).count == 31)
            // No more of it begins.
            #expect(!Self.shards(one).open.contains(63))
            #expect(try await Self.shards(one).work(of: last) { true } == nil)
            go.continuation.finish()
            let result = try await work
            #expect(result == "done")
            _ = try await Self.shards(one).step()
            _ = try await Self.shards(other).step()
            #expect(try await Self.shards(other).work(of: last) { true } == true)
            #expect(try await one.services.store.read { try $0.setting("work") } == "done")
        }
    }

    @Test("Work that takes too long is cancelled before its shard goes to another server")
    func cancelled() async throws {
        try await Self.run { one, other in
            _ = try await Self.shards(one).step()
            let last = Self.id(in: Shards([63]))
            async let work: Void? = Self.shards(one).work(of: last) { try await Task.sleep(for: .seconds(600)) }
            for _ in 0..<3 {
                _ = try await Self.shards(other).step()
                _ = try await Self.shards(one).step(patience: .zero)
            }
            let result: Void? = try await work
            #expect(result == nil)
            _ = try await Self.shards(one).step()
            _ = try await Self.shards(other).step()
            #expect(Self.shards(other).open.contains(63))
        }
    }

    @Test("A server that lost its shards stores nothing of what it was at, and gets its share again under other epochs")
    func lost() async throws {
        try await Self.run { one, other in
            _ = try await Self.shards(one).step()
            let (began, go) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
            async let work = Self.shards(one).work(of: "c") { () -> Bool in
                began.continuation.finish()
                for await _ in go.stream {}
                try await one.services.store.record { try $0.set("work", to: "by who lost it") }
                return true
            }
            for await _ in began.stream {}
            // As if the first one had been silent for longer than its leases last.
            try await other.services.store.record { _ = try $0.execute("UPDATE leases SET ends_at = 0", []) }
            while try await Self.shards(other).step() {}
            #expect(Self.shards(other).open == .all)
            go.continuation.finish()
            let result = try await work
            #expect(result == nil)
            #expect(!Self.shards(one).open.contains(Shards.number(of: "c")), "it does not try again")
            #expect(try await one.services.store.read { try $0.setting("work") } == nil)
            try await Self.share(other, one)
            let known = try await one.services.store.read {
                try $0.rows("SELECT DISTINCT epoch FROM leases WHERE name LIKE 'shard/%'", []).count
            }
            #expect(known == 2)
        }
    }

    @Test("What was stopped because a lease was nearly over is not taken up under the same epoch")
    func stale() async throws {
        try await Self.run { one, _ in
            _ = try await Self.shards(one).step()
            Self.shards(one).endStale()
            #expect(Self.shards(one).open == .all)
            let before = try await Self.epochs(one)
            // Others may not take them yet.
            Self.shards(one).endStale(at: .now + .milliseconds(Leases.time - 500))
            #expect(Self.shards(one).open.isEmpty)
            _ = try await Self.shards(one).step()
            #expect(Self.shards(one).open == .all)
            let after = try await Self.epochs(one)
            #expect(after.isDisjoint(with: before))
        }
    }

    private static func epochs(_ server: TestServer) async throws -> Set<Int> {
        Set(
            try await server.services.store.read {
                try $0.rows("SELECT epoch FROM leases WHERE name LIKE 'shard/%'", [])
            }.compactMap { $0.integer("epoch") })
    }

    @Test("A server that ends gives everything back at once")
    func leaving() async throws {
        try await Self.run { one, other in
            try await Self.share(one, other)
            let began = AsyncStream.makeStream(of: Void.self)
            async let work: Void? = Self.shards(one).work(in: .common) {
                began.continuation.finish()
                try await Task.sleep(for: .seconds(600))
            }
            for await _ in began.stream {}
            await Self.shards(one).leave()
            let result: Void? = try await work
            #expect(result == nil)
            _ = try await Self.shards(other).step()
            #expect(Self.shards(other).open == .all && Self.shards(one).open.isEmpty)
        }
    }

    @Test("A single server has all shards, and asks for none")
    func single() async throws {
        try await TestServer.run { server async throws in
            #expect(Self.shards(server).open == .all && Self.shards(server).count == Shards.count)
            #expect(try await Self.shards(server).step() == false)
            #expect(try await Self.shards(server).work(of: "c") { HeldLeases.current.isEmpty } == true)
            #expect(try await server.services.store.read { try $0.rows("SELECT name FROM leases", []).isEmpty })
        }
    }
}
