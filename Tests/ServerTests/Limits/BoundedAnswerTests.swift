// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Answers are bounded, whatever is asked")
struct BoundedAnswerTests {
    @Test("A mebibyte of unknown names makes a short answer")
    func names() async throws {
        try await TestServer.run { server in
            var body = "{"
            while body.utf8.count < (1 << 20) - 20 { body += "\"\(body.utf8.count)\":0," }
            body += "\"z\":0}"
            let answer = try await server.raw(
                .post, "/v1/sessions", headers: [.contentType: "application/json"], body: ByteBuffer(string: body)
            ).expect(422)
            #expect(answer.body.count < 64 << 10)
            #expect(answer.json["errors"]?.array?.count == 100)
            #expect((answer.json["errorsLeftOut"]?.integer ?? 0) > 50_000)
        }
    }

    @Test("Of a hundred thousand bad lines the first are listed, all are counted, and the good ones are applied")
    func batch() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let good =
                #"{"op":"put","collection":"tasks","id":"t","value":{"title":"T","dueAt":"2026-03-03T09:00:00Z"}}"#
            let lines = String(repeating: "x\n", count: 50_000)
            let answer = try await server.raw(
                .post, "/v1/circles/c/batch",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "application/x-ndjson"],
                body: ByteBuffer(string: lines + good + "\n" + lines)
            ).expect(200)
            #expect(answer.body.count < 2 << 20)
            let rejected = answer.json["rejected"]?.array ?? []
            #expect(rejected.map { $0["line"]?.integer } == (1...BatchCounts.mostRejected).map { $0 })
            #expect(answer.json["rejectedLeftOut"] == .integer(100_000 - BatchCounts.mostRejected))
            #expect(answer.json["applied"] == 1)
        }
    }

    @Test("Lines with many faults each are listed until a mebibyte of them is there, in order")
    func faultyLines() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let fields = (0..<200).map { #""f\#($0)":0"# }.joined(separator: ",")
            let line = #"{"op":"put","collection":"tasks","id":"t","value":{\#(fields)}}"# + "\n"
            let answer = try await server.raw(
                .post, "/v1/circles/c/batch",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "application/x-ndjson"],
                body: ByteBuffer(string: String(repeating: line, count: 500))
            ).expect(200)
            #expect(answer.body.count < 2 << 20)
            let rejected = answer.json["rejected"]?.array ?? []
            #expect(rejected.map { $0["line"]?.integer } == (1...max(rejected.count, 1)).map { $0 })
            #expect(rejected.first?["errors"]?.array?.count == 100)
            // The title and the time are missing, too.
            #expect(rejected.first?["errorsLeftOut"] == 102)
            #expect(answer.json["rejectedLeftOut"] == .integer(500 - rejected.count))
        }
    }

    @Test("A page ends at four mebibytes, and the next one goes on where it ended")
    func pages() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let notes = String(repeating: "n", count: 65_000)
            let lines = (0..<200).map {
                #"{"op":"put","collection":"tasks","id":"t\#(1000 + $0)","value":"#
                    + #"{"title":"T","dueAt":"2026-03-03T09:00:00Z","notes":"\#(notes)"}}"#
            }
            try await server.raw(
                .post, "/v1/circles/c/batch",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "application/x-ndjson"],
                body: ByteBuffer(string: lines.joined(separator: "\n"))
            ).expect(200)
            // An item that is longer than a request may make it is read as it is.
            try await Self.putLongNotes(server, "t1100", count: 5 << 20)
            var (ids, cursor, pages): ([String], String?, Int) = ([], "", 0)
            while let next = cursor {
                let answer = try await server.call(
                    .get, "/v1/circles/c/tasks?limit=1000\(next.isEmpty ? "" : "&cursor=\(next)")"
                ).expect(200)
                let items = answer.json["items"]?.array ?? []
                #expect(answer.body.count <= PageText.mostBytes + 100 || items.count == 1)
                ids += items.compactMap { $0["id"]?.string }
                cursor = answer.json["nextCursor"]?.string
                pages += 1
            }
            #expect(ids == (0..<200).map { "t\(1000 + $0)" })
            #expect((5...8).contains(pages))
        }
    }

    private static func putLongNotes(_ server: TestServer, _ id: String, count: Int) async throws {
        try await server.services.store.write { transaction in
            let item = try #require(try transaction.item(id, "tasks", in: "c"))
            var copy = item
            let notes = String(repeating: "o", count: count)
            let content = try JSONValue(parsing: Array(item.content.utf8)).object ?? [:]
            copy.content = try JSONValue.object(content.merging(["notes": .string(notes)]) { $1 }).text()
            let now = server.clock.now
            let put = ItemPut(copy, replacing: item, newUID: "", isVisible: true, now: now)
            try transaction.putItems([put], in: "c", now: now)
        }
    }

    @Test("Without room for long answers a list is shorter and complete all the same, and an export is refused")
    func room() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let notes = String(repeating: "n", count: 20_000)
            for id in 0..<9 {
                try await server.put(
                    "tasks", "t\(id)", ["title": "T", "dueAt": "2026-03-03T09:00:00Z", "notes": .string(notes)])
            }
            let answers = server.services.memory.answers
            // Slow readers hold all of it.
            let all = ConnectionLimits().answerMemory
            answers.force(all, for: nil)
            var (ids, cursor, pages): ([String], String?, Int) = ([], "", 0)
            while let next = cursor {
                let answer = try await server.call(
                    .get, "/v1/circles/c/tasks\(next.isEmpty ? "" : "?cursor=\(next)")"
                ).expect(200)
                #expect(answer.body.count <= MemoryShare.free)
                ids += answer.json["items"]?.array?.compactMap { $0["id"]?.string } ?? []
                (cursor, pages) = (answer.json["nextCursor"]?.string, pages + 1)
            }
            #expect(ids == (0..<9).map { "t\($0)" } && pages == 3)
            let busy = try await server.call(.get, "/v1/circles/c/export.ics").expect(503)
            #expect(busy.json["code"] == "busy" && busy.headers[.retryAfter] != nil)
            try await server.raw(.get, "/healthz").expect(200)
            answers.give(all, of: nil)
            #expect(try await server.call(.get, "/v1/circles/c/tasks").expect(200).json["nextCursor"] == .null)
            while answers.used > 0 { try await Task.sleep(for: .milliseconds(10)) }
        }
    }

    @Test("Bytes that departed readers did not take are no longer counted")
    func slowReaders() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let notes = String(repeating: "n", count: 65_000)
            for id in 0..<20 {
                try await server.put(
                    "tasks", "t\(id)", ["title": "T", "dueAt": "2026-03-03T09:00:00Z", "notes": .string(notes)])
            }
            let answers = server.services.memory.answers
            let port = try #require(server.client.port)
            let request = "GET /v1/circles/c/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(server.key)\r\n\r\n"
            // Requests behind each other, from readers who go after the first bytes.
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        _ = try? await RawConnection(port: port).exchange(String(repeating: request, count: 20)) { _ in
                            true
                        }
                    }
                }
            }
            try await eventually("Nothing is held any more.") { answers.used == 0 }
            try await server.call(.get, "/v1/circles/c/tasks").expect(200)
        }
    }
}
