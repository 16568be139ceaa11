// SPDX-License-Identifier: Apache-2.0

/// The list of writes, from which each server that shares a database learns what the others changed (docs/nodes.md).
package enum WrittenCircles {
    /// The maximum number of circles that are recorded for a write; a write that concerns more is recorded as concerning all.
    package static let most = 64
}

extension WriteTransaction {
    /// Records which circles this transaction changes. No other transaction writes these rows, so none waits for another.
    ///
    /// - Parameters:
    ///   - circles: nil for all of them.
    ///   - number: the number that the database gave this transaction, and gives no other.
    package func noteWritten(_ circles: Set<ByteString>?, in number: Int) throws {
        if let circles, circles.isEmpty { return }
        let named = circles.flatMap { $0.count <= WrittenCircles.most ? $0.sorted().map(\.string) : nil } ?? [""]
        try execute(
            "INSERT INTO written_circles (written_in, circle) VALUES \(SQLText.tuples(named.count, of: 2))",
            named.flatMap { [.integer(number), .text($0)] })
    }

    /// Removes the records of transactions below a number, when none of these is running, and notes that it may be
    /// missing.
    package func forgetWritten(below number: Int) throws {
        try execute("DELETE FROM written_circles WHERE written_in < $1", [.integer(number)])
        try execute("UPDATE counters SET last_number = $1 WHERE name = 'writesForgotten'", [.integer(number - 1)])
    }
}
