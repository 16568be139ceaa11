// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Whether the server was asked to stop, for the readiness check.
package final class Stopping: Sendable {
    private let state = Atomic(false)

    var isStopping: Bool { state.load(ordering: .relaxed) }

    package func begin() { state.store(true, ordering: .relaxed) }
}
