// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A counter that concurrent tasks share.
package final class Counter: Sendable {
    private let value = Atomic(0)

    package init() {}

    package var count: Int { value.load(ordering: .relaxed) }
    package func add(_ count: Int = 1) { value.add(count, ordering: .relaxed) }
}
