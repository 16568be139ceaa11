// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
import FoundationEssentials
import Glibc
import Storage

/// The files of the sealing key: the present one, the next one while a rotation is under way, and the former one.
///
/// Whenever a process ends, the files on the disk can open everything that is sealed.
package struct KeyFiles: Sendable {
    /// The file of the present key.
    package let path: String

    package init(path: String) { self.path = path }
    private var next: String { path + ".next" }
    private var former: String { path + ".former" }

    /// Whether a rotation was begun and not finished.
    var isRotating: Bool { isThere(next) }

    /// Returns the key that seals; it can also open what the previous key sealed. If there is no file, a new key is
    /// made.
    package func key() throws(SealingKey.Failure) -> SealingKey {
        guard isRotating else {
            let key = try SealingKey(file: path)
            // Something may have been sealed with the former key at the moment of the change.
            if isThere(former), let former = try? SealingKey(file: former) { key.remember(former) }
            return key
        }
        let key = try SealingKey(file: next)
        // At the end of a rotation, the present file has for a moment already been renamed to the former one.
        let before = isThere(path) ? path : former
        if isThere(before) { key.remember(try SealingKey(file: before)) }
        return key
    }

    /// Makes the next key, unless an interrupted rotation has already made it.
    func makeNext() throws -> SealingKey {
        if !isRotating {
            // The file has another name until all of it is on the disk.
            let part = next + ".part"
            // The string is only read, and so are those below.
            _ = unsafe unlink(part)
            _ = try SealingKey(file: part)
            try rename(part, to: next)
        }
        return try SealingKey(file: next)
    }

    /// Replaces the present key by the next one, and keeps the old one as the former key.
    func finish() throws {
        if isThere(path) { try rename(path, to: former) }
        try rename(next, to: path)
    }

    private func rename(_ file: String, to other: String) throws {
        guard unsafe Glibc.rename(file, other) == 0 else {
            throw StorageError.unusable("\(file) cannot be renamed: \(systemReason(errno)).")
        }
        // The new name is on the disk once its folder is flushed.
        let folder = unsafe open(
            URL(filePath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        guard folder >= 0, fsync(folder) == 0 else {
            throw StorageError.unusable("The folder of \(path) cannot be flushed to the disk.")
        }
    }

    private func isThere(_ file: String) -> Bool { FileKind(path: file, followsLinks: false) != nil }
}
