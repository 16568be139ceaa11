// SPDX-License-Identifier: Apache-2.0

public enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case german = "de"

    /// The language's name in the language itself.
    public var ownName: String {
        switch self {
        case .english: "English"
        case .german: "Deutsch"
        }
    }

    /// The best of our languages for an `Accept-Language` field (RFC 9110, section 12.5.4); English if none matches.
    public init(accepting field: String) {
        var best: (language: Language, quality: Int)?
        for range in field.utf8.prefix(1000).split(separator: UInt8(ascii: ",")).prefix(50) {
            let parts = range.split(separator: UInt8(ascii: ";"))
            let tag = parts.first.map { String(decoding: $0, as: UTF8.self).lowercased().filter { !$0.is(" ") } } ?? ""
            let primary = String(tag.prefix { !$0.is("-") })
            var quality = 1000
            for part in parts.dropFirst() {
                let text = String(decoding: part, as: UTF8.self).filter { !$0.is(" ") }.lowercased()
                if text.hasPrefix("q="), let value = Double(text.dropFirst(2)), value.isFinite {
                    quality = Int(max(0, min(1, value)) * 1000)
                }
            }
            guard quality > 0, quality > best?.quality ?? 0 else { continue }
            if primary == "*" {
                best = (.english, quality)
            } else if let language = Language.allCases.first(where: { $0.rawValue == primary }) {
                best = (language, quality)
            }
        }
        self = best?.language ?? .english
    }

    /// CLDR's plural rule for whole numbers, which is the same in both languages.
    func plural(of count: Int) -> String { count == 1 ? "one" : "other" }
}
