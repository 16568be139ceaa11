// SPDX-License-Identifier: Apache-2.0

import ProgramFiles

/// All texts in one language: a line `key = text` for each, `key#one`, `key#other` and so on for texts that depend on a
/// number, and `{name}` for inserted values.
public struct Words: Sendable {
    /// A form of texts that depend on a number, and numbers that have it.
    private struct Form {
        let name: String
        /// Whole numbers, or the remainders of numbers by a power of ten; none for the form of all other numbers.
        let numbers: [(value: Int, modulus: Int?)]

        /// - Parameter text: the form's name and its numbers, separated by spaces, such as `few *2 *3`.
        init(_ text: Substring.UTF8View) {
            let parts = text.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            name = parts.first ?? "other"
            numbers = parts.dropFirst().compactMap { part in
                let digits = part.hasPrefix("*") ? part.dropFirst() : part[...]
                guard let value = Int(digits) else { return nil }
                return (value, part.hasPrefix("*") ? digits.utf8.reduce(1) { power, _ in power * 10 } : nil)
            }
        }

        func has(_ count: Int) -> Bool {
            numbers.isEmpty || numbers.contains { $0.value == $0.modulus.map { count % $0 } ?? count }
        }
    }

    public let language: Language
    private let texts: [String: String]
    private let forms: [Form]

    private static let english = Words(.english)
    private static let all = Dictionary(uniqueKeysWithValues: Language.allCases.map { ($0, Words($0)) })

    public static func of(_ language: Language) -> Words { all[language] ?? english }

    private init(_ language: Language) {
        let bytes = PageFiles.words.first { $0.0.isSameText(as: language.rawValue) }?.1 ?? []
        self.language = language
        var texts = WordFile(bytes).texts
        for (key, text) in PageFiles.options where key.hasSuffix("@\(language.rawValue)") {
            texts[String(key.dropLast(language.rawValue.utf8.count + 1))] = text
        }
        self.texts = texts
        forms = (texts["plural"] ?? "").utf8.split(separator: UInt8(ascii: "|")).map { Form($0) }
    }

    /// All keys, including their plural suffixes.
    public var keys: Set<String> { Set(texts.keys) }

    /// The names of the language's plural forms, as they are behind the `#` of a key.
    public var pluralForms: Set<String> { Set(forms.map(\.name)) }

    /// The text of a key; the key itself if the text is missing, which a test prevents.
    public subscript(_ key: String) -> String { texts[key] ?? key }

    /// The text of a key, or nil.
    func known(_ key: String) -> String? { texts[key] }

    /// A text with values inserted by name.
    public func callAsFunction(_ key: String, _ values: [String: String] = [:]) -> String {
        WordFile.filled(self[key], values)
    }

    /// A text for a number of things; `{count}` is replaced by that number.
    public func callAsFunction(_ key: String, count: Int, _ values: [String: String] = [:]) -> String {
        self(plural(key, count), values.merging(["count": number(count)]) { own, _ in own })
    }

    /// The key for a number by CLDR's plural rule for whole numbers: the first form in the line `plural` that has it.
    func plural(_ key: String, _ count: Int) -> String {
        "\(key)#\(forms.first { $0.has(abs(count)) }?.name ?? "other")"
    }

    /// One of several texts that are separated by `|`, counted from 0.
    func choice(_ key: String, _ index: Int) -> String { WordFile.choice(self[key], index) }

    /// A whole number with separators between groups of three digits, where the language uses them in so large a number.
    public func number(_ value: Int) -> String {
        let digits = Array(String(value.magnitude))
        let isGrouped = value.magnitude >= UInt(self["groupFrom"]) ?? 1000
        var text = ""
        for (index, digit) in digits.enumerated() {
            if isGrouped, index > 0, (digits.count - index) % 3 == 0 { text += self["groupMark"] }
            text.append(digit)
        }
        return value < 0 ? "-" + text : text
    }

    /// A percentage to at most one decimal place, which is below 100 unless the part is the whole.
    func percent(_ part: Int, of whole: Int) -> String {
        guard whole > 0 else { return self["percentOfNothing"] }
        let tenths = (part * 1000 + whole / 2) / whole
        let shown = part < whole ? min(tenths, 999) : tenths
        let text = shown % 10 == 0 ? "\(shown / 10)" : "\(shown / 10)\(self["decimalMark"])\(shown % 10)"
        return self("percent", ["number": text])
    }
}
