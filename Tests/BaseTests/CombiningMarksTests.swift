// SPDX-License-Identifier: Apache-2.0

import Base
import TestSupport
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
            #expect(String(fromOutside: Array(text.utf8)).isSameText(as: text))
        }
    }

    @Test("A run that is too long is cut to thirty marks, and the rest of the text stays")
    func cut() {
        let text = "a" + Self.marks(5_000) + "b" + Self.marks(20) + "c"
        let bounded = text.withBoundedMarks
        #expect(bounded.isSameText(as: "a" + Self.marks(30) + "b" + Self.marks(20) + "c"))
        #expect(bounded.withBoundedMarks.isSameText(as: bounded))
    }

    @Test("Bytes from outside keep one mark more than is allowed, so that a long run is seen where it is cut")
    func fromOutside() {
        let (long, fine) = ("a" + Self.marks(5_000) + "b", "a" + Self.marks(30) + "b")
        #expect(String(fromOutside: Array(long.utf8)).isSameText(as: "a" + Self.marks(31) + "b"))
        #expect(String(fromOutside: Array(long.utf8)).hasLongRunOfMarks)
        #expect(String(fromOutside: Array(fine.utf8)).isSameText(as: fine))
        #expect(String(fromOutside: [97, 0xCC, 98]).isSameText(as: "a\u{FFFD}b"))
    }

    @Test(
        "What is left out where text is shown does not part a run",
        arguments: ["\u{200B}", "\u{2062}", "\u{3164}", "\u{1}"])
    func parted(by hidden: String) {
        let text = "a" + String(repeating: Self.marks(30) + hidden, count: 100)
        #expect(text.hasLongRunOfMarks)
        let bounded = text.withBoundedMarks
        #expect(bounded.replacing(hidden, with: "").isSameText(as: "a" + Self.marks(30)))
        #expect(!("a" + String(repeating: Self.marks(30) + "\n", count: 100)).hasLongRunOfMarks)
    }

    @Test("Text of a JSON document is quick for whoever normalizes it, also where its marks are escaped")
    func json() throws {
        let marks = String(repeating: "\u{301}", count: 100_000) + String(repeating: "\u{316}", count: 100_000)
        let escaped = String(repeating: "\\u0301", count: 100_000) + String(repeating: "\\u0316", count: 100_000)
        for run in [marks, escaped] {
            let bytes = Array(#"["a\#(run)","b\#(run)","a\#(run)"]"#.utf8)
            let time = try effort {
                let texts = try #require(try JSONValue(parsing: bytes).array).compactMap(\.string)
                // A set of `String` compares and hashes as the standard library does.
                #expect(Set<String>(texts).count == 2)
                #expect(texts.allSatisfy { $0.hasLongRunOfMarks && $0.utf8.count == 63 })
                #expect(try Set<String>([String](decodingJSON: bytes)).count == 2)
                guard case .array(let nodes) = try JSONNode(parsing: bytes), case .string(let node)? = nodes.first
                else {
                    Issue.record("It is no list of texts.")
                    return
                }
                #expect(node.isSameText(as: texts[0]))
            }
            #expect(time < .seconds(5))
        }
    }
}
