// SPDX-License-Identifier: Apache-2.0

/// How much one service key may do; nil for what is not limited.
public struct KeyQuotas: Hashable, Sendable {
    /// Requests that a server answers it within a minute.
    public var requestsPerMinute: Int?
    /// Feeds in the circles that the key reaches, including those that have ended.
    public var feeds: Int?
    /// Circles that the key reaches.
    public var circles: Int?

    public init(requestsPerMinute: Int? = nil, feeds: Int? = nil, circles: Int? = nil) {
        (self.requestsPerMinute, self.feeds, self.circles) = (requestsPerMinute, feeds, circles)
    }

    public var isEmpty: Bool { self == KeyQuotas() }
}

/// A host application's key; only its hash is stored.
public struct ServiceKey: Hashable, Sendable {
    public var id = ""
    public var name = ""
    /// The hash of the key.
    var hash = ""
    /// The first characters, by which people tell keys apart.
    public var hint = ""
    /// The permissions of the key, as names separated by spaces; nil for all.
    public var scopes: String?
    /// The circles to which the key is bound, or the start of their ids; both nil for all circles.
    public var circles: [String]?
    public var circlePrefix: String?
    public var quotas = KeyQuotas()
    public var createdAt = 0
    public var lastUsedAt: Int?
    public var revokedAt: Int?
}

extension ServiceKey: StoredRow {
    static let table = RecordTable<ServiceKey>(
        "service_keys",
        [
            .once("id", \.id), .once("name", \.name), .once("hash", \.hash), .once("hint", \.hint),
            .once("scopes", \.scopes), .once("circles", \.circles), .once("circle_prefix", \.circlePrefix),
            .once("requests_per_minute", \.quotas.requestsPerMinute), .once("most_feeds", \.quotas.feeds),
            .once("most_circles", \.quotas.circles), .once("created_at", \.createdAt),
            .shown("last_used_at", \.lastUsedAt), .shown("revoked_at", \.revokedAt),
        ])
}

extension ReadTransaction {
    /// Returns the key with this hash that is not revoked.
    public func serviceKey(hash: String) throws -> ServiceKey? {
        try first("WHERE hash = $1 AND revoked_at IS NULL", [.text(hash)])
    }

    public func serviceKey(_ id: String) throws -> ServiceKey? {
        try first("WHERE id = $1", [.text(id)])
    }

    /// Returns all keys, including revoked ones, in order of id.
    public func serviceKeys(after cursor: String, limit: Int) throws -> [ServiceKey] {
        try all("WHERE id > $1 ORDER BY id LIMIT $2", [.text(cursor), .integer(limit)])
    }
}

extension WriteTransaction {
    /// - Parameters:
    ///   - scopes: nil for all permissions.
    ///   - bound: nil for all circles.
    public func insertServiceKey(
        id: String, name: String, hash: String, hint: String, scopes: String? = nil, bound: CircleBound? = nil,
        quotas: KeyQuotas = KeyQuotas(), now: Int
    ) throws {
        var key = ServiceKey(id: id, name: name, hash: hash, hint: hint, scopes: scopes, createdAt: now)
        key.quotas = quotas
        switch bound {
        case nil: break
        case .circles(let ids): key.circles = ids
        case .prefix(let start): key.circlePrefix = start
        }
        try insert(new: key)
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
