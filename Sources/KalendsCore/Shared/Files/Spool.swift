// SPDX-License-Identifier: Apache-2.0

import CSandbox
import Glibc
import Synchronization

/// Bytes in an unnamed file that the system keeps in memory, outside of this process: written once, then read.
package final class Spool: Sendable {
    private let file: CInt
    private let length = Mutex(0)

    /// A refusal of the system, with its error number.
    package struct Failure: Error {
        let code: CInt
    }

    init() throws(Failure) {
        file = kalends_memory_file()
        guard file >= 0 else { throw Failure(code: errno) }
    }

    deinit { close(file) }

    package var count: Int { length.withLock { $0 } }

    /// - Returns: the range of the bytes in the file.
    @discardableResult
    package func append(_ bytes: some Collection<UInt8>) throws(Failure) -> Range<Int> {
        let bytes = Array(bytes)
        return try length.withLock { length throws(Failure) in
            let start = length
            while length < start + bytes.count {
                let done = length - start
                let written = unsafe bytes.withUnsafeBytes { bytes in
                    unsafe pwrite(file, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done, length)
                }
                if written > 0 { length += written } else if errno != EINTR { throw Failure(code: errno) }
            }
            return start..<length
        }
    }

    package func read(_ range: Range<Int>) throws(Failure) -> [UInt8] {
        var code: CInt = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            while count < range.count {
                let rest = unsafe buffer.baseAddress.map { unsafe $0 + count }
                let read = unsafe pread(file, rest, range.count - count, range.lowerBound + count)
                if read > 0 { count += read } else if read == 0 || errno != EINTR { break }
            }
            if count < range.count { code = max(errno, EINVAL) }
        }
        guard bytes.count == range.count else { throw Failure(code: code) }
        return bytes
    }

    /// Calls a body with a descriptor of the file, at its beginning, for another process.
    func reopened<Value>(_ body: (CInt) throws -> Value) throws -> Value {
        guard lseek(file, 0, SEEK_SET) == 0 else { throw Failure(code: errno) }
        return try body(file)
    }
}
