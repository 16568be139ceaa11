// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file that is written under another name and gets its own once it is complete: a process that ends at any instant
/// leaves no half-written file in its place.
package struct StagedFile: Sendable {
    package let path: String
    /// The path of the file until then; only its owner can read it.
    package let staged: String

    /// Creates an empty file beside the place of a new one; throws `StorageError.notWritten` when anything is in that
    /// place.
    package init(new path: String) throws {
        let unique = String(UInt32.random(in: .min ... .max), radix: 16)
        (self.path, staged) = (path, "\(path).incomplete-\(unique)")
        guard FileKind(path: path, followsLinks: false) == nil else { throw Self.isThere(path) }
        try create()
    }

    /// Creates an empty file under a name that is reserved for this, after removing what an earlier one left there.
    package init(replacing path: String, staged: String) throws {
        (self.path, self.staged) = (path, staged)
        if let kind = FileKind(path: staged, followsLinks: false), kind != .file, kind != .link {
            throw StorageError.unusable("\(staged) is \(kind.rawValue), where the copy is to be made: remove it.")
        }
        discard()
        try create()
    }

    private func create() throws {
        let descriptor = unsafe open(staged, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure() }
        _ = close(descriptor)
    }

    /// Appends all pieces to the file.
    package func write(_ next: () throws -> [UInt8]?) throws {
        let descriptor = unsafe open(staged, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { _ = close(descriptor) }
        while let piece = try next() {
            var rest = piece[...]
            while !rest.isEmpty {
                // The pointer is used only within the call, and write reads no more than its count.
                let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw failure() }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Gives the file its name, which is on the disk when this returns; throws when something else has got that name.
    package func publish() throws {
        try flush(staged, O_RDONLY)
        if unsafe link(staged, path) == 0 {
            _ = unsafe unlink(staged)
        } else if errno == EEXIST {
            throw Self.isThere(path)
        } else {
            // Some file systems allow only one name for a file.
            guard FileKind(path: path, followsLinks: false) == nil else { throw Self.isThere(path) }
            guard unsafe rename(staged, path) == 0 else { throw failure() }
        }
        try flushFolder()
    }

    /// Replaces another file with this one, on the disk when this returns.
    package func replace() throws {
        try flush(staged, O_RDONLY)
        guard unsafe rename(staged, path) == 0 else { throw failure() }
        try flushFolder()
    }

    /// Removes what was written, and what SQLite may have left beside it.
    package func discard() {
        for suffix in ["", "-journal", "-wal", "-shm"] { _ = unsafe unlink(staged + suffix) }
    }

    private func flushFolder() throws {
        let end = path.lastIndex(of: "/")
        try flush(end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".", O_RDONLY | O_DIRECTORY)
    }

    private func flush(_ name: String, _ flags: CInt) throws {
        let descriptor = unsafe open(name, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { _ = close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure() }
    }

    private func failure() -> StorageError { .notWritten(path: path, reason: systemReason(errno)) }

    private static func isThere(_ path: String) -> StorageError {
        .notWritten(path: path, reason: "it is there already")
    }
}
