// SPDX-License-Identifier: Apache-2.0

internal import Storage
internal import Synchronization

/// Who waits to hear that what ended is known, and the thread that asks for all of them together.
///
/// Whoever comes while a query is under way waits for the next one: an answer says nothing about what was committed
/// after its question.
final class Confirmations: Sendable {
    private struct State {
        var waiting: [Confirmation] = []
        var isUnderWay = false
    }

    let worker = Worker("confirmations")
    /// The number of the last write that the clock has moved on for; only the thread uses it.
    let applied = Atomic(0)
    private let state = Mutex(State())

    /// - Parameter ask: asks the database; run on the thread.
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

    /// Everybody who waits now, for whom the query that is sent next is late enough; nil when there is nobody.
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
