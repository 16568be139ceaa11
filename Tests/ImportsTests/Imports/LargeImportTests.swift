// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Server
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Imports of many events")
struct LargeImportTests {
    private func post(_ server: TestServer, _ text: String, _ query: String = "mode=commit") async throws -> Answer {
        try await server.raw(
            .post, "/v1/circles/c/imports?\(query)",
            headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
            body: ByteBuffer(string: text))
    }

    @Test(
        "A report's items come in pages of any size, all of them and in the file's order", arguments: [1000, 100, 64])
    func pages(limit: Int) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var page = try await post(server, NumberedEvents.calendar(231), "limit=\(limit)").expect(201).json
            let path = "/v1/imports/\(try #require(page["id"]?.string))?limit=\(limit)"
            var uids: [String] = []
            while true {
                let items = page["items"]?.array ?? []
                #expect(items.count <= limit)
                uids += items.compactMap { $0["uid"]?.string }
                guard let cursor = page["nextCursor"]?.string else { break }
                page = try await server.call(.get, "\(path)&cursor=\(cursor)").expect(200).json
            }
            #expect(uids == (0..<231).map { "\($0)@example.com" })
        }
    }

    @Test("An event that a file holds twice, far apart, counts once, and an update reaches all")
    func farApart() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let text = NumberedEvents.calendar(240)
            let twice = text.replacing(
                "UID:239@example.com\r\n", with: "UID:0@example.com\r\nSEQUENCE:2\r\n")
            let first = try await post(server, twice).expect(201).json
            #expect(first["counts"]?["created"] == 239 && first["counts"]?["skipped"] == 1)
            #expect(first["items"]?.array?.first?["change"] == "skipped")
            let changed = try await post(server, NumberedEvents.calendar(240, changed: true)).expect(201).json
            // That of the file's first version is older than what is stored.
            #expect(
                changed["counts"]?["updated"] == 238 && changed["counts"]?["created"] == 1
                    && changed["counts"]?["unchanged"] == 1)
            let id = try #require(changed["id"]?.string)
            #expect(
                try await server.call(.post, "/v1/imports/\(id)/undo").expect(200).json["kept"]?.array?.isEmpty == true)
            let again = try await post(server, twice).expect(201).json
            #expect(again["counts"]?["unchanged"] == 239)
        }
    }

    private static func withoutHead(_ calendar: String) -> String {
        calendar.replacing("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n", with: "")
    }

    @Test("With new UIDs throughout nothing is there twice, not even of events that are alike")
    func shuffled() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            // Each twice, far apart, alike but for the UID.
            let half = NumberedEvents.calendar(120)
            let (open, rest) = (half.replacing("END:VCALENDAR\r\n", with: ""), Self.withoutHead(half))
            let events = open + rest.replacing("@example.com", with: "@example.org")
            let first = try await post(server, events).expect(201).json
            #expect(first["counts"]?["created"] == 240)
            let feed = try await server.makeFeed()
            let before = try await server.raw(.get, feed.path).body
            let again = try await post(server, events.replacing("@example.", with: "@new.")).expect(201).json
            #expect(again["counts"]?["unchanged"] == 240 && again["counts"]?["created"] == 0)
            // A third of each is a new event.
            let newer = events.replacing("END:VCALENDAR\r\n", with: "").replacing("@example.", with: "@newer.")
            let more = newer + rest.replacing("@example.com", with: "@third.org")
            let added = try await post(server, more, "mode=preview").expect(201).json
            #expect(added["counts"]?["unchanged"] == 240 && added["counts"]?["created"] == 120)
            #expect(try await server.raw(.get, feed.path).body == before)
        }
    }

    @Test("Events with new UIDs are looked up together, not one at a time")
    func lookedUpTogether() async throws {
        let count = CountingStore.Count()
        let open: StoreOpening = { path, mustBeKalends in CountingStore(try Engine.open(path, mustBeKalends), count) }
        try await TestServer.run(open: open) { server in
            try await server.makeCircle()
            let events = NumberedEvents.calendar(1000)
            try await post(server, events).expect(201)
            func reads(_ text: String) async throws -> Int {
                let before = count.reads
                let answer = try await post(server, text).expect(201).json
                #expect(answer["counts"]?["unchanged"] == 1000)
                return count.reads - before
            }
            let same = try await reads(events)
            let renamed = try await reads(events.replacing("@example.com", with: "@new.com"))
            #expect(renamed <= same + 20, "\(same) reads with the same UIDs, \(renamed) with new ones")
        }
    }

    @Test("A circle's imports are listed, latest first, only to its members")
    func list() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var ids: [JSONValue?] = []
            for number in 1...5 {
                // Two of them at the same time.
                if number != 3 { server.clock.advance(seconds: 60) }
                ids.append(try await post(server, NumberedEvents.calendar(number)).expect(201).json["id"])
            }
            let all = try await server.call(.get, "/v1/circles/c/imports", as: "vic").expect(200).json
            let items = try #require(all["items"]?.array)
            #expect(items.count == 5 && Set(items.map { $0["id"] }) == Set(ids) && items.first?["id"] == ids.last)
            #expect(items.first?["counts"]?["events"] == 5 && items.first?["state"] == "committed")
            #expect(items.allSatisfy { $0["items"] == nil && $0["problems"] == nil })
            var paged: [JSONValue] = []
            var cursor = ""
            while true {
                let page = try await server.call(.get, "/v1/circles/c/imports?limit=2\(cursor)").expect(200).json
                paged += page["items"]?.array ?? []
                guard let next = page["nextCursor"]?.string else { break }
                cursor = "&cursor=\(next)"
            }
            #expect(paged == items)
            try await server.call(.get, "/v1/circles/c/imports", as: "stranger").expect(404)
            try await server.call(.get, "/v1/circles/c/imports?cursor=AAAA").expect(422)
        }
    }
}
