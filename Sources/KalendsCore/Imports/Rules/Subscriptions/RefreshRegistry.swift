// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// The subscriptions that are being refreshed, each only once at a time, no matter how many callers ask.
package final class RefreshRegistry: Sendable {
    private struct Running {
        let task: Task<Subscription?, any Error>
        /// How many callers wait for it.
        var waiting: Int
    }

    private struct State {
        var running: [ByteString: Running] = [:]
        var isClosing = false
    }

    private let state = Mutex(State())
    /// Limits how often one user may ask, and how often all users together may have one host asked.
    private let users = RateLimit(burst: 10, span: 10_000)
    private let hosts = RateLimit(burst: 30, span: 2_000)

    package init() {}

    /// Throws 429 when a user, or all users, had the host asked too often; joining a refresh in progress is free.
    ///
    /// - Parameter user: nil for the host application, which limits its own users.
    func admit(_ own: Subscription, for user: String?, now: Int) throws(Refusal) {
        if let user { try users.take(user, now: now, "A user can have calendars fetched") }
        guard state.withLock({ $0.running[ByteString(own.id)] == nil }) else { return }
        try hosts.take(own.host, now: now, "Calendars of one host can be fetched")
    }

    /// Returns the result of the refresh that is in progress, or of a new one.
    ///
    /// The refresh is cancelled when nobody waits for it any more.
    func refresh(
        _ id: String, _ work: @escaping @Sendable () async throws -> Subscription?
    ) async throws -> Subscription? {
        let key = ByteString(id)
        let task = try state.withLock { state in
            if let running = state.running[key] {
                state.running[key]?.waiting += 1
                return running.task
            }
            guard !state.isClosing else { throw CancellationError() }
            let task = Task {
                defer { self.state.withLock { $0.running[key] = nil } }
                return try await work()
            }
            state.running[key] = Running(task: task, waiting: 1)
            return task
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            leave(key, task)
        }
    }

    private func leave(_ key: ByteString, _ task: Task<Subscription?, any Error>) {
        let isLast = state.withLock { state in
            guard let running = state.running[key], running.task == task else { return false }
            state.running[key]?.waiting -= 1
            return running.waiting == 1
        }
        if isLast { task.cancel() }
    }

    /// Cancels the refreshes that are in progress.
    func cancel() {
        let tasks = state.withLock { $0.running.values.map(\.task) }
        for task in tasks { task.cancel() }
    }

    /// Cancels the refreshes that are in progress, waits for them, and begins no more.
    package func close() async {
        let tasks = state.withLock { state in
            state.isClosing = true
            return state.running.values.map(\.task)
        }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
    }
}
