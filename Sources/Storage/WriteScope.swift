// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What a transaction says about itself: the circles that it concerns, and who makes its changes.
package final class WriteScope: Sendable {
    private let named = Mutex<Set<ByteString>?>(nil)
    private let maker = Mutex<ChangeAuthor?>(nil)
    private let woken = Mutex<Set<ByteString>>([])
    private let hasRun = Mutex(false)

    package init() {}

    /// The circles that the transaction named; nil as long as it has named none.
    package var circles: Set<ByteString>? { named.withLock { $0 } }

    /// Who makes the changes that are noted from here on; nil for the server itself.
    package var author: ChangeAuthor? {
        get { maker.withLock { $0 } }
        set { maker.withLock { $0 = newValue } }
    }

    /// Records that the transaction's body runs: before, it can have stored nothing.
    package func beginBody() { hasRun.withLock { $0 = true } }

    /// Notes in a clock what the transaction concerns, also after a failure in or after its body: it may have come after the
    /// commit.
    package func note(in clock: WriteClock) { if hasRun.withLock({ $0 }) { clock.note(circles) } }

    package func beginEmpty() { named.withLock { $0 = $0 ?? [] } }

    package func add(_ circle: String) { named.withLock { $0 = ($0 ?? []).union([ByteString(circle)]) } }

    /// Notes that the connections of a circle are woken; returns false if they were before.
    package func wakes(_ circle: String) -> Bool { woken.withLock { $0.insert(ByteString(circle)).inserted } }

    /// Removes what a run said that is repeated.
    package func reset() {
        woken.withLock { $0 = [] }
        named.withLock { $0 = nil }
        hasRun.withLock { $0 = false }
        author = nil
    }
}
