// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Chance that repeats: the same seed throws the same.
struct Dice: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(_ seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        // xorshift64*, whose period is long enough for a history.
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    mutating func pick(_ count: Int) -> Int { Int(next() >> 33) % max(1, count) }
    mutating func isOne(in count: Int) -> Bool { pick(count) == 0 }
    mutating func pick<Element>(_ list: [Element]) -> Element? { list.isEmpty ? nil : list[pick(list.count)] }
}

/// A value that a test and what it runs share.
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
