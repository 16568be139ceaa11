// SPDX-License-Identifier: Apache-2.0

import CZlib

extension Gzip {
    /// Why packed bytes cannot be unpacked.
    enum UnpackingError: Error, Hashable {
        case tooLarge
        case damaged
    }

    /// Unpacks gzip (RFC 1952), one member or several.
    ///
    /// - Parameter limit: the most bytes that may come out; what would be more is never made.
    static func unpack(_ packed: [UInt8], limit: Int) throws(UnpackingError) -> [UInt8] {
        var stream = unsafe z_stream()
        // 15 bits of window, and 16 that ask for gzip's wrapping and no other.
        guard unsafe inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw .damaged
        }
        defer { unsafe inflateEnd(&stream) }
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        var position = 0
        while true {
            // Both buffers stay where they are for the one call; zlib reads the first and does not change it.
            let (status, read, made) = unsafe packed.withUnsafeBytes { source in
                unsafe piece.withUnsafeMutableBytes { target in
                    unsafe stream.next_in = UnsafeMutablePointer(
                        mutating: source.bindMemory(to: UInt8.self).baseAddress.map { unsafe $0 + position })
                    unsafe stream.avail_in = UInt32(source.count - position)
                    unsafe stream.next_out = target.bindMemory(to: UInt8.self).baseAddress
                    unsafe stream.avail_out = UInt32(target.count)
                    let status = unsafe inflate(&stream, Z_NO_FLUSH)
                    return unsafe (
                        status, source.count - position - Int(stream.avail_in), target.count - Int(stream.avail_out)
                    )
                }
            }
            position += read
            guard output.count + made <= limit else { throw .tooLarge }
            output += piece.prefix(made)
            switch status {
            case Z_STREAM_END:
                if position == packed.count { return output }
                guard unsafe inflateReset(&stream) == Z_OK else { throw .damaged }
            case Z_OK:
                if read == 0, made == 0 { throw .damaged }
            default:
                throw .damaged
            }
        }
    }
}
