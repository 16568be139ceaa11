// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Limits the requests to one mailbox to four at once, which is all that Exchange accepts from an application; shared
/// by all users of the account.
public final class MailboxGate: Sendable {
    /// The maximum number of requests at once.
    public static let width = 4

    private struct State {
        var free = MailboxGate.width
        var waiting: [(permits: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    public init() {}

    /// Runs `body` while it holds some places, which are given out in the order of the requests.
    func with<Value, Failure: Error>(
        _ permits: Int, _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await enter(permits)
        defer { leave(permits) }
        return try await body()
    }

    private func enter(_ permits: Int) async {
        await withCheckedContinuation { continuation in
            let mayGo = state.withLock { state in
                guard state.waiting.isEmpty, state.free >= permits else {
                    state.waiting.append((permits, continuation))
                    return false
                }
                state.free -= permits
                return true
            }
            if mayGo { continuation.resume() }
        }
    }

    private func leave(_ permits: Int) {
        let woken = state.withLock { state in
            state.free += permits
            var woken: [CheckedContinuation<Void, Never>] = []
            while let next = state.waiting.first, state.free >= next.permits {
                state.free -= next.permits
                woken.append(state.waiting.removeFirst().continuation)
            }
            return woken
        }
        for continuation in woken { continuation.resume() }
    }
}
