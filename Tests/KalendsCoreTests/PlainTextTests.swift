// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import KalendsCore

@Suite("The text that fingerprints compare")
struct PlainTextTests {
    private static func appended(_ text: String) -> String {
        var bytes = Array("x".utf8)
        PlainText.append(text, to: &bytes)
        return String(decoding: bytes.dropFirst(), as: UTF8.self)
    }

    @Test(
        "Words are in lower case with one space between them",
        arguments: [
            ("", ""), ("  \r\n\t ", ""), ("Team  Review\n12", "team review 12"), (" Müller ÄÖÜ ", "müller äöü"),
            ("会議 – Tokyo", "会議 – tokyo"), ("İstanbul", "i\u{307}stanbul"), ("ΣΟΦΙΑΣ", "σοφιασ"),
            ("ПЛАН  дня", "план дня"), ("a\u{A0}b", "a b"), ("a\u{3000}b", "a b"), ("ガ ギ", "ガ ギ"),
        ])
    func examples(_ text: String, _ expected: String) {
        #expect(Array(Self.appended(text).utf8) == Array(expected.utf8))
    }

    @Test("The fast way gives the same bytes as the way by characters, for any mix of scalars")
    func sameAsByCharacters() {
        var random = SplitMix(seed: 5545)
        // Spaces of every kind, letters of every case, marks that join the character before them, and marks that join
        // the one after them.
        let pieces: [String] = [
            " ", "  ", "\t", "\r\n", "\n", "\r", "\u{B}", "\u{C}", "\u{1C}", "\u{85}", "\u{A0}", "\u{2003}", "\u{2028}",
            "\u{3000}", "a", "Z", "9", "-", "é", "É", "İ", "ß", "ǅ", "Σ", "ς", "Ж", "ж", "会", "가", "が", "か\u{3099}",
            "\u{301}", "\u{483}", "\u{600}", "\u{200D}", "\u{FE0F}", "👩", "🏽", "🇩", "🇪", "\u{E33}", "ก", "ا", "א", "–",
            "“", "…", "ｱ", "\u{9A4}", "\u{1100}", "\u{1161}", "\u{D7B0}",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
            #expect(Array(Self.appended(text).utf8) == Array(PlainText.plain(text).utf8), "\(text.unicodeScalars)")
        }
        // Every scalar between spaces, before and after other letters.
        for value in UInt32(1)...0xFFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = " \(scalar) a\(scalar)B \(scalar)"
            guard Array(Self.appended(text).utf8) != Array(PlainText.plain(text).utf8) else { continue }
            Issue.record("U+\(String(value, radix: 16))")
        }
    }
}
