// SPDX-License-Identifier: Apache-2.0

internal import CLibical

/// The only owner of a tree of libical components, which is freed with the handle.
///
/// It must not leave the thread it was created on, nor outlive the call that created it: what is needed is copied out.
@safe struct ComponentHandle: ~Copyable {
    private let raw: OpaquePointer

    /// Parses one component; nil when libical cannot parse it.
    ///
    /// `text` ends with its only NUL, its lines are folded and its TZIDs opaque: libical is slow or unsafe otherwise.
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
        // Proof: `raw` came from icalparser_parse_string, has no other owner and is freed only here. The ring of
        // temporary buffers may be emptied only after that (libical bug with REQUEST-STATUS).
        unsafe icalcomponent_free(raw)
        icalmemory_free_ring()
    }

    /// Lends the component for the length of a call; the pointer must not be kept.
    borrowing func withBorrowedPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(raw)
    }
}
