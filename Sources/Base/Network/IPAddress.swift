// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// An IP address as 4 or 16 bytes.
public struct IPAddress: Hashable, Sendable {
    package let bytes: [UInt8]

    /// Reads an address from text, with or without brackets and zone; an IPv4-mapped IPv6 address becomes IPv4.
    public init?(_ text: some StringProtocol) {
        // A text longer than any address with its zone is refused unread.
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

    /// Whether the address is this machine's own: 127.0.0.0/8 or ::1.
    public var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// - Parameter bytes: 4 or 16, in network order; an IPv4-mapped IPv6 address becomes IPv4.
    package init(bytes: [UInt8]) {
        let isMapped =
            bytes.count == 16 && bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 255 && bytes[11] == 255
        self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
    }

    /// The address in a form that `init(_:)` reads, IPv6 with all eight groups.
    package var text: String {
        if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
        return stride(from: 0, to: bytes.count, by: 2)
            .map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }.joined(separator: ":")
    }
}
