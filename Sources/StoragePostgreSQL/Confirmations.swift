// SPDX-License-Identifier: Apache-2.0

internal import Storage
internal import Synchronization

/// The callers that wait for a confirmation, and the thread that asks the database for all of them together.
///
/// A caller that comes while a query is under way waits for the next one: an answer does not cover what was committed
/// after its query.
final class Confirmations: Sendable {
    private struct State {
        var waiting: [Confirmation] = []
        var isUnderWay = false
    }

    let worker = Worker("confirmations")
    /// The snapshot up to which the clock has advanced for every write.
    let applied = Mutex(Snapshot())
    /// The server's process for the latest session that asks; only the thread uses it.
    let process = Atomic(0)
    /// When the server that last confirmed was started, which identifies it; nil before the first confirmation.
    private let leader = Mutex<String?>(nil)
    private let state = Mutex(State())

    /// Notes that a session's server has confirmed; returns whether another one did before.
    func lead(_ session: Session) -> Bool {
        leader.withLock { leader in
            guard leader != session.serverStart else { return false }
            leader = session.serverStart
            return true
        }
    }

    /// Whether a session is with the server that confirms; true before any does.
    func isLed(by session: Session) -> Bool {
        guard let leader = leader.withLock({ $0 }) else { return true }
        return session.serverStart == leader
    }

    /// - Parameter ask: queries the database; it runs on the thread.
    func add(
        _ completion: @escaping Confirmation,
        _ ask: @escaping @Sendable (inout Session?) -> Result<Int, StorageError>
    ) {
        let begins = state.withLock { state in
            state.waiting.append(completion)
            defer { state.isUnderWay = true }
            return !state.isUnderWay
        }
        guard begins else { return }
        worker.begin { [self] slot in
            while let group = next() {
                let result = ask(&slot)
                for completion in group { completion(result) }
            }
        }
    }

    /// Returns all callers that wait now, whom the next query covers; nil when there are none.
    private func next() -> [Confirmation]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isUnderWay = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
