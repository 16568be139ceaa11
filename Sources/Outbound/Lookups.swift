// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Questions to name servers, each of which blocks a thread for as long as the servers take.
///
/// Whoever names a host decides how long that is. So askers take turns, each with one question under way, and whoever had a
/// slow answer lately asks on other threads than everybody else. A question that several callers ask is sent once.
final class Lookups<Found: Sendable>: Sendable {
    private struct Pause {
        var end: ContinuousClock.Instant
        var length: Duration
    }

    private struct State {
        /// Those who wait for an answer, by question.
        var waiting: [ByteString: [Waiter]] = [:]
        /// The questions that are under way.
        var asked: Set<ByteString> = []
        /// For how long those who had a slow answer ask on other threads.
        var pauses = LeastRecentlyUsed<ByteString, Pause>(limit: 10_000)
    }

    /// After this time an answer is slow.
    private static var usual: Duration { .seconds(1) }
    /// How long after a slow answer a second one makes an asker slow, for twice as long, and twice as long again after
    /// each further one, up to the longest.
    private static var firstLength: Duration { .seconds(30) }
    private static var longestPause: Duration { .seconds(3600) }

    private let state = Mutex(State())
    private let quick: TurnThreads
    private let slow: TurnThreads
    private let patience: Duration

    /// - Parameters:
    ///   - width: the number of threads for those whose answers are not slow, and of those for the others.
    ///   - patience: the longest time from a question to its answer, with the turns of others.
    init(width: Int, patience: Duration = SystemResolver.patience) {
        quick = TurnThreads(width: width)
        slow = TurnThreads(width: width)
        self.patience = patience
    }

    /// Returns the answer to a question; nil if that takes too long.
    ///
    /// - Parameters:
    ///   - asker: whoever named the host; an empty one is the operator, who never counts as slow.
    ///   - ask: asks the name servers, on another thread; it is not called once nobody waits for the answer any more.
    func answer(
        to question: ByteString, for asker: ByteString, _ ask: @escaping @Sendable () -> Found
    ) async throws -> Found? {
        try await within(patience) {
            let waiter = Waiter(asker)
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    waiter.wait(continuation)
                    self.enter(waiter, question, ask)
                }
            } onCancel: {
                waiter.give(.failure(CancellationError()))
            }
        }
    }

    private func enter(_ waiter: Waiter, _ question: ByteString, _ ask: @escaping @Sendable () -> Found) {
        let threads = state.withLock { state -> TurnThreads? in
            state.waiting[question, default: []].append(waiter)
            if state.asked.contains(question) { return nil }
            return state.pauses.find(waiter.asker).map { .now < $0.end } ?? false ? slow : quick
        }
        // It may be asked already in another asker's turn, which may come later.
        threads?.add(for: waiter.asker, most: 1) { self.turn(question, ask) }
    }

    /// Asks a question unless that was done in somebody's earlier turn, or nobody waits for the answer any more.
    private func turn(_ question: ByteString, _ ask: () -> Found) {
        let isWanted = state.withLock { state in
            guard !state.asked.contains(question), let waiting = state.waiting[question] else { return false }
            guard waiting.contains(where: \.isWaiting) else {
                state.waiting[question] = nil
                return false
            }
            state.asked.insert(question)
            return true
        }
        guard isWanted else { return }
        let began = ContinuousClock.now
        let found = ask()
        let end = ContinuousClock.now
        let waiting = state.withLock { state in
            state.asked.remove(question)
            let waiting = state.waiting.removeValue(forKey: question) ?? []
            if end - began > Self.usual {
                for asker in Set(waiting.map(\.asker)) where asker != "" { Self.note(&state.pauses, asker, end) }
            }
            return waiting
        }
        for waiter in waiting { waiter.give(.success(found)) }
    }

    private static func note(
        _ pauses: inout LeastRecentlyUsed<ByteString, Pause>, _ asker: ByteString, _ now: ContinuousClock.Instant
    ) {
        if let earlier = pauses.find(asker), now < earlier.end + earlier.length {
            let length = min(earlier.length * 2, longestPause)
            pauses.keep(Pause(end: now + length, length: length), for: asker, cost: 1)
        } else {
            // One slow answer may be the fault of the name servers that everybody asks.
            pauses.keep(Pause(end: now, length: firstLength), for: asker, cost: 1)
        }
    }

    /// Somebody who waits for an answer, and gets the first of it and a cancellation.
    private final class Waiter: Sendable {
        private enum State {
            case open
            case waited(CheckedContinuation<Found, any Error>)
            case given(Result<Found, any Error>)
        }

        let asker: ByteString
        private let state = Mutex(State.open)

        init(_ asker: ByteString) { self.asker = asker }

        var isWaiting: Bool {
            state.withLock { if case .given = $0 { false } else { true } }
        }

        func wait(_ continuation: CheckedContinuation<Found, any Error>) {
            let early: Result<Found, any Error>? = state.withLock { state in
                if case .given(let result) = state { return result }
                state = .waited(continuation)
                return nil
            }
            if let early { continuation.resume(with: early) }
        }

        func give(_ result: Result<Found, any Error>) {
            let waiting: CheckedContinuation<Found, any Error>? = state.withLock { state in
                defer { if case .given = state {} else { state = .given(result) } }
                if case .waited(let continuation) = state { return continuation }
                return nil
            }
            waiting?.resume(with: result)
        }
    }
}
