// SPDX-License-Identifier: Apache-2.0

/// The sealed credential of a connection's account.
public struct ConnectionCredential: Hashable, Sendable {
    public var connectionID: String
    public var sealed: String
    /// A value that is equal for equal accounts of one provider.
    public var account: String
    /// A number that rises with each renewal.
    public var version: Int
    public var updatedAt: Int

    public init(connectionID: String, sealed: String, account: String, version: Int, now: Int) {
        self.connectionID = connectionID
        self.sealed = sealed
        self.account = account
        self.version = version
        self.updatedAt = now
    }

    init(_ row: SQLRow) throws {
        connectionID = try row.text(required: "connection_id")
        sealed = try row.text(required: "sealed")
        account = try row.text(required: "account")
        version = try row.integer(required: "version")
        updatedAt = try row.integer(required: "updated_at")
    }
}

extension ReadTransaction {
    public func credential(ofConnection id: String) throws -> ConnectionCredential? {
        try row("\(select: .connectionCredentials) WHERE connection_id = $1", [.text(id)])
            .map(ConnectionCredential.init)
    }

    /// Whether another connection, ended or not, uses the same account of the provider.
    public func isShared(_ own: ConnectionCredential) throws -> Bool {
        try row(
            "SELECT 1 AS found FROM connection_credentials WHERE account = $1 AND connection_id <> $2 LIMIT 1",
            [.text(own.account), .text(own.connectionID)]) != nil
    }
}

extension WriteTransaction {
    /// Stores the credential from a sign-in in place of the old one.
    public func putCredential(_ own: ConnectionCredential) throws {
        try execute(
            """
            INSERT INTO connection_credentials (connection_id, sealed, account, version, updated_at)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (connection_id) DO UPDATE SET sealed = EXCLUDED.sealed, account = EXCLUDED.account,
                version = connection_credentials.version + 1, updated_at = EXCLUDED.updated_at
            """,
            [
                .text(own.connectionID), .text(own.sealed), .text(own.account), .integer(own.version),
                .integer(own.updatedAt),
            ])
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
