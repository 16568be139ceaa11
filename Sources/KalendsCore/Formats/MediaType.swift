// SPDX-License-Identifier: Apache-2.0

/// What follows a media type or a disposition.
package enum MediaType {
    /// The type itself, in lower case and without its parameters; empty when there is none.
    package static func essence(of text: String?) -> String {
        (text ?? "").pieces(separatedBy: ";", maxSplits: 1, omittingEmpty: false).first.map {
            $0.withoutBlanks.asciiLowercased
        } ?? ""
    }

    /// A parameter, without its quotes; nil when it is not there or says nothing.
    package static func parameter(_ name: String, of text: String) -> String? {
        for parameter in parts(text).dropFirst() {
            let sides = parameter.pieces(separatedBy: "=", maxSplits: 1)
            guard sides.count == 2, sides[0].withoutBlanks.asciiLowercased == name else { continue }
            let value = sides[1].withoutBlanks.utf8.filter { $0 != UInt8(ascii: "\"") }
            return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
        }
        return nil
    }

    /// The charset that a media type names, nil when that can be no charset's name.
    package static func charset(_ text: String) -> String? {
        parameter("charset", of: text).flatMap { name in
            name.utf8.count <= 40 && name.utf8.allSatisfy { $0 > 32 && $0 < 127 } ? name : nil
        }
    }

    /// The parts between semicolons; one within quotes is text.
    private static func parts(_ text: String) -> [Substring] {
        var isQuoted = false
        return Substring(text).utf8.split(omittingEmptySubsequences: false) { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ";") && !isQuoted
        }.map { Substring($0) }
    }
}
