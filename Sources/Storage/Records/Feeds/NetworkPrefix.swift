// SPDX-License-Identifier: Apache-2.0

/// The network of a reader, shortened so that it identifies no person: /24 of IPv4, /48 of IPv6.
public struct NetworkPrefix: Hashable, Sendable {
    /// The kind of the network, and its prefix in the low 48 bits: only eight bytes, because every access has one.
    public let bits: UInt64

    /// The value for no network, which is the machine itself.
    public static let local = NetworkPrefix(bits: 0)

    private static let four: UInt64 = 4
    private static let six: UInt64 = 6

    /// Restores a network from its `bits`; any other value becomes `local`.
    public init(bits: UInt64) { self.bits = [Self.four, Self.six].contains(bits >> 48) ? bits : 0 }

    /// - Parameter address: 4 or 16 bytes; any other length becomes `local`.
    public init(_ address: [UInt8]) {
        func joined(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        switch address.count {
        case 4: bits = Self.four << 48 | joined(address.prefix(3))
        case 16: bits = Self.six << 48 | joined(address.prefix(6))
        default: bits = 0
        }
    }

    /// The network as `192.0.2.0/24`, `2001:db8:1::/48` or `local`.
    public var text: String {
        func byte(_ index: UInt64) -> UInt64 { bits >> (index * 8) & 0xFF }
        func group(_ index: UInt64) -> String { String(bits >> (index * 16) & 0xFFFF, radix: 16) }
        return switch bits >> 48 {
        case Self.four: "\(byte(2)).\(byte(1)).\(byte(0)).0/24"
        case Self.six: "\(group(2)):\(group(1)):\(group(0))::/48"
        default: "local"
        }
    }
}
