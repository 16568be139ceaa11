// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A few threads for work that would block others, on which callers take turns.
final class TurnThreads: Sendable {
    private let line = Mutex(TurnLine())
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
                    guard let (caller, piece) = line.withLock({ $0.next() }) else { continue }
                    piece()
                    line.withLock { $0.ended(caller) }
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
            line.withLock { $0.add(piece, for: caller) }
            pieces.signal()
        }
    }

    /// The number of pieces that wait for a thread.
    var waitingCount: Int { line.withLock { $0.count } }
}
