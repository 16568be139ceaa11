// SPDX-License-Identifier: Apache-2.0

/// The sealed credential of a connection's account.
public struct ConnectionCredential: Hashable, Sendable {
    public var connectionID = ""
    public var sealed = ""
    /// A value that is equal for equal accounts of one provider.
    public var account = ""
    /// A number that rises with each renewal.
    public var version = 0
    public var updatedAt = 0
}

extension ConnectionCredential: StoredRow {
    public init(connectionID: String, sealed: String, account: String, version: Int, now: Int) {
        self.init(connectionID: connectionID, sealed: sealed, account: account, version: version, updatedAt: now)
    }

    static let table = RecordTable<ConnectionCredential>(
        "connection_credentials",
        [
            .once("connection_id", \.connectionID), .once("sealed", \.sealed), .once("account", \.account),
            .once("version", \.version), .once("updated_at", \.updatedAt),
        ])
}

extension ReadTransaction {
    public func credential(ofConnection id: String) throws -> ConnectionCredential? {
        try first("WHERE connection_id = $1", [.text(id)])
    }

    /// Whether another connection, ended or not, uses the same account of the provider.
    ///
    /// - Parameter user: whose connections do not count, because all of them end; nil for nobody.
    public func isShared(_ own: ConnectionCredential, exceptBy user: String? = nil) throws -> Bool {
        try row(
            """
            SELECT 1 AS found FROM connection_credentials AS other JOIN connections ON connections.id = connection_id
            WHERE account = $1 AND connection_id <> $2 AND user_id <> $3 LIMIT 1
            """, [.text(own.account), .text(own.connectionID), .text(user ?? "")]) != nil
    }
}

extension WriteTransaction {
    /// Stores the credential from a sign-in in place of the old one.
    public func putCredential(_ own: ConnectionCredential) throws {
        try insert(
            new: own,
            """
            ON CONFLICT (connection_id) DO UPDATE SET sealed = EXCLUDED.sealed, account = EXCLUDED.account,
                version = connection_credentials.version + 1, updated_at = EXCLUDED.updated_at
            """)
    }

    /// Stores a renewed credential; returns false and changes nothing when another was stored in between.
    ///
    /// - Parameter version: the version of the credential that was renewed.
    public func renewCredential(ofConnection id: String, from version: Int, to sealed: String, now: Int) throws -> Bool
    {
        try execute(
            """
            UPDATE connection_credentials SET sealed = $3, version = version + 1, updated_at = $4
            WHERE connection_id = $1 AND version = $2
            """, [.text(id), .integer(version), .text(sealed), .integer(now)]) > 0
    }
}
