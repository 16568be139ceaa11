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
    private static let feedNumbers = 0...Int(UInt32.max)
    private static let sequences = 0...2_147_483_647
    /// Days since 1970-01-01, far more than are ever written.
    private static let days = -10_000_000...10_000_000
    /// Seconds east of UTC that RFC 3339 can write.
    private static let offsets = -86_400...86_400

    /// - Returns: nil for a column of bits, which may hold any value.
    package static func range(_ table: String, _ column: String) -> ClosedRange<Int>? {
        switch (table, column) {
        // An imported event may lie outside the years that we write.
        case ("event_versions", "starts_at"), ("event_versions", "ends_at"), ("event_versions", "file_modified_at"):
            numbers
        case ("feed_clients", "networks"), ("feed_clients", "networks_before"): nil
        case ("feeds", "number"), ("feed_accesses", "feed"), ("feed_clients", "feed"), ("feed_client_days", "feed"),
            ("feed_attention", "feed"), ("app_passwords", "number"):
            feedNumbers
        case ("feed_attention", "client"): -1...255
        case (_, "client"): 0...255
        case (_, "status"), (_, "last_status"): 0...999
        case (_, "day"), (_, "first_day"), (_, "last_day"), ("office_profiles", "counts_from"),
            ("office_profiles", "nights_through"):
            days
        case ("schedule_items", "sequence"), ("event_versions", "sequence"), ("personal_events", "sequence"),
            ("planned_events", "sequence"), ("own_resources", "sequence"):
            sequences
        case ("planned_events", "start_offset"), ("planned_events", "end_offset"): offsets
        case ("planned_events", "is_all_day"), ("feeds", "shows_own"), ("users", "reads_phone"),
            ("app_passwords", "may_write"), ("app_passwords", "reaches_own"),
            ("own_resources", "is_long"), ("erasures", "leaves_unused_space"):
            0...1
        case (_, "failures"), (_, "turn"), (_, "generation"), ("second_factors", "last_step"): 0...1 << 53
        case ("subscriptions", "refresh_minutes"): 1...1_000_000
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
