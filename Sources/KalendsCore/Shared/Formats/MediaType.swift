// SPDX-License-Identifier: Apache-2.0

/// Parsing of media types and content dispositions.
package enum MediaType {
    /// Returns the type itself, in lower case and without parameters; empty without one.
    package static func essence(of text: String?) -> String {
        (text ?? "").pieces(separatedBy: ";", maxSplits: 1, omittingEmpty: false).first.map {
            $0.withoutBlanks.asciiLowercased
        } ?? ""
    }

    /// Returns the value of a parameter, without quotes; nil if it is absent or empty.
    package static func parameter(_ name: String, of text: String) -> String? {
        for parameter in parts(text).dropFirst() {
            let sides = parameter.pieces(separatedBy: "=", maxSplits: 1)
            guard sides.count == 2, sides[0].withoutBlanks.asciiLowercased == name else { continue }
            let value = sides[1].withoutBlanks.utf8.filter { $0 != UInt8(ascii: "\"") }
            return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
        }
        return nil
    }

    /// Returns the charset that a media type names; nil if it cannot be the name of a charset.
    package static func charset(_ text: String) -> String? {
        parameter("charset", of: text).flatMap { name in
            name.utf8.count <= 40 && name.utf8.allSatisfy { $0 > 32 && $0 < 127 } ? name : nil
        }
    }

    /// Returns the parts between semicolons; a semicolon within quotes does not separate.
    private static func parts(_ text: String) -> [Substring] {
        var isQuoted = false
        return Substring(text).utf8.split(omittingEmptySubsequences: false) { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ";") && !isQuoted
        }.map { Substring($0) }
    }
}
