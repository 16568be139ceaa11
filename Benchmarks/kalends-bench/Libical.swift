// SPDX-License-Identifier: Apache-2.0

import CLibical
import Glibc

/// libical alone, as the measure: a tree of components that it parsed.
@safe
final class LibicalTree {
    private let raw: OpaquePointer

    init?(_ text: [UInt8]) {
        // The text is ended by a NUL and only read during the call.
        let parsed = unsafe (text + [0]).withUnsafeBufferPointer { bytes -> OpaquePointer? in
            guard let base = bytes.baseAddress else { return nil }
            return unsafe base.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                unsafe icalparser_parse_string($0)
            }
        }
        guard let parsed = unsafe parsed else { return nil }
        unsafe raw = parsed
    }

    deinit { unsafe icalcomponent_free(raw) }

    /// Prints the tree and returns the number of bytes.
    func print() -> Int {
        // The string belongs to the caller, who frees it.
        guard let text = unsafe icalcomponent_as_ical_string_r(raw) else { return 0 }
        defer { unsafe icalmemory_free_buffer(text) }
        return unsafe Int(strlen(text))
    }
}
