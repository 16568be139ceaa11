// SPDX-License-Identifier: Apache-2.0

public import Storage

/// Counts accesses exactly: each is on the disk before its reader gets an answer.
///
/// Those that arrive while a commit is under way are committed together in the next one, so that a flush of the disk
/// is shared by as many as wait for it.
public actor AccessCounter {
    private let store: any Store
    private var waiting: [(FeedAccess, CheckedContinuation<Void, any Error>)] = []
    private var isCommitting = false

    public init(store: any Store) { self.store = store }

    /// Records one access; returns once it is committed, throws when it could not be.
    public func count(_ access: FeedAccess) async throws {
        try await withCheckedThrowingContinuation { continuation in
            waiting.append((access, continuation))
            guard !isCommitting else { return }
            isCommitting = true
            Task { await commit() }
        }
    }

    private func commit() async {
        while !waiting.isEmpty {
            let group = waiting
            waiting = []
            let accesses = group.map(\.0)
            do {
                try await store.record { transaction in try transaction.count(accesses) }
                for (_, continuation) in group { continuation.resume() }
            } catch {
                for (_, continuation) in group { continuation.resume(throwing: error) }
            }
        }
        isCommitting = false
    }
}
