// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import Storage
import Testing

@testable import KalendsCore

@Suite("One-time codes")
struct OneTimeCodeTests {
    /// The secret of both standards' examples.
    private static let secret = Array("12345678901234567890".utf8)

    @Test("HOTP gives what RFC 4226 appendix D says")
    func counters() {
        let expected = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
        ]
        #expect((0..<10).map { OneTimeCode.code(of: UInt64($0), secret: Self.secret) } == expected)
    }

    @Test(
        "TOTP with SHA-1 gives what RFC 6238 appendix B says, and its last six digits",
        arguments: [
            (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"), (1_234_567_890, "89005924"),
            (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
        ])
    func times(seconds: Int, code: String) {
        let step = OneTimeCode.step(at: seconds * 1000)
        #expect(OneTimeCode.code(of: UInt64(step), secret: Self.secret, digits: 8) == code)
        #expect(OneTimeCode.code(of: UInt64(step), secret: Self.secret) == code.suffix(6))
    }

    @Test(
        "TOTP with SHA-256 gives what RFC 6238 appendix B says",
        arguments: [
            (59, "46119246"), (1_111_111_109, "68084774"), (1_111_111_111, "67062674"), (1_234_567_890, "91819424"),
            (2_000_000_000, "90698825"), (20_000_000_000, "77737706"),
        ])
    func longTimes(seconds: Int, code: String) {
        let (step, secret) = (OneTimeCode.step(at: seconds * 1000), Self.secret + Array("123456789012".utf8))
        #expect(OneTimeCode.code(of: UInt64(step), secret: secret, .sha256, digits: 8) == code)
    }

    @Test("A code belongs to its step or a neighbour as far as the tolerance goes, and to no step that was used")
    func window() {
        let (now, current) = (1_772_452_800_000, 1_772_452_800_000 / 30_000)
        func found(_ step: Int, tolerance: Int, after last: Int = 0) -> Int? {
            let code = Array(OneTimeCode.code(of: UInt64(step), secret: Self.secret).utf8)
            return OneTimeCode.step(of: code, secret: Self.secret, now: now, tolerance: tolerance, after: last)
        }
        for offset in -3...3 {
            #expect(found(current + offset, tolerance: 1) == (abs(offset) <= 1 ? current + offset : nil))
            #expect(found(current + offset, tolerance: 0) == (offset == 0 ? current : nil))
            #expect(found(current + offset, tolerance: 1, after: current) == (offset == 1 ? current + 1 : nil))
        }
        for wrong in ["", "0", "1234567", "abcdef", "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}"] {
            let step = OneTimeCode.step(
                of: Array(wrong.utf8), secret: Self.secret, now: now, tolerance: 1, after: 0)
            #expect(step == nil)
        }
    }

    @Test("A secret has 160 or 256 bits of its own, and its address keeps to the form that apps read")
    func secrets() throws {
        let all = (0..<100).map { _ in AuthenticatorSecret.make(.sha1) }
        #expect(Set(all.map(\.base32)).count == 100)
        #expect(all.allSatisfy { $0.bytes.count == 20 && $0.base32.reveal().utf8.count == 32 })
        let long = AuthenticatorSecret.make(.sha256)
        #expect(long.bytes.count == 32 && long.address(issuer: "a", user: "b").reveal().contains("&algorithm=SHA256&"))
        for secret in [all[0], long] {
            let read = try #require(AuthenticatorSecret(stored: secret.stored.reveal()))
            #expect(read.base32 == secret.base32 && read.algorithm == secret.algorithm)
        }
        for text in ["", "SHA1", "MD5 GEZDGNBV", "SHA1 GEZD GNBV"] { #expect(AuthenticatorSecret(stored: text) == nil) }
        let own = AuthenticatorSecret(base32: Concealed("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"), .sha1)
        #expect(own.bytes == Self.secret && "\(own)".contains("GEZ") == false)
        #expect(
            own.address(issuer: "Our family: ☕", user: "ann:1").reveal()
                == "otpauth://totp/Our%20family%3A%20%E2%98%95:ann%3A1?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
                + "&issuer=Our%20family%3A%20%E2%98%95&algorithm=SHA1&digits=6&period=30")
        #expect(own.isSame(as: Concealed("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")))
        #expect(!own.isSame(as: Concealed("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJR")) && !own.isSame(as: Concealed("")))
    }

    @Test("A recovery code has 120 bits of its own, in groups of four, and only its hash is stored")
    func recovery() throws {
        let all = (0..<100).map { _ in RecoveryCode.make() }
        #expect(Set(all.map(\.hash)).count == 100 && all.allSatisfy { $0.hash.utf8.count == 64 })
        for code in all {
            let shown = code.shown.reveal()
            #expect(shown.wholeMatch(of: /(?:[A-Z2-7]{4}-){5}[A-Z2-7]{4}/) != nil)
            #expect(!"\(code)".contains(shown.prefix(4) + "-"))
            let letters = Array(shown.lowercased().utf8).filter { $0 != UInt8(ascii: "-") }
            #expect(RecoveryCode(letters: letters)?.hash == code.hash)
            #expect(RecoveryCode(letters: Array(letters.dropLast())) == nil)
            #expect(RecoveryCode(letters: letters + letters) == nil)
        }
    }
}
