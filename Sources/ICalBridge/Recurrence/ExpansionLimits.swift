// SPDX-License-Identifier: Apache-2.0

/// What an expansion may cost; every expansion has limits, because a rule of 40 bytes can mean millions of times.
public struct ExpansionLimits: Hashable, Sendable {
    /// How many occurrences are given at most.
    public var maximumOccurrences: Int
    /// How many candidates are looked at at most; a million takes a few milliseconds.
    public var maximumSteps: Int

    public init(maximumOccurrences: Int = 10_000, maximumSteps: Int = 1_000_000) {
        self.maximumOccurrences = maximumOccurrences
        self.maximumSteps = maximumSteps
    }
}
