// SPDX-License-Identifier: Apache-2.0

/// A device that a user registered; only the hash of its token is stored.
public struct Device: Hashable, Sendable {
    public var id = ""
    /// The hash of its token.
    var hash = ""
    public var userID = ""
    /// The name that the device gives itself, unique for its user.
    public var deviceID = ""
    public var name: String?
    public var platform: String?
    public var createdAt = 0
    /// When it got its current token.
    public var registeredAt = 0
    public var lastUsedAt: Int?
    /// The name of what keeps the device from its calendars, as it last reported, and since when.
    public var problem: String?
    public var problemAt: Int?
}

extension Device: StoredRow {
    static let table = RecordTable<Device>(
        "devices",
        [
            .once("id", \.id), .once("hash", \.hash), .once("user_id", \.userID), .once("device_id", \.deviceID),
            .once("name", \.name), .once("platform", \.platform), .once("created_at", \.createdAt),
            .once("registered_at", \.registeredAt), .shown("last_used_at", \.lastUsedAt), .shown("problem", \.problem),
            .shown("problem_at", \.problemAt),
        ])
}

extension ReadTransaction {
    /// Returns the device whose token has this hash.
    public func device(hash: String) throws -> Device? {
        try first("WHERE hash = $1", [.text(hash)])
    }

    /// Returns a user's device; nil when it belongs to another user.
    public func device(_ id: String, of user: String) throws -> Device? {
        try first("WHERE id = $1 AND user_id = $2", [.text(id), .text(user)])
    }

    /// Returns a user's device by the name that it gives itself.
    public func device(named deviceID: String, of user: String) throws -> Device? {
        try first("WHERE user_id = $1 AND device_id = $2", [.text(user), .text(deviceID)])
    }

    /// Returns a user's devices, in order of id.
    public func devices(of user: String, after cursor: String, limit: Int) throws -> [Device] {
        try all("WHERE user_id = $1 AND id > $2 ORDER BY id LIMIT $3", [.text(user), .text(cursor), .integer(limit)])
    }

    public func deviceCount(of user: String) throws -> Int {
        try row("SELECT COUNT(*) AS devices FROM devices WHERE user_id = $1", [.text(user)])?.integer("devices") ?? 0
    }
}

extension WriteTransaction {
    /// Registers a device; a known device keeps its id and gets another token.
    ///
    /// - Parameter id: the id for a device that is not known yet.
    public func putDevice(
        id: String, of user: String, deviceID: String, name: String?, platform: String?, hash: String, now: Int
    ) throws {
        try insert(
            new: Device(
                id: id, hash: hash, userID: user, deviceID: deviceID, name: name, platform: platform, createdAt: now,
                registeredAt: now),
            """
            ON CONFLICT (user_id, device_id) DO UPDATE SET hash = EXCLUDED.hash, name = EXCLUDED.name,
                platform = EXCLUDED.platform, registered_at = EXCLUDED.registered_at, last_used_at = NULL,
                problem = NULL, problem_at = NULL
            """)
    }

    public func noteUse(ofDevice id: String, now: Int) throws {
        try execute("UPDATE devices SET last_used_at = $2 WHERE id = $1", [.text(id), .integer(now)])
    }

    /// Stores what keeps a device from its calendars; nil when nothing does.
    public func noteProblem(_ problem: String?, ofDevice id: String, now: Int) throws {
        try execute(
            "UPDATE devices SET problem = $2, problem_at = $3 WHERE id = $1",
            [.text(id), SQLValue(problem), SQLValue(problem == nil ? nil : now)])
    }

    /// Removes all of a user's devices: somebody who knew the old password may have registered one.
    public func deleteDevices(of user: String) throws {
        try execute("DELETE FROM devices WHERE user_id = $1", [.text(user)])
    }

    /// Revokes a user's device; returns false when the user has no such device.
    public func deleteDevice(_ id: String, of user: String) throws -> Bool {
        try execute("DELETE FROM devices WHERE id = $1 AND user_id = $2", [.text(id), .text(user)]) > 0
    }
}
