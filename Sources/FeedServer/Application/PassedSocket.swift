// SPDX-License-Identifier: Apache-2.0

import Glibc
import Storage

/// A listening socket that the service manager opened for this process (sd_listen_fds(3)).
///
/// It stays open while one server ends and the next one starts: connections wait in its queue, and none is refused.
struct PassedSocket: Sendable {
    let descriptor: CInt
    let port: Int

    /// The first descriptor that is passed.
    private static let first: CInt = 3

    /// The socket that was passed; nil when there is none.
    ///
    /// Throws `StorageError.unusable` when the passed descriptors are not exactly one listening TCP socket.
    ///
    /// - Parameter process: the process that the variables must name; otherwise they were meant for another one.
    static func taken(from environment: [String: String], by process: pid_t = getpid()) throws -> PassedSocket? {
        guard let text = environment["LISTEN_FDS"], environment["LISTEN_PID"] == String(process) else { return nil }
        guard let count = Int(text), count > 0 else { return nil }
        guard count == 1 else {
            throw StorageError.unusable("The service manager passed \(count) sockets; one is taken.")
        }
        guard isListening(first), let port = port(of: first) else {
            throw StorageError.unusable("What the service manager passed is not a listening TCP socket.")
        }
        // Processes that this one starts must not inherit it.
        _ = fcntl(first, F_SETFD, FD_CLOEXEC)
        return PassedSocket(descriptor: first, port: port)
    }

    private static func isListening(_ descriptor: CInt) -> Bool {
        var (value, size): (CInt, socklen_t) = (0, socklen_t(MemoryLayout<CInt>.size))
        // The call writes only the number that it is given.
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value != 0
    }

    /// Nil when the socket is not of an Internet family.
    private static func port(of descriptor: CInt) -> Int? {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        // The larger of both structures, which begin with the same family and port (RFC 3493 section 3.3).
        let isFound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isFound, [sa_family_t(AF_INET), sa_family_t(AF_INET6)].contains(address.sin6_family) else { return nil }
        return Int(UInt16(bigEndian: address.sin6_port))
    }
}
