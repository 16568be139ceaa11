// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Why an access was not recorded; each case has one sentence for the operator.
public enum JournalFailure: Error, Hashable, CustomStringConvertible {
    /// Every place is in use by accesses that are not in the database yet.
    case full
    /// The journal was closed normally.
    case closed
    /// The system failed to read or write; what is on the disk is unknown, so nothing more is recorded.
    case broken(String)

    public var description: String {
        switch self {
        case .full: "The journal of accesses is full: the database could not take them in, see <database>.accesses."
        case .closed: "The journal of accesses is closed."
        case .broken(let reason): "The journal of accesses failed and is closed until the next start: \(reason)."
        }
    }
}

/// The file operations that a journal needs, so that tests can make each of them fail.
protocol JournalDisk: Sendable {
    /// Reserves space for this many bytes; throws when the disk does not have it.
    func reserve(_ count: Int) throws(JournalFailure)
    func write(_ words: ArraySlice<UInt64>, at offset: Int) throws(JournalFailure)
    /// Reads up to `count` bytes; fewer at the end of the file.
    func read(at offset: Int, count: Int) throws(JournalFailure) -> [UInt8]
    /// Returns when everything written before is on the disk.
    func sync() throws(JournalFailure)
    func size() throws(JournalFailure) -> Int
}

/// A file on the system's disk that only its owner can open.
final class SystemJournalDisk: JournalDisk {
    private let descriptor: CInt

    /// Opens the file, or creates an empty one with `isNew`.
    init(path: String, isNew: Bool) throws(JournalFailure) {
        let flags = O_RDWR | O_CLOEXEC | (isNew ? O_CREAT | O_EXCL : 0)
        descriptor = unsafe open(path, flags, 0o600)
        if descriptor < 0 { throw .broken("\(path) cannot be opened: \(systemReason(errno))") }
        // No read-ahead, which would fill the cache with large pieces; this is only advice, so its failure does not
        // matter.
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM)
    }

    deinit { _ = close(descriptor) }

    func reserve(_ count: Int) throws(JournalFailure) {
        let code = posix_fallocate(descriptor, 0, count)
        if code != 0 { throw .broken("\(count) bytes cannot be reserved: \(systemReason(code))") }
    }

    func write(_ words: ArraySlice<UInt64>, at offset: Int) throws(JournalFailure) {
        // The pointer is used only within the call, and never beyond the slice.
        let code = unsafe words.withUnsafeBytes { bytes -> CInt in
            var done = 0
            while done < bytes.count {
                let count = unsafe pwrite(
                    descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done, offset + done)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { return count < 0 ? errno : EIO }
                done += count
            }
            return 0
        }
        if code != 0 { throw .broken("it cannot be written: \(systemReason(code))") }
    }

    func read(at offset: Int, count: Int) throws(JournalFailure) -> [UInt8] {
        var failure: CInt = 0
        // The buffer has the size that is passed to the calls, and keeps as many bytes as they filled.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = unsafe pread(
                    descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, offset + filled)
                if got < 0, errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got <= 0 { break }
                filled += got
            }
        }
        if failure != 0 { throw .broken("it cannot be read: \(systemReason(failure))") }
        return bytes
    }

    func sync() throws(JournalFailure) {
        if fdatasync(descriptor) != 0 { throw .broken("it cannot be flushed: \(systemReason(errno))") }
    }

    func size() throws(JournalFailure) -> Int {
        let end = lseek(descriptor, 0, SEEK_END)
        if end < 0 { throw .broken("it cannot be examined: \(systemReason(errno))") }
        return end
    }

}
