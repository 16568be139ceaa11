// SPDX-License-Identifier: Apache-2.0

/// A stored row that the program could not have written.
public struct StoredFault: Hashable, Sendable {
    public var table: String
    /// The row's key; empty for the whole table.
    public var row: String
    public var reason: String

    public init(table: String, row: String, reason: String) {
        (self.table, self.row, self.reason) = (table, row, reason)
    }

    /// One sentence for the operator, without the stored values.
    public var description: String { row.isEmpty ? "\(table): \(reason)" : "\(table), row \(row): \(reason)" }

    /// How many faults are listed at most.
    public static let limit = 20
}
