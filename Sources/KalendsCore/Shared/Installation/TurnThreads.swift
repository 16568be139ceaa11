// SPDX-License-Identifier: Apache-2.0

import Base
import Synchronization

/// A few threads for work that would block others. Callers take turns: whoever has much to do waits after each piece for
/// one piece of everybody else who waits.
final class TurnThreads: Sendable {
    private struct State {
        /// The callers that wait, the next one first, and the work of each in order of arrival.
        var callers: [ByteString] = []
        var waiting: [ByteString: [@Sendable () -> Void]] = [:]
    }

    private let state = Mutex(State())
    private let pieces = Semaphore()
    /// The number of threads that the system could start; without any, callers do their own work.
    private let started = Atomic(0)

    /// - Parameters:
    ///   - width: the number of threads, which live as long as the process.
    ///   - comesLast: whether the system should prefer all other threads where processors are scarce.
    init(width: Int, comesLast: Bool = false) {
        for _ in 0..<width {
            let isStarted: Void? = try? SystemThread().start { [self] in
                if comesLast { SystemThread.letOthersFirst() }
                while true {
                    pieces.wait()
                    next()?()
                }
            }
            if isStarted != nil { started.add(1, ordering: .relaxed) }
        }
    }

    /// Runs work on one of the threads.
    ///
    /// - Parameter caller: who takes a turn; callers without a name share one.
    func run<Value: Sendable>(
        for caller: ByteString = "", _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let piece: @Sendable () -> Void = { continuation.resume(with: Result(catching: work)) }
            guard started.load(ordering: .relaxed) > 0 else { return piece() }
            state.withLock { state in
                if state.waiting[caller] == nil { state.callers.append(caller) }
                state.waiting[caller, default: []].append(piece)
            }
            pieces.signal()
        }
    }

    /// The number of pieces that wait for a thread.
    var waitingCount: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

    /// Removes and returns the next piece; its caller goes to the end of the line.
    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.callers.isEmpty else { return nil }
            let caller = state.callers.removeFirst()
            guard var own = state.waiting[caller], !own.isEmpty else { return nil }
            let piece = own.removeFirst()
            state.waiting[caller] = own.isEmpty ? nil : own
            if !own.isEmpty { state.callers.append(caller) }
            return piece
        }
    }
}
