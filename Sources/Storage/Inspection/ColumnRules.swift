// SPDX-License-Identifier: Apache-2.0

/// The values that a column may hold, by its name: far fewer than its type allows, and none that make sums overflow.
package enum ColumnRules {
    /// Milliseconds from the year 1 to the year 9999.
    static let times = -62_135_596_800_000...253_402_300_799_999
    /// Room for more than a lifetime of counting.
    static let numbers = -(1 << 53)...1 << 53
    /// The longest text in bytes, far longer than any that is written: the longest event has 1 MiB.
    package static let longestText = 1 << 26
    /// The numbers that fit into a record of an access.
    static let feedNumbers = 0...Int(UInt32.max)
    static let sequences = 0...2_147_483_647
    /// Days since 1970-01-01, far more than are ever written.
    static let days = -10_000_000...10_000_000
    /// Seconds east of UTC that RFC 3339 can write.
    static let offsets = -86_400...86_400

    /// - Returns: nil for a column of bits, which may hold any value.
    package static func range(_ table: String, _ column: String) -> ClosedRange<Int>? {
        if let own = StoredRecords.range(table, column) { return own }
        return switch (table, column) {
        case ("feed_clients", "networks"), ("feed_clients", "networks_before"): nil
        case (_, "feed"): feedNumbers
        case ("feed_attention", "client"): -1...255
        case (_, "client"): 0...255
        case (_, "status"), (_, "last_status"): 0...999
        case (_, "day"), (_, "first_day"), (_, "last_day"): days
        case (_, "failures"), (_, "turn"), (_, "generation"): 0...1 << 53
        case (_, "at"): times
        default: column.hasSuffix("_at") ? times : numbers
        }
    }

    /// The range of a number among the installation's settings.
    package static func setting(_ name: String) -> ClosedRange<Int>? {
        switch name {
        case "feedNumber": feedNumbers
        case "accessSequence": 0...1 << 53
        case "prunedAt": times
        default: nil
        }
    }
}
