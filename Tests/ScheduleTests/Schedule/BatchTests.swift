// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TestSupport
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("A batch")
struct BatchTests {
    private func post(_ server: TestServer, _ body: String) async throws -> Answer {
        try await server.raw(
            .post, "/v1/circles/c/batch",
            headers: [.authorization: "Bearer \(server.key)", .contentType: "application/x-ndjson"],
            body: ByteBuffer(string: body))
    }

    @Test("Every good line is applied, every bad one reported with its line, id and pointers")
    func partialSuccess() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await post(
                server,
                """
                {"op":"put","collection":"tasks","id":"t1","value":{"title":"One","dueAt":"2026-03-03T09:00:00Z"}}
                {"op":"put","collection":"tasks","id":"t2","value":{"title":"","dueAt":"never"}}

                not json
                {"op":"put","collection":"shifts","id":"s1","value":{"patientId":"nobody","startDate":"2026-03-03","endDate":"2026-03-04"}}
                {"op":"burn","collection":"chairs","id":"a b"}
                {"op":"delete","collection":"tasks","id":"t1"}
                {"op":"delete","collection":"tasks","id":"t9"}
                """
            ).expect(200).json
            #expect(answer["applied"] == 2)
            #expect(answer["unchanged"] == 1)
            let rejected = answer["rejected"]?.array ?? []
            #expect(rejected.compactMap { $0["line"]?.integer }.sorted() == [2, 4, 5, 6])
            func pointers(_ line: Int) -> [String] {
                rejected.first { $0["line"]?.integer == line }?["errors"]?.array?.compactMap { $0["pointer"]?.string }
                    ?? []
            }
            #expect(pointers(2).sorted() == ["/value/dueAt", "/value/title"])
            #expect(pointers(5) == ["/value/patientId"])
            #expect(pointers(6).sorted() == ["/collection", "/id", "/op"])
            #expect(rejected.first { $0["line"] == 2 }?["id"] == "t2")
            // The line is that of the batch in the sentence, too.
            let broken = rejected.first { $0["line"] == 4 }?["errors"]?.array?.first
            #expect(broken?["message"] == "Line 4, column 1: Here a value is expected.")
        }
    }

    @Test("A line over 1 MiB is reported and its neighbours are applied")
    func longLine() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let good =
                #"{"op":"put","collection":"tasks","id":"ID","value":{"title":"One","dueAt":"2026-03-03T09:00:00Z"}}"#
            let lines = [
                good.replacing("ID", with: "t1"), String(repeating: "x", count: (1 << 20) + 1),
                good.replacing("ID", with: "t2"),
            ]
            let answer = try await post(server, lines.joined(separator: "\n")).expect(200).json
            #expect(answer["applied"] == 2)
            #expect(answer["rejected"]?.array?.first?["line"] == 2)
        }
    }

    @Test("100,000 lines in one call are applied, and the same again change nothing")
    func large() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var body = ByteBuffer()
            for index in 0..<100_000 {
                body.writeString(
                    #"{"op":"put","collection":"tasks","id":"t\#(index)","value":{"title":"Task \#(index)","dueAt":"2026-03-03T09:00:00Z"}}"#
                        + "\n")
            }
            let headers: HTTPFields = [.authorization: "Bearer \(server.key)"]
            let first = try await server.raw(.post, "/v1/circles/c/batch", headers: headers, body: body).expect(200)
                .json
            #expect(first == ["applied": 100_000, "unchanged": 0, "rejected": []])
            let again = try await server.raw(.post, "/v1/circles/c/batch", headers: headers, body: body).expect(200)
                .json
            #expect(again == ["applied": 0, "unchanged": 100_000, "rejected": []])
        }
    }

    /// What callers see of a circle after some changes, except for what differs between any two servers.
    private static func seen(_ server: TestServer) async throws -> [JSONValue] {
        var seen: [JSONValue] = []
        for collection in ["tasks", "appointments"] {
            let items = try await server.call(.get, "/v1/circles/c/\(collection)?limit=1000").expect(200).json["items"]
            seen += (items?.array ?? []).map { item in
                .object((item.object ?? [:]).filter { !["uid", "createdAt", "updatedAt"].contains($0.key) })
            }
        }
        let changes = try await server.call(.get, "/v1/circles/c/changes?limit=1000").expect(200).json["items"]
        seen += (changes?.array ?? []).map { .object(($0.object ?? [:]).filter { $0.key != "at" }) }
        return seen
    }

    private struct Order {
        let collection: String
        let id: String
        let value: JSONValue?

        /// Makes an order for one of a few items, so that many are changed again within a batch.
        init(_ chance: inout SplitMix) {
            collection = chance.below(3) == 0 ? "appointments" : "tasks"
            id = "\(chance.below(8))"
            let title = JSONValue.string(["One", "Two", ""][chance.below(7) % 3])
            switch (chance.below(5), collection) {
            case (0, _): value = nil
            case (_, "tasks"): value = ["title": title, "dueAt": "2026-03-03T09:00:00Z"]
            default:
                value = [
                    "patientId": chance.below(6) == 0 ? "nobody" : "mom", "provider": title,
                    "startAt": "2026-03-03T09:00:00Z",
                    "recurrence": ["rrule": .string("FREQ=DAILY;COUNT=\(1 + chance.below(5))")],
                ]
            }
        }

        var line: JSONValue {
            var line: [ByteString: JSONValue] = ["collection": .string(collection), "id": .string(id)]
            line["op"] = value == nil ? "delete" : "put"
            line["value"] = value
            return .object(line)
        }
    }

    @Test("Each order of a batch does what it does by itself, in its turn", arguments: 1...4 as ClosedRange<UInt64>)
    func oneByOne(_ seed: UInt64) async throws {
        var chance = SplitMix(seed: seed)
        let orders = (0..<260).map { _ in Order(&chance) }
        try await TestServer.run { together in
            try await TestServer.run { single in
                for server in [together, single] {
                    try await server.makeCircle()
                    for id in 0..<8 {
                        try await server.put(
                            "appointments", "\(id)",
                            [
                                "patientId": "mom", "provider": "One", "startAt": "2026-03-03T09:00:00Z",
                                "recurrence": ["rrule": "FREQ=DAILY;COUNT=5"],
                            ])
                        let occurrence = "/v1/circles/c/appointments/\(id)/occurrences/20260306T090000Z"
                        try await server.call(.put, occurrence, ["status": "cancelled"]).expect(201)
                    }
                }
                let answer = try await post(
                    together,
                    try orders.map { String(decoding: try $0.line.serialized(), as: UTF8.self) }
                        .joined(separator: "\n")
                ).expect(200).json
                var refused: [Int] = []
                for (line, order) in zip(1..., orders) {
                    let path = "/v1/circles/c/\(order.collection)/\(order.id)"
                    let own = try await single.call(order.value == nil ? .delete : .put, path, order.value)
                    if own.status == 422 { refused.append(line) }
                }
                #expect(!refused.isEmpty)
                #expect(answer["rejected"]?.array?.compactMap { $0["line"]?.integer } == refused)
                let seen = try await Self.seen(together)
                #expect(seen.count > 100)
                #expect(try await Self.seen(single) == seen)
            }
        }
    }

    @Test("Lines are cut right wherever the stream is cut")
    func splitting() {
        let text = "one\n\ntwo\r\nthree is longer\nlast"
        for size in 1...text.utf8.count {
            var lines = LineSplitter(limit: 10)
            var found: [String] = []
            func note(_ line: LineSplitter.Line) {
                switch line {
                case .complete(let bytes): found.append(String(decoding: bytes, as: UTF8.self))
                case .tooLong: found.append("too long")
                }
            }
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                lines.append(ByteBuffer(bytes: rest.prefix(size)))
                rest = rest.dropFirst(size)
                while let line = lines.next() { note(line) }
            }
            if let line = lines.rest() { note(line) }
            #expect(found == ["one", "", "two\r", "too long", "last"])
        }
    }
}
