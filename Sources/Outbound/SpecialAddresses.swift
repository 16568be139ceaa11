// SPDX-License-Identifier: Apache-2.0

/// A block of addresses at which no host of the public Internet answers, or that leads on to such addresses.
package struct SpecialBlock: Sendable {
    package let range: String
    package let name: String
    package let reference: String

    /// IANA's special-purpose registry for IPv4, and the blocks that never belong to a host.
    package static let version4: [SpecialBlock] = [
        .init("0.0.0.0/8", "this network", "RFC 791 section 3.2"),
        .init("10.0.0.0/8", "private use", "RFC 1918"),
        .init("100.64.0.0/10", "shared address space", "RFC 6598"),
        .init("127.0.0.0/8", "loopback", "RFC 1122 section 3.2.1.3"),
        .init("169.254.0.0/16", "link local, where clouds keep their metadata", "RFC 3927"),
        .init("172.16.0.0/12", "private use", "RFC 1918"),
        .init("192.0.0.0/24", "protocol assignments", "RFC 6890 section 2.1"),
        .init("192.0.2.0/24", "documentation", "RFC 5737"),
        .init("192.31.196.0/24", "AS112", "RFC 7535"),
        .init("192.52.193.0/24", "multicast tunnels (AMT)", "RFC 7450"),
        .init("192.88.99.0/24", "relays of 6to4", "RFC 7526"),
        .init("192.168.0.0/16", "private use", "RFC 1918"),
        .init("192.175.48.0/24", "AS112", "RFC 7534"),
        .init("198.18.0.0/15", "benchmarks", "RFC 2544"),
        .init("198.51.100.0/24", "documentation", "RFC 5737"),
        .init("203.0.113.0/24", "documentation", "RFC 5737"),
        .init("224.0.0.0/4", "multicast", "RFC 5771"),
        .init("240.0.0.0/4", "reserved, and the limited broadcast", "RFC 1112 section 4, RFC 919"),
    ]

    /// The special parts of 2000::/3, the only global unicast space (RFC 4291 section 2.4).
    ///
    /// All other blocks lie outside of it and need no row: ::, ::1, ::a.b.c.d (RFC 4291), 100::/64 (RFC 6666),
    /// 5f00::/16 (RFC 9602), fc00::/7 (RFC 4193), fe80::/10 (RFC 4291), fec0::/10 (RFC 3879), ff00::/8 (RFC 4291), and
    /// 64:ff9b:1::/48 (RFC 8215).
    package static let version6: [SpecialBlock] = [
        .init("2001::/23", "protocol assignments with Teredo, ORCHID and AMT", "RFC 2928, RFC 4380, RFC 7343"),
        .init("2001:db8::/32", "documentation", "RFC 3849"),
        .init("2002::/16", "6to4, which holds an IPv4 address", "RFC 3056, RFC 7526"),
        .init("2620:4f:8000::/48", "AS112", "RFC 7534"),
        .init("3fff::/20", "documentation", "RFC 9637"),
    ]

    private init(_ range: String, _ name: String, _ reference: String) {
        self.range = range
        self.name = name
        self.reference = reference
    }
}

extension IPAddress {
    /// Whether it belongs to a single host on the public Internet: global unicast, and not in a special-purpose block.
    ///
    /// An IPv4 address within IPv6 is judged as the IPv4 address: ::ffff:0:0/96 was already read that way, and
    /// 64:ff9b::/96 is how hosts behind NAT64 reach it (RFC 6052 section 2.1).
    package var isGlobalUnicast: Bool {
        if bytes.count == 4 { return !Self.special4.contains { $0.contains(self) } }
        if Self.translated?.contains(self) == true { return IPAddress(bytes: Array(bytes.suffix(4))).isGlobalUnicast }
        return bytes[0] & 0xE0 == 0x20 && !Self.special6.contains { $0.contains(self) }
    }

    private static let special4 = SpecialBlock.version4.compactMap { AddressRange($0.range) }
    private static let special6 = SpecialBlock.version6.compactMap { AddressRange($0.range) }
    private static let translated = AddressRange("64:ff9b::/96")
}
