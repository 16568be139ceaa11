// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import Outbound
import TestSupport
import Testing

@Suite("Addresses of the public Internet")
struct SpecialAddressTests {
    /// Ranges that Python calls global and we do not.
    private static let stricter: [(range: String, reason: String)] = [
        ("224.0.0.0/4", "multicast: is_global tells of no unicast"),
        ("192.88.99.0/24", "relays of 6to4, retired by RFC 7526"),
        ("192.31.196.0/24", "AS112: whoever is nearest answers"), ("192.175.48.0/24", "AS112"),
        ("192.52.193.0/24", "AMT: tunnels of multicast"), ("192.0.0.0/24", "protocol assignments, with its exceptions"),
        ("2001::/23", "protocol assignments, with the exceptions that the registry calls reachable"),
        ("2002::/16", "6to4 leads to the IPv4 address within"), ("3fff::/20", "newer than this Python"),
        ("2620:4f:8000::/48", "AS112"),
        ("64:ff9b::/96", "NAT64 leads to the IPv4 address within, which Python does not look at"),
    ]

    @Test(
        "No address counts as global that Python's ipaddress does not, and each difference has its reason",
        .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
    func python() async throws {
        var generator = SplitMix(seed: 20_260_302)
        var addresses: [IPAddress] = []
        func random(_ count: Int, _ start: [UInt8] = []) {
            addresses.append(
                IPAddress(
                    bytes: start + (start.count..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }))
        }
        for _ in 0..<2000 {
            random(4)
            random(16)
            random(16, [UInt8.random(in: 0x20...0x3F, using: &generator)])
        }
        for _ in 0..<300 {
            random(16, [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0])
            random(16, [UInt8](repeating: 0, count: 10) + [255, 255])
            random(16, [0x20, 0x01, UInt8.random(in: 0...2, using: &generator)])
            random(16, [0xFE, UInt8.random(in: 0...255, using: &generator)])
        }
        // Both sides of every border.
        for block in SpecialBlock.version4 + SpecialBlock.version6 {
            let parts = block.range.split(separator: "/")
            let (base, length) = (try #require(IPAddress(parts[0])), try #require(Int(parts[1])))
            let (first, last) = (base.bytes, Self.filled(base.bytes, after: length))
            for bytes in [first, last, Self.moved(first, by: -1), Self.moved(last, by: 1)] {
                addresses.append(IPAddress(bytes: bytes))
            }
        }
        let script = packageRoot.appending(path: "Tests/OutboundTests/Oracles/is_global.py").path
        let result = try await runProgram(
            try #require(Programs.python), [script], input: addresses.map(\.text).joined(separator: "\n") + "\n")
        let answers = result.output.split(separator: "\n").map { $0 == "True" }
        try #require(answers.count == addresses.count, "\(result.error)")
        let ranges = try Self.stricter.map { try #require(AddressRange($0.range)) }
        var (both, fewer) = (0, 0)
        for (address, isGlobal) in zip(addresses, answers) {
            if address.isGlobalUnicast {
                both += 1
                #expect(isGlobal, "\(address.text)")
            } else if isGlobal {
                fewer += 1
                // Python calls global what IANA has not given out: there is no global unicast beyond 2000::/3.
                let isBeyond = address.bytes.count == 16 && address.bytes[0] & 0xE0 != 0x20
                #expect(isBeyond || ranges.contains { $0.contains(address) }, "\(address.text)")
            }
        }
        #expect(both > 3000 && fewer > 1000)
    }

    @Test("An address's text is read back as the same address")
    func texts() throws {
        for text in ["8.8.8.8", "2001:4860:4860::8888", "::", "::1", "fe80::1", "64:ff9b::808:808"] {
            let address = try #require(IPAddress(text))
            #expect(IPAddress(address.text) == address)
        }
        #expect(IPAddress("::ffff:10.0.0.1")?.text == "10.0.0.1")
    }

    private static func filled(_ bytes: [UInt8], after length: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            byte | UInt8(truncatingIfNeeded: 0xFF >> min(8, max(0, length - index * 8)))
        }
    }

    private static func moved(_ bytes: [UInt8], by step: Int) -> [UInt8] {
        var (bytes, carry) = (bytes, step)
        for index in bytes.indices.reversed() where carry != 0 {
            let sum = Int(bytes[index]) + carry
            bytes[index] = UInt8(truncatingIfNeeded: sum)
            carry = sum < 0 ? -1 : sum > 255 ? 1 : 0
        }
        return bytes
    }
}
