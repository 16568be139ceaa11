// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Pages

struct PhrasesTests {
    @Test("Each sentence carries over what its translation puts in, and no sentence is there twice")
    func lines() throws {
        var seen: Set<String> = []
        let lines = String(decoding: PageFiles.germanPhrases, as: UTF8.self).components(separatedBy: "\n")
        for line in lines where !line.isEmpty && !line.hasPrefix("#") {
            let sides = line.components(separatedBy: " => ")
            try #require(sides.count == 2, "\(line)")
            func names(_ text: String) -> [String] {
                Words.pieces(of: text).compactMap { if case .name(let name) = $0 { name } else { nil } }.sorted()
            }
            #expect(names(sides[0]) == names(sides[1]), "\(line)")
            #expect(seen.insert(sides[0]).inserted, "\(line)")
        }
        #expect(seen.count > 150)
    }

    @Test("Inserts of a sentence are carried over, numbers in the language's format, names as bytes")
    func inserts() {
        let german = Words.of(.german)
        let cases = [
            ("discards 1 event: the end is before the start", "verwirft einen Termin: Das Ende liegt vor dem Beginn"),
            (
                "discards 1,204 events: the end is before the start",
                "verwirft 1.204 Termine: Das Ende liegt vor dem Beginn"
            ),
            (
                "RRULE cannot be followed, so the event does not repeat by it: FREQ=\u{301}x is not a frequency.",
                "RRULE lässt sich nicht befolgen, darum wiederholt sich der Termin danach nicht: FREQ=\u{301}x ist keine "
                    + "Häufigkeit."
            ),
            (
                "Its one entry could not be read. DTSTART is neither a date nor a time; it was left out.",
                "Der einzige Eintrag konnte nicht gelesen werden. DTSTART ist weder Datum noch Uhrzeit; es wurde "
                    + "weggelassen."
            ),
            (
                "shows \u{FFFD}\u{FFFD} where a fold cuts a character in two, line 7",
                "zeigt \u{FFFD}\u{FFFD}, wo ein Umbruch ein Zeichen zerteilt, Zeile 7"
            ),
        ]
        for (english, other) in cases {
            let found = german.phrase(english)
            #expect(found.text == other && found.foreign == nil, "\(found)")
            #expect(Words.of(.english).phrase(english).text == english)
        }
        // A sentence within a sentence that is not known leaves the whole as it was, marked.
        for unknown in [
            "What others say", "Its one entry could not be read. Whatever", "DTSTAMP is missing. Or so", "",
        ] {
            let found = german.phrase(unknown)
            #expect(found.text == unknown && found.foreign == .english)
        }
    }
}
