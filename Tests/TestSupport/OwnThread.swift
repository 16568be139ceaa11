// SPDX-License-Identifier: Apache-2.0

import Dispatch
package import Testing

/// Runs a test on a separate thread.
///
/// The tasks of all tests share as many threads as the machine has processors. A test that computes for seconds without a pause
/// keeps one of them from everybody else: two such tests on two processors, and in the meantime no server in this process
/// answers, and no time limit is kept. On a thread of its own the system shares the processors out.
package struct OwnThreadTrait: TestTrait, SuiteTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // Only the cases run: a suite and a test with its cases are scopes too.
        guard testCase != nil else { return try await function() }
        try await withTaskExecutorPreference(ThreadExecutor()) { try await function() }
    }
}

extension Trait where Self == OwnThreadTrait {
    /// The trait of tests that compute for a long time without a pause.
    package static var ownThread: Self { Self() }
}

/// An executor whose tasks run one after another on a thread that nothing else uses.
private final class ThreadExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "test")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
