// SPDX-License-Identifier: Apache-2.0

/// The host of an address that a user entered: a name to look up, or an IP address in any of its spellings.
package enum InternetHost: Hashable, Sendable {
    /// A name in ASCII and lower case, without a trailing dot.
    case name(String)
    case address(IPAddress)

    /// Reads the part between `//` and the port.
    package init(_ text: Substring) throws(OutboundFailure) {
        if text.hasPrefix("[") {
            // A zone names a link of this machine, so an address with a zone is not on the Internet.
            guard text.hasSuffix("]"), !text.contains("%"), text.contains(":"), let address = IPAddress(text) else {
                throw .address("This is not an IPv6 address as RFC 3986 writes it.")
            }
            self = .address(address)
            return
        }
        var name = text.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        guard !name.isEmpty else { throw .address("The address names no host.") }
        var labels: [String] = []
        for label in name.split(separator: ".", omittingEmptySubsequences: false) {
            guard let label = Self.label(label) else { throw .address("The host's name is not a valid DNS name.") }
            labels.append(label)
        }
        name = labels.joined(separator: ".")
        guard name.utf8.count <= 253 else { throw .address("The host's name is not a valid DNS name.") }
        // A host that ends in a number is an IPv4 address to every program that connects, however it is spelled.
        if let last = labels.last, Self.isNumber(last) {
            guard let address = Self.version4(labels) else { throw .address("This is not an IPv4 address.") }
            self = .address(address)
            return
        }
        guard labels.count > 1 else { throw .address("A host of the Internet has a name with a dot.") }
        self = .name(name)
    }

    /// The host as written in a URL.
    package var text: String {
        switch self {
        case .name(let name): name
        case .address(let address): address.bytes.count == 4 ? address.text : "[\(address.text)]"
        }
    }

    private static func label(_ text: Substring) -> String? {
        let fits = text.unicodeScalars.allSatisfy { scalar in
            guard scalar.isASCII else {
                // Letters, their marks and digits; no characters that only look like an ASCII dot, slash or digit.
                return switch scalar.properties.generalCategory {
                case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark, .decimalNumber:
                    !(0xFF00...0xFFEF).contains(scalar.value)
                default: false
                }
            }
            return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-" || scalar == "_"
        }
        guard fits, let label = Punycode.label(String(text)), (1...63).contains(label.utf8.count) else { return nil }
        return label
    }

    /// Reports whether the last label makes the host an IPv4 address (WHATWG URL, "ends in a number").
    private static func isNumber(_ label: String) -> Bool {
        if label.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) { return true }
        return label.hasPrefix("0x") && label.dropFirst(2).allSatisfy(\.isHexDigit)
    }

    /// Reads one to four numbers, decimal, octal or hexadecimal, the last of which fills the remaining bytes
    /// (inet_aton).
    private static func version4(_ labels: [String]) -> IPAddress? {
        guard labels.count <= 4 else { return nil }
        var parts: [Int] = []
        for label in labels {
            guard let part = number(label) else { return nil }
            parts.append(part)
        }
        guard let last = parts.popLast(), parts.allSatisfy({ $0 < 256 }), last < 1 << (8 * (4 - parts.count)) else {
            return nil
        }
        var value = last
        for (index, part) in parts.enumerated() { value += part << (8 * (3 - index)) }
        return IPAddress(bytes: (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) })
    }

    private static func number(_ label: String) -> Int? {
        let (digits, radix): (Substring, Int) =
            if label.hasPrefix("0x") {
                ("0" + label.dropFirst(2), 16)
            } else if label.hasPrefix("0") {
                (label[...], 8)
            } else {
                (label[...], 10)
            }
        // Swift's own parser accepts signs, which addresses do not have.
        guard digits.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 || $0 >= 97 && $0 <= 102 || $0 >= 65 && $0 <= 70 }),
            let number = UInt32(digits, radix: radix)
        else { return nil }
        return Int(number)
    }
}
