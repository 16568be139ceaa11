// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One at a time for each key, in the order in which they came; who waits holds no thread.
final class Turns<Key: Hashable & Sendable>: Sendable {
    /// Keys that somebody has, and who waits for them.
    private let waiting = Mutex<[Key: [CheckedContinuation<Void, Never>]]>([:])

    /// Does work as the only one with a key.
    func alone<Value>(_ key: Key, _ work: () async throws -> Value) async rethrows -> Value {
        await enter(key)
        defer { leave(key) }
        return try await work()
    }

    private func enter(_ key: Key) async {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                if waiting[key] != nil {
                    waiting[key]?.append(continuation)
                    return false
                }
                waiting[key] = []
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave(_ key: Key) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            guard var queue = waiting[key], !queue.isEmpty else {
                waiting[key] = nil
                return nil
            }
            let next = queue.removeFirst()
            waiting[key] = queue
            return next
        }
        next?.resume()
    }
}
