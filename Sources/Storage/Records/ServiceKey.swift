// SPDX-License-Identifier: Apache-2.0

/// A host application's key; only its hash is stored.
public struct ServiceKey: Hashable, Sendable {
    public var id: String
    public var name: String
    /// The first characters, by which people tell keys apart.
    public var hint: String
    /// The permissions of the key, as names separated by spaces; nil for all.
    public var scopes: String?
    public var createdAt: Int
    public var lastUsedAt: Int?
    public var revokedAt: Int?

    init(_ row: SQLRow) throws {
        id = try row.text(required: "id")
        name = try row.text(required: "name")
        hint = try row.text(required: "hint")
        scopes = row.text("scopes")
        createdAt = try row.integer(required: "created_at")
        lastUsedAt = row.integer("last_used_at")
        revokedAt = row.integer("revoked_at")
    }
}

extension ReadTransaction {
    /// Returns the key with this hash that is not revoked.
    public func serviceKey(hash: String) throws -> ServiceKey? {
        try row("\(select: .serviceKeys) WHERE hash = $1 AND revoked_at IS NULL", [.text(hash)]).map(ServiceKey.init)
    }

    public func serviceKey(_ id: String) throws -> ServiceKey? {
        try row("\(select: .serviceKeys) WHERE id = $1", [.text(id)]).map(ServiceKey.init)
    }

    /// Returns all keys, including revoked ones, in order of id.
    public func serviceKeys(after cursor: String, limit: Int) throws -> [ServiceKey] {
        try rows("\(select: .serviceKeys) WHERE id > $1 ORDER BY id LIMIT $2", [.text(cursor), .integer(limit)])
            .map(ServiceKey.init)
    }
}

extension WriteTransaction {
    /// - Parameter scopes: nil for all permissions.
    public func insertServiceKey(
        id: String, name: String, hash: String, hint: String, scopes: String? = nil, now: Int
    ) throws {
        try execute(
            "INSERT INTO service_keys (id, name, hash, hint, scopes, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
            [.text(id), .text(name), .text(hash), .text(hint), SQLValue(scopes), .integer(now)])
    }

    /// Revokes a key; returns false when there is no such key or it is already revoked.
    public func revokeServiceKey(_ id: String, now: Int) throws -> Bool {
        try execute(
            "UPDATE service_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL",
            [.text(id), .integer(now)]) > 0
    }

    public func noteUse(ofServiceKey id: String, now: Int) throws {
        try execute("UPDATE service_keys SET last_used_at = $2 WHERE id = $1", [.text(id), .integer(now)])
    }
}
