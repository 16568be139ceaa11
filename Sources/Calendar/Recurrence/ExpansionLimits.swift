// SPDX-License-Identifier: Apache-2.0

/// Limits of an expansion; every expansion has them, because a rule of 40 bytes can mean millions of times.
public struct ExpansionLimits: Hashable, Sendable {
    /// The maximum number of occurrences that are returned.
    public var maximumOccurrences: Int
    /// The maximum number of candidates that are checked; a million takes a few milliseconds.
    public var maximumSteps: Int

    public init(maximumOccurrences: Int = 10_000, maximumSteps: Int = 1_000_000) {
        self.maximumOccurrences = maximumOccurrences
        self.maximumSteps = maximumSteps
    }
}
