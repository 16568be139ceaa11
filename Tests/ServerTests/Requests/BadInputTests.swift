// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Testing

@testable import ServerTestSupport

@Suite("Input that must not become a broken feed")
struct BadInputTests {
    private static let due = "2026-03-03T09:00:00Z"

    /// Returns the feed after checking with a strict reader that it is legal and has one event.
    private func feed(_ server: TestServer) async throws -> Answer {
        let made = try await server.makeFeed(label: UUID().uuidString)
        let answer = try await server.raw(.get, made.path).expect(200)
        let reading = CalendarReader().read(answer.body)
        #expect(reading.problems.isEmpty && reading.refusal == nil, "\(reading.problems)")
        // What the rules of a line say, looked at byte by byte: no control character, CRLF alone, 75 octets.
        for line in answer.text.components(separatedBy: "\r\n") {
            #expect(line.utf8.count <= 75)
            #expect(!line.utf8.contains { $0 < 32 && $0 != 9 || $0 == 127 }, "\(line.debugDescription)")
        }
        return answer
    }

    @Test(
        "Every control character in a title or in notes is left out or refused, and never written",
        arguments: Array(0...31) + [127, 0x80, 0x85, 0x9F, 0x2028, 0xFEFF, 0xFFFE])
    func control(_ scalar: Int) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let character = String(try #require(UnicodeScalar(scalar)))
            let value: JSONValue = [
                "title": .string("Give\(character)pills"), "notes": .string("one\(character)two"),
                "dueAt": .string(Self.due),
            ]
            let put = try await server.call(.put, "/v1/circles/c/tasks/t1", value)
            if put.status == 422 {
                #expect(Set(put.pointers).isSubset(of: ["/title", "/notes"]) && !put.pointers.isEmpty)
                return
            }
            try put.expect(201)
            let answer = try await feed(server)
            let summary = try #require(answer.values("SUMMARY").first)
            #expect(summary.hasPrefix("CK: Give") && summary.hasSuffix("pills"))
        }
    }

    @Test(
        "A line break in a title does not break a line of the feed",
        arguments: ["a\r\nATTENDEE:mailto:x@example.com", "a\rb", "a\nEND:VEVENT", "a\u{2028}b"])
    func breaks(_ title: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let put = try await server.call(
                .put, "/v1/circles/c/tasks/t1", ["title": .string(title), "dueAt": .string(Self.due)])
            guard put.status != 422 else {
                #expect(put.pointers == ["/title"])
                return
            }
            let answer = try await feed(server)
            #expect(answer.values("UID").count == 1 && answer.values("ATTENDEE").isEmpty)
        }
    }

    @Test("A lone surrogate is refused", arguments: [#"\ud800"#, #"\udc00x"#, #"\ud800\ud800"#])
    func surrogate(_ escape: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await server.raw(
                .put, "/v1/circles/c/tasks/t1",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "application/json"],
                body: ByteBuffer(string: #"{"title":"a\#(escape)b","dueAt":"\#(Self.due)"}"#))
            #expect(answer.status == 400 || answer.status == 422, "\(answer.text)")
            #expect(answer.json["detail"]?.string?.isEmpty == false)
        }
    }

    @Test("Notes of 100 kB are whole in the feed, or refused by name", arguments: [1_000, 65_536, 100_000, 1_000_000])
    func longNotes(_ length: Int) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let notes = String(repeating: "Wörter, und; mehr\n", count: length / 19)
            let put = try await server.call(
                .put, "/v1/circles/c/tasks/t1",
                ["title": "Long", "notes": .string(notes), "dueAt": .string(Self.due)])
            guard put.status != 422 else {
                #expect(put.pointers == ["/notes"] && length > 65_536)
                return
            }
            if put.status == 413 {
                #expect(length > 500_000)
                return
            }
            try put.expect(201)
            let reading = CalendarReader().read(try await feed(server).body)
            #expect(reading.events.first?.description == notes)
        }
    }

    @Test(
        "Times that cannot be are refused with their pointer",
        arguments: [
            (["startAt": "2026-03-03T10:00:00Z", "endAt": "2026-03-03T09:00:00Z"], "/endAt"),
            (["startAt": "0000-03-03T10:00:00Z", "endAt": "0000-03-03T11:00:00Z"], "/startAt"),
            (["startAt": "10000-03-03T10:00:00Z", "endAt": "10000-03-03T11:00:00Z"], "/startAt"),
            (["startAt": "9999-12-31T23:00:00Z", "endAt": "10000-01-01T01:00:00Z"], "/endAt"),
            (["startAt": "9999-12-31T23:30:00-08:00", "endAt": "9999-12-31T23:45:00-08:00"], "/startAt"),
            (["startAt": "2026-02-30T10:00:00Z", "endAt": "2026-03-03T11:00:00Z"], "/startAt"),
            (["startAt": "2026-03-03T24:00:00Z", "endAt": "2026-03-04T11:00:00Z"], "/startAt"),
            (["startAt": "2026-03-03T10:00:00", "endAt": "2026-03-03T11:00:00Z"], "/startAt"),
            (["timeZone": "Mars/Olympus"], "/timeZone"), (["timeZone": "../../etc/passwd"], "/timeZone"),
            (["timeZone": ""], "/timeZone"),
        ] as [([ByteString: JSONValue], String)])
    func times(_ members: [ByteString: JSONValue], _ pointer: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var value: [ByteString: JSONValue] = [
                "patientId": "mom", "provider": "Dr. Wu", "startAt": "2026-03-03T10:00:00Z",
                "endAt": "2026-03-03T11:00:00Z",
            ]
            value.merge(members) { $1 }
            let put = try await server.call(.put, "/v1/circles/c/appointments/a1", .object(value)).expect(422)
            #expect(put.pointers.contains(pointer), "\(put.text)")
            try await server.call(.get, "/v1/circles/c/appointments/a1").expect(404)
        }
    }
}
