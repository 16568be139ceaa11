// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import Foundation
import StorageSQLite
import Testing

@Suite("What a printed secret shows")
struct SecretRedactionTests {
    private struct Holder {
        var name = "holder"
        var secret: Secret
        var spare: Secret?
    }

    private struct Refused: Error {
        var secret: Secret
    }

    private enum Choice {
        case one(Secret)
        case both(first: Secret, last: Secret)
    }

    private final class Box {
        let secret: Secret
        init(_ secret: Secret) { self.secret = secret }
    }

    /// Returns all the forms in which the library turns a value into text.
    private static func renderings<Value>(_ value: Value) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [
            String(describing: value), String(reflecting: value), "\(value)", dumped, "\(Mirror(reflecting: value))",
            Mirror(reflecting: value).children.map { "\($0)" }.joined(), String(describing: Optional(value)),
            String(reflecting: [value]),
        ]
    }

    /// Returns texts that would reveal the secret: a part of its text, or of its bytes as numbers.
    private static func marks(of secret: Secret) throws -> [String] {
        let text = String(secret.reveal().suffix(43))
        let bytes = try #require(Base64URL.decode(Array(text.utf8)))
        return [
            String(text.prefix(6)), String(text.suffix(6)), secret.hash, "\(bytes.prefix(4))".dropLast().description,
        ]
    }

    @Test(
        "Neither text nor bytes nor hash, in whatever it is wrapped",
        arguments: [Secret.Kind.feed, .serviceKey, .session, .device])
    func redacts(kind: Secret.Kind) throws {
        let secret = Secret.make(kind)
        let all =
            Self.renderings(secret) + Self.renderings(Optional(secret)) + Self.renderings([secret, secret])
            + Self.renderings(["key": secret]) + Self.renderings([secret: 1]) + Self.renderings((1, secret))
            + Self.renderings(Set([secret])) + Self.renderings(Holder(secret: secret, spare: secret))
            + Self.renderings(Refused(secret: secret)) + Self.renderings(Refused(secret: secret) as any Error)
            + Self.renderings(Choice.one(secret)) + Self.renderings(Choice.both(first: secret, last: secret))
            + Self.renderings(Box(secret)) + Self.renderings(Result<Secret, Refused>.success(secret))
            + [(Refused(secret: secret) as any Error).localizedDescription]
        for mark in try Self.marks(of: secret) {
            #expect(all.filter { $0.contains(mark) }.isEmpty)
        }
        #expect("\(secret)" == "[redacted]")
        #expect(String(reflecting: secret) == "[redacted]")
    }

    @Test("The marks that are searched for are in the revealed text")
    func looksForRightMarks() throws {
        let secret = Secret.make(.feed)
        let bytes = try #require(Base64URL.decode(Array(secret.reveal().utf8)))
        let shown = "\(secret.reveal()) \(secret.hash) \(bytes)"
        #expect(try Self.marks(of: secret).allSatisfy { shown.contains($0) })
    }

    @Test("A sealing key shows nothing of itself")
    func redactsSealingKey() throws {
        let bytes = (0..<32).map { UInt8($0 * 7 + 1) }
        let text = Data(bytes).base64EncodedString()
        let key = try SealingKey(text: text, source: "test")
        for rendering in Self.renderings(key) + Self.renderings([key]) + Self.renderings(["key": Optional(key)]) {
            #expect(!rendering.contains(text.prefix(6)))
            #expect(!rendering.contains("\(bytes.prefix(4))".dropLast()))
            #expect(!rendering.contains("SymmetricKey"))
        }
        #expect("\(key)" == "[redacted]")
    }
}
