// SPDX-License-Identifier: Apache-2.0

package import Storage
import Synchronization

/// Notes when credentials were last used, after the requests that used them were let in: somebody who only reads never
/// waits for those who write.
///
/// A note that cannot be written, because the disk is full for example, is dropped, and the next use makes another.
package final class UseNotes: Sendable {
    package typealias Note = @Sendable (any WriteTransaction) throws -> Void

    private struct State {
        /// The notes that wait, by the credential.
        var waiting: [ByteString: Note] = [:]
        var task: Task<Void, Never>?
    }

    private let store: any Store
    private let state = Mutex(State())
    /// The maximum number of credentials that wait; the others are noted at their next use.
    private static let most = 10_000

    init(_ store: any Store) { self.store = store }

    /// Has a note written soon, together with others.
    ///
    /// - Parameter credential: a name that no other credential has.
    package func add(_ credential: String, _ note: @escaping Note) {
        state.withLock { state in
            guard state.waiting.count < Self.most else { return }
            state.waiting[ByteString(credential)] = note
            if state.task == nil { state.task = Task { await self.write() } }
        }
    }

    private func write() async {
        while true {
            let notes = state.withLock { state in
                let notes = Array(state.waiting.values)
                state.waiting = [:]
                if notes.isEmpty { state.task = nil }
                return notes
            }
            if notes.isEmpty { return }
            try? await store.recordInSteps(notes)
        }
    }

    /// Waits until everything that was added is written or dropped.
    package func close() async {
        while let task = state.withLock({ $0.task }) { await task.value }
    }
}
