// SPDX-License-Identifier: Apache-2.0

package import KalendsCore
import NIOCore
import NIOPosix
import Synchronization

/// The threads for requests that use a processor for long: lists, previews, exports, batches, large documents, reports.
///
/// On the threads that all other tasks share, a few such requests would delay a short one until they are done; on
/// separate threads, the system lets the others come first. Senders take turns, and no person has all threads.
package final class LongWork: Sendable {
    private static let threads = LongWork(width: width)

    private struct State {
        var line = TurnLine()
        /// The number of threads that are at work.
        var working = 0
    }

    private let width: Int
    private let pool: NIOThreadPool
    private let state: Mutex<State>

    init(width: Int) {
        self.width = width
        pool = NIOThreadPool(numberOfThreads: width)
        state = Mutex(State())
        pool.start()
    }

    /// How many such requests can run at a time.
    package static let width = max(2, NIOCore.System.coreCount)

    /// Runs work on these threads, except for parts that run elsewhere, such as reads of the database. Each part between
    /// two waits is a turn of its sender's.
    package static func run<Value: Sendable>(
        for sender: Sender, _ work: () async throws -> Value
    ) async throws -> Value {
        try await threads.run(for: sender.caller, isPerson: sender.isPerson, work)
    }

    func run<Value: Sendable>(
        for caller: ByteString, isPerson: Bool, _ work: () async throws -> Value
    ) async throws -> Value {
        try await withTaskExecutorPreference(
            SenderExecutor(self, caller, isPerson ? max(1, width - 1) : width), operation: work)
    }

    /// The threads as one sender has them.
    private final class SenderExecutor: TaskExecutor {
        private let threads: LongWork
        private let caller: ByteString
        private let most: Int

        init(_ threads: LongWork, _ caller: ByteString, _ most: Int) {
            (self.threads, self.caller, self.most) = (threads, caller, most)
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            // The job is alive until it has run, and it runs once; the closure keeps the lane.
            threads.add({ unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }, for: caller, most: most)
        }
    }

    /// The number of parts that wait for a thread.
    var waiting: Int { state.withLock { $0.line.count } }

    private func add(_ piece: @escaping TurnLine.Piece, for caller: ByteString, most: Int) {
        let isNeeded = state.withLock { state in
            state.line.add(piece, for: caller, most: most)
            guard state.working < width else { return false }
            state.working += 1
            return true
        }
        guard isNeeded else { return }
        pool.submit { _ in
            SystemThread.letOthersFirst()
            self.work()
        }
    }

    /// Does what waits. A thread that finds nothing leaves it to whoever ends a piece of a sender that has its share.
    private func work() {
        while let (caller, piece) = state.withLock({ state in
            let next = state.line.next()
            if next == nil { state.working -= 1 }
            return next
        }) {
            piece()
            state.withLock { $0.line.ended(caller) }
        }
    }
}
