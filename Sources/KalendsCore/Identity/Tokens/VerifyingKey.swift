// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import FoundationEssentials
import JWTKit

/// A key that checks signatures of one algorithm, whatever the token claims.
struct VerifyingKey: Sendable {
    let id: String?
    let algorithm: SignedToken.Algorithm
    private let verifier: any JWTAlgorithm

    /// Creates the key of a shared secret for HS256.
    init(secret: [UInt8]) async throws {
        id = nil
        algorithm = .hs256
        verifier = try await JWTKeyCollection().add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256).getKey()
    }

    /// Reads a public key for RS256 or ES256 (RFC 7517 section 4); returns nil if it has another purpose or is too
    /// weak.
    ///
    /// A symmetric key is never accepted: a key that everybody can fetch is not a secret.
    ///
    /// - Parameter leastBits: the shortest modulus of an RSA key.
    init?(jwk: JSONValue, leastBits: Int) async {
        if let use = jwk["use"], use != "sig" { return nil }
        if let operations = jwk["key_ops"], operations.array?.contains("verify") != true { return nil }
        let keys = JWTKeyCollection()
        switch jwk["kty"]?.string {
        case "RSA":
            // jwt-kit refuses keys under 2048 bits. With the exponent 1, every message is its own signature.
            guard let modulus = Self.number(jwk["n"]), let exponent = Self.number(jwk["e"]),
                exponent.bytes.drop(while: { $0 == 0 }) != [1], Self.bits(modulus.bytes) >= leastBits,
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

    /// The length of a number of which these are the bytes, the highest first.
    private static func bits(_ bytes: [UInt8]) -> Int {
        let digits = bytes.drop { $0 == 0 }
        return digits.count * 8 - (digits.first?.leadingZeroBitCount ?? 0)
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

    /// The most keys of a document that are used; a key rotation does not need more.
    private static let most = 100

    var isEmpty: Bool { keys.isEmpty }

    /// Reads a document; returns nil if it is not a key set. Unusable keys are left out.
    ///
    /// - Parameter leastBits: the shortest modulus of an RSA key.
    init?(_ document: [UInt8], leastBits: Int) async {
        let read = try? await ForeignAnswers.threads.run(for: "keys") { try JSONValue(parsing: document) }
        guard let items = read?["keys"]?.array else { return nil }
        var keys: [VerifyingKey] = []
        for item in items.prefix(Self.most) {
            if let key = await VerifyingKey(jwk: item, leastBits: leastBits) { keys.append(key) }
        }
        self.keys = keys
    }

    /// Returns the keys that may have signed a token: those with its algorithm and the key id that it names.
    func keys(for token: SignedToken) -> [VerifyingKey] {
        keys.filter { $0.algorithm == token.algorithm && (token.keyID == nil || $0.id == token.keyID) }
    }
}
