// SPDX-License-Identifier: Apache-2.0

import CZlib

/// Packs the bytes of one answer as a gzip member while they are made, in 256 KiB of memory whatever their length.
///
/// One task at a time uses it.
@safe package final class GzipStream: @unchecked Sendable {
    /// There was not enough memory.
    package struct Failed: Error {}

    /// zlib keeps its address, so it stays in place.
    private let stream: UnsafeMutablePointer<z_stream>
    private static let piece = 32 << 10

    package init() throws {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // 15 bits of window; adding 16 selects gzip's wrapping in place of zlib's own.
        let status = unsafe deflateInit2_(
            stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw Failed() }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Packs the next bytes, and returns what can be sent: everything up to them, so that their reader need not wait.
    package func pack(_ bytes: [UInt8], isLast: Bool) throws -> [UInt8] {
        var packed: [UInt8] = []
        var status = Z_OK
        let flush = isLast ? Z_FINISH : Z_SYNC_FLUSH
        // zlib reads the bytes during this call only, and does not change them.
        unsafe bytes.withUnsafeBytes { source in
            unsafe stream.pointee.next_in = UnsafeMutablePointer(
                mutating: source.bindMemory(to: UInt8.self).baseAddress)
            unsafe stream.pointee.avail_in = UInt32(source.count)
            var isFull = true
            while isFull {
                let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.piece) { target, count in
                    unsafe stream.pointee.next_out = target.baseAddress
                    unsafe stream.pointee.avail_out = UInt32(target.count)
                    status = unsafe deflate(stream, flush)
                    count = unsafe target.count - Int(stream.pointee.avail_out)
                }
                packed += piece
                isFull = piece.count == Self.piece && status != Z_STREAM_END
            }
        }
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else { throw Failed() }
        return packed
    }
}
