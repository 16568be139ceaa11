// SPDX-License-Identifier: Apache-2.0

/// Bytes as hexadecimal digits in lower case (RFC 4648 section 8).
package enum Hexadecimal {
    private static let letters = Array("0123456789abcdef".utf8)

    /// The two digits of a byte, in ASCII.
    package static func digits(of byte: UInt8) -> [UInt8] { [letters[Int(byte >> 4)], letters[Int(byte & 15)]] }

    /// The digits of all bytes, two for each.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap(digits), as: UTF8.self)
    }
}
