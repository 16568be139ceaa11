// SPDX-License-Identifier: Apache-2.0

/// The channel through which a provider reports changes of a connection's calendar.
public struct SyncChannelRow: Hashable, Sendable {
    /// The channel's or subscription's own id.
    public var id: String
    public var connectionID: String
    /// The hash of the secret that comes back with each report.
    public var secretHash: String
    public var expiresAt: Int
    /// When another channel has to replace it: at half of its lifetime.
    public var renewAt: Int
    public var lastHeardAt: Int?
    public var content: String

    public init(
        id: String, connectionID: String, secretHash: String, expiresAt: Int, renewAt: Int, content: String
    ) {
        (self.id, self.connectionID, self.secretHash) = (id, connectionID, secretHash)
        (self.expiresAt, self.renewAt, self.content) = (expiresAt, renewAt, content)
    }

    init(_ row: SQLRow) throws {
        id = try row.text(required: "id")
        connectionID = try row.text(required: "connection_id")
        secretHash = try row.text(required: "secret_hash")
        expiresAt = try row.integer(required: "expires_at")
        renewAt = try row.integer(required: "renew_at")
        lastHeardAt = row.integer("last_heard_at")
        content = try row.text(required: "content")
    }
}

extension ReadTransaction {
    public func syncChannel(_ id: String) throws -> SyncChannelRow? {
        try row("\(select: .syncChannels) WHERE id = $1", [.text(id)]).map(SyncChannelRow.init)
    }

    /// Returns a connection's channels, the one that lasts longest first.
    public func syncChannels(of connection: String) throws -> [SyncChannelRow] {
        try rows(
            "\(select: .syncChannels) WHERE connection_id = $1 ORDER BY expires_at DESC, id", [.text(connection)]
        ).map(SyncChannelRow.init)
    }
}

extension WriteTransaction {
    public func putSyncChannel(_ own: SyncChannelRow) throws {
        try execute(
            """
            INSERT INTO sync_channels (id, connection_id, secret_hash, expires_at, renew_at, last_heard_at, content)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (id) DO UPDATE SET secret_hash = EXCLUDED.secret_hash, expires_at = EXCLUDED.expires_at,
                renew_at = EXCLUDED.renew_at, last_heard_at = EXCLUDED.last_heard_at, content = EXCLUDED.content
            """,
            [
                .text(own.id), .text(own.connectionID), .text(own.secretHash), .integer(own.expiresAt),
                .integer(own.renewAt), SQLValue(own.lastHeardAt), .text(own.content),
            ])
    }

    public func deleteSyncChannel(_ id: String) throws {
        try execute("DELETE FROM sync_channels WHERE id = $1", [.text(id)])
    }
}
