// SPDX-License-Identifier: Apache-2.0

/// What a provider says about itself (OpenID Connect Discovery 1.0 section 3).
struct OpenIDMetadata: Sendable {
    let authorizeURL: String
    let tokenURL: String
    let keysURL: String
    /// Nil for a provider that says everything in its ID tokens.
    let userInfoURL: String?
    /// Nil for a provider at which nobody can be signed out from here.
    let endSessionURL: String?
    /// Whether the client secret is sent by HTTP Basic authentication, which every provider has unless it says otherwise.
    let identifiesInHeader: Bool
    /// Whether the provider names itself when it sends the browser back (RFC 9207).
    let namesItself: Bool

    /// - Parameter issuer: the issuer that was asked, which the document has to name with the same bytes.
    init(_ document: JSONValue, of issuer: String) throws(OpenIDFault) {
        guard document["issuer"]?.string?.isSameText(as: issuer) == true else {
            throw OpenIDFault(.failed, "The discovery document names an issuer other than oidcIssuer.")
        }
        func texts(_ name: String) -> [String]? { document[name]?.array?.compactMap(\.string) }
        guard let authorize = Self.address(document["authorization_endpoint"]),
            let token = Self.address(document["token_endpoint"]), let keys = Self.address(document["jwks_uri"])
        else { throw OpenIDFault(.failed, "The discovery document lacks an address, or has one without https.") }
        if let types = texts("response_types_supported"), !types.contains(where: { $0.isSameText(as: "code") }) {
            throw OpenIDFault(.failed, "The provider does not support the response type code.")
        }
        let algorithms = texts("id_token_signing_alg_values_supported")
        if let algorithms, !algorithms.contains(where: { ["RS256", "PS256", "ES256"].contains($0) }) {
            throw OpenIDFault(.failed, "The provider signs ID tokens with none of RS256, PS256 and ES256.")
        }
        (authorizeURL, tokenURL, keysURL) = (authorize, token, keys)
        userInfoURL = Self.address(document["userinfo_endpoint"])
        endSessionURL = Self.address(document["end_session_endpoint"])
        let methods = texts("token_endpoint_auth_methods_supported")
        identifiesInHeader = methods?.contains { $0.isSameText(as: "client_secret_basic") } ?? true
        namesItself = document["authorization_response_iss_parameter_supported"]?.bool == true
    }

    private static func address(_ value: JSONValue?) -> String? {
        guard let text = value?.string, text.utf8.count <= 2000, TokenSettings.isSafe(text),
            WebOrigin(ofAddress: text) != nil, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 })
        else { return nil }
        return text
    }
}
