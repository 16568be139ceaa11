// SPDX-License-Identifier: Apache-2.0

/// When something that feeds show last changed: in a later second with each change, whatever any clock shows.
///
/// Times are in milliseconds since 1970. Feeds state them as Last-Modified, which counts seconds (RFC 9110 section 8.8.2),
/// and a reader may know nothing but this date. Clocks of several servers differ, and a clock can be set back.
package enum ChangeTime {
    /// How far a time may run ahead of the clock. No server states a date that its own clock has not reached, so changes
    /// that come faster than seconds need no later ones.
    private static let lead = 120_000

    /// Returns the time of a change that comes after the one at `last`; never an earlier one.
    package static func after(_ last: Int, now: Int) -> Int {
        let next = last - last % 1000 + 1000
        return now > next ? now : next > now + lead ? last : next
    }

    /// Returns the same as an expression, of a column and a parameter.
    static func after(column: String, now: String) -> String {
        let next = "\(column) - \(column) % 1000 + 1000"
        return "CASE WHEN \(now) > \(next) THEN \(now) WHEN \(next) > \(now) + \(lead) THEN \(column) ELSE \(next) END"
    }
}
