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
}
