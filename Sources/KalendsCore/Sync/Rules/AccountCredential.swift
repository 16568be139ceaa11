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

    /// Returns the credential sealed for this connection only, as it is stored.
    func sealed(for connection: String, _ key: SealingKey) throws -> String {
        let document: JSONValue
        switch self {
        case .oauth(let grant):
            document = ["grant": try JSONValue(parsing: grant.unsealedBytes())]
        case .password(let account, let username, let password):
            document = [
                "account": try JSONValue(parsing: Array(try JSONEncoder().encode(account))),
                "username": .string(username), "password": .string(password.reveal()),
            ]
        }
        return try key.seal(try document.text(), for: Self.purpose(connection))
    }

    /// Opens a stored credential; throws `SealingKey.Failure.wrongKey` if this server's key did not seal it.
    init(_ stored: ConnectionCredential, _ key: SealingKey) throws {
        let text = try key.open(stored.sealed, for: Self.purpose(stored.connectionID))
        let document = try JSONValue(parsing: text.utf8)
        if let value = document["grant"], let grant = OAuthGrant(unsealedBytes: try value.serialized()) {
            self = .oauth(grant)
        } else if let value = document["account"], let username = document["username"]?.string,
            let password = document["password"]?.string
        {
            self = .password(try CalDAVAccount(decoding: value), username: username, password: Concealed(password))
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
