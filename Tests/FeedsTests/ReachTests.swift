// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Storage
import StoreConformance
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Who has the latest change of an item")
struct ReachTests {
    private static let agents = [
        "Apple Calendar (iOS)": "iOS/16.5.1 (20F75) dataaccessd/1.0", "Google Calendar": "Google-Calendar-Importer",
        "Thunderbird": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.0",
    ]

    private static func task(_ title: String) -> JSONValue {
        ["title": .string(title), "dueAt": "2026-03-05T10:00:00Z", "status": "open"]
    }

    private static func reach(
        _ server: TestServer, _ id: String, as user: String? = nil, in collection: String = "tasks"
    ) async throws -> JSONValue {
        try await server.call(.get, "/v1/circles/c/\(collection)/\(id)/reach", as: user).expect(200).json
    }

    private static func read(_ server: TestServer, _ path: String, _ client: String) async throws {
        _ = try await server.raw(
            .get, path, headers: [.userAgent: try #require(agents[client])]
        ).expect(200)
    }

    @Test(
        "What a link holds is not read, as it may be large; of an item with several events the farthest counts",
        .enabled(if: !TestedStore.isPostgreSQL, "Only SQLite stores what is no text"))
    func links() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "t", Self.task("One"))
            let (id, at) = (try await server.connect(), server.clock.now + 1_000)
            func reach(_ occurrence: String, _ state: String) async throws -> [JSONValue?] {
                try await server.services.store.record { transaction in
                    try transaction.putSyncLink(
                        SyncLinkRow(
                            connectionID: id, collection: "tasks", itemID: "t", occurrence: occurrence, state: state,
                            externalID: "e", lastSyncedAt: at, since: at, content: "{}"))
                    _ = try transaction.execute("UPDATE sync_links SET content = x'00'", [])
                }
                let shown = try await Self.reach(server, "t")
                return [shown["have"], shown["of"]]
            }
            #expect(try await reach("", "linked") == [1, 1])
            // No run has ended that would say so of both.
            #expect(try await reach("20260305T100000Z", "ignored") == [0, 1])
            #expect(try await reach("", "ignored") == [0, 0])
            #expect(try await reach("20260305T100000Z", "pending") == [0, 1])
        }
    }

    @Test("A reader has a change from its next read on, in the same millisecond too, and its rhythm says when it comes")
    func one() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed(label: "Mine")
            try await server.put("tasks", "t", Self.task("One"))
            var reach = try await Self.reach(server, "t")
            #expect(reach["change"] == "created" && reach["of"] == 0 && reach["have"] == 0)
            for _ in 0..<4 {
                try await Self.read(server, feed.path, "Google Calendar")
                server.clock.advance(seconds: 3600)
            }
            reach = try await Self.reach(server, "t")
            #expect(reach["have"] == 1 && reach["of"] == 1)
            // The clock does not move: only the order of things tells who has what.
            try await Self.read(server, feed.path, "Apple Calendar (iOS)")
            try await server.put("tasks", "t", Self.task("Two"))
            reach = try await Self.reach(server, "t")
            #expect(reach["change"] == "updated" && reach["have"] == 0 && reach["of"] == 2)
            let changed = try #require(reach["changedAt"]?.string)
            try await Self.read(server, feed.path, "Apple Calendar (iOS)")
            reach = try await Self.reach(server, "t", as: "ann")
            let readers = try #require(reach["readers"]?.array)
            #expect(readers.map { $0["client"] } == ["Apple Calendar (iOS)", "Google Calendar"])
            #expect(readers.map { $0["hasIt"] } == [true, false])
            #expect(readers[0]["fetchedAt"]?.string == changed)
            #expect(readers.allSatisfy { $0["feedId"]?.string == feed.id && $0["label"] == "Mine" })
            #expect(readers[1]["expectedAt"]?.string?.hasPrefix("2026-03-02T16:00:00") == true)
            #expect(readers[0]["expectedAt"] == .null)
            // Another item's change is not a change of this one.
            try await server.call(.put, "/v1/circles/c/tasks/other", Self.task("Other")).expect(201)
            #expect(try await Self.reach(server, "t")["have"] == 1)
        }
    }

    @Test("Everybody sees their own; the circle's owner and the host application see all, the owner without names")
    func rights() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let own = try await server.makeFeed(user: "ann", label: "Ann's")
            let others = try await server.makeFeed(user: "ben", label: "Ben's secret")
            try await server.put("tasks", "t", Self.task("One"))
            try await Self.read(server, own.path, "Google Calendar")
            try await Self.read(server, others.path, "Thunderbird")
            let ben = try await Self.reach(server, "t", as: "ben")
            #expect(ben["of"] == 1 && ben["readers"]?.array?.first?["label"] == "Ben's secret")
            let ann = try #require(try await Self.reach(server, "t", as: "ann")["readers"]?.array)
            #expect(ann.count == 2)
            let hidden = try #require(ann.first { $0["client"] == "Thunderbird" })
            #expect(["feedId", "label", "userId"].allSatisfy { hidden[$0] == .null } && hidden["hasIt"] == true)
            let host = try #require(try await Self.reach(server, "t")["readers"]?.array)
            #expect(Set(host.compactMap { $0["label"]?.string }) == ["Ann's", "Ben's secret"])
            #expect(try await Self.reach(server, "t", as: "vic")["of"] == 0)
            try await server.call(.get, "/v1/circles/c/tasks/t/reach", as: "nobody").expect(404)
            try await server.call(.get, "/v1/circles/c/tasks/none/reach").expect(404)
        }
    }

    @Test("A deletion can be asked about for 90 days; feeds that show no such item are not in it, nor ended ones")
    func deleted() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let without = try await server.makeFeed(label: "Shifts", config: ["includeTasks": false])
            let ended = try await server.makeFeed(label: "Ended")
            try await server.put("tasks", "t", Self.task("One"))
            for one in [feed, without, ended] { try await Self.read(server, one.path, "Google Calendar") }
            try await server.call(.post, "/v1/feeds/\(ended.id)/revoke").expect(200)
            try await server.call(.delete, "/v1/circles/c/tasks/t").expect(204)
            var reach = try await Self.reach(server, "t")
            #expect(reach["change"] == "deleted" && reach["of"] == 1 && reach["have"] == 0)
            try await Self.read(server, feed.path, "Google Calendar")
            reach = try await Self.reach(server, "t")
            #expect(reach["have"] == 1)
            // The same id again is another creation.
            try await server.put("tasks", "t", Self.task("Again"))
            #expect(try await Self.reach(server, "t")["change"] == "created")
            try await server.call(.delete, "/v1/circles/c/tasks/t").expect(204)
            server.clock.advance(seconds: 90 * 86_400)
            #expect(try await Self.reach(server, "t")["change"] == "deleted")
            server.clock.advance(seconds: 1)
            try await server.call(.get, "/v1/circles/c/tasks/t/reach").expect(404)
        }
    }

    @Test("A new zone of the circle, a patient's new name and a new name of a member are changes of what they are in")
    func aside() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let shift = try #require(Components.all(.all)["ShiftInput"]?.example)
            try await server.put("shifts", "s", shift)
            try await server.put("tasks", "t", Self.task("One"))
            for change: (String, JSONValue) in [
                ("/v1/circles/c", ["name": "Our family", "timeZone": "Europe/Vienna"]),
                ("/v1/circles/c/patients/dad", ["displayName": "Daddy"]),
                ("/v1/circles/c/patients/mom", ["displayName": "Mommy"]),
            ] {
                try await Self.read(server, feed.path, "Google Calendar")
                #expect(try await Self.reach(server, "s", in: "shifts")["have"] == 1)
                _ = try await server.call(.put, change.0, change.1)
                let after = try await Self.reach(server, "s", in: "shifts")
                try await Self.read(server, feed.path, "Google Calendar")
                #expect(try await Self.reach(server, "s", in: "shifts")["have"] == 1, "\(change.0) \(after)")
                #expect(try await Self.reach(server, "t")["have"] == 1)
            }
        }
    }
}
