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
        guard text.utf8.contains(where: { $0 <= 1 }) else {
            digits(text.utf8.count)
            tag(":")
            bytes.append(contentsOf: text.utf8)
            return
        }
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
        let start = bytes.count
        var rest = number.magnitude
        while rest > 0 {
            bytes.append(UInt8(48 + rest % 10))
            rest /= 10
        }
        bytes[start...].reverse()
    }
}
