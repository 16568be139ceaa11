// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A semaphore for readers of the database: first come, first served; waiting blocks no thread.
final class ReaderSemaphore: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// How many of those that wait were let in, and are removed together from time to time.
        var passed = 0
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.passed < state.waiting.count else {
                state.free += 1
                return nil
            }
            let next = state.waiting[state.passed]
            state.passed += 1
            if state.passed * 2 > state.waiting.count {
                state.waiting.removeFirst(state.passed)
                state.passed = 0
            }
            return next
        }
        next?.resume()
    }
}
