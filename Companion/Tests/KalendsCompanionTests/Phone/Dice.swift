// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Repeatable chance: the same seed gives the same numbers.
struct Dice: RandomNumberGenerator, Sendable {
    private var numbers: SplitMix

    init(_ seed: Int) { numbers = SplitMix(seed: UInt64(truncatingIfNeeded: seed)) }

    mutating func next() -> UInt64 { numbers.next() }
    mutating func pick(_ count: Int) -> Int { numbers.below(max(1, count)) }
    mutating func isOne(in count: Int) -> Bool { pick(count) == 0 }
    mutating func pick<Element>(_ list: [Element]) -> Element? { list.isEmpty ? nil : list[pick(list.count)] }
}
