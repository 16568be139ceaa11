// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("How a feed is doing")
struct FeedHealthTests {
    private static let phone: HTTPFields = [.userAgent: "iOS/16.5.1 (20F75) dataaccessd/1.0"]
    private static let google: HTTPFields = [.userAgent: "Google-Calendar-Importer"]

    @Test("Its size is reported exactly, also before it was read, and that it is large above 1 MB")
    func size() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            func health() async throws -> JSONValue? {
                try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200).json["health"]
            }
            let before = try await health()
            let empty = try await server.raw(.get, feed.path).expect(200).body.count
            #expect(before?["sizeBytes"] == .integer(empty) && before?["bytes"] == .integer(empty))
            #expect(before?["isLarge"] == false)
            let notes = String(repeating: "A long note. ", count: 300)
            for number in 0..<250 {
                try await server.put(
                    "tasks", "t\(number)",
                    ["title": "T", "dueAt": "2026-03-03T09:00:00-08:00", "notes": .string(notes)])
            }
            let large = try await health()
            let size = try await server.raw(.get, feed.path).expect(200).body.count
            #expect(size > 1_000_000)
            #expect(large?["sizeBytes"] == .integer(size))
            #expect(large?["isLarge"] == true && large?["warnings"]?.array?.count == 1)
            // The old address's notice is not one of the feed's own.
            try await server.call(.post, "/v1/feeds/\(feed.id)/regenerate", ["graceSeconds": 60]).expect(200)
            try await server.raw(.get, feed.path).expect(200)
            #expect(try await health()?["sizeBytes"] == .integer(size))
            try await server.call(.post, "/v1/feeds/\(feed.id)/revoke").expect(200)
            #expect(try await health()?["sizeBytes"] == .null)
        }
    }

    @Test("What is left out is counted by rule, as the preview names it item by item")
    func leftOut() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            try await server.put("tasks", "old", ["title": "Old", "dueAt": "2024-03-03T09:00:00-08:00"])
            try await server.put(
                "tasks", "done", ["title": "Done", "dueAt": "2026-03-03T09:00:00-08:00", "status": "completed"])
            let feed = try await server.makeFeed(config: ["includeShifts": false, "futureDays": 1])
            for config in [[:], ["patientIds": ["mom"]], ["includeTasks": false, "patientIds": .null]] as [JSONValue] {
                try await server.call(.patch, "/v1/feeds/\(feed.id)", ["config": config]).expect(200)
                let left =
                    try await server.call(
                        .get, "/v1/feeds/\(feed.id)/preview?from=1900-01-01&to=2500-01-01"
                    ).json["leftOut"]?.array ?? []
                var counts: [ByteString: JSONValue] = [:]
                for rule in left.compactMap({ $0["rule"]?.string }) {
                    counts[rule] = .integer((counts[rule]?.integer ?? 0) + 1)
                }
                #expect(counts.count > 1)
                for _ in 1...2 {
                    let health = try await server.call(.get, "/v1/feeds/\(feed.id)").json["health"]
                    #expect(health?["leftOut"] == .object(counts))
                }
            }
            try await server.call(.patch, "/v1/feeds/\(feed.id)", ["config": ["includeTasks": true]]).expect(200)
            // The day counts too: the task leaves the window without a change of it.
            server.clock.advance(seconds: 200 * 86_400)
            let later = try await server.call(.get, "/v1/feeds/\(feed.id)").json["health"]?["leftOut"]
            #expect(later?["outside-window"]?.integer ?? 0 > 2)
        }
    }

    @Test("Each client is expected after the median of its intervals, and overdue when three more have passed")
    func rhythm() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            func client(_ name: String) async throws -> JSONValue? {
                let one = try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200).json
                let list = try await server.call(.get, "/v1/circles/c/feeds").expect(200).json["items"]?.array?.first
                #expect(one["health"]?["clients"] == list?["health"]?["clients"])
                return one["health"]?["clients"]?.array?.first { $0["client"]?.string == name }
            }
            // An hour apart, in pairs, and once late; Google comes but twice.
            for pause in [0, 3600, 3600, 9000, 3600, 3600] {
                server.clock.advance(seconds: pause)
                for _ in 1...2 { try await server.raw(.get, feed.path, headers: Self.phone).expect(200) }
                if pause == 9000 || pause == 0 {
                    try await server.raw(.get, feed.path, headers: Self.google).expect(200)
                }
            }
            let (phone, google) = (
                try await client("Apple Calendar (iOS)"), try await client("Google Calendar")
            )
            #expect(phone?["lastSeenAt"] == "2026-03-02T18:30:00Z")
            #expect(phone?["expectedAt"] == "2026-03-02T19:30:00Z" && phone?["isOverdue"] == false)
            #expect(google?["expectedAt"] == .null && google?["isOverdue"] == false)
            server.clock.advance(seconds: 4 * 3600)
            #expect(try await client("Apple Calendar (iOS)")?["isOverdue"] == false)
            server.clock.advance(seconds: 1)
            let late = try await client("Apple Calendar (iOS)")
            #expect(late?["isOverdue"] == true && late?["expectedAt"] == "2026-03-02T19:30:00Z")
            try await server.raw(.get, feed.path, headers: Self.phone).expect(200)
            #expect(try await client("Apple Calendar (iOS)")?["isOverdue"] == false)
        }
    }

    @Test("A client with an unknown rhythm is expected at no time", arguments: [[], [5], [9, 5], [5, 5, 5]])
    func unknown(times: [Int]) {
        let rhythm = ClientRhythm(1, lastSeenAt: 9, times: times)
        #expect(rhythm.interval == nil && rhythm.expectedAt == nil && !rhythm.isOverdue(now: .max / 2))
    }
}
