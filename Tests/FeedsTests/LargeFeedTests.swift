// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Feeds that are too large to be kept")
struct LargeFeedTests {
    /// Creates a circle whose feed is longer than the texts that are joined in one buffer, unless it has fewer tasks.
    private static func circle(_ server: TestServer, tasks: Int = 200) async throws -> (id: String, path: String) {
        try await server.makeCircle()
        for first in stride(from: 0, to: tasks, by: 10) {
            let lines = (first..<first + 10).map { number in
                let notes = String(repeating: "n\(number) ", count: 10_000)
                return #"{"op":"put","collection":"tasks","id":"t\#(number)","value":{"title":"T\#(number)","#
                    + #""dueAt":"2026-03-03T09:00:00Z","notes":"\#(notes)"}}"#
            }
            let body = ByteBuffer(string: lines.joined(separator: "\n"))
            try await server.raw(
                .post, "/v1/circles/c/batch",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "application/x-ndjson"], body: body
            ).expect(200)
        }
        return try await server.makeFeed()
    }

    @Test(
        "A large feed is written from its pieces, the same bytes whether packed or not, and held as long as it is read")
    func whole() async throws {
        try await TestServer.run { server in
            let feed = try await Self.circle(server)
            let answer = try await server.raw(.get, feed.path).expect(200)
            #expect(answer.body.count > FeedText.mostJoined)
            #expect(answer.headers[.contentLength].flatMap(Int.init) == answer.body.count)
            let now = server.clock.now
            let settings = server.services.settings
            let plain = try await server.services.store.read { transaction in
                let stored = try #require(try transaction.feed(feed.id))
                let circle = try #require(try transaction.circle("c"))
                let live = try LiveFeedParts(feed: stored, circle: circle, settings: settings)
                let window = FeedWindow(
                    live.configuration, today: FeedDay(try circle.zone, now: now).date, zone: live.zone)
                let contents = try FeedContents(of: live, window: window, in: transaction)
                return FeedRenderer.calendar(live, events: contents.events)
                    .serialized(coverage: window.from...window.to)
            }
            #expect(answer.body == plain)

            let packed = try await server.raw(.get, feed.path, headers: [.acceptEncoding: "gzip"]).expect(200)
            #expect(packed.headers[.contentEncoding] == "gzip" && packed.body.count < plain.count / 4)
            let file = server.folder.appending(path: "feed.gz").path
            _ = FileManager.default.createFile(atPath: file, contents: Data(packed.body))
            let unpacked = try await runProgram("/bin/gzip", ["-dc", file])
            #expect(unpacked.status == 0 && Array(unpacked.output.utf8) == plain)
            // Packed in one piece or in many, equal bytes are equal again.
            #expect(Gzip.pack(ByteBuffer(bytes: plain)) == ByteBuffer(bytes: packed.body))

            let head = try await server.raw(.head, feed.path).expect(200)
            #expect(head.body.isEmpty && head.headers[.contentLength] == answer.headers[.contentLength])
            try await server.raw(.get, feed.path, headers: [.ifNoneMatch: answer.headers[.eTag] ?? ""]).expect(304)
            // Nobody reads it any more.
            while server.services.memory.spooled.used > 0 { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    @Test("A feed is not made before there is room for its bytes, of which one user's feeds have half")
    func room() async throws {
        try await TestServer.run { server in
            let feed = try await Self.circle(server, tasks: 20)
            let memory = server.services.memory
            let taken = MemoryShare(memory.feeds, network: "ann")
            #expect(taken.holdNow(memory.feeds.counted(.max, for: "ann")))
            async let answer = server.raw(.get, feed.path)
            while memory.feeds.waiting == 0 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(try await server.services.store.read { try $0.feed(feed.id)?.lastAccessedAt } == nil)
            taken.keep(0)
            #expect(try await answer.status == 200)
            while memory.feeds.used > 0 { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    @Test("One user's large feeds leave half of the room to others, and what is longer than that is made one at a time")
    func turns() async throws {
        let memory = MemoryBudgets(ConnectionLimits(), width: 2)
        let own = [6, 6, 6].map { memory.text(of: $0 << 20, for: "vic") }
        #expect(zip(own, [6, 6, 6]).map { $0.holdNow($1 << 20) } == [true, true, false])
        #expect(memory.text(of: 15 << 20, for: "ann").holdNow(15 << 20))
        #expect(!memory.text(of: 40 << 20, for: "ben").holdNow(40 << 20))
        withExtendedLifetime(own) {}
    }

    @Test("A circle that is larger than what is remembered is not kept, and its feed is right after each change")
    func notKept() async throws {
        let renderer = FeedRenderer(limit: 1000)
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            for number in 0..<20 {
                try await server.put("tasks", "t\(number)", ["title": "T", "dueAt": "2026-03-03T09:00:00Z"])
                let now = server.clock.now
                let settings = server.services.settings
                let (small, large) = try await server.services.store.read { transaction in
                    let stored = try #require(try transaction.feed(feed.id))
                    let circle = try #require(try transaction.circle("c"))
                    let live = try LiveFeedParts(feed: stored, circle: circle, settings: settings)
                    let window = FeedWindow(
                        live.configuration, today: FeedDay(try circle.zone, now: now).date, zone: live.zone)
                    return (
                        try renderer.render(live, window: window, in: transaction),
                        try FeedRenderer().render(live, window: window, in: transaction)
                    )
                }
                #expect(try small.hash == large.hash && small.text.bytes == large.text.bytes)
                // Two tasks and more are larger than the limit.
                if number > 3 { #expect(small.isWhole == true) }
            }
        }
    }
}
