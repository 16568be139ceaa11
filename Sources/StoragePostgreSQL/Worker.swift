// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import Storage
internal import Synchronization

/// A thread with a session: waiting for the server would block the few threads that run tasks.
final class Worker: Sendable {
    private let queue: DispatchQueue
    private let session = Mutex<Session?>(nil)

    init(_ name: String) { queue = DispatchQueue(label: "kalends.postgresql.\(name)") }

    /// Runs work with the session, after earlier requests.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (inout Session?) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.locked(body) }) }
        }
    }

    /// Runs work like `run`, for callers that do not wait.
    func begin(_ body: @escaping @Sendable (inout Session?) -> Void) {
        queue.async { self.session.withLock { body(&$0) } }
    }

    /// Runs work like `run`, and blocks the calling thread.
    func runNow<Value: Sendable>(_ body: @escaping @Sendable (inout Session?) throws -> Value) throws -> Value {
        try queue.sync { try locked(body) }
    }

    private func locked<Value: Sendable>(_ body: @Sendable (inout Session?) throws -> Value) throws -> Value {
        try session.withLock { try body(&$0) }
    }
}

/// Blocks the thread for a time.
func pause(_ time: Duration) { usleep(UInt32(time / .microseconds(1))) }

/// Workers of one kind, given out in the order of requests; a caller that waits too long is refused.
final class WorkerPool: Sendable {
    private struct State {
        var free: [Worker]
        var waiting: [(number: Int, continuation: CheckedContinuation<Worker?, Never>)] = []
        var latest = 0
    }

    private let state: Mutex<State>
    let all: [Worker]
    private let limit: Duration

    init(_ name: String, _ count: Int, waiting limit: Duration) {
        all = (0..<count).map { Worker("\(name)-\($0)") }
        state = Mutex(State(free: all))
        self.limit = limit
    }

    func with<Value: Sendable>(
        _ body: @escaping @Sendable (inout Session?) throws -> Value
    ) async throws -> Value {
        guard let worker = await take() else {
            throw StorageError.unreachable("all of its connections are in use")
        }
        defer { give(worker) }
        return try await worker.run(body)
    }

    private func take() async -> Worker? {
        let number = state.withLock { state in
            state.latest += 1
            return state.latest
        }
        return await withCheckedContinuation { continuation in
            let free: Worker? = state.withLock { state in
                if let free = state.free.popLast() { return free }
                state.waiting.append((number, continuation))
                return nil
            }
            if let free {
                continuation.resume(returning: free)
                return
            }
            Task {
                try? await Task.sleep(for: limit)
                let late = state.withLock { state -> CheckedContinuation<Worker?, Never>? in
                    guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
                    return state.waiting.remove(at: index).continuation
                }
                late?.resume(returning: nil)
            }
        }
    }

    private func give(_ worker: Worker) {
        let next = state.withLock { state -> CheckedContinuation<Worker?, Never>? in
            if state.waiting.isEmpty {
                state.free.append(worker)
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: worker)
    }
}
