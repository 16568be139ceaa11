// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import Foundation
import StorageSQLite
import TestSupport
import Testing

@Suite("Secrets")
struct SecretTests {
    static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    static let sha256sum = "/usr/bin/sha256sum"
    static var hasSHA256Sum: Bool { FileManager.default.isExecutableFile(atPath: sha256sum) }

    @Test("A feed's token is 43 characters of base64url")
    func hasFormOfToken() {
        for _ in 0..<200 {
            let text = Secret.make(.feed).reveal()
            #expect(text.utf8.count == 43)
            #expect(text.allSatisfy { Self.alphabet.contains($0) })
        }
    }

    @Test("A service key is kal_sk_ and 43 characters of base64url")
    func hasFormOfServiceKey() {
        let text = Secret.make(.serviceKey).reveal()
        #expect(text.hasPrefix("kal_sk_"))
        #expect(text.utf8.count == 50)
        #expect(text.dropFirst(7).allSatisfy { Self.alphabet.contains($0) })
    }

    @Test(
        "What is revealed is read back as the same secret",
        arguments: [Secret.Kind.feed, .serviceKey, .session, .device])
    func roundTrips(kind: Secret.Kind) {
        for _ in 0..<200 {
            let secret = Secret.make(kind)
            let read = Secret(kind, text: secret.reveal())
            #expect(read == secret)
            #expect(read?.reveal() == secret.reveal())
            #expect(read?.hash == secret.hash)
            // As a part of a longer text, as it occurs in a path.
            #expect(Secret(kind, text: "/\(secret.reveal())".dropFirst()) == secret)
        }
    }

    @Test("A secret of one kind is not valid as the other")
    func keepsKindsApart() throws {
        let token = Secret.make(.feed)
        let key = Secret.make(.serviceKey)
        #expect(Secret(.serviceKey, text: token.reveal()) == nil)
        #expect(Secret(.feed, text: key.reveal()) == nil)
        let sameBits = try #require(Secret(.feed, text: key.reveal().dropFirst(7)))
        #expect(sameBits != key)
    }

    @Test("The last character's two spare bits have one spelling; the other 48 characters are refused")
    func hasOneSpelling() {
        let body = Secret.make(.feed).reveal().dropLast()
        var read: Set<Secret> = []
        for (index, character) in Self.alphabet.enumerated() {
            let secret = Secret(.feed, text: String(body) + String(character))
            #expect((secret != nil) == (index % 4 == 0), "\(character)")
            if let secret { read.insert(secret) }
        }
        #expect(read.count == 16)
    }

    @Test("Any character that is not of the alphabet is refused, wherever it is")
    func refusesOtherCharacters() {
        let text = Array(Secret.make(.feed).reveal())
        for scalar in (0...0x2FF).compactMap({ Unicode.Scalar($0) }) + ["\u{FF21}", "\u{FEFF}", "\u{200B}"] {
            let character = Character(scalar)
            guard !Self.alphabet.contains(character) else { continue }
            for index in [0, 21, 42] {
                var other = text
                other[index] = character
                #expect(Secret(.feed, text: String(other)) == nil, "U+\(String(scalar.value, radix: 16)) at \(index)")
            }
        }
    }

    @Test("Every other length, padding, wrapping and encoding is refused")
    func refusesOtherForms() {
        let text = Secret.make(.feed).reveal()
        for count in 0..<43 { #expect(Secret(.feed, text: text.prefix(count)) == nil) }
        for other in [
            text + "=", text + "A", text + "\u{0}", text + "\n", " " + text, text + ".ics",
            String(text.dropLast()) + "=",
            "kal_sk_" + text, text + text, "%" + text.dropFirst(), text + "\u{301}", String(text.dropLast(2)) + "==",
            "",
        ] {
            #expect(Secret(.feed, text: other) == nil)
        }
        let key = Secret.make(.serviceKey).reveal()
        for other in [
            key.uppercased(), "KAL_SK_" + key.dropFirst(7), "kal-sk-" + key.dropFirst(7), key + "=", " " + key,
            String(key.dropLast()), "kal_sk_", "kal_sk_\u{301}" + key.dropFirst(7),
        ] {
            #expect(Secret(.serviceKey, text: other) == nil)
        }
    }

    @Test("A secret in lower case is another secret, or not valid")
    func distinguishesCase() throws {
        let text = "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQ"
        let secret = try #require(Secret(.feed, text: text))
        // q is the 43rd letter of the alphabet, not a multiple of four; w is the 49th, and is one.
        #expect(Secret(.feed, text: text.lowercased()) == nil)
        let lower = try #require(Secret(.feed, text: text.dropLast().lowercased() + "w"))
        #expect(lower != secret)
        #expect(lower.hash != secret.hash)
        let oneLower = try #require(Secret(.feed, text: "a" + text.dropFirst()))
        #expect(oneLower != secret && oneLower.hash != secret.hash)
    }

    @Test("Ten thousand secrets are distinct, and each of their 256 bits is set in about half of them")
    func isRandom() throws {
        let count = 10_000
        var hashes: Set<String> = []
        var set = [Int](repeating: 0, count: 256)
        for _ in 0..<count {
            let secret = Secret.make(.feed)
            hashes.insert(secret.hash)
            let bytes = try #require(Base64URL.decode(Array(secret.reveal().utf8)))
            for (index, byte) in bytes.enumerated() {
                for bit in 0..<8 where byte >> bit & 1 == 1 { set[index * 8 + bit] += 1 }
            }
        }
        #expect(hashes.count == count)
        // Seven standard deviations of 50: chance alone leaves them once in a billion runs.
        #expect(set.allSatisfy { abs($0 - count / 2) < 350 })
    }

    @Test(
        "The hash is SHA-256 of the 32 bytes, in lower-case hex",
        arguments: [
            (String(repeating: "A", count: 43), "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"),
            (
                "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
                "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"
            ),
            (
                "-__7__v_-__7__v_-__7__v_-__7__v_-__7__v_-_8",
                "d25dec8aea6803b42c7fe9184fa27a5e3c092dca0346664fbd86d1e2ad041ff5"
            ),
        ])
    func hashes(text: String, hash: String) throws {
        #expect(try #require(Secret(.feed, text: text)).hash == hash)
        #expect(try #require(Secret(.serviceKey, text: "kal_sk_" + text)).hash == hash)
    }

    @Test("The hash is what sha256sum says of the bytes", .enabled(if: hasSHA256Sum))
    func hashesAsSHA256Sum() async throws {
        for _ in 0..<3 {
            let secret = Secret.make(.feed)
            let bytes = Data(try #require(Base64URL.decode(Array(secret.reveal().utf8))))
            let result = try await runProgram(Self.sha256sum, [], input: bytes)
            #expect(result.output == "\(secret.hash)  -\n")
        }
    }

    @Test("The hint is the kind and the first four characters")
    func hints() throws {
        let text = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
        #expect(try #require(Secret(.feed, text: text)).hint == "AAEC…")
        #expect(try #require(Secret(.serviceKey, text: "kal_sk_" + text)).hint == "kal_sk_AAEC…")
    }
}
