// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The kind of file at a path, in words.
public enum FileKind: String, Sendable {
    case file = "a file"
    case folder = "a folder"
    case link = "a symbolic link"
    case socket = "a socket"
    case pipe = "a pipe"
    case device = "a device"

    /// Looks at a path; nil when nothing is there.
    ///
    /// - Parameter followsLinks: whether a symbolic link is followed.
    public init?(path: String, followsLinks: Bool) {
        var status = stat()
        // The path is valid for the call, which fills only the structure that it is given.
        let found = followsLinks ? unsafe stat(path, &status) : unsafe lstat(path, &status)
        guard found == 0 else { return nil }
        self =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            case S_IFSOCK: .socket
            case S_IFIFO: .pipe
            default: .device
            }
    }

    /// Checks like `requireFile`, and checks the files that SQLite keeps beside a database, too: it would wait for a
    /// pipe forever.
    package static func requireDatabase(_ path: String) throws {
        try requireFile(path)
        for suffix in ["-wal", "-shm", "-journal"] {
            guard let kind = FileKind(path: path + suffix, followsLinks: false), kind != .file else { continue }
            throw StorageError.unusable(
                "\(path)\(suffix) is \(kind.rawValue), where SQLite keeps a file of its own: remove it.")
        }
    }

    /// Throws when something other than a file is at a path; a path where nothing is passes.
    package static func requireFile(_ path: String) throws {
        guard let kind = FileKind(path: path, followsLinks: true), kind != .file else { return }
        throw StorageError.unusable("\(path) cannot be opened as a database: it is \(kind.rawValue).")
    }
}
