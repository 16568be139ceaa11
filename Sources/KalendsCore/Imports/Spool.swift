// SPDX-License-Identifier: Apache-2.0

import CSandbox
import Glibc
import Synchronization
import SystemPackage

/// Bytes in an unnamed file that the system keeps in memory, outside of this process: written once, then read.
package final class Spool: Sendable {
    private let file: FileDescriptor
    private let length = Mutex(0)

    /// Throws `Errno` if the system cannot create such a file.
    init() throws {
        let raw = kalends_memory_file()
        guard raw >= 0 else { throw Errno(rawValue: errno) }
        file = FileDescriptor(rawValue: raw)
    }

    deinit { try? file.close() }

    package var count: Int { length.withLock { $0 } }

    /// - Returns: the range of the bytes in the file.
    @discardableResult
    package func append(_ bytes: some Collection<UInt8>) throws -> Range<Int> {
        try length.withLock { length in
            let start = length
            length += try file.writeAll(toAbsoluteOffset: Int64(start), bytes)
            return start..<length
        }
    }

    package func read(_ range: Range<Int>) throws -> [UInt8] {
        var failure: (any Error)?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            do {
                while count < range.count {
                    let rest = unsafe UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                    let read = try unsafe file.read(
                        fromAbsoluteOffset: Int64(range.lowerBound + count), into: rest)
                    if read == 0 { break }
                    count += read
                }
            } catch { failure = error }
        }
        if let failure { throw failure }
        guard bytes.count == range.count else { throw Errno.invalidArgument }
        return bytes
    }

    /// Returns the same file from its beginning, for another process; the caller must close it.
    func reopened() throws -> FileDescriptor {
        _ = try file.seek(offset: 0, from: FileDescriptor.SeekOrigin.start)
        return try file.duplicate()
    }
}
