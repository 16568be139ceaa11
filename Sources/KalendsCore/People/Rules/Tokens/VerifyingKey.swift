// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras

/// A key that checks signatures of one algorithm, whatever the token claims.
struct VerifyingKey: Sendable {
    private enum Verifier: Sendable {
        case secret(SymmetricKey)
        case rsa(_RSA.Signing.PublicKey, isPSS: Bool)
        case elliptic(P256.Signing.PublicKey)
    }

    let id: String?
    private let verifier: Verifier

    var algorithm: SignedToken.Algorithm {
        switch verifier {
        case .secret: .hs256
        case .rsa(_, let isPSS): isPSS ? .ps256 : .rs256
        case .elliptic: .es256
        }
    }

    /// Creates the key of a shared secret for HS256.
    init(secret: [UInt8]) { (id, verifier) = (nil, .secret(SymmetricKey(data: secret))) }

    /// Reads a public key for RS256, PS256 or ES256 (RFC 7517 section 4); returns nil if it has another purpose or is too
    /// weak. An RSA key that names no algorithm is for RS256.
    ///
    /// A symmetric key is never accepted: a key that everybody can fetch is not a secret.
    ///
    /// - Parameter leastBits: the shortest modulus of an RSA key.
    init?(jwk: JSONValue, leastBits: Int) {
        if let use = jwk["use"], use != "sig" { return nil }
        if let operations = jwk["key_ops"], operations.array?.contains("verify") != true { return nil }
        switch jwk["kty"]?.string {
        case "RSA":
            // swift-crypto refuses keys under 2048 bits. With the exponent 1, every message is its own signature.
            guard let modulus = Self.number(jwk["n"]), let exponent = Self.number(jwk["e"]),
                exponent.drop(while: { $0 == 0 }) != [1], Self.bits(modulus) >= leastBits,
                let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent)
            else { return nil }
            verifier = .rsa(key, isPSS: jwk["alg"] == "PS256")
        case "EC":
            guard jwk["crv"] == "P-256", let x = Self.number(jwk["x"]), let y = Self.number(jwk["y"]), x.count == 32,
                y.count == 32, let key = try? P256.Signing.PublicKey(rawRepresentation: x + y)
            else { return nil }
            verifier = .elliptic(key)
        default: return nil
        }
        id = jwk["kid"]?.string
        if let named = jwk["alg"], named != .string(algorithm.rawValue) { return nil }
    }

    /// Whether this key signed the token, with this key's own algorithm.
    func verifies(_ token: SignedToken) -> Bool {
        guard token.algorithm == algorithm else { return false }
        switch verifier {
        case .secret(let key):
            return HMAC<SHA256>.isValidAuthenticationCode(token.signature, authenticating: token.signed, using: key)
        case .rsa(let key, let isPSS):
            let signature = _RSA.Signing.RSASignature(rawRepresentation: token.signature)
            return key.isValidSignature(
                signature, for: SHA256.hash(data: token.signed), padding: isPSS ? .PSS : .insecurePKCS1v1_5)
        case .elliptic(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature) else {
                return false
            }
            return key.isValidSignature(signature, for: token.signed)
        }
    }

    /// The bit length of the number that these bytes form, the highest byte first.
    private static func bits(_ bytes: [UInt8]) -> Int {
        let digits = bytes.drop { $0 == 0 }
        return digits.count * 8 - (digits.first?.leadingZeroBitCount ?? 0)
    }

    private static func number(_ value: JSONValue?) -> [UInt8]? {
        guard let text = value?.string, let bytes = Base64URL.decode(Array(text.utf8)), !bytes.isEmpty else {
            return nil
        }
        return bytes
    }
}

/// The public keys of a document (JWKS, RFC 7517 section 5).
struct KeySet: Sendable {
    private let keys: [VerifyingKey]

    /// The maximum number of keys that are used from a document; a key rotation does not need more.
    private static let most = 100

    var isEmpty: Bool { keys.isEmpty }

    /// Reads a document; returns nil if it is not a key set. Unusable keys are left out.
    ///
    /// - Parameter leastBits: the shortest modulus of an RSA key.
    init?(_ document: [UInt8], leastBits: Int) async {
        let read = try? await ForeignAnswers.threads.run(for: "keys") { try JSONValue(parsing: document) }
        guard let items = read?["keys"]?.array else { return nil }
        keys = items.prefix(Self.most).compactMap { VerifyingKey(jwk: $0, leastBits: leastBits) }
    }

    /// Returns the keys that may have signed a token: those with its algorithm and the key id that it names.
    func keys(for token: SignedToken) -> [VerifyingKey] {
        keys.filter { $0.algorithm == token.algorithm && (token.keyID == nil || $0.id == token.keyID) }
    }
}
