// SPDX-License-Identifier: Apache-2.0

import Base
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("A preview in parts")
struct PreviewPartsTests {
    /// Each title has this many bytes, so that few events fill a part.
    private static let titleLength = 30_000

    /// Imports events for a user; they begin on these days of March, each with its own UID.
    private static func bring(
        _ uids: [(uid: String, day: Int)], by user: String, _ server: TestServer, more: String = ""
    ) async throws {
        let events = uids.map { uid, day in
            """
            BEGIN:VEVENT\r\nUID:\(uid)\r\nDTSTAMP:20260301T000000Z\r\nDTSTART:202603\(day < 10 ? "0" : "")\(day)T090000Z\r
            SUMMARY:\(uid) of \(user) \(String(repeating: "n", count: titleLength))\r\n\(more)END:VEVENT\r\n
            """
        }
        let file = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\n" + events.joined() + "END:VCALENDAR\r\n"
        let headers: HTTPFields = [
            .authorization: "Bearer \(server.key)", .contentType: "text/calendar", .kalendsUser: user,
        ]
        try await server.raw(
            .post, "/v1/circles/c/imports?mode=commit&limit=1", headers: headers, body: ByteBuffer(string: file)
        ).expect(201)
    }

    @Test("Parts of 4 MiB have, one after the other, what the feed shows, in its order, and each thing once")
    func parts() async throws {
        try await TestServer.run { server in
            try await server.makeCircle(zone: "UTC")
            for number in 1...9 {
                try await server.put(
                    "tasks", "t\(number)", ["title": "T", "dueAt": .string("2026-03-0\(number)T09:00:00Z")])
            }
            let many = (0..<180).map { (uid: "u\($0 * 7919 % 180)", day: 1 + $0 % 27) }
            try await Self.bring(many, by: "ann", server)
            try await Self.bring([("secret1", 3), ("secret2", 30)], by: "ben", server, more: "CLASS:PRIVATE\r\n")
            let feed = try await server.makeFeed(config: ["futureDays": 22])

            var (shown, leftOut, hidden, cursor): ([String], [String], [Int], String?) = ([], [], [], nil)
            var parts = 0
            repeat {
                let query = cursor.map { "&cursor=\($0)" } ?? ""
                let answer = try await server.call(
                    .get, "/v1/feeds/\(feed.id)/preview?from=2020-01-01&to=2030-01-01\(query)"
                ).expect(200)
                #expect(answer.body.count < 4 << 20)
                shown += answer.json["events"]?.array?.compactMap { $0["uid"]?.string } ?? []
                for one in answer.json["leftOut"]?.array ?? [] {
                    if let id = one["id"]?.string {
                        leftOut.append(id)
                    } else {
                        hidden.append(one["count"]?.integer ?? 0)
                    }
                }
                cursor = answer.json["nextCursor"]?.string
                parts += 1
            } while cursor != nil && parts < 10

            #expect(parts > 1 && hidden == [2])
            let answer = try await server.raw(.get, feed.path).expect(200)
            #expect(shown == answer.eventValues("UID"))
            #expect(shown.count + leftOut.count == 9 + 180)
            #expect(shown.count > 140 && leftOut.count > 15)
        }
    }

    @Test("Days that were asked for have what touches them, wherever the feed's own window is")
    func days() async throws {
        try await TestServer.run { server in
            try await server.makeCircle(zone: "UTC")
            try await Self.bring([("a", 10), ("b", 11), ("c", 12)], by: "ann", server)
            let feed = try await server.makeFeed(config: ["futureDays": 1])
            let answer = try await server.call(
                .get, "/v1/feeds/\(feed.id)/preview?from=2026-03-11&to=2026-03-12"
            ).expect(200).json
            #expect(answer["events"]?.array?.isEmpty == true)
            #expect(answer["leftOut"]?.array?.compactMap { $0["id"]?.string } == ["b"])
            #expect(answer["nextCursor"] == .null)
        }
    }
}
