// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import StorageSQLite
import Testing

@Suite("Base64 with the URL alphabet")
struct Base64URLTests {
    @Test(
        "The vectors of RFC 4648 section 10, without padding",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(clear: String, encoded: String) {
        #expect(Base64URL.encode(Array(clear.utf8)) == encoded)
        #expect(Base64URL.decode(Array(encoded.utf8)) == Array(clear.utf8))
    }

    @Test("Every byte survives, in the URL's alphabet")
    func roundTrips() {
        let bytes = (0...255).map { UInt8($0) }
        let text = Base64URL.encode(bytes)
        #expect(!text.contains { "+/=".contains($0) })
        #expect(text.contains("-") && text.contains("_"))
        #expect(Base64URL.decode(Array(text.utf8)) == bytes)
    }

    private static func bytes(ofFourWords text: some Sequence<UInt8>) -> [UInt8]? {
        let text = Array(text)
        guard let words = unsafe Base64URL.fourWords(text.span.bytes) else { return nil }
        return unsafe withUnsafeBytes(of: words) { unsafe Array($0) }
    }

    @Test("Four words hold the bytes of 43 characters in their order, in one spelling only")
    func fourWords() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let text = Array(Base64URL.encode(bytes).utf8)
            #expect(Self.bytes(ofFourWords: text) == bytes)
            // The last character's two spare bits have to be zero: 16 of its 64 values are left.
            let last = (0...255).filter { Self.bytes(ofFourWords: text.dropLast() + [UInt8($0)]) != nil }
            #expect(last.count == 16)
            let index = Int.random(in: 0..<43, using: &random)
            for other in "=+/ \0".utf8 {
                #expect(Self.bytes(ofFourWords: text[..<index] + [other] + text[(index + 1)...]) == nil)
            }
            #expect(Self.bytes(ofFourWords: text.dropLast()) == nil)
            #expect(Self.bytes(ofFourWords: text + [65]) == nil)
        }
    }

    @Test(
        "Padding, the other alphabet and white space are refused",
        arguments: [
            "Zg==", "Zm8=", "Zg=", "-_+A", "-_/A", "Zm 9v", "Zm9v\n", "A", "Zm9vY", "Zg\u{0}", "=", "====", "Zoë",
        ])
    func refuses(text: String) {
        #expect(Base64URL.decode(Array(text.utf8)) == nil)
    }
}
