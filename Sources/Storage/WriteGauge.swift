// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How long transactions held the writer, from the first statement to the end of the commit.
public final class WriteGauge: Sendable {
    private let longestTaken = Atomic(0)
    private let taken = Atomic(0)
    private let counted = Atomic(0)

    public init() {}

    /// The longest time since the last reset.
    public var longest: Duration { .microseconds(longestTaken.load(ordering: .relaxed)) }
    /// The sum of all times.
    public var total: Duration { .microseconds(taken.load(ordering: .relaxed)) }
    public var count: Int { counted.load(ordering: .relaxed) }

    package func note(_ time: Duration) {
        let microseconds = Int(time / .microseconds(1))
        longestTaken.max(microseconds, ordering: .relaxed)
        taken.add(microseconds, ordering: .relaxed)
        counted.add(1, ordering: .relaxed)
    }

    /// Starts the longest time again, to measure what follows.
    public func reset() { longestTaken.store(0, ordering: .relaxed) }
}
