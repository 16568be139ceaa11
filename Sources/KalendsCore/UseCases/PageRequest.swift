// SPDX-License-Identifier: Apache-2.0

import Base

/// Which part of a list is asked for.
package struct PageRequest: Sendable {
    /// The key after which the part begins; empty for the first one.
    package var after = ""
    /// The most elements that are wanted.
    package var limit: Int

    package init(after: String = "", limit: Int) {
        self.after = after
        self.limit = limit
    }
}
