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
        // Proof: `raw` came from icalparser_parse_string, has no other owner and is freed only here.
        unsafe icalcomponent_free(raw)
    }

    /// Lends the component for the length of a call; the pointer must not be kept.
    borrowing func withBorrowedPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(raw)
    }
}

/// The temporary buffers that libical keeps for the thread, in a ring of thousands.
///
/// Emptying it takes as long as parsing a small component, so it is emptied only after a certain number of bytes. It
/// must not be emptied while there is a component (libical bug with REQUEST-STATUS).
struct TemporaryBuffers {
    private var bytes = 0

    private static let limit = 1 << 16

    /// Empties the ring if components with many bytes were parsed since it was emptied; they must have been freed.
    mutating func empty(after text: [UInt8]) {
        bytes += text.count
        guard bytes >= Self.limit else { return }
        icalmemory_free_ring()
        bytes = 0
    }
}
