// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Which file it is, whatever it is called: its device and its number there.
public struct FileIdentity: Hashable, Sendable {
    public let device: UInt
    public let inode: UInt
    /// How many names it has on its disk.
    let names: Int
    /// Its length when it was looked at, in bytes.
    public let size: Int

    /// The file that a path leads to, through links; nil when there is none.
    public init?(path: String) {
        var status = stat()
        // The path is valid for the call, which fills the one structure that it is given.
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init?(descriptor: CInt) {
        var status = stat()
        // The call fills the one structure that it is given.
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

    /// Where a path ends that is a symbolic link, or a chain of them; any other path as it is.
    ///
    /// What lies beside a file lies beside the file itself, and not beside its links.
    public static func resolvingLinks(_ path: String) -> String {
        var path = path
        // As many as Linux follows.
        for _ in 0..<40 {
            var buffer = [UInt8](repeating: 0, count: 4096)
            // The buffer has the length that the call is given.
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
