// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore
import Testing

@testable import FeedServer

@Suite("Lines about feeds on the command line")
struct FeedLinesTests {
    private static let now = Instant(seconds: 1_772_475_000)

    @Test("The list shows until when a former address is answered, and none that is answered no longer")
    func former() {
        for (until, note) in [
            ("2026-03-02T18:10:01Z", "    The old address is answered until 2026-03-02 18:10 UTC"),
            ("2026-03-02T18:10:00Z", nil),
        ] {
            let feed: JSONValue = [
                "id": "f1", "circleId": "c", "userId": "ann", "tokenHint": "abcd…", "formerUntil": .string(until),
            ]
            let lines = FeedLines([feed], now: Self.now).lines
            #expect(lines.dropFirst(2).first == note && lines.count == (note == nil ? 2 : 3), "\(lines)")
        }
    }

    @Test("The list shows who read a feed when, and when each is expected next")
    func clients() throws {
        let feed: JSONValue = [
            "id": "f1", "circleId": "c", "userId": "ann", "label": "phone", "tokenHint": "abcd…", "accessCount": 13,
            "lastAccessedAt": "2026-03-02T18:30:00Z",
            "clients": [
                ["client": "Thunderbird", "count": 12, "lastSeenAt": "2026-03-02T18:30:00Z"],
                ["client": "Browser", "count": 1, "lastSeenAt": "2026-03-01T18:30:00Z"],
                ["client": "Other", "count": 9, "lastSeenAt": "2026-02-01T18:30:00Z"],
            ],
            "health": [
                "clients": [
                    ["client": "Thunderbird", "expectedAt": "2026-03-02T19:30:00Z", "isOverdue": false],
                    ["client": "Browser", "expectedAt": .null, "isOverdue": false],
                    ["client": "Other", "expectedAt": "2026-02-01T19:30:00Z", "isOverdue": true],
                ]
            ],
        ]
        #expect(
            FeedLines([feed], now: Self.now).lines == [
                "ID  CIRCLE  USER  LABEL  TOKEN  STATE  READ      LAST READ",
                "f1  c       ann   phone  abcd…  live   13 times  2026-03-02 18:30 UTC",
                "    Thunderbird: 12 times, last 2026-03-02 18:30 UTC; next expected 2026-03-02 19:30 UTC",
                "    Browser: once, last 2026-03-01 18:30 UTC",
                "    Other: 9 times, last 2026-02-01 18:30 UTC; OVERDUE, expected 2026-02-01 19:30 UTC",
            ])
    }

    @Test("The list shows what asks for attention, below the feed")
    func attention() {
        let feed: JSONValue = [
            "id": "f1", "circleId": "c", "userId": "ann", "tokenHint": "abcd…", "accessCount": 1,
            "lastAccessedAt": "2026-03-02T18:30:00Z",
            "attention": [["at": "2026-03-02T18:30:00Z", "message": "Somebody\u{1B}[2J else."]],
        ]
        #expect(
            FeedLines([feed], now: Self.now).lines == [
                "ID  CIRCLE  USER  LABEL  TOKEN  STATE  READ  LAST READ",
                "f1  c       ann   -      abcd…  live   once  2026-03-02 18:30 UTC",
                "    ATTENTION, 2026-03-02 18:30 UTC: \(printable("Somebody\u{1B}[2J else."))",
            ])
    }
}
