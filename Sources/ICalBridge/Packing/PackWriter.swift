// SPDX-License-Identifier: Apache-2.0

/// Writes values in a compact form of our own, for processes of one program and for its database.
///
/// The form is UTF-8 without NUL; equal values give equal bytes, and `PackReader` returns exactly what was written. A
/// number is its digits and `;`; a text is its length in bytes, `:` and its bytes; a record is a list of fields, each
/// with a letter before it, and ends with a full stop. Absent fields are not written, so that a record can gain fields.
public struct PackWriter: Sendable {
    public private(set) var bytes: [UInt8] = []
    /// Zones are written once, and then named by their number.
    var zones: [TimeZoneReference: Int] = [:]

    public init() {}

    /// The written bytes as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    public mutating func tag(_ letter: Unicode.Scalar) { bytes.append(UInt8(ascii: letter)) }

    public mutating func write(_ number: Int) {
        digits(number)
        tag(";")
    }

    public mutating func write(_ text: String) {
        // A text's own bytes are looked at and copied at once, which one byte at a time takes many times as long.
        var plain = text
        let isPlain = plain.withUTF8 { content in
            guard unsafe !content.contains(where: { $0 <= 1 }) else { return false }
            digits(content.count)
            tag(":")
            unsafe bytes.append(contentsOf: content)
            return true
        }
        if isPlain { return }
        // A database's text cannot hold NUL: it is written as 1 and 1, and 1 is written as 1 and 2.
        var escaped: [UInt8] = []
        for byte in text.utf8 {
            if byte <= 1 { escaped += [1, byte + 1] } else { escaped.append(byte) }
        }
        digits(escaped.count)
        tag("!")
        bytes += escaped
    }

    public mutating func write<Element>(_ elements: [Element], _ body: (inout PackWriter, Element) -> Void) {
        write(elements.count)
        for element in elements { body(&self, element) }
    }

    mutating func write(_ numbers: [Int]) { write(numbers) { $0.write($1) } }

    /// Writes a text field; nothing for nil.
    public mutating func field(_ letter: Unicode.Scalar, _ text: String?) {
        guard let text else { return }
        tag(letter)
        write(text)
    }

    /// Writes a number field; nothing for nil.
    public mutating func field(_ letter: Unicode.Scalar, _ number: Int?) {
        guard let number else { return }
        tag(letter)
        write(number)
    }

    private mutating func digits(_ number: Int) {
        guard number > 9 || number < 0 else { return bytes.append(UInt8(48 + number)) }
        if number < 0 { tag("-") }
        let magnitude = number.magnitude
        var place: UInt = 1
        while magnitude / place >= 10 { place *= 10 }
        while place > 0 {
            bytes.append(UInt8(48 + magnitude / place % 10))
            place /= 10
        }
    }
}
