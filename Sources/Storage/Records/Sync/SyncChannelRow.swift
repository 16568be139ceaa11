// SPDX-License-Identifier: Apache-2.0

/// The channel through which a provider reports changes of a connection's calendar.
public struct SyncChannelRow: Hashable, Sendable {
    /// The channel's or subscription's own id.
    public var id = ""
    public var connectionID = ""
    /// The hash of the secret that comes back with each report.
    public var secretHash = ""
    public var expiresAt = 0
    /// When another channel has to replace it: at half of its lifetime.
    public var renewAt = 0
    /// When a message last came through it; nil as long as none did, and again after a change that no message announced.
    public var lastHeardAt: Int?
    public var content = ""

    /// Whether changes are announced through it.
    public func isAlive(now: Int) -> Bool { lastHeardAt != nil && expiresAt > now }
}

extension SyncChannelRow: StoredRow {
    public init(
        id: String, connectionID: String, secretHash: String, expiresAt: Int, renewAt: Int, content: String
    ) {
        self.init(
            id: id, connectionID: connectionID, secretHash: secretHash, expiresAt: expiresAt, renewAt: renewAt,
            lastHeardAt: nil, content: content)
    }

    static let table = RecordTable<SyncChannelRow>(
        "sync_channels",
        [
            .init("id", \.id), .once("connection_id", \.connectionID), .init("secret_hash", \.secretHash),
            .init("expires_at", \.expiresAt), .init("renew_at", \.renewAt), .init("last_heard_at", \.lastHeardAt),
            .init("content", \.content),
        ])
}

extension ReadTransaction {
    public func syncChannel(_ id: String) throws -> SyncChannelRow? {
        try first("WHERE id = $1", [.text(id)])
    }

    /// Returns a connection's channels, the one that lasts longest first.
    public func syncChannels(of connection: String) throws -> [SyncChannelRow] {
        try all("WHERE connection_id = $1 ORDER BY expires_at DESC, id", [.text(connection)])
    }
}

extension WriteTransaction {
    public func putSyncChannel(_ own: SyncChannelRow) throws { try put(own) }

    public func deleteSyncChannel(_ id: String) throws {
        try execute("DELETE FROM sync_channels WHERE id = $1", [.text(id)])
    }
}
