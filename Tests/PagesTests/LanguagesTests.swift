// SPDX-License-Identifier: Apache-2.0

import Base
import Calendar
import Foundation
import ProgramFiles
import Testing

@testable import Pages

/// What is the same in every language, and what CLDR says about each.
struct LanguagesTests {
    private static func plain(_ key: String) -> String { String(key.prefix { $0 != "#" }) }

    private static func names(in text: String) -> Set<String> {
        Set(WordFile.pieces(of: text).compactMap { if case .name(let name) = $0 { name } else { nil } })
    }

    private static func letters(of text: String) -> [String] {
        let plain = WordFile.pieces(of: text).map { if case .text(let text) = $0 { text } else { " " } }.joined()
        return plain.lowercased().split { !$0.isLetter }.map { String($0) }
    }

    @Test("Each language has the words of English, with the same inserts", arguments: Language.allCases)
    func sameKeys(_ language: Language) {
        let (english, words) = (Words.of(.english), Words.of(language))
        let keys = Set(english.keys.map(Self.plain))
        #expect(keys.count > 500)
        let own = Set(words.keys.map(Self.plain))
        #expect(keys.subtracting(own).isEmpty, "missing: \(keys.subtracting(own).sorted())")
        #expect(own.subtracting(keys).isEmpty, "unknown: \(own.subtracting(keys).sorted())")
        for key in words.keys {
            let text = words[key]
            #expect(!text.isEmpty || key == "clockHalves", "\(key)")
            // Parts of a clock differ, as there are clocks of 12 hours and of 24.
            if ["clock", "clockFirst", "clockHour"].contains(key) { continue }
            let original = [Self.plain(key), Self.plain(key) + "#other"].compactMap { english.known($0) }.first ?? ""
            // The same number in two digits is the same insert. One thing may be said without its number.
            var inserts = Set(Self.names(in: text).map { $0.hasSuffix("00") ? String($0.dropLast(2)) : $0 })
            var expected = Self.names(in: original)
            if key.hasSuffix("#one") {
                inserts.remove("count")
                expected.remove("count")
            }
            #expect(inserts == expected, "\(key)")
        }
    }

