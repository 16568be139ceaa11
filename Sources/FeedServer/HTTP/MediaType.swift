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

    /// The parts between semicolons; one within quotes is text.
    private static func parts(_ text: String) -> [Substring] {
        var isQuoted = false
        return text.split(omittingEmptySubsequences: false) { character in
            if character == "\"" { isQuoted.toggle() }
            return character == ";" && !isQuoted
        }
    }
}
