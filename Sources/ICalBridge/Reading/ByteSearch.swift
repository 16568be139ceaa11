// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Finds bytes with the C library, which checks many at once.
enum ByteSearch {
    /// The first index of a byte, searched from `start` on.
    static func first(_ byte: UInt8, in bytes: [UInt8], from start: Int) -> Int? {
        first(byte, in: bytes, from: start, to: bytes.count)
    }

    /// The first index of a byte within a range.
    static func first(_ byte: UInt8, in bytes: [UInt8], from start: Int, to end: Int) -> Int? {
        guard start >= 0, start < end, end <= bytes.count else { return nil }
        return unsafe bytes.withUnsafeBytes { buffer -> Int? in
            guard let base = buffer.baseAddress else { return nil }
            // Proof: start < end <= count was just checked, so memchr stays within the buffer, which lives here.
            guard let found = unsafe memchr(base + start, Int32(byte), end - start) else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// The first index of a byte within a range.
    static func first(_ byte: UInt8, in bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        guard !range.isEmpty else { return nil }
        return unsafe bytes.extracting(range).withUnsafeBytes { buffer -> Int? in
            // Proof: the buffer is the range that was just checked, and it lives during this call.
            guard let base = buffer.baseAddress, let found = unsafe memchr(base, Int32(byte), buffer.count) else {
                return nil
            }
            return unsafe range.lowerBound + (UnsafeRawPointer(found) - base)
        }
    }
}
