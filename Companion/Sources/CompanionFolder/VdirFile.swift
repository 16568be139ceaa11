// SPDX-License-Identifier: Apache-2.0

import Foundation
import KalendsCompanion

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A file of a calendar, which is read and replaced as a whole, as the vdir format requires.
struct VdirFile {
    let path: String

    /// The maximum number of bytes that are read from a file.
    static let longest = 2 << 20

    /// The attributes that change whenever the file does.
    struct Version: Hashable {
        var inode: UInt64
        var size: Int
        var seconds: Int
        var nanoseconds: Int

        /// Milliseconds since 1970.
        var changedAt: Int { seconds * 1000 + nanoseconds / 1_000_000 }
    }

    /// Nil when there is no such file, or when the name belongs to something else.
    var version: Version? {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        return Version(
            inode: UInt64(status.st_ino), size: Int(status.st_size), seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }

    /// Returns the file's bytes; nil when the file does not exist.
    func read() throws(StoreFailure) -> [UInt8]? {
        guard let version else { return nil }
        guard version.size <= Self.longest else { throw .temporary("A file of the calendar is too large.") }
        guard let data = FileManager.default.contents(atPath: path) else {
            // Either the file was deleted in between, or it may not be read.
            if self.version == nil { return nil }
            throw .temporary("A file of the calendar cannot be read.")
        }
        return Array(data)
    }

    /// Replaces the file's bytes; other programs see either the old file or the new one.
    func write(_ bytes: [UInt8]) throws(StoreFailure) {
        let name = (path as NSString).lastPathComponent
        let draft = "\((path as NSString).deletingLastPathComponent)/.\(name).\(UUID().uuidString).tmp"
        // The mode follows the person's umask, like that of the other files.
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw errno == EACCES || errno == EROFS ? .readOnly : .temporary("No file.") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: Data(bytes))
            try handle.synchronize()
            try handle.close()
        } catch {
            _ = unsafe unlink(draft)
            throw .temporary("A file of the calendar cannot be written.")
        }
        guard unsafe rename(draft, path) == 0 else {
            _ = unsafe unlink(draft)
            throw .temporary("A file of the calendar cannot be written.")
        }
    }

    /// Deletes the file; it is not an error if the file no longer exists.
    func remove() throws(StoreFailure) {
        guard unsafe unlink(path) != 0, errno != ENOENT else { return }
        throw errno == EACCES || errno == EROFS ? .readOnly : .temporary("A file of the calendar cannot be removed.")
    }
}
