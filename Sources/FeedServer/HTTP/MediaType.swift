// SPDX-License-Identifier: Apache-2.0

/// What stands behind a media type or a disposition.
enum MediaType {
    /// A parameter, without its quotes; nil when it is not there or says nothing.
    static func parameter(_ name: String, of text: String) -> String? {
        for parameter in parts(text).dropFirst() {
            let sides = parameter.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, sides[0].filter({ !$0.isWhitespace }).lowercased() == name else { continue }
            let value = sides[1].filter { $0 != "\"" && !$0.isWhitespace }
            return value.isEmpty ? nil : value
        }
        return nil
    }

    /// The charset that a media type names, nil when that can be no charset's name.
    static func charset(_ text: String) -> String? {
        parameter("charset", of: text).flatMap { name in
            name.utf8.count <= 40 && name.utf8.allSatisfy { $0 > 32 && $0 < 127 } ? name : nil
        }
    }

    /// The parts between semicolons; one within quotes is text.
    private static func parts(_ text: String) -> [Substring] {
        var isQuoted = false
        return text.split(omittingEmptySubsequences: false) { character in
            if character == "\"" { isQuoted.toggle() }
            return character == ";" && !isQuoted
        }
    }
}
