// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A few threads for work that would block others; further work waits for a thread in order of arrival.
final class HashThreads: Sendable {
    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let width: Int
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "kalends.hashes", attributes: .concurrent)

    /// - Parameter width: the number of threads.
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

    /// Runs the first piece of work, and then those that wait, until none is left.
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
