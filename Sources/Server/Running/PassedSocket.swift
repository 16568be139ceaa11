// SPDX-License-Identifier: Apache-2.0

package import Glibc
import KalendsCore
import Storage

/// A listening socket that the service manager opened for this process (sd_listen_fds(3)).
///
/// It stays open while one server ends and the next one starts: connections wait in its queue, and none is refused.
package struct PassedSocket: Sendable {
    let descriptor: CInt
    package let port: Int
    /// Whether only this machine reaches it.
    let isLoopback: Bool

    /// The first descriptor that is passed.
    private static let first: CInt = 3

    /// The socket that was passed, or nil.
    ///
    /// Throws `StorageError.unusable` when the passed descriptors are not exactly one listening TCP socket.
    ///
    /// - Parameter process: the process that the variables must name; otherwise they were meant for another one.
    package static func taken(from environment: [String: String], by process: pid_t = getpid()) throws -> PassedSocket?
    {
        guard let text = environment["LISTEN_FDS"], environment["LISTEN_PID"] == String(process) else { return nil }
        guard let count = Int(text), count > 0 else { return nil }
        guard count == 1 else {
            throw StorageError.unusable("The service manager passed \(count) sockets; one is taken.")
        }
        guard isListening(first), let (port, address) = endpoint(of: first) else {
            throw StorageError.unusable("What the service manager passed is not a listening TCP socket.")
        }
        // Processes that this one starts must not inherit it.
        _ = fcntl(first, F_SETFD, FD_CLOEXEC)
        return PassedSocket(descriptor: first, port: port, isLoopback: address.isLoopback)
    }

    private static func isListening(_ descriptor: CInt) -> Bool {
        var (value, size): (CInt, socklen_t) = (0, socklen_t(MemoryLayout<CInt>.size))
        // The call writes only the number that it is given.
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value != 0
    }

    /// Nil when the socket is not of an Internet family.
    private static func endpoint(of descriptor: CInt) -> (port: Int, address: IPAddress)? {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        // The larger of both structures, which begin with the same family and port (RFC 3493 section 3.3).
        let isFound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isFound, [sa_family_t(AF_INET), sa_family_t(AF_INET6)].contains(address.sin6_family) else { return nil }
        // The four bytes of an IPv4 address are where the other structure has its flow information.
        let bytes: [UInt8] =
            if address.sin6_family == sa_family_t(AF_INET) {
                unsafe withUnsafeBytes(of: address.sin6_flowinfo) { unsafe Array($0) }
            } else {
                unsafe withUnsafeBytes(of: address.sin6_addr) { unsafe Array($0) }
            }
        return (Int(UInt16(bigEndian: address.sin6_port)), IPAddress(bytes: bytes))
    }
}

extension ServerSettings {
    /// Throws where a strict server would speak to other machines without TLS through a socket that was passed.
    package func checkStrictly(passed socket: PassedSocket?) throws {
        guard isStrict, tlsCertificate == nil, let socket, !socket.isLoopback else { return }
        throw Invalid(faults: [
            """
            strict allows a port without TLS only on this machine: give tlsCertificate and tlsKey, or 127.0.0.1 in \
            ListenStream of kalends.socket (systemctl edit kalends.socket).
            """
        ])
    }
}
