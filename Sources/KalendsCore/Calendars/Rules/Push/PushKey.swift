// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import FoundationEssentials
import Storage
import Synchronization

/// The key pair with which this installation proves to push services who sends a message (RFC 8292).
package struct PushKey: Sendable {
    private let key: P256.Signing.PrivateKey

    /// How long a proof is valid, in seconds: half of what push services accept.
    private static let validity = 12 * 3600

    init() { key = P256.Signing.PrivateKey() }

    /// Throws an error if these are not the bytes of a private key.
    init(bytes: [UInt8]) throws { key = try P256.Signing.PrivateKey(rawRepresentation: bytes) }

    var bytes: [UInt8] { Array(key.rawRepresentation) }

    /// The public key in uncompressed form, encoded as base64url.
    package var publicText: String { Base64URL.encode(Array(key.publicKey.x963Representation)) }

    /// Returns the value of the field `Authorization` of a message.
    ///
    /// - Parameters:
    ///   - origin: that of the push service.
    ///   - contact: an address with `https:` at which the sender can be found; nil for none.
    ///   - now: milliseconds since 1970.
    func authorization(for origin: String, contact: String?, now: Int) throws -> String {
        var claims: [ByteString: JSONValue] = [
            "aud": .string(origin), "exp": .integer(now / 1000 + Self.validity),
        ]
        if let contact { claims["sub"] = .string(contact) }
        let head: JSONValue = ["alg": "ES256", "typ": "JWT"]
        let parts = try [head, .object(claims)].map { Base64URL.encode(try $0.serialized()) }
        let signed = parts.joined(separator: ".")
        let signature = try key.signature(for: Array(signed.utf8)).rawRepresentation
        return "vapid t=\(signed).\(Base64URL.encode(Array(signature))), k=\(publicText)"
    }
}

/// The installation's key pair, which is made once and stored under the sealing key.
package final class PushKeys: Sendable {
    /// The setting in which the private key is sealed, and its purpose.
    static let setting = "pushKey"
    static let purpose = "settings/pushKey"

    private let store: any Store
    private let sealing: SealingKey
    private let known = Mutex<PushKey?>(nil)

    init(_ store: any Store, sealedWith sealing: SealingKey) { (self.store, self.sealing) = (store, sealing) }

    /// Returns the key pair, the same on every server; makes it if no key is stored.
    ///
    /// - Throws: `SealingKey.Failure.wrongKey` if it was sealed with another key than the server's.
    package func key() async throws -> PushKey {
        if let known = known.withLock({ $0 }) { return known }
        let sealing = sealing
        var stored = try await store.read { try $0.setting(Self.setting) }
        if stored == nil {
            stored = try await store.record { transaction in
                // Another server may have made it since.
                if let stored = try transaction.setting(Self.setting) { return stored }
                let sealed = try sealing.seal(Base64URL.encode(PushKey().bytes), for: Self.purpose)
                try transaction.set(Self.setting, to: sealed)
                return sealed
            }
        }
        let text = try sealing.open(stored ?? "", for: Self.purpose)
        guard let bytes = Base64URL.decode(Array(text.utf8)), let key = try? PushKey(bytes: bytes) else {
            throw SealingKey.Failure.wrongKey
        }
        known.withLock { $0 = key }
        return key
    }
}
