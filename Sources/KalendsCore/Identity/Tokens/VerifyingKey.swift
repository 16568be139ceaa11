// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import FoundationEssentials
import JWTKit

/// A key that checks signatures of one algorithm, whatever a token says of itself.
struct VerifyingKey: Sendable {
    let id: String?
    let algorithm: SignedToken.Algorithm
    private let verifier: any JWTAlgorithm

    /// The shared secret of HS256.
    init(secret: [UInt8]) async throws {
        id = nil
        algorithm = .hs256
        verifier = try await JWTKeyCollection().add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256).getKey()
    }

    /// A public key of RS256 or ES256 (RFC 7517 section 4); nil for one that is not for that, or too weak.
    ///
    /// A symmetric key is never taken: what everybody can fetch is no secret.
    init?(jwk: JSONValue) async {
        if let use = jwk["use"], use != "sig" { return nil }
        if let operations = jwk["key_ops"], operations.array?.contains("verify") != true { return nil }
        let keys = JWTKeyCollection()
        switch jwk["kty"]?.string {
        case "RSA":
            // jwt-kit refuses those under 2048 bits. With the exponent 1 everything is its own signature.
            guard let modulus = Self.number(jwk["n"]), let exponent = Self.number(jwk["e"]),
                exponent.bytes.drop(while: { $0 == 0 }) != [1],
                let key = try? Insecure.RSA.PublicKey(modulus: modulus.text, exponent: exponent.text)
            else { return nil }
            algorithm = .rs256
            await keys.add(rsa: key, digestAlgorithm: .sha256)
        case "EC":
            guard jwk["crv"] == "P-256", let x = Self.number(jwk["x"]), let y = Self.number(jwk["y"]),
                x.bytes.count == 32, y.bytes.count == 32,
                let key = try? ES256PublicKey(parameters: (x.text, y.text))
            else { return nil }
            algorithm = .es256
            await keys.add(ecdsa: key)
        default: return nil
        }
        if let named = jwk["alg"], named != .string(algorithm.rawValue) { return nil }
        guard let verifier = try? await keys.getKey() else { return nil }
        self.verifier = verifier
        id = jwk["kid"]?.string
    }

    /// Whether this key signed the token, with this key's own algorithm.
    func verifies(_ token: SignedToken) -> Bool {
        guard token.algorithm == algorithm else { return false }
        return (try? verifier.verify(token.signature, signs: token.signed)) ?? false
    }

    private static func number(_ value: JSONValue?) -> (text: String, bytes: [UInt8])? {
        guard let text = value?.string, let bytes = Base64URL.decode(Array(text.utf8)), !bytes.isEmpty else {
            return nil
        }
        return (text, bytes)
    }
}

/// The public keys of a document (JWKS, RFC 7517 section 5).
struct KeySet: Sendable {
    private let keys: [VerifyingKey]

    /// How many keys of a document count: more are no rotation.
    private static let most = 100

    var isEmpty: Bool { keys.isEmpty }

    /// Nil when it is no such document; keys that cannot be used are left out of it.
    init?(_ document: [UInt8]) async {
        guard let items = (try? JSONValue(parsing: document))?["keys"]?.array else { return nil }
        var keys: [VerifyingKey] = []
        for item in items.prefix(Self.most) { if let key = await VerifyingKey(jwk: item) { keys.append(key) } }
        self.keys = keys
    }

    /// The keys that may have signed a token: of its algorithm, and of the name that it gives.
    func keys(for token: SignedToken) -> [VerifyingKey] {
        keys.filter { $0.algorithm == token.algorithm && (token.keyID == nil || $0.id == token.keyID) }
    }
}
