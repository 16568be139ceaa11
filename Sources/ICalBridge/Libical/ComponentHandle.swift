// SPDX-License-Identifier: Apache-2.0

internal import CLibical

/// The one owner of a tree of libical components; it goes when the handle goes.
///
/// It must not leave the thread it was made on, nor outlive the call that made it: what is needed is copied out.
@safe struct ComponentHandle: ~Copyable {
    private let raw: OpaquePointer

    /// Parses one component, or nil when libical makes nothing of it.
    ///
    /// `text` holds no NUL, its lines are folded and its TZIDs opaque: libical is slow or unsafe without that.
    init?(parsing text: [UInt8]) {
        LibicalSetup.ensure()
        let parsed: OpaquePointer? = unsafe text.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            guard unsafe bytes.last == 0, let base = bytes.baseAddress else { return nil }
            // Proof: the buffer ends with the NUL just checked, and libical only reads it during this call.
            return unsafe base.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                unsafe icalparser_parse_string($0)
            }
        }
        guard let parsed = unsafe parsed else { return nil }
        unsafe raw = parsed
    }

    deinit {
        // Proof: `raw` came from icalparser_parse_string, belongs to nobody else and is freed only here. The ring of
        // temporary buffers may be emptied after it, never before (libical hazard of REQUEST-STATUS).
        unsafe icalcomponent_free(raw)
        icalmemory_free_ring()
    }

    /// Lends the component for the length of a call; the pointer must not be kept.
    borrowing func withBorrowedPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(raw)
    }
}
