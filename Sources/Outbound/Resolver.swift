// SPDX-License-Identifier: Apache-2.0

internal import CResolver
internal import Glibc

/// Finds the addresses of a host.
package protocol Resolver: Sendable {
    /// Returns all addresses of a name, in the order in which to try them; empty when it has none.
    ///
    /// - Parameter asker: whoever named the host; an empty one is the operator.
    /// - Throws: `OutboundFailure.unreachable` if that takes too long.
    func addresses(of name: String, for asker: ByteString) async throws -> [IPAddress]
}

/// The system's own resolver, run on separate threads: it blocks for as long as a name server takes.
package struct SystemResolver: Resolver {
    /// The longest time that a look-up takes, with the turns of others.
    static let patience = Duration.seconds(10)

    private static let lookups = Lookups<[IPAddress]>(width: 16)
    /// How long one name server is waited for, each of two times.
    private static let seconds: Int32 = 2

    package func addresses(of name: String, for asker: ByteString) async throws -> [IPAddress] {
        guard let found = try await Self.lookups.answer(to: ByteString(name), for: asker, { Self.lookUp(name) }) else {
            throw OutboundFailure.unreachable
        }
        return found
    }

    private static func lookUp(_ name: String) -> [IPAddress] {
        kalends_bound_look_ups(seconds)
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var found: [IPAddress] = []
        var next = unsafe list
        // The list belongs to getaddrinfo and is valid until it is freed above; each address is as long as its family
        // says.
        while let entry = unsafe next {
            // In sockaddr_in the address is at byte 4, in sockaddr_in6 at byte 8 (RFC 3493 section 3.3).
            let range: Range<Int>? =
                switch unsafe entry.pointee.ai_family {
                case AF_INET: 4..<8
                case AF_INET6: 8..<24
                default: nil
                }
            if let address = unsafe entry.pointee.ai_addr, let range {
                let bytes = unsafe UnsafeRawBufferPointer(
                    start: UnsafeRawPointer(address) + range.lowerBound, count: range.count)
                found.append(IPAddress(bytes: unsafe Array(bytes)))
            }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }

    package init() {}
}