    @Test("A text that depends on a number has each form of its language", arguments: Language.allCases)
    func forms(_ language: Language) {
        let (english, words) = (Words.of(.english), Words.of(language))
        #expect(words.pluralForms.count > 1)
        for (key, forms) in Dictionary(grouping: words.keys, by: Self.plain) {
            let own = Set(forms.map { String($0.dropFirst(key.count + 1)) })
            let depends = english.known(key + "#other") != nil
            // English sentences about files that always have many of something have one form.
            let mayDepend =
                key.hasPrefix(Words.sentencePrefix)
                && Self.names(in: english.known(key) ?? "").contains("count")
            #expect(
                own == words.pluralForms && (depends || mayDepend) || own == [""] && !depends,
                "\(key): \(own.sorted())")
        }
    }

    @Test("Nothing was left in English", arguments: Language.allCases.filter { $0 != .english })
    func leftovers(_ language: Language) {
        let (english, words) = (Words.of(.english), Words.of(language))
        // Words of English that none of the other languages has, and what they have in common with it.
        let foreign = Set(
            Self.letters(
                of: "the and you your this these which from with that cannot when whose only their there nothing"))
        let shared: Set<String> = [
            "", "account", "actions", "agenda", "android", "app", "apple calendar", "browser", "browsers", "byte",
            "bytes", "code",
            "conflict", "feed", "feeds", "filter", "google calendar", "h min", "import", "in", "kb", "later", "limit",
            "mb",
            "menu", "name", "notes", "one other", "open", "outlook com", "password", "patient", "patients",
            "person", "personal", "status", "sunday", "thunderbird", "was", "webhooks", "week",
        ]
        for key in words.keys {
            let letters = Self.letters(of: words[key])
            #expect(foreign.intersection(letters).isEmpty, "\(key) = \(words[key])")
            if english.known(key)?.isSameText(as: words[key]) == true {
                #expect(shared.contains(letters.joined(separator: " ")), "\(key) = \(words[key])")
            }
        }
    }

    /// Numbers, and the first letter of each one's form by CLDR 48.
    private static let numbers = [
        0, 1, 2, 4, 5, 11, 12, 14, 21, 22, 24, 25, 100, 101, 102, 112, 122, 1000, 1001, 1_000_002,
    ]
    private static let cardinals = [
        "de": ".1..................", "en": ".1..................", "es": ".1..................",
        "fr": "11..................", "it": ".1..................", "nl": ".1..................",
        "pl": "m1ffmmmmmffmmmfmfmmf", "pt": "11..................",
    ]

    @Test("Plural forms are CLDR's", arguments: Language.allCases)
    func cardinals(_ language: Language) throws {
        let expected = try #require(Self.cardinals[language.rawValue])
        let forms = expected.utf8.map { letter in
            switch letter {
            case UInt8(ascii: "1"): "one"
            case UInt8(ascii: "f"): "few"
            case UInt8(ascii: "m"): "many"
            default: "other"
            }
        }
        let words = Words.of(language)
        for (number, form) in zip(Self.numbers, forms) {
            #expect(words.plural("key", number) == "key#\(form)", "\(number)")
        }
        #expect(words.pluralForms == Set(forms))
    }

    @Test("Dates and numbers are CLDR's, by what Foundation writes", arguments: Language.allCases)
    func formats(_ language: Language) throws {
        let locale = Locale(identifier: language.rawValue)
        func format(_ change: (DateFormatter) -> Void) -> DateFormatter {
            let format = DateFormatter()
            format.locale = locale
            format.timeZone = TimeZone(identifier: "UTC")
            change(format)
            return format
        }
        let full = format { $0.dateStyle = .full }
        let month = format { $0.setLocalizedDateFormatFromTemplate("yMMMM") }
        let short = format { $0.setLocalizedDateFormatFromTemplate("Md") }
        let times = TimeWords(words: .of(language), zone: .utc, now: Samples.now)
        for number in 1...12 {
            let day = try #require(CivilDate(iso: "2026-\(number < 10 ? "0" : "")\(number)-0\(number % 9 + 1)"))
            let date = Date(timeIntervalSince1970: TimeInterval(day.daysSinceEpoch) * 86_400)
            #expect(times.fullDate(day) == full.string(from: date))
            #expect(times.month(day) == month.string(from: date))
            #expect(times.shortDate(day) == short.string(from: date))
        }
        let numbers = NumberFormatter()
        (numbers.locale, numbers.numberStyle) = (locale, .decimal)
        for number in [0, 999, 1234, 12_345, 1_234_567] {
            #expect(Words.of(language).number(number) == numbers.string(from: NSNumber(value: number)))
        }
    }

    @Test(
        "At which hour, on which weekday and in which month is said with the words of the hour, the day and the month",
        arguments: [
            ("es", 1, "el miércoles a la 1:05", "Enero de 2026"),
            ("es", 13, "el miércoles a las 13:05", "Enero de 2026"),
            ("it", 1, "mercoledì all’01:05", "Gennaio 2026"), ("it", 0, "mercoledì alle 00:05", "Gennaio 2026"),
            ("fr", 9, "mercredi à 09:05", "Janvier 2026"), ("en", 1, "on Wednesday at 1:05 am", "January 2026"),
        ])
    func hours(_ language: String, _ hour: Int, _ text: String, _ month: String) throws {
        let language = try #require(Language(rawValue: language))
        let day = try #require(CivilDate(iso: "2026-01-21"))
        let instant = (day.daysSinceEpoch * 86_400 + hour * 3600 + 300) * 1000
        let times = TimeWords(words: .of(language), zone: .utc, now: instant - 3 * 86_400_000)
        #expect(times.relative(instant) == text)
        #expect(times.monthTitle(day) == month)
        #expect(times.nearDate(day).first?.isUppercase == true)
    }
}
