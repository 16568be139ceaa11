// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import Foundation
import StorageSQLite
import Testing

@Suite("Sealing")
struct SealingKeyTests {
    /// Bytes whose base64 has characters of both alphabets.
    static let bytes = [UInt8](repeating: 0xFB, count: 16) + [UInt8](repeating: 0xFF, count: 16)
    let key: SealingKey
    let otherKey: SealingKey

    init() throws {
        key = try SealingKey(text: Data(Self.bytes).base64EncodedString(), source: "test")
        otherKey = try SealingKey(text: Data(Self.bytes.reversed()).base64EncodedString(), source: "test")
    }

    @Test("What is sealed opens", arguments: ["", "a", "Zoë 👩‍👩‍👧", String(repeating: "long ", count: 10_000)])
    func opens(text: String) throws {
        let sealed = try key.seal(text, for: "feeds/1/token")
        #expect(sealed.hasPrefix("v1."))
        #expect(try key.open(sealed, for: "feeds/1/token") == text)
        if text.count > 3 { #expect(!sealed.contains(text)) }
    }

    @Test("It opens with the same key and for the same purpose only")
    func bindsPurposeAndKey() throws {
        let sealed = try key.seal("clear", for: "feeds/1/token")
        for purpose in ["feeds/2/token", "feeds/1/token ", "", "Feeds/1/token"] {
            #expect(throws: SealingKey.Failure.wrongKey) { try key.open(sealed, for: purpose) }
        }
        #expect(throws: SealingKey.Failure.wrongKey) { try otherKey.open(sealed, for: "feeds/1/token") }
    }

    @Test("Every flipped bit is refused")
    func refusesFlippedBits() throws {
        let sealed = try key.seal("a token's text", for: "test")
        let bytes = try #require(Data(base64Encoded: String(sealed.dropFirst(3))))
        #expect(bytes.count == 12 + 14 + 16)
        for index in bytes.indices {
            for bit in 0..<8 {
                var other = bytes
                other[index] ^= 1 << bit
                let text = "v1." + other.base64EncodedString()
                #expect(throws: SealingKey.Failure.wrongKey, "bit \(bit) of byte \(index)") {
                    try key.open(text, for: "test")
                }
            }
        }
    }

    @Test("Whatever was never sealed is refused, and so is what was cut or lengthened")
    func refusesOther() throws {
        let sealed = try key.seal("a token's text", for: "test")
        for count in 0..<sealed.count {
            #expect(throws: SealingKey.Failure.wrongKey) { try key.open(String(sealed.prefix(count)), for: "test") }
        }
        let body = sealed.dropFirst(3)
        for other in [
            String(body), "v2." + body, "V1." + body, sealed + "AAAA", " " + sealed, "v1.*", "a token's text",
        ] {
            #expect(throws: SealingKey.Failure.wrongKey) { try key.open(other, for: "test") }
        }
    }

    @Test("Two seals of one text differ, in their nonces too")
    func neverRepeats() throws {
        let sealed = try (0..<1_000).map { _ in try key.seal("clear", for: "test") }
        #expect(Set(sealed).count == 1_000)
        // The first 12 bytes are the nonce, 16 characters of base64.
        #expect(Set(sealed.map { $0.dropFirst(3).prefix(16) }).count == 1_000)
    }

    @Test("It is AES-256-GCM: test case 14 of McGrew and Viega opens")
    func opensPublishedVector() throws {
        let zero = try SealingKey(text: String(repeating: "A", count: 43), source: "test")
        let sealed = "v1.AAAAAAAAAAAAAAAAzqdAPU1ga24HTsXTuvOdGNDRyKeZmWvwJluYtdSKuRk="
        #expect(try zero.open(sealed, for: "") == String(repeating: "\u{0}", count: 16))
    }

    @Test("A key may be written in either alphabet, with or without padding, and in white space")
    func readsSpellings() throws {
        let standard = Data(Self.bytes).base64EncodedString()
        let url = Base64URL.encode(Self.bytes)
        #expect(standard.contains("+") && standard.contains("/") && url.contains("-") && url.contains("_"))
        let sealed = try key.seal("clear", for: "test")
        for text in [standard, url, url + "=", standard.replacing("=", with: ""), " \(standard)\r\n", "\t\(url)\n\n"] {
            #expect(try SealingKey(text: text, source: "test").open(sealed, for: "test") == "clear")
        }
    }

    @Test(
        "A key of another length or with other characters is refused with only the name of its source",
        arguments: [
            "", "A", String(repeating: "A", count: 42), String(repeating: "A", count: 44),
            String(repeating: "A", count: 64), String(repeating: "A", count: 42) + "*",
            String(repeating: "0", count: 64), "password",
        ])
    func refusesText(text: String) throws {
        let error = try #require(throws: SealingKey.Failure.self) {
            try SealingKey(text: text, source: "KALENDS_SECRET_KEY")
        }
        #expect("\(error)" == "KALENDS_SECRET_KEY does not hold a key of 32 bytes in base64.")
    }
}
