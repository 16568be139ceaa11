// SPDX-License-Identifier: Apache-2.0

import CSandbox

/// The settings of the C library's memory allocator in this process.
package enum Allocator {
    /// Makes the allocator return freed memory to the system; it must be called before other threads start.
    ///
    /// By default the library makes eight arenas per processor, each of which keeps all memory that it ever had, and
    /// each large block that is freed makes it keep larger ones: after a burst of large requests, 417 MiB were resident
    /// instead of 258. Blocks of 64 KiB and more are outside of the arenas, and are returned as soon as they are freed.
    ///
    /// - Returns: whether the library accepted the settings.
    package static func settle() -> Bool { kalends_settle_allocator() == 1 }

    /// Returns freed memory to the system when the process has grown; this takes milliseconds, during which other threads
    /// may wait for memory.
    ///
    /// The library by itself returns only memory at the end of an arena: one remaining value keeps everything before
    /// it. Freed memory is not counted, because that includes memory that was already returned.
    static func giveBack() { _ = kalends_return_memory(grown) }

    /// The growth in bytes that is not worth a search.
    private static let grown = 4 << 20
}
