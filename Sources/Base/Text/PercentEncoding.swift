// SPDX-License-Identifier: Apache-2.0

/// Encodes text for addresses and forms (RFC 3986 section 2.1): all but unreserved characters become `%XX` of their
/// UTF-8.
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Encodes a path segment, or the name or value of a query or form field.
    package static func encode(_ text: String) -> String {
        // Most names are plain, and a list of a calendar has thousands of them.
        if text.utf8.allSatisfy(isUnreserved) { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Encodes fields in order, as a query or as the body of `application/x-www-form-urlencoded`.
    package static func fields(_ fields: [(String, String)]) -> String {
        fields.map { encode($0) + "=" + encode($1) }.joined(separator: "&")
    }

    /// Returns the text that `encode` turned into this one; nil for anything that `encode` does not write.
    package static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                guard byte == UInt8(ascii: "%"), let high = rest.popFirst().flatMap(digits.firstIndex),
                    let low = rest.popFirst().flatMap(digits.firstIndex)
                else { return nil }
                bytes.append(UInt8(high << 4 | low))
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self), encode(decoded) == String(text) else {
            return nil
        }
        return decoded
    }
}
