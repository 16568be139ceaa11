// SPDX-License-Identifier: Apache-2.0

/// The user of a token, and what the token opens.
package struct TokenBearer: Sendable {
    package let user: String
    /// Nil for everything that the user may do.
    package let scopes: Set<Scope>?
}

/// What a host application's token opens according to its claim `scope` (RFC 8693 section 4.2).
///
/// Only names that begin with `kalends:` concern this server: a host application's tokens may have others for other
/// programs, and narrow nothing here.
struct TokenScopes: Sendable {
    let scopes: Set<Scope>

    /// The prefix of the names that concern this server, such as `kalends:schedule:read`.
    static let prefix = "kalends:"

    /// Nil when the claims narrow nothing.
    ///
    /// - Parameter isStrict: whether a token that has scopes, and none for this server, opens nothing.
    init?(_ claims: JSONValue, isStrict: Bool) {
        let names = Self.names(claims["scope"])
        let own = names.filter { $0.hasPrefix(Self.prefix) }
        scopes = Set(own.compactMap { Scope(text: String($0.dropFirst(Self.prefix.count))) })
        if !own.isEmpty { return }
        // Details of an authorization (RFC 9396) have no type that concerns this server.
        guard isStrict, claims["scope"] != nil || claims["authorization_details"] != nil else { return nil }
    }

    /// The names in one text, or in a list, which some issuers write instead.
    private static func names(_ claim: JSONValue?) -> [String] {
        let texts = claim?.array?.compactMap(\.string) ?? [claim?.string].compactMap(\.self)
        return texts.flatMap { $0.pieces(separatedBy: " ").map { String($0) } }
    }
}
