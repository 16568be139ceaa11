// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import FoundationEssentials
import Glibc
import Storage

/// The files of the sealing key: the present one, the next one while a rotation is under way, and the former one.
///
/// At whatever moment a process ends, the files that are there open everything that is sealed.
struct KeyFiles: Sendable {
    /// The present one.
    let path: String
    private var next: String { path + ".next" }
    private var former: String { path + ".former" }

    /// Whether a rotation began that did not come to its end.
    var isRotating: Bool { isThere(next) }

    /// The key that seals; it also opens what the key before it sealed. When no file is there, a new key is made.
    func key() throws(SealingKey.Failure) -> SealingKey {
        guard isRotating else {
            let key = try SealingKey(file: path)
            // Something may have been sealed with it at the very moment of the change.
            if isThere(former), let former = try? SealingKey(file: former) { key.remember(former) }
            return key
        }
        let key = try SealingKey(file: next)
        // At the end of a rotation the present one is the former already, for a moment.
        let before = isThere(path) ? path : former
        if isThere(before) { key.remember(try SealingKey(file: before)) }
        return key
    }

    /// Makes the next key, unless a rotation that was broken off made it already.
    func makeNext() throws -> SealingKey {
        if !isRotating {
            // Under another name until all of it is on the disk.
            let part = next + ".part"
            // The string is only read, as those below are.
            _ = unsafe unlink(part)
            _ = try SealingKey(file: part)
            try rename(part, to: next)
        }
        return try SealingKey(file: next)
    }

    /// Puts the next key in the place of the present one, which is kept.
    func finish() throws {
        if isThere(path) { try rename(path, to: former) }
        try rename(next, to: path)
    }

    private func rename(_ file: String, to other: String) throws {
        guard unsafe Glibc.rename(file, other) == 0 else {
            throw StorageError.unusable("\(file) cannot be renamed: \(systemReason(errno)).")
        }
        // The name is on the disk with its folder.
        let folder = unsafe open(
            URL(filePath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        guard folder >= 0, fsync(folder) == 0 else {
            throw StorageError.unusable("The folder of \(path) cannot be flushed to the disk.")
        }
    }

    private func isThere(_ file: String) -> Bool { FileKind(path: file, followsLinks: false) != nil }
}
