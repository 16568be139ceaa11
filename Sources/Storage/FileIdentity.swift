// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The identity of a file, whatever it is called: its device and its inode number there.
public struct FileIdentity: Hashable, Sendable {
    public let device: UInt
    public let inode: UInt
    /// How many names (hard links) it has.
    let names: Int
    /// Its length in bytes when its identity was read.
    public let size: Int

    /// Finds the file that a path leads to, following links, or nil.
    public init?(path: String) {
        var status = stat()
        // The path is valid for the call, which fills only the structure that it is given.
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init?(descriptor: CInt) {
        var status = stat()
        // The call fills only the structure that it is given.
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        (device, inode) = (UInt(status.st_dev), UInt(status.st_ino))
        (names, size) = (Int(status.st_nlink), Int(status.st_size))
    }

    public static func == (one: FileIdentity, other: FileIdentity) -> Bool {
        one.device == other.device && one.inode == other.inode
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(inode)
    }

    /// Returns where a symbolic link, or a chain of them, leads; any other path is returned unchanged.
    ///
    /// Companion files, such as SQLite's log, are next to the file itself and not next to its links.
    public static func resolvingLinks(_ path: String) -> String {
        var path = path
        // Linux follows at most 40 links, too.
        for _ in 0..<40 {
            var buffer = [UInt8](repeating: 0, count: 4096)
            // The call gets the true length of the buffer.
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                guard let start = bytes.baseAddress else { return -1 }
                return unsafe readlink(path, start.assumingMemoryBound(to: CChar.self), bytes.count)
            }
            guard count > 0 else { return path }
            let target = String(decoding: buffer.prefix(count), as: UTF8.self)
            let end = path.lastIndex(of: "/")
            path = target.hasPrefix("/") ? target : (end.map { String(path[...$0]) } ?? "") + target
        }
        return path
    }
}
