// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Gives out turns, one at a time for each key, in order of arrival; waiting blocks no thread.
final class KeyedLock<Key: Hashable & Sendable>: Sendable {
    /// The keys whose turn is taken, with those waiting for them.
    private let waiting = Mutex<[Key: [CheckedContinuation<Void, Never>]]>([:])

    /// Does work exclusively for a key.
    func alone<Value>(_ key: Key, _ work: () async throws -> Value) async rethrows -> Value {
        await enter(key)
        defer { leave(key) }
        return try await work()
    }

    /// Does work exclusively for a key if nobody else does work for it at the moment; otherwise returns nil.
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
