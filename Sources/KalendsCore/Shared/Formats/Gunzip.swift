// SPDX-License-Identifier: Apache-2.0

import CZlib

/// Unpacking of gzip data from others.
package enum Gunzip {
    /// Why packed bytes cannot be unpacked.
    enum UnpackingError: Error, Hashable {
        case tooLarge
        case damaged
    }

    /// Unpacks gzip (RFC 1952), one member or several.
    ///
    /// - Parameter limit: the most bytes that may come out; nothing beyond them is ever unpacked.
    static func unpack(_ packed: [UInt8], limit: Int) throws -> [UInt8] {
        var output: [UInt8] = []
        let stream = try GunzipStream(limit: limit)
        try stream.feed(packed) { output += $0 }
        try stream.finish()
        return output
    }
}

/// Unpacks gzip (RFC 1952), one member or several, as it arrives, and holds at most 64 KiB of the output.
///
/// Safe to use: the state that zlib works on is allocated, initialised and given back here, and never handed out.
@safe
final class GunzipStream {
    /// zlib keeps the address of the structure it is first given, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let limit: Int
    private var made = 0
    private var piece = [UInt8](repeating: 0, count: 65_536)
    /// Whether the bytes so far end at the end of a member.
    private var isAtEnd = false

    /// - Parameter limit: the most bytes that may come out; nothing beyond them is ever unpacked.
    init(limit: Int) throws(Gunzip.UnpackingError) {
        self.limit = limit
        // The memory is initialised at once, and deallocated with the object.
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // 15 is the window size in bits; adding 32 accepts the formats of gzip and of zlib, which HTTP calls deflate.
        guard unsafe inflateInit2_(stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw .damaged
        }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deinitialize(count: 1)
        unsafe stream.deallocate()
    }

    /// Takes the next packed bytes and passes on what they unpack to, in pieces.
    func feed(_ packed: [UInt8], _ take: (ArraySlice<UInt8>) throws -> Void) throws {
        var position = 0
        var isFull = false
        while position < packed.count || isFull {
            if isAtEnd {
                guard unsafe inflateReset(stream) == Z_OK else { throw Gunzip.UnpackingError.damaged }
                isAtEnd = false
            }
            let (status, read, count) = step(packed, from: position)
            position += read
            made += count
            guard made <= limit else { throw Gunzip.UnpackingError.tooLarge }
            if count > 0 { try take(piece[..<count]) }
            // zlib may hold more output than fits into one piece.
            isFull = count == piece.count && status == Z_OK
            switch status {
            case Z_STREAM_END: isAtEnd = true
            case Z_OK: break
            // zlib needs more input to continue.
            case Z_BUF_ERROR where position == packed.count: return
            default: throw Gunzip.UnpackingError.damaged
            }
        }
    }

    /// Throws if the bytes ended within a member.
    func finish() throws(Gunzip.UnpackingError) {
        guard isAtEnd else { throw .damaged }
    }

    private func step(_ packed: [UInt8], from position: Int) -> (status: Int32, read: Int, made: Int) {
        // Both buffers stay where they are for the one call; zlib reads the first and does not change it.
        unsafe packed.withUnsafeBytes { source in
            unsafe piece.withUnsafeMutableBytes { target in
                unsafe stream.pointee.next_in = UnsafeMutablePointer(
                    mutating: source.bindMemory(to: UInt8.self).baseAddress.map { unsafe $0 + position })
                unsafe stream.pointee.avail_in = UInt32(source.count - position)
                unsafe stream.pointee.next_out = target.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.pointee.avail_out = UInt32(target.count)
                let status = unsafe inflate(stream, Z_NO_FLUSH)
                return unsafe (
                    status, source.count - position - Int(stream.pointee.avail_in),
                    target.count - Int(stream.pointee.avail_out)
                )
            }
        }
    }
}
