// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A lock for each key, first come, first served; waiting blocks no thread.
final class KeyedLock<Key: Hashable & Sendable>: Sendable {
    /// The locked keys, with the callers that wait for them.
    private let waiting = Mutex<[Key: [CheckedContinuation<Void, Never>]]>([:])

    /// Runs `work` while the key is locked.
    func alone<Value>(_ key: Key, _ work: () async throws -> Value) async rethrows -> Value {
        await enter(key)
        defer { leave(key) }
        return try await work()
    }

    /// Runs `work` while the key is locked; returns nil at once if it is locked already.
    func aloneNow<Value>(_ key: Key, _ work: () throws -> Value) rethrows -> Value? {
        let isFree = waiting.withLock { waiting in
            guard waiting[key] == nil else { return false }
            waiting[key] = []
            return true
        }
        guard isFree else { return nil }
        defer { leave(key) }
        return try work()
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
