// SPDX-License-Identifier: Apache-2.0

package import CalendarSync
import Crypto
import FeedTokens
import FoundationEssentials
import Storage

/// The credential of a connection's account in clear text; it is only stored sealed.
package enum AccountCredential: Sendable {
    case oauth(OAuthGrant)
    case password(CalDAVAccount, username: String, password: Concealed)

    /// The sealed text: a grant, or an account with its name and password.
    private struct Document: JSONFormed {
        var grant: JSONValue?
        var account: JSONValue?
        var username: String?
        var password: String?

        static let form = JSONForm<Self>([
            .optional("grant", \.grant), .optional("account", \.account), .optional("username", \.username),
            .optional("password", \.password),
        ])
    }

    /// Returns the credential sealed for this connection only, as it is stored.
    func sealed(for connection: String, _ key: SealingKey) throws -> String {
        let document =
            switch self {
            case .oauth(let grant): Document(grant: try JSONValue(parsing: grant.unsealedBytes()))
            case .password(let account, let username, let password):
                Document(
                    account: try JSONValue(parsing: Array(try JSONEncoder().encode(account))), username: username,
                    password: password.reveal())
            }
        return try key.seal(try document.text(), for: Self.purpose(connection))
    }

    /// Opens a stored credential; throws `SealingKey.Failure.wrongKey` if this server's key did not seal it.
    init(_ stored: ConnectionCredential, _ key: SealingKey) throws {
        let document = try Document(stored: try key.open(stored.sealed, for: Self.purpose(stored.connectionID)))
        if let grant = try document.grant.flatMap({ OAuthGrant(unsealedBytes: try $0.serialized()) }) {
            self = .oauth(grant)
        } else if let account = document.account, let username = document.username, let password = document.password {
            self = .password(try CalDAVAccount(decoding: account), username: username, password: Concealed(password))
        } else {
            throw StorageError.unexpectedResult("A credential is not as Kalends writes it.")
        }
    }

    /// Returns the purpose for which a connection's credential is sealed.
    package static func purpose(_ connection: String) -> String { "connections/\(connection)/credential" }

    /// Returns a hash that identifies an account, the same for all of its connections and of fixed length.
    static func account(_ provider: Connection.Provider, _ id: String) -> String {
        Hexadecimal.text(SHA256.hash(data: Array("\(provider.rawValue) \(id)".utf8)))
    }
}
