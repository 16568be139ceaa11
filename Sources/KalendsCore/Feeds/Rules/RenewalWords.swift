// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import ProgramFiles

/// What the feed at a replaced address says about the replacement, in one of the languages of the pages.
struct RenewalWords: Sendable {
    /// The calendar's first word, the first day of the new address, the last of the old one, and where the host
    /// application is.
    struct Facts {
        var prefix: String
        var first: CivilDate
        var last: CivilDate
        var app: String?
    }

    private static let used: Set<String> = [
        "renewalTitle", "renewalText", "renewalTextAt", "dayMonthYear", "monthsOfDays",
    ]
    private static let all = Dictionary(
        ProgramFiles.all(endingWith: ".words").map { ($0.0, RenewalWords(WordFile($0.1, keeping: used.contains))) }
    ) { first, _ in first }

    private let texts: [String: String]

    private init(_ file: WordFile) { texts = file.texts }

    /// - Parameter language: a BCP 47 tag; English for nil, and for a language without words.
    static func of(_ language: String?) -> RenewalWords {
        language.flatMap { all[$0] } ?? all["en"] ?? RenewalWords(WordFile([]))
    }

    func title(_ facts: Facts) -> String { filled("renewalTitle", facts) }

    func text(_ facts: Facts) -> String { filled(facts.app == nil ? "renewalText" : "renewalTextAt", facts) }

    private func filled(_ key: String, _ facts: Facts) -> String {
        WordFile.filled(
            texts[key] ?? "",
            [
                "name": facts.prefix, "first": date(facts.first), "day": date(facts.last), "app": facts.app ?? "",
            ])
    }

    private func date(_ day: CivilDate) -> String {
        WordFile.filled(
            texts["dayMonthYear"] ?? "",
            [
                "day": String(day.day), "month": WordFile.choice(texts["monthsOfDays"] ?? "", day.month - 1),
                "year": String(day.year),
            ])
    }
}
