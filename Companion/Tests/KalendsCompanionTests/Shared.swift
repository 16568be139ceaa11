// SPDX-License-Identifier: Apache-2.0

import Foundation

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
