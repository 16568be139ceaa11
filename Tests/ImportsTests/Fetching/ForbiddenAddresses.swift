// SPDX-License-Identifier: Apache-2.0

import Base

@testable import ServerTestSupport

/// Addresses that must not lead to a connection, in every spelling that has worked as an attack elsewhere.
enum ForbiddenAddresses {
    static let version4 = [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.254", "127.0.0.1", "127.1.2.3",
        "169.254.169.254", "169.254.0.1", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1",
        "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.7",
        "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "100.100.100.200",
    ]

    static let version6 = [
        "::", "::1", "::2", "0:0:0:0:0:0:0:1", "fe80::1", "fe80::a9fe:a9fe", "febf::1", "fe90::1", "fec0::1", "feff::1",
        "fc00::1", "fd00:ec2::254", "fdff::1", "ff02::1", "ff0e::1", "100::1", "2001::1", "2001:0:4136:e378::1",
        "2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff::1", "2001:db8::1", "2002::1", "2002:7f00:1::1",
        "3fff::1", "3fff:fff::1", "5f00::1", "4000::1", "1fff::1", "64:ff9b:1::1", "64:ff9b::", "64:ff9a::1",
        "::ffff:0:127.0.0.1", "fe80::1%25lo", "fe80::1%lo", "::1%25eth0", "2620:4f:8000::1",
    ]

    /// Hosts as they are spelled in URLs.
    static var hosts: [String] {
        version4.flatMap(spellings) + version6.map { "[\($0)]" } + [
            "localhost", "LOCALHOST", "localhost.", "localhost.localdomain", "intranet", "metadata",
            "metadata.google.internal", "127.0.0.1.nip.io", "localtest.me", "router.local", "example.localhost",
            // Full-width digits, other digits, and what other programs take for a dot.
            "１２７.0.0.1", "127。0。0。1", "127．0．0．1", "①②⑦.0.0.1", "١٢٧.0.0.1", "0x7f000001", "0x7F.1", "0177.1",
            "127.1", "127.0.1", "2130706433", "017700000001", "0", "0x0", "00", "0.0", "127.0.0.1.", "256.1.1.1",
            "1.2.3.4.5", "1.2.3.999", "0x100000000", "4294967296", "09.0.0.1", "1..2", ".127.0.0.1", "127.0.0.1..",
            "a..b", "-", "%31%32%37.0.0.1", "127%2e0%2e0%2e1", "[127.0.0.1]", "[::1", "::1", "[]", "[::1]]", "",
        ]
    }

    /// Whole addresses in which something other than the host is wrong, or not only the host.
    static let urls = [
        "http://cal.example/a.ics", "HTTP://cal.example/", "file:///etc/passwd", "ftp://cal.example/a",
        "//cal.example/a",
        "gopher://cal.example:70/_x", "dict://cal.example:11211/stat", "javascript:alert(1)", "data:text/calendar,x",
        "unix:///run/x.sock", "http+unix://%2Frun%2Fx/", "https+unix://%2Frun%2Fx/", "jar:https://cal.example!/x", "",
        "https:", "https:/", "https://", "https:///a.ics", "https:cal.example", "https:/cal.example/a", "cal.example/a",
        "https://user@cal.example/", "https://user:secret@cal.example/", "https://@cal.example/",
        "https://:@cal.example/",
        "https://cal.example@127.0.0.1/", "https://127.0.0.1@cal.example/", "https://cal.example:443@10.0.0.1/a",
        "https://cal.example\\@127.0.0.1/", "https://127.0.0.1\\@cal.example/", "https://cal.example\\.evil/",
        "https:\\\\cal.example\\a", "https://cal.example\t/", "https://cal.exa\nmple/", "https://cal.example /a",
        "https://cal.exa mple/a b", "https://cal.example/a\r\nHost: x", "https://cal.exam\u{0}ple/",
        "https://cal.example\u{7F}/",
        "https://cal.example:22/", "https://cal.example:25/", "https://cal.example:53/", "https://cal.example:0/",
        "https://cal.example:1023/", "https://cal.example:65536/", "https://cal.example:-1/",
        "https://cal.example:+443/",
        "https://cal.example:443x/", "https://cal.example:0443000/", "https://cal.example:4 43/",
        "https://cal.example:٤٤٣/",
        "https://127.0.0.1:443/", "https://127.0.0.1?cal.example", "https://127.0.0.1#cal.example", "https://cal/a.ics",
        "https://[::1]:8443/", "https://[::ffff:127.0.0.1]:8443/a", "webcal://127.0.0.1/a.ics", "webcals://[::1]/a.ics",
        "https://10.0.0.1:8080/admin?cal.example", "https://cal.example%00.127.0.0.1/",
        "https://cal.example%2f@10.0.0.1/",
        "https://cal\u{2025}example/", "https://cal.example\u{FF0F}@10.0.0.1/", "https://cal.example\u{2044}a/",
    ]

    private static func spellings(_ text: String) -> [String] {
        guard let address = IPAddress(text) else { return [] }
        let bytes = address.bytes.map { Int($0) }
        let whole = bytes.reduce(0) { $0 << 8 | $1 }
        func hex(_ number: Int) -> String { String(number, radix: 16) }
        let (high, low) = (hex(bytes[0] << 8 | bytes[1]), hex(bytes[2] << 8 | bytes[3]))
        let inverted = bytes.map { 255 - $0 }
        return [
            text, "\(text).", String(whole), "0x\(hex(whole))", "0X\(hex(whole).uppercased())",
            "0\(String(whole, radix: 8))",
            bytes.map { "0" + String($0, radix: 8) }.joined(separator: "."),
            bytes.map { "000" + String($0, radix: 8) }.joined(separator: "."),
            bytes.map { "0x" + hex($0) }.joined(separator: "."), "\(bytes[0]).\(whole & 0xFF_FFFF)",
            "\(bytes[0]).\(bytes[1]).\(whole & 0xFFFF)",
            "\(bytes[0]).0x\(hex(bytes[1])).0\(String(bytes[2], radix: 8)).\(bytes[3])",
            "[::ffff:\(text)]", "[::ffff:\(high):\(low)]", "[0:0:0:0:0:FFFF:\(high):\(low)]", "[::\(text)]",
            "[64:ff9b::\(text)]", "[64:ff9b::\(high):\(low)]", "[64:ff9b:1::\(text)]", "[2002:\(high):\(low)::1]",
            "[2001:0:808:808:0:0:\(hex(inverted[0] << 8 | inverted[1])):\(hex(inverted[2] << 8 | inverted[3]))]",
        ]
    }
}
