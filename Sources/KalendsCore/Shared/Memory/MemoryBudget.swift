// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The memory that many requests may hold at once, so that all of them together hold no more than the server can spare.
///
/// One network may use only a part of it. A request that finds no room waits for a moment. Networks take turns, so that
/// one that asks for much keeps nobody else waiting for longer than one that asks once.
package final class MemoryBudget: Sendable {
    private struct Waiter {
        let id: Int
        let count: Int
        let network: ByteString?
        /// How many requests of the same network came before, counted from the turn in which it began to wait.
        let turn: Int
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var used = 0
        var usedBy: [ByteString: Int] = [:]
        /// In the order of their turns, and of arrival within a turn.
        var waiters: [Waiter] = []
        /// The turn of the last waiter that got room, and the last turn of each network that has waited since.
        var turn = 0
        var lastTurns: [ByteString: Int] = [:]
        var lastID = 0
        /// Whether a task is watching the deadlines.
        var isWatched = false
    }

    private let limit: Int
    private let limitOfOne: Int
    private let patience: Duration
    private let state = Mutex(State())

    /// The maximum number of requests that may wait, of all networks and of one: each of them holds a connection.
    private static let mostWaiting = 1024
    private static let mostWaitingOfOne = 64

    /// - Parameters:
    ///   - limit: the size of the budget in bytes.
    ///   - ofOne: how much of it one network may use; nil for half.
    init(limit: Int, ofOne: Int? = nil, patience: Duration = .seconds(5)) {
        self.limit = limit
        self.patience = patience
        limitOfOne = ofOne ?? limit / 2
    }

    static let unlimited = MemoryBudget(limit: Int.max)

    /// Whether so much is in use that slow readers must read faster.
    var isScarce: Bool { state.withLock { $0.used > limit / 4 * 3 || !$0.waiters.isEmpty } }

    /// Whether anybody is waiting for room.
    var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// How many wait for room.
    var waiting: Int { state.withLock { $0.waiters.count } }

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
        try Task.checkCancellation()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enum Outcome { case taken, refused, waits, waitsUnwatched }
                let outcome = state.withLock { state -> Outcome in
                    if state.waiters.isEmpty, take(count, for: network, &state) { return .taken }
                    guard state.waiters.count < Self.mostWaiting,
                        state.waiters.count(where: { $0.network == network }) < Self.mostWaitingOfOne
                    else { return .refused }
                    wait(
                        Waiter(
                            id: id, count: count, network: network, turn: nextTurn(of: network, &state),
                            deadline: .now + patience, continuation: continuation), &state)
                    // One task watches for all waiters.
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

    /// The turn after the network's last one, or after that of the last waiter that got room.
    private func nextTurn(of network: ByteString?, _ state: inout State) -> Int {
        let key = network ?? ""
        if state.lastTurns.count > Self.mostWaiting { state.lastTurns = state.lastTurns.filter { $1 > state.turn } }
        let turn = max(state.turn, state.lastTurns[key] ?? 0) + 1
        state.lastTurns[key] = turn
        return turn
    }

    private func wait(_ waiter: Waiter, _ state: inout State) {
        let index = state.waiters.firstIndex { $0.turn > waiter.turn } ?? state.waiters.endIndex
        state.waiters.insert(waiter, at: index)
        admit(&state)
    }

    /// Takes room that is free now; returns false if it is too little, or if others wait for it.
    func takeNow(_ count: Int, for network: ByteString?) -> Bool {
        state.withLock { state in
            state.waiters.allSatisfy { waitsForOwn($0, state) } && take(count, for: network, &state)
        }
    }

    /// Whether a waiter needs what its own network holds, however much is free.
    private func waitsForOwn(_ waiter: Waiter, _ state: State) -> Bool {
        waiter.network.map { waiter.count > limitOfOne - state.usedBy[$0, default: 0] } ?? false
    }

    /// Like `takeNow`, but leaves something for others: a network gets more only while it holds less than half of what
    /// is free. Those who wait are not waited for, since they need more than is ever left to them this way.
    func takeLeaving(_ count: Int, for network: ByteString?) -> Bool {
        state.withLock { state in
            let own = network.flatMap { state.usedBy[$0] } ?? 0
            let free = limit - state.used - count
            guard free >= 0, free / 2 >= own + count || network == nil else { return false }
            return take(count, for: network, &state)
        }
    }

    /// Counts what one network holds for another one.
    func move(_ count: Int, of network: ByteString?, to other: ByteString?) {
        state.withLock { state in
            Self.lower(&state, network, count)
            if let other { state.usedBy[other, default: 0] += count }
        }
    }

    /// Like `move`; gives back what the other network may not hold, and returns false then.
    func passOn(_ count: Int, of network: ByteString?, to other: ByteString?) -> Bool {
        state.withLock { state in
            Self.lower(&state, network, count)
            state.used -= count
            defer { admit(&state) }
            return take(count, for: other, &state)
        }
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
            Self.lower(&state, network, count)
            admit(&state)
        }
    }

    private static func lower(_ state: inout State, _ network: ByteString?, _ count: Int) {
        guard let network, let own = state.usedBy[network] else { return }
        state.usedBy[network] = own > count ? own - count : nil
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
                state.turn = max(state.turn, waiter.turn)
                waiter.continuation.resume()
            } else {
                waiting.append(waiter)
                isFull = isFull || waiter.count > limit - state.used && !waitsForOwn(waiter, state)
            }
        }
        state.waiters = waiting
        if waiting.isEmpty { (state.turn, state.lastTurns) = (0, [:]) }
    }

    /// Refuses those who have waited too long, until nobody is waiting.
    private func watch() async {
        while let deadline = nextDeadline() {
            try? await Task.sleep(until: deadline, clock: .continuous)
            let late = state.withLock { state in
                let now = ContinuousClock.now
                let late = state.waiters.filter { $0.deadline <= now }
                state.waiters.removeAll { $0.deadline <= now }
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
            return state.waiters.lazy.map(\.deadline).min()
        }
    }

    private func end(_ id: Int, _ error: any Error) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            let waiter = state.waiters.remove(at: index)
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
