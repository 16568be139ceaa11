// SPDX-License-Identifier: Apache-2.0

import Base
import Synchronization

/// The memory that many requests may hold at once, so that all of them together hold no more than the server can spare.
///
/// One network may use at most half of it. A request that finds no room waits for a moment, in order of arrival.
package final class MemoryBudget: Sendable {
    private struct Waiter {
        let id: Int
        let count: Int
        let network: ByteString?
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var used = 0
        var usedBy: [ByteString: Int] = [:]
        /// In order of arrival, which is also the order of their deadlines.
        var waiters: [Waiter] = []
        var lastID = 0
        /// Whether a task is watching the deadlines.
        var isWatched = false
    }

    private let limit: Int
    private let limitOfOne: Int
    private let patience: Duration
    private let state = Mutex(State())

    /// The most requests that may wait: each of them holds a connection and what has been read so far.
    private static let mostWaiting = 256

    /// - Parameter limit: the size of the budget in bytes.
    init(limit: Int, patience: Duration = .seconds(5)) {
        self.limit = limit
        self.patience = patience
        limitOfOne = limit / 2
    }

    static let unlimited = MemoryBudget(limit: Int.max)

    /// Whether so much is in use that slow readers must read faster.
    var isScarce: Bool { state.withLock { $0.used > limit / 4 * 3 || !$0.waiters.isEmpty } }

    /// Whether anybody is waiting for room.
    var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// Bytes in use.
    var used: Int { state.withLock { $0.used } }

    /// Returns how many bytes are counted for a size: at most the whole share, because more would wait forever.
    ///
    /// - Parameter network: nil for bytes that belong to no network, which may use the whole budget.
    func counted(_ count: Int, for network: ByteString?) -> Int { min(count, network == nil ? limit : limitOfOne) }

    /// Takes room, waiting for it if necessary; throws 503 if there is none in time.
    ///
    /// - Parameter count: the result of `counted`.
    func take(_ count: Int, for network: ByteString?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(
                    id: id, count: count, network: network, deadline: .now + patience, continuation: continuation)
                enum Outcome { case taken, refused, waits, waitsUnwatched }
                let outcome = state.withLock { state -> Outcome in
                    if state.waiters.isEmpty, take(count, for: network, &state) { return .taken }
                    guard state.waiters.count < Self.mostWaiting else { return .refused }
                    state.waiters.append(waiter)
                    admit(&state)
                    // One task watches for all waiters: a body that arrives byte by byte asks for room thousands of
                    // times.
                    if state.isWatched || state.waiters.isEmpty { return .waits }
                    state.isWatched = true
                    return .waitsUnwatched
                }
                switch outcome {
                case .taken: continuation.resume()
                case .refused: continuation.resume(throwing: Refusal.noRoom)
                case .waits: break
                case .waitsUnwatched: Task { await watch() }
                }
            }
        } onCancel: {
            end(id, CancellationError())
        }
    }

    /// Takes room that is free now; returns false if there is none.
    func takeNow(_ count: Int, for network: ByteString?) -> Bool {
        state.withLock { $0.waiters.isEmpty && take(count, for: network, &$0) }
    }

    /// Takes room whether or not there is any, for bytes that are already in memory and can no longer be refused.
    func force(_ count: Int, for network: ByteString?) {
        state.withLock { state in
            state.used += count
            if let network { state.usedBy[network, default: 0] += count }
        }
    }

    func give(_ count: Int, of network: ByteString?) {
        guard count > 0 else { return }
        state.withLock { state in
            state.used -= count
            if let network, let own = state.usedBy[network] { state.usedBy[network] = own > count ? own - count : nil }
            admit(&state)
        }
    }

    private func take(_ count: Int, for network: ByteString?, _ state: inout State) -> Bool {
        guard count <= limit - state.used else { return false }
        if let network {
            guard count <= limitOfOne - state.usedBy[network, default: 0] else { return false }
            state.usedBy[network, default: 0] += count
        }
        state.used += count
        return true
    }

    /// Admits waiters in order; one whose network already has its share does not hold up those behind it.
    private func admit(_ state: inout State) {
        var (waiting, isFull): ([Waiter], Bool) = ([], false)
        for waiter in state.waiters {
            if !isFull, take(waiter.count, for: waiter.network, &state) {
                waiter.continuation.resume()
            } else {
                waiting.append(waiter)
                isFull = isFull || waiter.count > limit - state.used
            }
        }
        state.waiters = waiting
    }

    /// Refuses those who have waited too long, until nobody is waiting.
    private func watch() async {
        while let deadline = nextDeadline() {
            try? await Task.sleep(until: deadline, clock: .continuous)
            let late = state.withLock { state in
                let late = state.waiters.prefix { $0.deadline <= .now }
                state.waiters.removeFirst(late.count)
                if !late.isEmpty { admit(&state) }
                return late
            }
            for waiter in late { waiter.continuation.resume(throwing: Refusal.noRoom) }
        }
    }

    /// Returns the first deadline, or nil if nobody is waiting, which ends the watch.
    private func nextDeadline() -> ContinuousClock.Instant? {
        state.withLock { state in
            if state.waiters.isEmpty { state.isWatched = false }
            return state.waiters.first?.deadline
        }
    }

    private func end(_ id: Int, _ error: any Error) {
        let waiter = state.withLock { state -> Waiter? in
            guard let place = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            let waiter = state.waiters.remove(at: place)
            admit(&state)
            return waiter
        }
        waiter?.continuation.resume(throwing: error)
    }
}

extension Refusal {
    static let noRoom = Refusal(
        .unavailable, code: .busy,
        detail: "The server's memory is taken up by other requests. Ask again soon.", retryAfter: 2)
}
