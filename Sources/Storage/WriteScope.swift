// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The circles that a transaction named; nil as long as it has named none.
package final class WriteScope: Sendable {
    private let named = Mutex<Set<ByteString>?>(nil)

    package init() {}

    package var circles: Set<ByteString>? { named.withLock { $0 } }

    package func beginEmpty() { named.withLock { $0 = $0 ?? [] } }

    package func add(_ circle: String) { named.withLock { $0 = ($0 ?? []).union([ByteString(circle)]) } }

    /// Removes the names from a run that is repeated.
    package func reset() { named.withLock { $0 = nil } }
}
