// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension StringProtocol {
    /// Whether both texts are the same bytes in UTF-8.
    ///
    /// `==` of the standard library finds “é” and “e” with an accent equal and normalises both for that; here they are
    /// different texts, and the answer takes time by the shorter one at most.
    public func isSameText(as other: some StringProtocol) -> Bool {
        let count = utf8.count
        guard count == other.utf8.count else { return false }
        // Safe: both buffers hold `count` bytes, and neither outlives its closure.
        let same = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { theirs in
                guard let mine = mine.baseAddress, let theirs = theirs.baseAddress else { return count == 0 }
                return unsafe memcmp(mine, theirs, count) == 0
            }
        }
        return (same ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the bytes in UTF-8 begin with another text's.
    public func startsWithText(_ prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether the bytes in UTF-8 end with another text's.
    public func endsWithText(_ suffix: some StringProtocol) -> Bool {
        let surplus = utf8.count - suffix.utf8.count
        return surplus >= 0 && utf8.dropFirst(surplus).elementsEqual(suffix.utf8)
    }

    /// Whether the text comes before another one by its bytes in UTF-8, which is the order of its scalars.
    public func isTextBefore(_ other: some StringProtocol) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }

    /// Feeds the bytes in UTF-8 to a hasher, so that texts have one hash when `isSameText` holds.
    public func hashText(into hasher: inout Hasher) {
        // Safe: the buffer is read within its closure.
        let isDone: Void? = utf8.withContiguousStorageIfAvailable { bytes in
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        if isDone == nil { for byte in utf8 { hasher.combine(byte) } }
        // What no text in UTF-8 holds, so that two texts after each other are not the two with another border.
        hasher.combine(0xFF as UInt8)
    }
}
