// SPDX-License-Identifier: Apache-2.0

import Base
import TestSupport
import Testing

/// The standard library is the oracle for ASCII text, which it divides into the same characters.
@Suite("Characters as bytes") struct CharacterOperatorsTests {
    /// Texts of few different letters, so that pieces are often found.
    private static let texts: [String] = {
        var random = SystemRandomNumberGenerator()
        return (0..<300).map { _ in
            String((0..<Int.random(in: 0...12, using: &random)).map { _ in "ab.".randomElement(using: &random) ?? "a" })
        }
    }()

    @Test("Texts are split, searched and replaced as the standard library does it")
    func standard() {
        for text in Self.texts {
            let letters = Array(text)
            #expect(text.split(separator: ".").map(Array.init) == letters.split(separator: ".").map(Array.init))
            #expect(
                text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(Array.init)
                    == letters.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(Array.init))
            #expect(text.firstIndex(of: ".").map { text[..<$0].count } == letters.firstIndex(of: "."))
            #expect(text.lastIndex(of: ".").map { text[..<$0].count } == letters.lastIndex(of: "."))
            #expect(text.contains("." as Character) == letters.contains("."))
            for part in ["", ".", "ab", "aa", "a.a"] {
                #expect(text.contains(part) == (part.isEmpty || letters.contains(Array(part))), "\(part) in \(text)")
                let replaced = part.isEmpty ? letters : letters.replacing(Array(part), with: Array("xy"))
                #expect(text.replacing(part, with: "xy") == String(replaced), "\(part) in \(text)")
            }
            let parted = text.parted(at: "ab")
            #expect(parted.map { $0.before + "ab" + $0.after } ?? text[...] == text[...])
            #expect(parted?.before.contains("ab") != true && (parted == nil) == !text.contains("ab"))
        }
    }

    @Test("A letter with a mark is a different letter, and text is found inside what is shown as one character")
    func marks() {
        #expect(!Character("é").is("e\u{301}"))
        #expect("x\u{301}".first != "x")
        #expect("a://\u{301}b".contains("://"))
        #expect("a\r\nb\rc".replacing("\r\n", with: "\n").replacing("\r", with: "\n") == "a\nb\nc")
    }

    @Test("One character of a million bytes is compared, split and searched in a moment")
    func long() {
        let marks = String(repeating: "\u{301}", count: 250_000) + String(repeating: "\u{316}", count: 250_000)
        let text = "a" + marks + ";b" + marks
        var found: [Bool] = []
        // Not within the macro, which compares by what is generic.
        let time = effort {
            found.append(text.split(separator: ";" as Character).count == 2)
            found.append(text.firstIndex(of: ",") == nil)
            let ends = [text.first, text.last]
            found.append(ends.allSatisfy { end in end?.is(",") == false })
            found.append(!text.contains("," as Character))
            found.append(!text.contains("://"))
            found.append(text.replacing(";", with: "").utf8.count == text.utf8.count - 1)
            found.append(text.filter { !$0.is(";") }.utf8.count == text.utf8.count - 1)
        }
        #expect(found.allSatisfy { $0 })
        #expect(time < .seconds(5))
    }
}
