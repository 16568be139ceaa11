// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension StringProtocol {
    /// Reports whether both texts are the same bytes in UTF-8.
    ///
    /// The standard library's `==` considers “é” and “e” with an accent equal, and normalizes both to find out; here
    /// they are different texts, and a comparison never reads more than the shorter one.
    public func isSameText(as other: some StringProtocol) -> Bool {
        Self.isSame(self, other)
    }

    /// The comparison, which is compiled again for each pair of types that this module names.
    @inline(__always)
    fileprivate static func isSame(_ text: Self, _ other: some StringProtocol) -> Bool {
        let count = text.utf8.count
        guard count == other.utf8.count else { return false }
        // Safe: both buffers hold `count` bytes, and neither outlives its closure.
        let same = text.utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { theirs in
                guard let mine = mine.baseAddress, let theirs = theirs.baseAddress else { return count == 0 }
                return unsafe memcmp(mine, theirs, count) == 0
            }
        }
        return (same ?? nil) ?? text.utf8.elementsEqual(other.utf8)
    }

    /// Reports whether the text's UTF-8 bytes begin with those of another one.
    public func startsWithText(_ prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Reports whether the text's UTF-8 bytes end with those of another one.
    public func endsWithText(_ suffix: some StringProtocol) -> Bool {
        let surplus = utf8.count - suffix.utf8.count
        return surplus >= 0 && utf8.dropFirst(surplus).elementsEqual(suffix.utf8)
    }

    /// Reports whether the text comes before another one by its UTF-8 bytes, which is the order of its scalars.
    public func isTextBefore(_ other: some StringProtocol) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }

    /// Feeds the UTF-8 bytes to a hasher, so that texts have the same hash when `isSameText` holds.
    public func hashText(into hasher: inout Hasher) {
        // Safe: the buffer is read within its closure.
        let isDone: Void? = utf8.withContiguousStorageIfAvailable { bytes in
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        if isDone == nil { for byte in utf8 { hasher.combine(byte) } }
        // A byte that never occurs in UTF-8, so that two adjacent texts hash differently when the border between them
        // moves.
        hasher.combine(0xFF as UInt8)
    }
}

extension String {
    /// Reports whether both texts are the same bytes in UTF-8.
    ///
    /// Other modules cannot specialize the comparison of any two kinds of text; most compare two strings.
    public func isSameText(as other: String) -> Bool { Self.isSame(self, other) }
}
