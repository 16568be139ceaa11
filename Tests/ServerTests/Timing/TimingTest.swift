// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Whether the time of some work depends on which of two kinds of input it is given: Welch's t-test over interleaved
/// measurements, as in dudect (Reparaz, Balasch, Verbauwhede, 2017).
///
/// Beside the test over all times there is one for each of a hundred bounds, beyond which times are left out: what else the
/// machine did makes some of them long, and hides what is small.
struct TimingTest {
    /// Sums for one kind's mean and variance (Welford).
    private struct Moments {
        var count = 0.0
        var mean = 0.0
        var squares = 0.0

        mutating func add(_ value: Double) {
            count += 1
            let distance = value - mean
            mean += distance / count
            squares += distance * (value - mean)
        }

        var variance: Double { squares / (count - 1) }
    }

    private var all = [[Moments]](repeating: [Moments(), Moments()], count: 101)
    /// The bounds in nanoseconds, rising; the last is open.
    private var bounds: [Double] = []

    /// The smallest number of measurements that is conclusive.
    private static let least = 10_000.0

    /// Adds measurements: the kind and the nanoseconds of each.
    mutating func add(_ times: [(kind: Int, time: Double)]) {
        if bounds.isEmpty {
            // The first batch tells what is usual, and is not counted itself.
            let sorted = times.map(\.time).sorted()
            bounds = (1...100).map { number in
                let share = 1 - pow(0.5, 10 * Double(number) / 100)
                return sorted[Int(Double(sorted.count - 1) * share)]
            }
            bounds.append(.infinity)
            return
        }
        for (kind, time) in times {
            for (index, bound) in bounds.enumerated() where time < bound { all[index][kind].add(time) }
        }
    }

    /// How many times of each kind were counted.
    var counts: [Int] { (all.last ?? []).map { Int($0.count) } }

    /// The means of both kinds in nanoseconds, over all times.
    var means: [Double] { (all.last ?? []).map(\.mean) }

    /// The greatest |t| over all bounds.
    var greatest: Double { all.map(Self.statistic).map(abs).max() ?? 0 }

    private static func statistic(_ kinds: [Moments]) -> Double {
        guard kinds.allSatisfy({ $0.count >= least }) else { return 0 }
        let spread = (kinds[0].variance / kinds[0].count + kinds[1].variance / kinds[1].count).squareRoot()
        return spread == 0 ? 0 : (kinds[0].mean - kinds[1].mean) / spread
    }

    private static let start = SuspendingClock.now

    /// Returns nanoseconds since an arbitrary moment.
    static func now() -> Double {
        let (seconds, attoseconds) = start.duration(to: .now).components
        return Double(seconds) * 1e9 + Double(attoseconds) * 1e-9
    }
}
