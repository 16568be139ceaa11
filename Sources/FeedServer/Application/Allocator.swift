// SPDX-License-Identifier: Apache-2.0

import CSandbox

/// How the C library hands out memory to this process.
enum Allocator {
    /// Makes what is given back go back to the system; to be called before there are other threads.
    ///
    /// By itself the library makes eight arenas a processor, each of which keeps what it once had, and learns from each
    /// large block that is freed to keep larger ones: after a burst of large requests, 417 MiB were resident in place of
    /// 258.
    ///
    /// - Returns: whether the library took the settings.
    static func settle() -> Bool { kalends_settle_allocator() == 1 }
}
