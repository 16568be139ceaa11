// SPDX-License-Identifier: Apache-2.0

/// The requested part of a list.
package struct PageRequest: Sendable {
    /// The key after which the part begins; empty for the first part.
    package var after = ""
    /// The maximum number of elements to return.
    package var limit: Int

    package init(after: String = "", limit: Int) {
        self.after = after
        self.limit = limit
    }
}
