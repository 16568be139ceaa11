// SPDX-License-Identifier: Apache-2.0

/// A token in compact form (RFC 7515 section 3.1), parsed but not yet verified.
struct SignedToken: Sendable {
    /// The supported algorithms; `none` is not one of them.
    enum Algorithm: String, Sendable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case ps256 = "PS256"
        case es256 = "ES256"
    }

    let algorithm: Algorithm
    /// The id of the key that the token claims to be signed with.
    let keyID: String?
    /// The claims, a JSON object.
    let claims: JSONValue
    /// The bytes that are signed.
    let signed: [UInt8]
    let signature: [UInt8]

    private static let longest = 8 << 10
    /// The longest ID token in bytes: a person may be in many groups.
    static let longestIDToken = 16 << 10

    /// The accepted token types (RFC 8725 section 3.11): tokens for other uses may be signed with the same keys.
    private static let types: Set = ["jwt", "application/jwt", "at+jwt", "application/at+jwt"]

    /// Parses a token; returns nil for any text that is not exactly one.
    ///
    /// - Parameter longest: the most bytes that it may have.
    init?(_ text: Concealed, longest: Int = Self.longest) {
        let bytes = text.bytes
        guard bytes.count <= longest else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decode(parts[0]), let payload = Self.decode(parts[1]),
            let signature = Self.decode(parts[2]), !signature.isEmpty,
            let fields = try? JSONValue(parsing: header), fields.object != nil,
            let claims = try? JSONValue(parsing: payload), claims.object != nil,
            let algorithm = fields["alg"]?.string.flatMap(Algorithm.init)
        else { return nil }
        // Unknown extensions that are marked as critical must not be ignored (RFC 7515 section 4.1.11).
        guard fields["crit"] == nil else { return nil }
        if let type = fields["typ"] {
            guard let name = type.string, Self.types.contains(name.lowercased()) else { return nil }
        }
        if let name = fields["kid"] {
            guard let name = name.string else { return nil }
            keyID = name
        } else {
            keyID = nil
        }
        self.algorithm = algorithm
        self.claims = claims
        self.signature = signature
        signed = Array(bytes.prefix(parts[0].count + 1 + parts[1].count))
    }

    /// Decodes Base64URL; accepts only one spelling of each byte string.
    private static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard let bytes = Base64URL.decode(text), Base64URL.encode(bytes).utf8.elementsEqual(text) else { return nil }
        return bytes
    }
}
