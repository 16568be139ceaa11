// SPDX-License-Identifier: Apache-2.0

import Base
import Calendar
import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite(
    "When people are busy, against other readers",
    .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
struct FreeBusyOracleTests {
    /// A time in which somebody is busy, or available.
    private struct Period: Hashable, Comparable, CustomStringConvertible {
        var kind: String
        var start: String
        var end: String

        var description: String { "\(kind) \(start)/\(end)" }

        static func < (a: Self, b: Self) -> Bool { a.description < b.description }
    }

    /// What the oracle finds of one feed.
    private struct Found {
        var feed: [Period] = []
        var said: [Period] = []
        var available: [Period] = []
    }

    /// The feeds of one circle, by user.
    private struct Feeds {
        var circle: String
        var file: String
        var paths: [(user: String, path: String)]
    }

    private static let zone = "Europe/Berlin"
    private static let users = ["ann", "ben"]
    /// Days of summer and of winter time, of which most samples have some.
    private static let years = [(2024, 366), (2025, 365), (2026, 365)]

    @Test("Of each sample, what a feed's events take is what its address and the API say, for each of several people")
    func samples() async throws {
        // Its rules never end there.
        let files = CalendarFile.samples.filter { $0.path != "Samples/malformed/endless-rules.ics" }
        try await TestServer.run { server in
            var all: [Feeds] = []
            for (index, file) in files.enumerated() {
                if let feeds = try await Self.feeds(of: file, in: "c\(index)", server) { all.append(feeds) }
            }
            #expect(all.count > 40)
            var compared = 0
            for (year, days) in Self.years {
                let from = "\(year)-01-01T00:00:00Z"
                let to = try #require(Instant(rfc3339: from)).adding(seconds: days * 86_400).description
                compared += try await compare(all, from, to, server)
            }
            #expect(compared > 300)
        }
    }

    /// Compares what both say about a span; returns how many periods that are.
    private func compare(_ all: [Feeds], _ from: String, _ to: String, _ server: TestServer) async throws -> Int {
        var (input, asked): (Data, [ByteString: [Period]]) = (Data(), [:])
        for feeds in all {
            let answer = try await server.call(
                .post, "/v1/circles/\(feeds.circle)/free-busy",
                ["userIds": .array(Self.users.map { .string($0) }), "from": .string(from), "to": .string(to)]
            ).expect(200)
            for (index, (user, path)) in feeds.paths.enumerated() {
                let name = "\(feeds.file) \(user)"
                asked[ByteString(name)] = Self.periods(answer.json["people"]?.array?[index])
                let feed = try await server.raw(.get, path).expect(200).body
                let address = "\(path.dropLast(3))ifb?start=\(from)&end=\(to)"
                let said = try await server.raw(.get, address).expect(200).body
                let available = try await server.raw(.get, address + "&availability=1").expect(200).body
                input += Data(
                    "\(name)\t\(Self.base64(feed))\t\(Self.base64(said))\t\(Self.base64(available))\n".utf8)
            }
        }
        let found = try await Self.oracle(input, from, to)
        var count = 0
        for feeds in all {
            for (user, _) in feeds.paths {
                let name = ByteString("\(feeds.file) \(user)")
                let one = found[name] ?? Found()
                count += one.feed.count
                #expect(one.said == one.feed, "\(name): \(Self.difference(one.said, one.feed))")
                let api = asked[name] ?? []
                #expect(api == one.feed, "\(name), by the API: \(Self.difference(api, one.feed))")
                #expect(one.available == Self.shifts(of: user, from, to), "\(name): \(one.available)")
            }
        }
        return count
    }

    /// Imports a file as Ann into a new circle, where each has shifts of their own, and makes a feed of each; nil for a
    /// refused file.
    private static func feeds(of file: CalendarFile, in circle: String, _ server: TestServer) async throws -> Feeds? {
        let path = "/v1/circles/\(circle)"
        try await server.call(.put, path, ["name": "C", "timeZone": .string(zone)]).expect(201)
        for user in users {
            let member: JSONValue = ["displayName": .string(user), "role": "owner"]
            try await server.call(.put, "\(path)/members/\(user)", member).expect(201)
        }
        try await server.call(.put, "\(path)/patients/mom", ["displayName": "Mom"]).expect(201)
        // Only the one who imports private events sees them, so the two are not busy at the same times.
        let imported = try await server.raw(
            .post, "\(path)/imports?mode=commit&limit=1000",
            headers: [
                .authorization: "Bearer \(server.key)", .kalendsUser: "ann", .contentType: "text/calendar",
            ], body: ByteBuffer(bytes: try file.bytes))
        guard imported.status == 201 else { return nil }
        for (user, days) in shiftDays {
            for (first, last) in days {
                let shift: JSONValue = [
                    "patientId": "mom", "ownerId": .string(user), "startDate": .string(first), "endDate": .string(last),
                ]
                try await server.call(.put, "\(path)/shifts/\(user)-\(first)", shift).expect(201)
            }
        }
        let visit: JSONValue = [
            "patientId": "mom", "provider": "Dr. Wu", "startAt": "2024-10-20T09:00:00+02:00",
            "endAt": "2024-10-20T10:30:00+02:00", "timeZone": .string(zone), "status": "tentative",
            "recurrence": ["rrule": "FREQ=WEEKLY;BYDAY=SU,WE;COUNT=40", "exdates": ["2024-10-27T08:00:00Z"]],
        ]
        try await server.call(.put, "\(path)/appointments/weekly", visit).expect(201)
        var paths: [(user: String, path: String)] = []
        for user in users {
            let config: JSONValue = ["pastDays": 3660, "futureDays": 3660]
            let feed = try await server.call(
                .post, "\(path)/feeds", ["userId": .string(user), "label": .string(user), "config": config]
            ).expect(201)
            paths.append((user, try TestServer.path(feed)))
        }
        return Feeds(circle: circle, file: file.path, paths: paths)
    }

    /// First and last days, over changes of the clock, too.
    private static let shiftDays: [(user: String, days: [(String, String)])] = [
        ("ann", [("2024-03-30", "2024-03-31"), ("2025-07-01", "2025-07-01"), ("2026-03-10", "2026-03-12")]),
        ("ben", [("2024-10-26", "2024-10-28"), ("2026-03-11", "2026-03-11")]),
    ]

    /// When a user works in a span, which is theirs and nobody else's.
    private static func shifts(of user: String, _ from: String, _ to: String) -> [Period] {
        guard let rules = TimeZoneReference(zone)?.rules else { return [] }
        var found: [Period] = []
        for (owner, days) in shiftDays where owner == user {
            for (first, last) in days where first >= from && first < to {
                guard let start = CivilDate(iso: first), let end = CivilDate(iso: last) else { continue }
                let (begun, ended) = (CivilDateTime(startOf: start), CivilDateTime(startOf: end.adding(days: 1)))
                found.append(
                    Period(
                        kind: "", start: rules.instant(of: begun).description, end: rules.instant(of: ended).description
                    ))
            }
        }
        return found
    }

    private static func base64(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }

    private static func periods(_ person: JSONValue?) -> [Period] {
        (person?["busy"]?.array ?? []).map {
            Period(
                kind: $0["type"]?.string ?? "", start: $0["start"]?.string ?? "", end: $0["end"]?.string ?? "")
        }.sorted()
    }

    private static func difference(_ ours: [Period], _ theirs: [Period]) -> String {
        "\(Set(ours).symmetricDifference(theirs).sorted().prefix(6)), of ours \(ours.count), of theirs \(theirs.count)"
    }

    private static func oracle(_ input: Data, _ from: String, _ to: String) async throws -> [ByteString: Found] {
        let script = packageRoot.appending(path: "Tests/FeedsTests/Oracles/free_busy.py").path
        let result = try await runProgram(
            try #require(Programs.python), ["-B", script, zone, from, to], input: input, in: packageRoot)
        #expect(result.status == 0, "\(result.error.suffix(2000))")
        var found: [ByteString: Found] = [:]
        for line in result.output.split(separator: "\n") {
            let row = (try JSONValue(parsing: line.utf8).array ?? []).compactMap(\.string)
            try #require(row.count == 5)
            let period = Period(kind: row[2], start: row[3], end: row[4])
            let name = ByteString(row[0])
            switch row[1] {
            case "feed": found[name, default: Found()].feed.append(period)
            case "said": found[name, default: Found()].said.append(period)
            default: found[name, default: Found()].available.append(period)
            }
        }
        return found.mapValues {
            Found(feed: $0.feed.sorted(), said: $0.said.sorted(), available: $0.available.sorted())
        }
    }
}
