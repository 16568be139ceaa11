// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Storage
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Reach beside what readers hold")
struct ReachHistoryTests {
    /// A calendar app, which keeps the last calendar that it got, and asks with or without its tag.
    private struct Reader {
        let client: String
        let agent: String
        let feed: Int
        /// The address that it was given; an old one is used until it ends.
        var path: String
        var etag: String?
        /// Titles by UID as the app shows them; nil before the first read.
        var held: [String: String]?
        /// The step of the world at which it last got an answer.
        var readAt = 0
    }

    private static let agents = [
        ("Apple Calendar (iOS)", "iOS/16.5.1 (20F75) dataaccessd/1.0"), ("Google Calendar", "Google-Calendar-Importer"),
        ("Thunderbird", "Thunderbird/140.0"),
    ]

    /// The test's own knowledge of the state, without any look into the server.
    private struct World {
        var random: SplitMix
        var feeds: [(id: String, path: String)] = []
        var readers: [Reader] = []
        /// The titles of existing items, by id.
        var titles: [String: String] = [:]
        /// The step at which an item last changed, including deleted items.
        var changedAt: [String: Int] = [:]
        var step = 0

    }

    @Test(
        "Whoever is said to have a change holds it, and whoever is not does not, through restarts and new addresses",
        arguments: [1, 2, 3, 4])
    func histories(_ seed: UInt64) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "reach-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = ServerSettings()
        settings.database = folder.appending(path: "k.sqlite").path
        let clock = TestClock()
        let world = Box(World(random: SplitMix(seed: seed)))
        for turn in 0..<3 {
            // Each turn is a server of its own on the same database; it folds accesses in one turn only at the end.
            try await TestServer.run(clock: clock, settings: settings, folds: turn != 1) { server in
                var own = world.value
                if turn == 0 { try await Self.begin(server, &own) }
                for _ in 0..<40 {
                    try await Self.change(server, clock, &own)
                    if own.random.below(3) == 0 { try await Self.check(server, own) }
                }
                try await Self.check(server, own)
                world.value = own
            }
        }
    }

    /// Carries the world from one server to the next.
    private final class Box: Sendable {
        private let state: Mutex<World>

        init(_ world: World) { state = Mutex(world) }

        var value: World {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    private static func begin(_ server: TestServer, _ world: inout World) async throws {
        try await server.makeCircle()
        for user in ["ann", "ben"] { world.feeds.append(try await server.makeFeed(user: user)) }
        for feed in world.feeds.indices {
            for (client, agent) in agents {
                world.readers.append(
                    Reader(client: client, agent: agent, feed: feed, path: world.feeds[feed].path))
            }
        }
    }

    private static func change(_ server: TestServer, _ clock: TestClock, _ world: inout World) async throws {
        // Often nothing passes: the order of things has to do.
        if world.random.below(3) == 0 { clock.advance(milliseconds: world.random.below(2_000_000)) }
        let id = "t\(world.random.below(4))"
        world.step += 1
        switch world.random.below(12) {
        case 0...2:
            // No title is given twice.
            let title = "Title \(world.step)."
            try await server.put(
                "tasks", id, ["title": .string(title), "dueAt": "2026-03-05T10:00:00Z", "status": "open"])
            (world.titles[id], world.changedAt[id]) = (title, world.step)
        case 3 where world.titles[id] != nil:
            try await server.call(.delete, "/v1/circles/c/tasks/\(id)").expect(204)
            (world.titles[id], world.changedAt[id]) = (nil, world.step)
        case 4:
            let feed = world.random.below(world.feeds.count)
            let answer = try await server.call(
                .post, "/v1/feeds/\(world.feeds[feed].id)/regenerate",
                world.random.below(2) == 0 ? [:] : ["graceSeconds": 3600]
            ).expect(200)
            world.feeds[feed].path = try TestServer.path(answer)
        default:
            let index = world.random.below(world.readers.count)
            var reader = world.readers[index]
            var headers: HTTPFields = [.userAgent: reader.agent]
            if let etag = reader.etag, world.random.below(2) == 0 { headers[.ifNoneMatch] = etag }
            let answer = try await server.raw(.get, reader.path, headers: headers)
            switch answer.status {
            case 200:
                reader.held = Dictionary(
                    zip(answer.eventValues("UID"), answer.eventValues("SUMMARY")), uniquingKeysWith: { $1 })
                (reader.etag, reader.readAt) = (answer.headers[.eTag], world.step)
            case 304:
                #expect(headers[.ifNoneMatch] != nil)
                reader.readAt = world.step
            default:
                // The person gives it the new address.
                #expect(answer.status == 410)
                reader.path = world.feeds[reader.feed].path
            }
            world.readers[index] = reader
        }
    }

    private static func check(_ server: TestServer, _ world: World) async throws {
        for (id, changedAt) in world.changedAt {
            let json = try await server.call(.get, "/v1/circles/c/tasks/\(id)/reach").expect(200).json
            let found = try #require(json["readers"]?.array)
            #expect((json["change"] == "deleted") == (world.titles[id] == nil))
            let known = world.readers.filter { $0.held != nil }
            #expect(found.count == known.count && json["of"]?.integer == known.count)
            let uid = try #require(
                try await server.services.store.read { try $0.itemEverKnown(id, "tasks", in: "c")?.uid })
            for reader in known {
                let feed = world.feeds[reader.feed].id
                let own = try #require(
                    found.first { $0["feedId"]?.string == feed && $0["client"]?.string == reader.client })
                let hasIt = reader.readAt > changedAt
                #expect(own["hasIt"]?.bool == hasIt, "\(id) \(reader.client) \(json)")
                // And it is true of what the app shows.
                let shown = reader.held?[uid]
                if let title = world.titles[id] {
                    #expect((shown?.hasSuffix(title) ?? false) == hasIt, "\(id) \(reader.client) \(shown ?? "")")
                } else if hasIt {
                    #expect(shown == nil, "\(id) \(reader.client)")
                }
            }
            #expect(json["have"]?.integer == known.count { $0.readAt > changedAt })
        }
    }
}
