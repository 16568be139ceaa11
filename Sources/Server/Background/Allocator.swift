// SPDX-License-Identifier: Apache-2.0

import CSandbox

/// The settings of the C library's memory allocator in this process.
package enum Allocator {
    /// Makes the allocator return freed memory to the system; it must be called before other threads start.
    ///
    /// By default the library makes eight arenas per processor, each of which keeps all memory that it ever had, and
    /// each large block that is freed makes it keep larger ones: after a burst of large requests, 417 MiB were resident
    /// instead of 258.
    ///
    /// - Returns: whether the library accepted the settings.
    package static func settle() -> Bool { kalends_settle_allocator() == 1 }

    /// Returns freed memory to the system when there is much of it; this takes tens of milliseconds, during which other
    /// threads may wait for memory.
    ///
    /// The library by itself returns only memory at the end of an arena: one remaining value keeps everything before
    /// it. Under a hundred hostile clients 290 MiB were resident, of which 80 were free; with this call, 230 were.
    static func giveBack() { _ = kalends_return_memory(kept) }

    /// The number of free bytes that are kept, since they are soon used again.
    private static let kept = 16 << 20
}
