// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Synchronization

/// A few threads for work that would block others, on which callers take turns.
package final class TurnThreads: Sendable {
    private let line = Mutex(TurnLine())
    private let pieces = Semaphore()
    /// The number of threads that the system could start; without any, callers do their own work.
    private let started = Atomic(0)

    /// - Parameters:
    ///   - width: the number of threads, which live as long as the process.
    ///   - comesLast: whether the system should prefer all other threads where processors are scarce.
    package init(width: Int, comesLast: Bool = false) {
        for _ in 0..<width {
            let isStarted: Void? = try? SystemThread().start { [self] in
                if comesLast { SystemThread.letOthersFirst() }
                while true {
                    pieces.wait()
                    guard let (caller, piece) = line.withLock({ $0.next() }) else { continue }
                    piece()
                    let isSomeoneWaiting = line.withLock { line in
                        line.ended(caller)
                        return line.count > 0
                    }
                    // The caller's next piece may have been passed over, because too many were under way.
                    if isSomeoneWaiting { pieces.signal() }
                }
            }
            if isStarted != nil { started.add(1, ordering: .relaxed) }
        }
    }

    /// Runs work on one of the threads.
    ///
    /// - Parameter caller: who takes a turn; callers without a name share one.
    package func run<Value: Sendable>(
        for caller: ByteString = "", _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            add(for: caller) { continuation.resume(with: Result(catching: work)) }
        }
    }

    /// Has a piece of work done on one of the threads.
    ///
    /// - Parameter most: how many of the caller's pieces may be under way at once.
    package func add(for caller: ByteString, most: Int = .max, _ piece: @escaping TurnLine.Piece) {
        guard started.load(ordering: .relaxed) > 0 else { return piece() }
        line.withLock { $0.add(piece, for: caller, most: most) }
        pieces.signal()
    }

    /// The number of pieces that wait for a thread.
    package var waitingCount: Int { line.withLock { $0.count } }
}
#endif
