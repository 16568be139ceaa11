// SPDX-License-Identifier: Apache-2.0

import Base
import Testing

@Suite("Combining marks") struct CombiningMarksTests {
    /// Marks of alternating classes, which take the longest to sort.
    private static func marks(_ count: Int) -> String {
        String(repeating: "\u{301}\u{316}", count: count / 2) + (count % 2 == 1 ? "\u{301}" : "")
    }

    @Test("Thirty marks in a row are text, and thirty-one are too many")
    func bound() {
        #expect(!("a" + Self.marks(30) + "b").hasLongRunOfMarks)
        #expect(("a" + Self.marks(31) + "b").hasLongRunOfMarks)
        #expect(Self.marks(31).hasLongRunOfMarks)
        #expect(!(Self.marks(30) + "." + Self.marks(30)).hasLongRunOfMarks)
    }

    @Test(
        "Every kind of mark counts, also those whose own class is that of a letter",
        arguments: [
            "\u{316}", "\u{344}", "\u{F73}", "\u{F75}", "\u{F81}", "\u{FF9E}", "\u{FF9F}", "\u{34F}", "\u{20DD}",
        ])
    func kinds(mark: String) {
        #expect(("か" + String(repeating: mark, count: 31)).hasLongRunOfMarks)
        #expect(!("か" + String(repeating: mark, count: 30)).hasLongRunOfMarks)
    }

    @Test("Words of many scripts keep every mark")
    func scripts() {
        let words = [
            "Việt Nam", "हिन्दी में कार्यक्रम", "ภาษาไทยที่นี่", "བོད་ཡིག་བསྒྲིགས", "بِسْمِ ٱللَّٰهِ", "שָׁלוֹם", "👩🏽‍⚕️🏳️‍🌈", "Z͑ͫ̓ͪ̂a̴̵̜l̨ͯͨgo",
        ]
        for word in words {
            let text = String(repeating: word + " ", count: 20)
            #expect(!text.hasLongRunOfMarks)
            #expect(text.withBoundedMarks.isSameText(as: text))
        }
    }

    @Test("A run that is too long is cut to thirty marks, and the rest of the text stays")
    func cut() {
        let text = "a" + Self.marks(5_000) + "b" + Self.marks(20) + "c"
        let bounded = text.withBoundedMarks
        #expect(bounded.isSameText(as: "a" + Self.marks(30) + "b" + Self.marks(20) + "c"))
        #expect(bounded.withBoundedMarks.isSameText(as: bounded))
    }
}
