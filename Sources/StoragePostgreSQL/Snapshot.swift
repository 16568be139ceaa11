// SPDX-License-Identifier: Apache-2.0

/// Which transactions were over for a query, by the numbers that the server gave them (`pg_current_snapshot`).
struct Snapshot: Equatable {
    /// Every transaction below it was over.
    private(set) var floor = 0
    /// No transaction from it on was over.
    private(set) var end = 0
    /// The transactions between the two that were running, as a list of PostgreSQL: `{7,9}`.
    private(set) var running = "{}"

    init() {}

    /// Reads the server's form, `FLOOR:END:NUMBER,NUMBER`; nil for any other text.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let floor = Int(parts[0]), let end = Int(parts[1]), floor <= end else { return nil }
        (self.floor, self.end, running) = (floor, end, "{\(parts[2])}")
    }

    /// Whether a transaction up to this number may not have been over.
    func mayLack(upTo number: Int) -> Bool { number >= floor }
}
