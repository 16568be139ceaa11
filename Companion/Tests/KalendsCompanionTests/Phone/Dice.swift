// SPDX-License-Identifier: Apache-2.0

import Foundation
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

/// A value that a test shares with the code that it runs.
final class Shared<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    var now: Value {
        get { with { $0 } }
        set { with { $0 = newValue } }
    }
}
