// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix

/// The threads for requests that take a processor for long: lists, previews, exports, batches, large documents.
///
/// On the threads that all other tasks share, a few of them would keep a short request waiting for as long as they
/// take; on separate threads they share the processors with it, as the system divides them.
package final class LongWork: TaskExecutor {
    static let threads = LongWork()

    private let pool: NIOThreadPool

    private init() {
        pool = NIOThreadPool(numberOfThreads: Self.width)
        pool.start()
    }

    /// How many such requests have a processor at a time.
    package static let width = max(2, NIOCore.System.coreCount)

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = unsafe asUnownedTaskExecutor()
        // The job is alive until it has run, and it runs once.
        pool.submit { _ in unsafe job.runSynchronously(on: executor) }
    }

    /// Does work on these threads, the parts apart that are done elsewhere, as reads of the database are.
    static func run<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        try await withTaskExecutorPreference(threads, operation: work)
    }
}
