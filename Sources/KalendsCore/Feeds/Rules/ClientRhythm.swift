// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage

/// How regularly one family of programs reads a feed; times are in milliseconds.
package struct ClientRhythm: Hashable, Sendable {
    package var client: Int
    package var lastSeenAt: Int
    /// The median time between its latest visits; nil if there are fewer than three, and for browsers.
    var interval: Int?

    /// Reads of one family within this time count as one visit: programs read twice, and people have phones and
    /// tablets.
    private static let visit = 60_000
    /// How many of the latest visits determine the rhythm; with so few, a changed setting shows soon.
    private static let visits = 21
    /// How many of its intervals a client may be late before it counts as overdue: phones and laptops are switched off.
    private static let patience = 3

    /// - Parameter times: the times of its reads, newest first.
    init(_ client: Int, lastSeenAt: Int, times: some Sequence<Int>) {
        self.client = client
        self.lastSeenAt = lastSeenAt
        guard ClientFamily(code: client).subscribes else { return }
        var visits: [Int] = []
        for time in times where visits.count < Self.visits {
            if let last = visits.last, last - time < Self.visit { continue }
            visits.append(time)
        }
        guard visits.count >= 3 else { return }
        let intervals = zip(visits, visits.dropFirst()).map { $0 - $1 }.sorted()
        interval = intervals[intervals.count / 2]
    }

    /// When it is next expected; a time in the past if it is late.
    package var expectedAt: Int? { interval.map { lastSeenAt + $0 } }

    package func isOverdue(now: Int) -> Bool { interval.map { now > lastSeenAt + $0 + Self.patience * $0 } ?? false }

    /// Returns the rhythm of each family that has ever read a feed, the most frequent first.
    static func all(of feed: String, _ clients: [FeedClient], in transaction: any ReadTransaction) throws -> [Self] {
        let visits = Dictionary(grouping: try transaction.visits(of: feed), by: \.client)
        return clients.map {
            ClientRhythm($0.client, lastSeenAt: $0.lastSeenAt, times: (visits[$0.client] ?? []).lazy.map(\.at))
        }
    }
}
