// SPDX-License-Identifier: Apache-2.0

/// Translations of English sentences about calendar files: one line `English => other` for each, with placeholders in
/// `{braces}`.
struct Phrases: Sendable {
    private struct Phrase: Sendable {
        let before: [UInt8]
        /// The names of the placeholders, each with the bytes that follow it.
        let inserts: [(name: String, after: [UInt8])]
        let text: String
    }

    private let phrases: [Phrase]

    static let german = Phrases(PageFiles.germanPhrases)

    init(_ bytes: [UInt8]) {
        phrases = bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let arrow = Array(" => ".utf8)
            guard line.first != UInt8(ascii: "#"), let middle = line.firstRange(of: arrow) else { return nil }
            var before: [UInt8] = []
            var inserts: [(name: String, after: [UInt8])] = []
            for piece in Words.pieces(of: String(decoding: line[..<middle.lowerBound], as: UTF8.self)) {
                switch piece {
                case .text(let text):
                    if inserts.isEmpty {
                        before = Array(text.utf8)
                    } else {
                        inserts[inserts.count - 1].after = Array(text.utf8)
                    }
                case .name(let name): inserts.append((name, []))
                }
            }
            return Phrase(
                before: before, inserts: inserts, text: String(decoding: line[middle.upperBound...], as: UTF8.self))
        }
    }

    /// A sentence in the other language; nil for an unknown one, such as a message from another program.
    subscript(_ sentence: String) -> String? { self[Array(sentence.utf8)[...]] }

    /// Text that a stranger chose may be between the pieces, so bytes are compared.
    private subscript(_ sentence: ArraySlice<UInt8>) -> String? {
        for phrase in phrases {
            guard let values = Self.values(phrase, in: sentence) else { continue }
            var inserts: [String: String] = [:]
            for (insert, value) in zip(phrase.inserts, values) {
                guard insert.name != "sentence" else {
                    guard let known = self[value] else { return nil }
                    inserts[insert.name] = known
                    continue
                }
                inserts[insert.name] = Self.number(value) ?? String(decoding: value, as: UTF8.self)
            }
            return Words.pieces(of: phrase.text).map { piece in
                switch piece {
                case .text(let text): text
                case .name(let name): inserts[name] ?? ""
                }
            }.joined()
        }
        return nil
    }

    private static func values(_ phrase: Phrase, in sentence: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        guard sentence.starts(with: phrase.before) else { return nil }
        var rest = sentence.dropFirst(phrase.before.count)
        var values: [ArraySlice<UInt8>] = []
        for (index, insert) in phrase.inserts.enumerated() {
            if index == phrase.inserts.count - 1 {
                // The last placeholder takes everything before the end of the phrase.
                guard rest.count > insert.after.count, rest.suffix(insert.after.count).elementsEqual(insert.after)
                else {
                    return nil
                }
                values.append(rest.dropLast(insert.after.count))
                rest = rest[rest.endIndex...]
            } else {
                guard let next = rest.firstRange(of: insert.after), next.lowerBound > rest.startIndex else {
                    return nil
                }
                values.append(rest[..<next.lowerBound])
                rest = rest[next.upperBound...]
            }
        }
        return rest.isEmpty ? values : nil
    }

    /// A number with the other language's thousands separator.
    private static func number(_ text: ArraySlice<UInt8>) -> String? {
        let digits = text.filter { $0 != UInt8(ascii: ",") }
        guard digits.count < text.count, digits.count <= 18, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(String(decoding: digits, as: UTF8.self)).map(Words.of(.german).number)
    }
}

extension Words {
    /// A sentence about a calendar file in this language.
    ///
    /// - Returns: The sentence, and its language if it could not be translated.
    public func phrase(_ sentence: String) -> (text: String, foreign: Language?) {
        guard language == .german else { return (sentence, nil) }
        return Phrases.german[sentence].map { ($0, nil) } ?? (sentence, .english)
    }
}

extension RenderContext {
    /// A sentence about a calendar file, marked if its language is not the page's.
    func phrase(_ sentence: String) -> Node {
        let (text, foreign) = words.phrase(sentence)
        return ["text": .text(text), "lang": .text(foreign?.rawValue)]
    }
}
