// SPDX-License-Identifier: Apache-2.0

/// Words in one language: a line `key = text` for each text, in which a value replaces `{name}`.
package struct WordFile: Sendable {
    package enum Piece: Sendable {
        case text(String)
        case name(String)
    }

    package private(set) var texts: [String: String] = [:]

    /// - Parameter isKept: whether a key's text is kept.
    package init(_ bytes: [UInt8], keeping isKept: (String) -> Bool = { _ in true }) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
            guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let key = String(decoding: line[..<sign].filter { $0 != UInt8(ascii: " ") }, as: UTF8.self)
            guard isKept(key) else { continue }
            let text = String(decoding: line[(sign + 1)...].drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
            precondition(texts.updateValue(text, forKey: key) == nil, "The word \(key) is there twice.")
        }
    }

    /// Returns a text with values inserted by name.
    package static func filled(_ text: String, _ values: [String: String]) -> String {
        pieces(of: text).map { piece in
            switch piece {
            case .text(let text): text
            case .name(let name): values[name] ?? ""
            }
        }.joined()
    }

    /// Returns one of the texts that `|` separates, counted from 0; empty if there are fewer.
    package static func choice(_ text: String, _ index: Int) -> String {
        let all = text.utf8.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
        return all.indices.contains(index) ? String(decoding: all[index], as: UTF8.self) : ""
    }

    package static func pieces(of text: String) -> [Piece] {
        var pieces: [Piece] = []
        var rest = text[...]
        while let open = rest.utf8.firstIndex(of: UInt8(ascii: "{")),
            let close = rest[open...].utf8.firstIndex(of: UInt8(ascii: "}"))
        {
            if open > rest.startIndex { pieces.append(.text(String(rest[..<open]))) }
            pieces.append(.name(String(rest[rest.index(after: open)..<close])))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        return pieces
    }
}
