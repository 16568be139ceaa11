// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ICalBridge

@Suite("What is read by words of eight bytes is what is read byte by byte")
struct ReadingWordsTests {
    @Test("Names of properties, of any bytes, at any distance from the end of the text")
    func heads() {
        var random = SplitMix(seed: 1)
        let alphabet = Array("ABYZ-LAST@[`az09_.:;: =\n,\r\u{7F}".utf8) + [0x80, 0xC3, 0xFF, 0]
        var found = 0
        for _ in 0..<60_000 {
            let letters = random.below(2) == 0 ? 9 : alphabet.count
            var line = (0..<random.below(20)).map { _ in alphabet[random.below(letters)] }
            if random.below(4) > 0 { line.append([58, 59][random.below(2)]) }
            line += Array(repeating: 65, count: random.below(20))
            let bytes = Array("X:".utf8) + line + [10] + Array(repeating: 66, count: random.below(18))
            let range = 2..<2 + line.count
            let (words, single) = (LineHead(bytes.span, range), LineHead(byBytes: bytes.span, range))
            #expect(words?.name == single?.name && words?.separator == single?.separator, "\(bytes)")
            #expect(words?.name.hasLowerCase == single?.name.hasLowerCase)
            #expect(words?.name.isExtension == single?.name.isExtension)
            if words != nil { found += 1 }
        }
        #expect(found > 10_000)
    }

    @Test("Bytes that are UTF-8, and such that are not")
    func encoding() {
        var random = SplitMix(seed: 2)
        let scalars: [Unicode.Scalar] = [
            "a", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}",
            "\u{10FFFF}",
        ]
        var valid = 0
        for _ in 0..<40_000 {
            var text = String(repeating: "a", count: random.below(70))
            for _ in 0..<random.below(6) { text.unicodeScalars.append(scalars[random.below(scalars.count)]) }
            var bytes = Array(text.utf8)
            for _ in 0..<random.below(3) where !bytes.isEmpty {
                let index = random.below(bytes.count)
                if random.below(2) == 0 {
                    bytes.remove(at: index)
                } else {
                    bytes[index] = UInt8(128 + random.below(128))
                }
            }
            let isValid = (try? UTF8Span(validating: bytes.span)) != nil
            #expect(bytes.span.isUTF8 == isValid, "\(bytes)")
            #expect(bytes.span.isASCII == bytes.allSatisfy { $0 < 128 })
            valid += isValid ? 1 : 0
        }
        #expect(valid > 5000 && valid < 39_000)
    }

    @Test("Dates and times, existing or not, of any bytes")
    func times() {
        var random = SplitMix(seed: 3)
        var found = 0
        for _ in 0..<60_000 {
            func two(_ limit: Int) -> String {
                let number = random.below(limit)
                return number < 10 ? "0\(number)" : "\(number)"
            }
            let year = random.below(4) > 0 ? "20\(two(100))" : "\(two(100))\(two(100))"
            var text = Array("\(year)\(two(14))\(two(34))T\(two(26))\(two(63))\(two(63))".utf8)
            if random.below(3) == 0 { text[random.below(15)] = UInt8(random.below(256)) }
            let written = String(decoding: text, as: UTF8.self)
            let (expected, date) = (CivilDateTime(basic: written), CivilDate(basic: written.prefix(8)))
            let isKnown = (date?.year).map { $0 >= 1601 && $0 <= 2500 } ?? false
            let bytes = Array("x".utf8) + text
            #expect(DirectText.time(bytes.span, at: 1) == (isKnown ? expected : nil), "\(written)")
            if text.count == written.utf8.count {
                #expect(DirectText.date(bytes.span, at: 1) == (isKnown ? date : nil), "\(written)")
            }
            found += isKnown && expected != nil ? 1 : 0
        }
        #expect(found > 10_000)
    }

    @Test("Texts with any escapes")
    func texts() {
        var random = SplitMix(seed: 4)
        let pieces = ["a", "é", "\\n", "\\N", "\\,", "\\;", "\\\\", "\\:", "\\\"", "\\x", "\\", "longer than a word"]
        for _ in 0..<20_000 {
            let text = (0..<random.below(8)).map { _ in pieces[random.below(pieces.count)] }.joined()
            let bytes = Array(text.utf8)
            guard let read = DirectText.text(bytes.span, 0..<bytes.count) else { continue }
            #expect(read == TextValue.decoded(bytes), "\(text)")
        }
    }
}
