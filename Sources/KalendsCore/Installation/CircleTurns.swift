// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// Who may change a circle's imported events at this moment: one after the other, in the order in which they came.
///
/// What is decided about events in one transaction therefore holds in the next ones.
package final class CircleTurns: Sendable {
    private struct State {
        var running: [Int: Task<Void, Never>] = [:]
        var last = 0
        var isClosing = false
    }

    private let state = Mutex(State())
    private let circles = Turns<ByteString>()
    /// Nil where no other server has the database.
    private let leases: Leases?

    package init(_ leases: Leases? = nil) { self.leases = leases }

    /// Whether the server is about to end: what can be done at the next start is not begun.
    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Does work as the only one in a circle.
    ///
    /// It continues to its end even when nobody waits for it any more: half of it is of no use to anybody.
    func alone<Value: Sendable>(
        in circle: String, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task {
            try await circles.alone(ByteString(circle)) {
                guard let leases else { return try await work() }
                // A server that ends does not wait for what another one is doing.
                return try await leases.alone("circle/\(circle)", unless: { self.isClosing }, work)
            }
        }
        keep { _ = await task.result }
        return try await task.value
    }

    /// Begins work that nobody waits for, unless the server is about to end.
    func later(_ work: @escaping @Sendable () async -> Void) {
        // It outlasts whatever lease its caller works under.
        HeldLeases.$current.withValue([]) {
            if !isClosing { keep(work) }
        }
    }

    /// Waits for all work that has begun, and lets no more begin.
    package func close() async {
        state.withLock { $0.isClosing = true }
        await settle()
    }

    /// Waits until nothing is under way.
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
