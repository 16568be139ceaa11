// SPDX-License-Identifier: Apache-2.0

import Base

/// Which part of a list is asked for.
struct PageRequest: Sendable {
    /// The key after which the part begins; empty for the first one.
    var after = ""
    /// The most elements that are wanted.
    var limit: Int
}
