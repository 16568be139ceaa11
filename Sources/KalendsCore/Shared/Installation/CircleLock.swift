// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// Gives out turns for changing a circle's imported events: one at a time, in order of arrival.
///
/// Decisions made about events in one transaction therefore remain valid in the next.
package final class CircleLock: Sendable {
    private struct State {
        var running: [Int: Task<Void, Never>] = [:]
        var last = 0
        var isClosing = false
    }

    private let state = Mutex(State())
    private let circles = KeyedLock<ByteString>()
    /// Nil if no other server uses the database.
    private let leases: Leases?

    package init(_ leases: Leases? = nil) { self.leases = leases }

    /// Whether the server is about to end: work that can be done after the next start is then not begun.
    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Does work exclusively in a circle.
    ///
    /// The work continues to its end even if nobody waits for it any more, because half of it would be useless.
    func alone<Value: Sendable>(
        in circle: String, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task {
            try await circles.alone(ByteString(circle)) {
                guard let leases else { return try await work() }
                // A server that is ending does not wait for another server's work.
                return try await leases.alone("circle/\(circle)", unless: { self.isClosing }, work)
            }
        }
        keep { _ = await task.result }
        return try await task.value
    }

    /// Begins background work, unless the server is about to end.
    func later(_ work: @escaping @Sendable () async -> Void) {
        // The work outlasts any lease that its caller holds.
        HeldLeases.$current.withValue([]) {
            if !isClosing { keep(work) }
        }
    }

    /// Prevents further work from beginning, and waits for all work under way.
    package func close() async {
        state.withLock { $0.isClosing = true }
        await settle()
    }

    /// Waits until no work is under way.
    func settle() async {
        while true {
            let tasks = state.withLock { Array($0.running.values) }
            if tasks.isEmpty { return }
            for task in tasks { await task.value }
        }
    }

    private func keep(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.last += 1
            let number = state.last
            state.running[number] = Task {
                await work()
                self.state.withLock { $0.running[number] = nil }
            }
        }
    }
}
