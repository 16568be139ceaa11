// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// How the tokens of users are checked (JWT, RFC 7519): by a shared secret, by public keys, or by both.
package struct TokenSettings: Sendable {
    /// The shared secret for HS256, at least 32 bytes.
    var secret: Concealed?
    /// The public keys for RS256, PS256 and ES256: a file (JWKS, RFC 7517), or the address of one.
    var jwksFile: String?
    var jwksURL: Concealed?
    /// The value that `iss` must have, and the one that `aud` must be or contain; nil accepts anything.
    var issuer: String?
    var audience: String?
    /// Whether RSA keys need 3,072 bits, and a token's `scope` has to name what it opens here.
    var isStrict = false
    /// The shortest modulus of an RSA key: 3,072 bits are worth the 128 of the other keys (NIST SP 800-57), 2,048 are
    /// worth 112.
    var leastBits: Int { isStrict ? 3072 : 2048 }

    /// In bytes, as long as the hash: a shorter secret can be guessed from a single token (RFC 7518 section 3.2).
    private static let shortestSecret = 32

    package init() {}

    init(secret: String?, isStrict: Bool, _ text: (Setting) -> String?, _ faults: inout [String]) {
        self.secret = secret.map { Concealed($0) }
        self.isStrict = isStrict
        jwksFile = text(.jwtJwksFile)
        jwksURL = text(.jwtJwksURL).map { Concealed($0) }
        issuer = text(.jwtIssuer)
        audience = text(.jwtAudience)
        if let secret = self.secret, secret.bytes.count < Self.shortestSecret {
            faults.append("jwtSecret must have at least \(Self.shortestSecret) bytes: a shorter one can be guessed.")
        }
        for (name, value) in [("jwtJwksFile", jwksFile), ("jwtIssuer", issuer), ("jwtAudience", audience)]
        where value?.isEmpty == true {
            faults.append("\(name) must not be empty: leave it out.")
        }
        if jwksFile != nil, jwksURL != nil {
            faults.append("jwtJwksFile and jwtJwksURL must not be given together.")
        }
        if let jwksURL, !Self.isSafe(jwksURL.reveal()) {
            faults.append(
                "jwtJwksURL must begin with https://, or with http:// and this machine's own address, in ASCII.")
        }
    }

    /// Notes when the ID tokens of a sign-in at a provider would count as users' tokens: a sign-out shows them in an
    /// address, and the provider makes them for other programs, too.
    func check(beside provider: OpenIDSettings, _ faults: inout [String]) {
        let isKeyAddress = jwksURL.map { WebOrigin(ofAddress: $0.reveal()) == WebOrigin(ofAddress: provider.issuer) }
        guard jwksFile != nil || jwksURL != nil,
            isKeyAddress == true || issuer?.isSameText(as: provider.issuer) == true,
            audience?.isSameText(as: provider.clientID) ?? true
        else { return }
        faults.append(
            "jwtAudience must be given and differ from oidcClientID: oidcIssuer signs ID tokens with the keys of users' "
                + "tokens.")
    }

    /// Whether keys can be fetched from this address, which is in ASCII, without anybody in between being able to change
    /// them.
    static func isSafe(_ text: String) -> Bool {
        guard text.utf8.allSatisfy({ $0 < 128 }), let url = URL(string: text), let host = url.host(), !host.isEmpty,
            url.user() == nil
        else { return false }
        if url.scheme?.lowercased() == "https" { return true }
        guard url.scheme?.lowercased() == "http" else { return false }
        if host.lowercased() == "localhost" { return true }
        return IPAddress(host)?.isLoopback == true
    }
}
