// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How long transactions held the writer, from the first statement to the end of the commit; one that still holds it
/// counts with the time until now.
public final class WriteGauge: Sendable {
    private let longestTaken = Atomic(0)
    /// The same of all that held the writer.
    private let longestHeld = Atomic(0)
    private let taken = Atomic(0)
    private let counted = Atomic(0)
    /// When the open transaction began, in microseconds since `start`; 0 when none is open.
    private let begun = Atomic(0)
    /// The same for transactions that are open next to others.
    private let beside = Mutex<[Int]>([])
    /// The beginning of the transaction that was given up.
    private let givenUp = Atomic(-1)
    private let start = ContinuousClock.now - .microseconds(1)

    public init() {}

    /// The longest time since the last reset.
    public var longest: Duration { max(.microseconds(longestTaken.load(ordering: .relaxed)), open ?? .zero) }
    /// The longest time for which anything held the writer since the last reset, such as the folding of a log.
    public var longestWait: Duration { max(.microseconds(longestHeld.load(ordering: .relaxed)), open ?? .zero) }
    /// The sum of all times.
    public var total: Duration { .microseconds(taken.load(ordering: .relaxed)) + (open ?? .zero) }
    public var count: Int { counted.load(ordering: .relaxed) }

    /// How long the open transaction has held the writer, or the oldest of those that run next to others; nil when none
    /// is open.
    public var open: Duration? {
        let begun = begun.load(ordering: .relaxed)
        let first = beside.withLock { ($0 + (begun == 0 ? [] : [begun])).min() }
        return first.map { .microseconds(max(0, now - $0)) }
    }

    private var now: Int { Int((ContinuousClock.now - start) / .microseconds(1)) }

    /// Measures a transaction.
    ///
    /// - Parameters:
    ///   - isAlone: whether it holds the writer, as only one at a time does; others are not given up.
    ///   - count: how many transactions it is; 0 for other work that holds the writer.
    package func measure<Value>(
        isAlone: Bool = true, count: Int = 1, _ transaction: () throws -> Value
    ) rethrows -> Value {
        let began = now
        if isAlone { begun.store(began, ordering: .relaxed) } else { beside.withLock { $0.append(began) } }
        defer {
            if isAlone {
                begun.store(0, ordering: .relaxed)
            } else {
                beside.withLock { open in open.firstIndex(of: began).map { _ = open.remove(at: $0) } }
            }
            let time = now - began
            if count > 0 { longestTaken.max(time, ordering: .relaxed) }
            longestHeld.max(time, ordering: .relaxed)
            taken.add(time, ordering: .relaxed)
            counted.add(count, ordering: .relaxed)
        }
        return try transaction()
    }

    /// Starts the longest time again, to measure what follows.
    public func reset() {
        longestTaken.store(0, ordering: .relaxed)
        longestHeld.store(0, ordering: .relaxed)
    }

    // MARK: Giving up

    /// Makes the open transaction fail at its next statement or row if it has held the writer for longer; returns
    /// whether it has.
    package func giveUp(after limit: Duration) -> Bool {
        let begun = begun.load(ordering: .relaxed)
        guard begun != 0, .microseconds(now - begun) > limit else { return false }
        givenUp.store(begun, ordering: .relaxed)
        return true
    }

    /// Throws when the open transaction was given up.
    package func check() throws {
        if givenUp.load(ordering: .relaxed) == begun.load(ordering: .relaxed) {
            throw StorageError.unreachable("the server stops, and this took too long")
        }
    }
}
