// SPDX-License-Identifier: Apache-2.0

import Glibc
import HTTPTypes
import Hummingbird
import NIOCore
import Storage

/// An IP address as its bytes: 4 or 16.
struct IPAddress: Hashable, Sendable {
    let bytes: [UInt8]

    /// Reads an address in text, brackets and zone allowed; IPv4 within IPv6 is IPv4.
    init?(_ text: some StringProtocol) {
        // Longer than any address with its zone: not looked at.
        guard text.utf8.count <= 128 else { return nil }
        let plain = text.utf8.prefix { $0 != UInt8(ascii: "%") }
            .filter { $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") && $0 != UInt8(ascii: " ") }
        let text = String(decoding: plain, as: UTF8.self)
        // inet_pton writes 4 or 16 bytes into a buffer of that size.
        var buffer = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET, text, &buffer) == 1 {
            bytes = Array(buffer.prefix(4))
        } else if unsafe inet_pton(AF_INET6, text, &buffer) == 1 {
            let isMapped = buffer.prefix(10).allSatisfy { $0 == 0 } && buffer[10] == 255 && buffer[11] == 255
            bytes = isMapped ? Array(buffer.suffix(4)) : buffer
        } else {
            return nil
        }
    }

    /// - Parameter bytes: 4 or 16, in network order; IPv4 within IPv6 is IPv4.
    init(bytes: [UInt8]) {
        let isMapped =
            bytes.count == 16 && bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 255 && bytes[11] == 255
        self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
    }

    /// As `init(_:)` reads it, IPv6 with all of its eight groups.
    var text: String {
        if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
        return stride(from: 0, to: bytes.count, by: 2)
            .map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }.joined(separator: ":")
    }

    /// The network it is in, shortened so that it names no person: /24 of IPv4, /48 of IPv6.
    var network: String { prefix.text }

    /// As `network`, as it is recorded.
    var prefix: NetworkPrefix { NetworkPrefix(bytes) }
}

/// A range of addresses, `10.0.0.0/8` or a single one.
struct AddressRange: Hashable, Sendable {
    private let base: IPAddress
    private let length: Int

    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let base = IPAddress(parts[0]) else { return nil }
        self.base = base
        let full = base.bytes.count * 8
        guard parts.count == 2 else {
            length = full
            return
        }
        guard let length = Int(parts[1]), (0...full).contains(length) else { return nil }
        self.length = length
    }

    func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == base.bytes.count else { return false }
        for (index, pair) in zip(address.bytes, base.bytes).enumerated() {
            let bits = min(8, max(0, length - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            if pair.0 & mask != pair.1 & mask { return false }
        }
        return true
    }
}

extension ServerSettings {
    /// The address of who really asks: that of the connection, or what a trusted proxy says of it.
    func clientAddress(_ request: Request, _ context: KalendsContext) -> IPAddress? {
        clientAddress(IPAddress(context.remoteAddress), forwardedFor: request.headers[values: .xForwardedFor])
    }

    /// - Parameter forwardedFor: the values of X-Forwarded-For.
    func clientAddress(_ direct: IPAddress?, forwardedFor: [String]) -> IPAddress? {
        guard let direct, isTrustedProxy(direct) else { return direct }
        // From the right: each proxy appends whom it saw, and what stands further left may be invented.
        let chain = forwardedFor.flatMap { $0.pieces(separatedBy: ",") }.map { IPAddress($0) }
        var nearest = direct
        for hop in chain.reversed() {
            guard let hop else { break }
            nearest = hop
            if !isTrustedProxy(hop) { break }
        }
        return nearest
    }

    func isTrustedProxy(_ address: IPAddress) -> Bool { trustedProxies.contains { $0.contains(address) } }
}

extension IPAddress {
    /// The address at the other end of a connection; nil for a local socket.
    init?(_ socket: SocketAddress?) {
        guard let address = socket?.ipAddress.flatMap({ IPAddress($0) }) else { return nil }
        self = address
    }
}

extension HTTPField.Name {
    static let xForwardedFor = HTTPField.Name("X-Forwarded-For") ?? .from
}
