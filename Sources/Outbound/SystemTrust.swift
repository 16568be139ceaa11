// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOSSL
internal import Synchronization

/// The machine's list of certificate authorities, read once for all clients.
///
/// A client that reads the list by itself keeps a copy of nearly a megabyte for each connection's rules, and spends
/// more time on that than on the request.
enum SystemTrust {
    /// The files in which distributions keep the list, as NIOSSL knows them.
    private static let files = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]

    /// The state of the file that was read.
    private struct Version: Equatable {
        let path: String
        let inode: UInt
        let size: Int
        let seconds: Int
        let nanoseconds: Int

        init?(_ path: String) {
            var found = stat()
            guard unsafe stat(path, &found) == 0 else { return nil }
            self.path = path
            (inode, size) = (UInt(found.st_ino), Int(found.st_size))
            (seconds, nanoseconds) = (found.st_mtim.tv_sec, found.st_mtim.tv_nsec)
        }
    }

    private static let known = Mutex<(version: Version, roots: [NIOSSLCertificate])?>(nil)

    /// The authorities that a client trusts: the current list, or NIOSSL's default where there is no such list.
    static var roots: NIOSSLTrustRoots {
        guard let version = files.lazy.compactMap({ Version($0) }).first else { return .default }
        return known.withLock { known in
            if let known, known.version == version { return .certificates(known.roots) }
            guard let read = try? NIOSSLCertificate.fromPEMFile(version.path), !read.isEmpty else { return .default }
            known = (version, read)
            return .certificates(read)
        }
    }
}
