// SPDX-License-Identifier: Apache-2.0

import CZlib
import KalendsCore
import NIOCore

/// Packs bytes with the system's zlib.
package enum Gzip {
    /// zlib's version; other versions may pack the same bytes differently.
    static let version = unsafe String(cString: zlibVersion()).fromOutside

    /// Packs bytes as a gzip member without a name or time, so that equal bytes give equal results; nil when memory is
    /// short.
    ///
    /// It takes about 1 ms for each 100 kB, so it must not run on an event loop.
    static func pack(_ body: ByteBuffer) -> ByteBuffer? {
        var stream = unsafe z_stream()
        // 15 bits of window; adding 16 selects gzip's wrapping in place of zlib's own.
        guard
            unsafe deflateInit2_(
                &stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { unsafe deflateEnd(&stream) }
        let bound = unsafe Int(deflateBound(&stream, UInt(body.readableBytes)))
        var packed = ByteBufferAllocator().buffer(capacity: bound)
        // Both buffers stay in place during the call; zlib reads the first and does not change it.
        let status = unsafe body.withUnsafeReadableBytes { source in
            unsafe packed.writeWithUnsafeMutableBytes(minimumWritableBytes: bound) { target in
                unsafe stream.next_in = UnsafeMutablePointer(
                    mutating: source.bindMemory(to: UInt8.self).baseAddress)
                unsafe stream.avail_in = UInt32(source.count)
                unsafe stream.next_out = target.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.avail_out = UInt32(target.count)
                guard unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END else { return 0 }
                return unsafe Int(stream.total_out)
            }
        }
        return status > 0 ? packed : nil
    }

    /// Packs a text as a gzip member into a spool, piece by piece; equal bytes give equal results, however they are divided.
    ///
    /// It takes about 10 ms for each MiB, so it must not run on a thread that others wait for. Nil when memory is
    /// short; throws 503 if the system has no room for the spool.
    static func pack(_ text: FeedText) throws -> FeedText? {
        var stream = unsafe z_stream()
        guard
            unsafe deflateInit2_(
                &stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { unsafe deflateEnd(&stream) }
        var (spooling, packed) = (try FeedText.Spooling(), ByteBuffer())
        try text.eachPiece { piece in
            _ = unsafe piece.withUnsafeBytes { source in
                unsafe take(source, &stream, Z_NO_FLUSH, into: &packed)
            }
            try spooling.add(packed.readableBytesView)
            packed.clear()
        }
        let status = unsafe take(UnsafeRawBufferPointer(start: nil, count: 0), &stream, Z_FINISH, into: &packed)
        guard status == Z_STREAM_END else { return nil }
        try spooling.add(packed.readableBytesView)
        return try spooling.finished(inRoomOf: text)
    }

    /// Packs bytes until all are taken, or with `Z_FINISH` until the end is written; returns zlib's last status.
    @discardableResult
    private static func take(
        _ source: UnsafeRawBufferPointer, _ stream: inout z_stream, _ flush: Int32, into packed: inout ByteBuffer
    ) -> Int32 {
        guard unsafe !source.isEmpty || flush == Z_FINISH else { return Z_OK }
        // zlib reads the bytes during this call only, and does not change them.
        unsafe stream.next_in = UnsafeMutablePointer(mutating: source.bindMemory(to: UInt8.self).baseAddress)
        unsafe stream.avail_in = UInt32(source.count)
        var status = Z_OK
        repeat {
            unsafe packed.writeWithUnsafeMutableBytes(minimumWritableBytes: 1 << 16) { target in
                unsafe stream.next_out = target.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.avail_out = UInt32(target.count)
                status = unsafe deflate(&stream, flush)
                return unsafe target.count - Int(stream.avail_out)
            }
        } while unsafe status == Z_OK && (flush == Z_FINISH || stream.avail_in > 0)
        return status
    }
}
