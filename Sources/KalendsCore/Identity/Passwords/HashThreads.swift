// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A few threads for work that would hold others up; whoever comes later waits for a place, first come, first served.
final class HashThreads: Sendable {
    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let width: Int
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "kalends.hashes", attributes: .concurrent)

    /// - Parameter width: how many are at work at a time.
    init(width: Int) { self.width = width }

    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            add { continuation.resume(with: Result { try body() }) }
        }
    }

    private func add(_ work: @escaping @Sendable () -> Void) {
        let begins = state.withLock { state in
            if state.running == width {
                state.waiting.append(work)
                return false
            }
            state.running += 1
            return true
        }
        if begins { queue.async { self.work(off: work) } }
    }

    /// Does one thing after the other until nothing waits.
    private func work(off first: @Sendable () -> Void) {
        first()
        while let next = next() { next() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
