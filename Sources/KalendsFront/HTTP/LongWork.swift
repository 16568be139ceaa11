// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix

/// The threads for requests that use a processor for long: lists, previews, exports, batches, large documents.
///
/// On the threads that all other tasks share, a few such requests would delay a short one until they are done; on
/// separate threads, the system divides the processors between them.
package final class LongWork: TaskExecutor {
    static let threads = LongWork()

    private let pool: NIOThreadPool

    private init() {
        pool = NIOThreadPool(numberOfThreads: Self.width)
        pool.start()
    }

    /// How many such requests can run at a time.
    package static let width = max(2, NIOCore.System.coreCount)

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = unsafe asUnownedTaskExecutor()
        // The job is alive until it has run, and it runs once.
        pool.submit { _ in unsafe job.runSynchronously(on: executor) }
    }

    /// Runs work on these threads, except for parts that run elsewhere, such as reads of the database.
    package static func run<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        try await withTaskExecutorPreference(threads, operation: work)
    }
}
