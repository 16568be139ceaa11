// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import FoundationEssentials

/// A push resource with the keys of its receiver (RFC 8030, RFC 8291).
struct PushTarget: Sendable {
    /// The absolute address to which messages are posted, which is a secret.
    let url: Concealed
    /// The receiver's public key: 65 bytes, uncompressed.
    let publicKey: [UInt8]
    /// 16 bytes that only the receiver and this server know.
    let authSecret: [UInt8]

    /// The longest address in bytes.
    static let longestURL = 2048

    /// Nil if the keys are not a point of P-256 and 16 bytes.
    init?(url: String, publicKey: [UInt8], authSecret: [UInt8]) {
        guard publicKey.count == 65, (try? P256.KeyAgreement.PublicKey(x963Representation: publicKey)) != nil,
            authSecret.count == 16, url.utf8.count <= Self.longestURL
        else { return nil }
        (self.url, self.publicKey, self.authSecret) = (Concealed(url), publicKey, authSecret)
    }

    /// The hash by which a push resource is found again.
    var hash: String { Hexadecimal.text(SHA256.hash(data: Array("kalends/push-resource/\(url.reveal())".utf8))) }

    // MARK: Storing

    /// The purpose for which a registration's target is sealed.
    static func purpose(_ id: String) -> String { "push/\(id)" }

    /// The text that is sealed.
    private struct Stored: JSONFormed {
        var url = Concealed("")
        var key = ""
        var auth = ""

        static let form = JSONForm<Self>([.sealed("url", \.url), .init("key", \.key), .init("auth", \.auth)])
    }

    func sealed(with key: SealingKey, of id: String) throws -> String {
        let stored = Stored(
            url: url, key: Base64URL.encode(publicKey), auth: Base64URL.encode(authSecret))
        return try key.seal(try stored.text(), for: Self.purpose(id))
    }

    /// Throws `SealingKey.Failure.wrongKey` if it was sealed with another key.
    init(sealed: String, with key: SealingKey, of id: String) throws {
        let text = try key.open(sealed, for: Self.purpose(id))
        guard let stored = try? Stored(stored: text), let publicKey = Base64URL.decode(Array(stored.key.utf8)),
            let authSecret = Base64URL.decode(Array(stored.auth.utf8)),
            let target = PushTarget(url: stored.url.reveal(), publicKey: publicKey, authSecret: authSecret)
        else { throw SealingKey.Failure.wrongKey }
        self = target
    }

    // MARK: Encrypting

    /// What a message is encrypted with besides the receiver's keys: both are used once.
    struct Fresh: Sendable {
        var key: P256.KeyAgreement.PrivateKey
        /// 16 bytes.
        var salt: [UInt8]

        init(key: P256.KeyAgreement.PrivateKey, salt: [UInt8]) { (self.key, self.salt) = (key, salt) }

        init() {
            var random = SystemRandomNumberGenerator()
            self.init(
                key: P256.KeyAgreement.PrivateKey(),
                salt: (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })
        }
    }

    /// The length of a record, which is also the longest message that every push service takes (RFC 8030 section 7.2).
    private static let recordSize = 4096
    /// The longest text, without the head, the padding's delimiter and the tag (RFC 8291 section 4).
    static let longestText = recordSize - 86 - 17

    /// Encrypts a text as one record of `aes128gcm` (RFC 8188 section 2, RFC 8291 section 3.4).
    func encrypted(_ text: [UInt8], _ fresh: Fresh = Fresh()) throws -> [UInt8] {
        let own = Array(fresh.key.publicKey.x963Representation)
        let shared = try fresh.key.sharedSecretFromKeyAgreement(
            with: P256.KeyAgreement.PublicKey(x963Representation: publicKey))
        let material = shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: authSecret, sharedInfo: Array("WebPush: info\0".utf8) + publicKey + own,
            outputByteCount: 32)
        func derived(_ name: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: material, salt: fresh.salt, info: Array("Content-Encoding: \(name)\0".utf8),
                outputByteCount: count)
        }
        let nonce = unsafe derived("nonce", 12).withUnsafeBytes { unsafe Array($0) }
        // 2 says that it is the last record.
        let box = try AES.GCM.seal(
            text + [2], using: derived("aes128gcm", 16), nonce: AES.GCM.Nonce(data: nonce))
        let size = (0..<4).map { UInt8(truncatingIfNeeded: Self.recordSize >> (24 - 8 * $0)) }
        return fresh.salt + size + [UInt8(own.count)] + own + Array(box.ciphertext) + Array(box.tag)
    }
}
