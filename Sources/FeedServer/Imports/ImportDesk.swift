// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Synchronization

/// Who imports at this moment: how many may, how far each is, and what goes on behind an answer.
final class ImportDesk: Sendable {
    /// Files that are coming in, wait, or are read, of all callers and of one user.
    private static let places = 24
    private static let placesOfAUser = 6

    enum Phase: String, Sendable { case reading, committing }

    struct Progress: Sendable {
        var phase: Phase
        /// From 0 to 1.
        var part: Double
    }

    private struct State {
        var taken = 0
        var takenBy: [String: Int] = [:]
        var bytes = 0
        var progress: [String: Progress] = [:]
        var tasks: [String: Task<Void, Never>] = [:]
        var isClosing = false
    }

    private let state = Mutex(State())
    /// The most bytes of files that are held at once.
    private let byteLimit: Int

    init(_ settings: ServerSettings) { byteLimit = 4 * settings.maxImportBytes }

    /// A place at the desk, given back when nobody holds it any more.
    final class Admission: Sendable {
        private let desk: ImportDesk
        private let user: String?
        private let bytes = Mutex(0)

        fileprivate init(_ desk: ImportDesk, _ user: String?) { (self.desk, self.user) = (desk, user) }

        deinit { desk.leave(user, bytes.withLock { $0 }) }

        /// Throws 503 when all files together take too much room.
        func grow(by count: Int) throws {
            try desk.hold(count)
            bytes.withLock { $0 += count }
        }
    }

    /// Throws 429 when the user has too many imports under way, 503 when all together do.
    func admit(_ user: String?) throws -> Admission {
        try state.withLock { state in
            if let user, state.takenBy[user, default: 0] >= Self.placesOfAUser {
                throw Refusal(
                    status: .tooManyRequests,
                    detail: "You have \(Self.placesOfAUser) imports under way; ask again when one is done.",
                    headers: [.retryAfter: "5"])
            }
            guard state.taken < Self.places else { throw Self.busy }
            state.taken += 1
            if let user { state.takenBy[user, default: 0] += 1 }
        }
        return Admission(self, user)
    }

    private static let busy = Refusal(
        status: .serviceUnavailable, detail: "Many files are being imported at this moment; ask again soon.",
        headers: [.retryAfter: "5"])

    private func hold(_ count: Int) throws {
        try state.withLock { state in
            guard state.bytes + count <= byteLimit else { throw Self.busy }
            state.bytes += count
        }
    }

    private func leave(_ user: String?, _ bytes: Int) {
        state.withLock { state in
            state.taken -= 1
            state.bytes -= bytes
            guard let user, let count = state.takenBy[user] else { return }
            state.takenBy[user] = count > 1 ? count - 1 : nil
        }
    }

    // MARK: Work behind an answer

    func tell(_ id: String, _ phase: Phase, _ part: Double) {
        state.withLock { state in
            // What was told out of order does not lead back.
            if let known = state.progress[id], known.part > part { return }
            state.progress[id] = Progress(phase: phase, part: min(max(part, 0), 1))
        }
    }

    /// How far an import is that is under way.
    func progress(_ id: String) -> Progress? { state.withLock { $0.progress[id] } }

    func forget(_ id: String) { state.withLock { $0.progress[id] = nil } }

    /// Begins work that goes on after the answer; throws 503 when the server is about to end.
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

    /// Breaks off what is being read, which the next start tells, and waits for commits that have begun.
    func close() async {
        let tasks = state.withLock { state in
            state.isClosing = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
