// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import NIOCore
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("The index of a circle that calendar apps read")
struct CircleIndexTests {
    private static func batch(_ server: TestServer, _ lines: [String]) async throws {
        for start in stride(from: 0, to: lines.count, by: 200) {
            try await server.raw(
                .post, "/v1/circles/c/batch",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "application/x-ndjson"],
                body: ByteBuffer(string: lines[start...].prefix(200).joined(separator: "\n"))
            ).expect(200)
        }
    }

    private static func put(_ id: String, _ title: String) -> String {
        #"{"op":"put","collection":"tasks","id":"\#(id)","value":{"title":"\#(title)","#
            + #""dueAt":"2026-03-03T09:00:00Z"}}"#
    }

    /// Makes an index, or updates a copy of one to what is stored now.
    private static func index(_ server: TestServer, from known: CircleIndex? = nil) async throws -> CircleIndex {
        let settings = server.services.settings
        return try await server.services.store.read { transaction in
            let reader = try CircleReader("c", for: "ann", settings, in: transaction)
            guard var index = known else { return try CircleIndex(reader.look, in: transaction) }
            #expect(try index.update(reader) == .current)
            return index
        }
    }

    private static func members(_ index: CircleIndex, page: Int = 10_000) -> [String] {
        var (found, last): ([String], String?) = ([], nil)
        while true {
            let some = index.entries(.tasks, after: last, limit: page)
            found += some.map { "\($0.name.string) \($0.etag.text)" }
            guard some.count == page else { return found }
            last = some.last?.name.string
        }
    }

    @Test("A copy that follows the circle's changes is like a new one, and its original stays as it was")
    func copies() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await Self.batch(server, (0..<700).map { Self.put("task-\(1000 + $0)", "T") })
            let first = try await Self.index(server)
            let before = Self.members(first)
            #expect(before.count == 700 && before == Self.members(first, page: 64))
            // All within what was one run, at its ends, and before and after everything.
            try await Self.batch(
                server,
                (0..<200).map { Self.put("task-1100-\(1000 + $0)", "N") }
                    + ["a", "task-1255", "task-1256", "z"].map { Self.put($0, "N") })
            let second = try await Self.index(server, from: first)
            try await Self.batch(
                server,
                (200..<500).map { #"{"op":"delete","collection":"tasks","id":"task-\#(1000 + $0)"}"# }
                    + [#"{"op":"delete","collection":"tasks","id":"a"}"#])
            let third = try await Self.index(server, from: second)
            let fresh = try await Self.index(server)
            #expect(Self.members(first) == before && Self.members(second).count == 902)
            #expect(Self.members(third) == Self.members(fresh) && Self.members(third).count == 601)
            #expect(Self.members(third, page: 7) == Self.members(fresh) && third.size == fresh.size)
            #expect(third.entry(named: "z.ics", .tasks) != nil && third.entry(named: "a.ics", .tasks) == nil)
            #expect(first.entry(named: "zz.ics", .tasks) == nil)
        }
    }

    @Test("Its size is that of its entries with their names")
    func size() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let long = String(repeating: "x", count: 120)
            try await Self.batch(server, (0..<50).map { Self.put("\(long)\($0)", "T") })
            // The name and the id are two texts.
            #expect(try await Self.index(server).size > 50 * (256 + 240))
        }
    }
}
