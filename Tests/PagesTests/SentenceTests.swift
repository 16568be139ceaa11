// SPDX-License-Identifier: Apache-2.0

import Base
import Calendar
import Foundation
import Testing

@testable import Pages

struct SentenceTests {
    @Test("Each language has words for every sentence, and for no other", arguments: Language.allCases)
    func codes(_ language: Language) {
        let words = Words.of(language)
        let keys = words.keys.filter { $0.hasPrefix(Words.sentencePrefix) }
        var used: Set<String> = []
        for code in Sentence.Code.allCases {
            let key = Words.sentencePrefix + code.rawValue
            let forms = keys.filter { $0 == key || $0.hasPrefix(key + "#") }
            #expect(forms == [key] || forms == Set(words.pluralForms.map { "\(key)#\($0)" }), "\(key)")
            used.formUnion(forms)
        }
        #expect(keys.subtracting(used).isEmpty, "\(keys.subtracting(used).sorted())")
    }

    @Test("What the program says in English is what the English words say, with the same arguments")
    func sources() throws {
        let words = Words.of(.english)
        var seen: Set<ByteString> = []
        let folder = WordsTests.sources.deletingLastPathComponent()
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
            let source = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            for (code, template) in Self.said(in: source) where Sentence.Code(text: code) != nil {
                let key = Words.sentencePrefix + code
                let forms = [key, key + "#one", key + "#other"].compactMap { words.known($0) }
                #expect(forms.contains { $0.isSameText(as: template) }, "\(path): \(template)")
                seen.insert(ByteString(code))
            }
        }
        // A few are put together of words that only the English text has.
        #expect(seen.count > Sentence.Code.allCases.count - 10)
    }

    /// The codes in a source with the texts behind them, whose arguments are in braces.
    private static func said(in source: String) -> [(code: String, template: String)] {
        let insert = #"\\\((?:[^()"]|"[^"]*"|\((?:[^()"]|\([^()]*\)|"[^"]*")*\))*\)"#
        guard let said = try? Regex(#"\.([A-Za-z0-9]+)(?:,|\) \{)\s*"((?:[^"\\]|"# + insert + #"|\\.)*)""#),
            let inserted = try? Regex(insert)
        else { return [] }
        let flat = source.replacing(#/\\\n\s*/#, with: "").replacing(#/"""\n\s*/#, with: "\"")
            .replacing(#/\s*"""/#, with: "\"")
        return flat.matches(of: said).compactMap { match in
            guard let code = match[1].substring, let text = match[2].substring else { return nil }
            let template = String(text).replacing(inserted) { found in
                let own = String(found[0].substring ?? "")
                if let place = own.firstMatch(of: /, \.([a-z]+)\)$/) { return "{\(place.1)}" }
                if let noun = own.firstMatch(of: /, (of|the): "([^"]+)"\)$/) {
                    return (noun.1 == "the" ? "the " : "") + "{count} \(noun.2)s"
                }
                return own.hasPrefix("\\(someOf: ") ? "{zones}" : "\0"
            }
            guard !template.contains("\0") else { return nil }
            let plain = template.replacing("\\\"", with: "\"").replacing(/\\u\{(\w+)\}/) { escape in
                UInt32(escape.1, radix: 16).flatMap(Unicode.Scalar.init).map { String($0) } ?? ""
            }
            return (String(code), plain)
        }
    }

    @Test("Arguments are carried over, numbers in the language's format, names as bytes")
    func arguments() {
        let rule = Sentence(.ruleFrequency, "FREQ=\("\u{301}x", .value) is not a frequency.")
        let cases = [
            (
                Sentence(.appEndBeforeStart, "discards 1 event: the end is before the start", count: 1),
                "verwirft einen Termin: Das Ende liegt vor dem Beginn"
            ),
            (
                Sentence(
                    .appEndBeforeStart, "discards \(english: "1,204 events"): the end is before the start", count: 1204),
                "verwirft 1.204 Termine: Das Ende liegt vor dem Beginn"
            ),
            (
                Sentence(
                    .ruleRefused,
                    "The rule \("RRULE", .name) cannot be applied, so it is ignored: \(rule, .sentence)"),
                "Die Regel RRULE lässt sich nicht anwenden, darum wird sie übergangen: FREQ=\u{301}x ist keine Häufigkeit."
            ),
        ]
        for (sentence, other) in cases {
            #expect(Words.of(.german)(sentence) == other)
            #expect(Words.of(.english)(sentence) == sentence.text)
        }
    }

    @Test("A sentence of another program has no words, nor has one that contains it")
    func others() {
        let other = Sentence(ofOthers: "What others say")
        let around = Sentence(.inLine, "Line \(7, .line): \(other, .sentence)")
        #expect(around.text == "Line 7: What others say")
        for language in Language.allCases {
            #expect(Words.of(language)(other) == nil && Words.of(language)(around) == nil)
        }
    }
}
