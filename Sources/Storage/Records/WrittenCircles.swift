// SPDX-License-Identifier: Apache-2.0

/// The numbered list of writes, from which each server learns what the others changed.
package enum WrittenCircles {
    /// The most circles that are recorded for a write; a write that concerns more is recorded as concerning all.
    package static let most = 64
    /// How many of the latest numbers are kept: a server that is further behind discards its whole cache.
    package static let kept = 10_000
    /// After how many numbers older ones are removed.
    static let sweep = 1_000
}

extension WriteTransaction {
    /// Records which circles this transaction changes, as its last act.
    ///
    /// The counter's row stays locked until the end, so that the numbers are in the order of the commits: a reader that
    /// has seen a number will not find a lower one later.
    ///
    /// - Parameter circles: nil for all of them.
    package func noteWritten(_ circles: Set<ByteString>?) throws {
        if let circles, circles.isEmpty { return }
        let named = circles.flatMap { $0.count <= WrittenCircles.most ? $0.sorted().map(\.string) : nil } ?? [""]
        let places = (1...named.count).map { "($\($0))" }.joined(separator: ", ")
        let number = try nextNumber(
            """
            WITH turn AS (
                UPDATE counters SET last_number = last_number + 1 WHERE name = 'writes' RETURNING last_number
            )
            INSERT INTO written_circles (number, circle)
            SELECT turn.last_number, named.circle FROM turn CROSS JOIN (VALUES \(places)) AS named (circle)
            RETURNING number
            """, named.map(SQLValue.text))
        guard number % WrittenCircles.sweep == 0 else { return }
        try execute(
            "DELETE FROM written_circles WHERE number <= $1", [.integer(number - WrittenCircles.kept)])
    }
}
