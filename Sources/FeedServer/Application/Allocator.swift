// SPDX-License-Identifier: Apache-2.0

import CSandbox

/// How the C library hands out memory to this process.
enum Allocator {
    /// Makes memory that is freed go back to the system; it must be called before there are other threads.
    ///
    /// By default the library makes eight arenas per processor, each of which keeps what it once had, and each large
    /// block that is freed makes it keep larger ones: after a burst of large requests, 417 MiB were resident instead of
    /// 258.
    ///
    /// - Returns: whether the library took the settings.
    static func settle() -> Bool { kalends_settle_allocator() == 1 }

    /// Gives freed memory back to the system when there is much of it; takes tens of milliseconds then, in which others
    /// may wait for memory.
    ///
    /// The library gives back only what lies at the end of an arena: one value that survives keeps everything before
    /// it. Under a hundred hostile clients 290 MiB were resident, of which 80 were free; with this, 230.
    static func giveBack() { _ = kalends_return_memory(kept) }

    /// Bytes that may be free without being given back: they are used again soon.
    private static let kept = 32 << 20
}
