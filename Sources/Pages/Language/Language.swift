// SPDX-License-Identifier: Apache-2.0

/// A language of the pages: each file of words is one.
public struct Language: RawRepresentable, Hashable, Sendable, CaseIterable {
    /// The language's BCP 47 tag, which is also the name of its file.
    public let rawValue: String

    /// Nil for a language without words.
    public init?(rawValue: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue.isSameText(as: rawValue) }) else { return nil }
        self = known
    }

    private init(file: String) { rawValue = file }

    public static let english = Language(file: "en")
    /// English, and the other languages by their tags.
    public static let allCases =
        [english]
        + PageFiles.words.map { Language(file: $0.0) }.filter { $0 != english }.sorted { $0.rawValue < $1.rawValue }

    /// The language's name in the language itself.
    public var ownName: String { Words.of(self)["languageName"] }

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
            } else if let language = Language(rawValue: primary) {
                best = (language, quality)
            }
        }
        self = best?.language ?? .english
    }
}
