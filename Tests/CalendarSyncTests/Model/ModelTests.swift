// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct ModelTests {
    /// How many histories are tried; `KALENDS_HISTORIES=10000` tries more, `KALENDS_FIRST_HISTORY` begins elsewhere.
    static let count = ProcessInfo.processInfo.environment["KALENDS_HISTORIES"].flatMap { Int($0) } ?? 500
    static let first = ProcessInfo.processInfo.environment["KALENDS_FIRST_HISTORY"].flatMap { Int($0) } ?? 1

    @Test(
        "Whatever two people, a server and a network do: at rest both sides are equal, and nothing is lost or doubled")
    func histories() async {
        let workers = 4
        let wrong = await withTaskGroup(of: [(Int, String)].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var wrong: [(Int, String)] = []
                    for seed in stride(from: Self.first + worker, to: Self.first + Self.count, by: workers) {
                        let found = await History(seed: UInt64(seed)).violation()
                        if let violation = found.violation { wrong.append((seed, violation)) }
                        if wrong.count >= 40 { break }
                    }
                    return wrong
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        for (seed, violation) in wrong.sorted(by: { $0.0 < $1.0 }).prefix(3) {
            let small = await History(seed: UInt64(seed)).shrunk()
            let found = await small.violation()
            Issue.record(
                "Seed \(seed): \(violation)\n\(small)\n\(found.trace.joined(separator: "\n"))\n\(found.violation ?? "")"
            )
        }
        if wrong.count > 3 { Issue.record("\(wrong.count) histories are wrong: \(wrong.map(\.0).sorted().prefix(60))") }
    }

    @Test("The same seed gives the same trace")
    func repeats() async {
        for seed in 1...20 {
            let one = await History(seed: UInt64(seed)).violation()
            let other = await History(seed: UInt64(seed)).violation()
            #expect(one.trace == other.trace)
            #expect(one.violation == other.violation)
        }
    }

    /// Reduced as far as possible: calendars changed between kills and short listings, runs undone, events that cannot
    /// be changed in place.
    static let once: [History] = [
        History(
            server: 0,
            [
                (0, 0, 0), (0, 0, 0), (0, 0, 0), (21, 0, 0), (37, 35, 0), (46, 6, 47), (41, 0, 0), (26, 0, 0),
                (41, 0, 0), (6, 2, 0), (26, 0, 0),
            ]),
        History(
            server: 0,
            [
                (0, 0, 0), (0, 0, 0), (0, 0, 0), (21, 0, 0), (37, 59, 0), (41, 0, 0), (24, 0, 0), (5, 0, 0),
                (5, 0, 0), (41, 0, 0), (5, 0, 0), (26, 0, 0),
            ]),
        History(
            server: 0,
            [
                (0, 0, 0), (0, 0, 0), (21, 0, 0), (41, 0, 0), (28, 0, 0), (13, 0, 0), (2, 0, 0), (24, 0, 0),
                (5, 0, 0), (27, 3, 0), (41, 0, 0),
            ]),
        History(server: 0, [(0, 0, 0), (21, 0, 0), (33, 39, 0), (41, 0, 0), (21, 0, 0), (4, 0, 0), (28, 0, 0)]),
        History(
            server: 0,
            [
                (0, 0, 0), (21, 0, 0), (41, 0, 0), (5, 0, 0), (24, 0, 0), (41, 0, 0), (39, 8, 0), (23, 0, 0),
            ]),
        History(
            server: 0,
            [
                (1, 0, 0), (0, 1, 0), (21, 0, 0), (0, 0, 0), (21, 0, 0), (41, 0, 0), (2, 0, 0), (27, 3, 0),
                (41, 0, 0),
            ]),
        History(
            server: 1,
            [
                (0, 0, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0), (7, 2, 0), (22, 0, 0), (8, 2, 1), (26, 0, 0),
                (2, 2, 0),
            ]),
        // A copy of an event whose id nobody has recorded.
        History(server: 0, [(0, 0, 0), (0, 0, 0), (0, 0, 0), (37, 0, 0), (23, 0, 0), (14, 0, 0), (13, 0, 0)]),
        // Mailboxes that are moved, with events outside of the window, between kills, and with listings that break off.
        History(server: 16, [(0, 0, 22), (0, 0, 0), (26, 0, 0), (33, 24, 0), (50, 2, 0), (4, 0, 0)]),
        History(server: 16, [(0, 0, 0), (0, 0, 0), (21, 0, 0), (50, 2, 0), (5, 0, 0), (37, 48, 0), (26, 0, 0)]),
        History(server: 16, [(0, 0, 0), (0, 0, 0), (21, 0, 0), (37, 48, 0), (50, 2, 0), (2, 0, 0), (26, 0, 0)]),
        History(server: 25, [(1, 1, 3), (25, 0, 0), (50, 2, 0), (27, 2, 0), (2, 0, 0)]),
        History(
            server: 16,
            [
                (0, 0, 0), (0, 0, 0), (26, 0, 0), (37, 0, 0), (45, 2, 0), (34, 0, 0), (0, 0, 0), (23, 0, 0), (50, 2, 0),
            ]),
        History(
            server: 4,
            [
                (0, 0, 0), (0, 0, 0), (0, 0, 0), (21, 0, 0), (39, 32, 0), (40, 0, 0), (18, 0, 0), (12, 0, 0),
                (24, 0, 0),
            ]),
        // Another calendar is chosen: before any run has ended, with an event of an item that stays away from the other
        // one, and before an event that was made again is the only one.
        History(
            server: 16,
            [
                (0, 0, 0), (0, 0, 0), (0, 0, 0), (21, 0, 0), (11, 0, 0), (40, 0, 0), (41, 0, 0), (1, 1, 0), (24, 0, 0),
                (50, 0, 0), (27, 2, 0), (41, 0, 0),
            ]),
        History(
            server: 16,
            [
                (0, 0, 0), (0, 0, 0), (0, 0, 0), (21, 0, 0), (40, 0, 0), (42, 0, 0), (18, 1, 0), (26, 0, 0), (3, 1, 0),
                (41, 0, 0), (23, 0, 0), (43, 0, 0),
            ]),
        History(
            server: 16,
            [
                (0, 0, 0), (0, 0, 0), (0, 0, 0), (21, 0, 0), (11, 1, 0), (5, 0, 0), (41, 0, 0), (24, 0, 0), (13, 0, 0),
                (25, 0, 0), (41, 0, 0),
            ]),
        History(
            server: 0,
            [
                (0, 0, 0), (21, 0, 0), (39, 19, 0), (10, 0, 0), (27, 11, 0), (41, 0, 0), (27, 2, 0), (41, 0, 0),
            ]),
        // After the database is lost, or a mailbox moved, events are hidden, outside of the window, deleted, restored, or
        // copied.
        History(server: 0, [(0, 0, 0), (21, 0, 0), (50, 0, 0), (46, 6, 0), (23, 0, 0), (6, 0, 0), (28, 0, 0)]),
        History(server: 0, [(0, 0, 16), (21, 0, 0), (33, 21, 0), (12, 0, 0), (50, 0, 0), (28, 0, 0)]),
        History(
            server: 16,
            [
                (0, 0, 0), (0, 1, 38), (0, 0, 0), (5, 1, 0), (23, 0, 0), (33, 34, 0), (39, 35, 0), (50, 2, 0),
                (23, 0, 0), (6, 0, 0),
            ]),
        History(
            server: 16,
            [
                (0, 0, 0), (0, 1, 38), (0, 0, 0), (5, 1, 0), (23, 0, 0), (33, 34, 0), (6, 1, 0), (39, 35, 0),
                (50, 2, 0), (23, 0, 0), (6, 0, 0),
            ]),
        History(
            server: 16,
            [
                (0, 0, 0), (0, 0, 0), (0, 0, 0), (21, 0, 0), (6, 1, 0), (38, 1, 0), (6, 0, 0), (21, 0, 0), (50, 2, 0),
            ]),
        History(server: 16, [(0, 0, 0), (0, 0, 0), (21, 0, 0), (50, 2, 0), (13, 0, 0), (23, 0, 0), (5, 1, 0)]),
        History(
            server: 16,
            [
                (0, 0, 0), (0, 0, 0), (0, 0, 0), (21, 0, 0), (50, 2, 0), (13, 2, 0), (14, 0, 0), (23, 0, 0),
                (18, 0, 0), (15, 0, 0), (9, 2, 0),
            ]),
        History(
            server: 16,
            [
                (0, 0, 0), (0, 0, 0), (0, 0, 0), (21, 0, 0), (13, 0, 0), (50, 2, 0), (4, 2, 0), (13, 0, 0),
            ]),
        History(
            server: 16,
            [
                (0, 0, 0), (0, 0, 0), (0, 0, 0), (21, 0, 0), (15, 0, 0), (41, 0, 0), (28, 0, 0), (42, 0, 0), (5, 0, 0),
                (41, 0, 0), (14, 0, 0), (25, 0, 0), (22, 0, 0), (43, 0, 0),
            ]),
        // An event is taken out of the bin and moved out of the window.
        History(
            server: 0,
            [
                (0, 0, 23), (0, 0, 0), (21, 0, 0), (34, 0, 0), (40, 0, 0), (18, 0, 0), (12, 0, 0), (33, 29, 0),
            ]),
    ]

    @Test("Histories that were wrong once are right", arguments: once.indices)
    func mended(index: Int) async {
        let found = await Self.once[index].violation()
        #expect(found.violation == nil, "\(found.trace.joined(separator: "\n"))")
    }
}
