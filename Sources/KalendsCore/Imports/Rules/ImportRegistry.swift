// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The imports under way: the progress of each, and the work that continues after an answer.
package final class ImportRegistry: Sendable {
    package enum Phase: String, Sendable { case reading, committing }

    package struct Progress: Sendable {
        package var phase: Phase
        /// The part that is done, from 0 to 1.
        package var part: Double

        /// The progress as other servers read it.
        var note: String { "\(phase.rawValue) \(Int(part * 1000))" }

        init(phase: Phase, part: Double) { (self.phase, self.part) = (phase, part) }

        init?(note: String) {
            let words = note.split(separator: " ")
            guard words.count == 2, let phase = Phase(rawValue: String(words[0])), let part = Int(words[1]) else {
                return nil
            }
            self.init(phase: phase, part: Double(part) / 1000)
        }
    }

    private struct State {
        var progress: [ByteString: Progress] = [:]
        var tasks: [ByteString: Task<Void, Never>] = [:]
        var isClosing = false
    }

    private let state = Mutex(State())

    package init() {}

    private static let busy = Refusal(
        .unavailable, code: .busy, detail: "The server is shutting down; try again soon.",
        retryAfter: 5)

    func reportProgress(_ id: String, _ phase: Phase, _ part: Double) {
        state.withLock { state in
            // A report that arrives out of order must not move the progress back.
            if let known = state.progress[id], known.part > part { return }
            state.progress[id] = Progress(phase: phase, part: min(max(part, 0), 1))
        }
    }

    /// Returns the progress of an import that is under way.
    package func progress(_ id: String) -> Progress? { state.withLock { $0.progress[id] } }

    func forget(_ id: String) { state.withLock { $0.progress[id] = nil } }

    /// Begins work that continues after the answer; throws 503 if the server is about to stop.
    func start(_ id: String, _ work: @escaping @Sendable () async -> Void) throws {
        try state.withLock { state in
            guard !state.isClosing else { throw Self.busy }
            state.tasks[id] = Task {
                await work()
                self.state.withLock { state in
                    state.tasks[id] = nil
                    state.progress[id] = nil
                }
            }
        }
    }

    /// Cancels reading, which the next start reports as interrupted, and waits for commits under way.
    package func close() async {
        let tasks = state.withLock { state in
            state.isClosing = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
