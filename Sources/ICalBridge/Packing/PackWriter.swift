// SPDX-License-Identifier: Apache-2.0

/// Writes values in a compact form of our own, for processes of one program and for its database.
///
/// It is UTF-8 without NUL, equal values give equal bytes, and `PackReader` gives back what was written, exactly. A
/// number is its digits and `;`, a text its length in bytes, `:` and its bytes; a record is fields, each with a letter
/// before it, up to a full stop. What is not there is not written, so that a record can gain fields.
public struct PackWriter: Sendable {
    public private(set) var bytes: [UInt8] = []
    /// Zones are written once, and then named by their number.
    var zones: [TimeZoneReference: Int] = [:]

    public init() {}

    /// What was written, as text.
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
        // NUL has no place in a database's text: it is 1 and 1, and 1 is 1 and 2.
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

    /// A field that is a text, when there is one.
    public mutating func field(_ letter: Unicode.Scalar, _ text: String?) {
        guard let text else { return }
        tag(letter)
        write(text)
    }

    /// A field that is a number, when there is one.
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
