// SPDX-License-Identifier: Apache-2.0

/// Bytes as lowercase hexadecimal digits (RFC 4648 section 8).
public enum Hexadecimal {
    private static let letters = Array("0123456789abcdef".utf8)

    /// Returns the two digits of a byte, in ASCII.
    public static func digits(of byte: UInt8) -> [UInt8] { [letters[Int(byte >> 4)], letters[Int(byte & 15)]] }

    /// Returns the value of a digit, in upper or lower case; nil for a byte that is not a digit.
    public static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 48...57: digit - 48
        case 65...70: digit - 55
        case 97...102: digit - 87
        default: nil
        }
    }

    /// Returns the digits of all bytes, two for each.
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap(digits), as: UTF8.self)
    }
}
