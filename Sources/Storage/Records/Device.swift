// SPDX-License-Identifier: Apache-2.0

/// A device that a user registered; only the hash of its token is stored.
public struct Device: Hashable, Sendable {
    public var id: String
    public var userID: String
    /// The name that the device gives itself, unique for its user.
    public var deviceID: String
    public var name: String?
    public var platform: String?
    public var createdAt: Int
    /// When it got its current token.
    public var registeredAt: Int
    public var lastUsedAt: Int?
    /// The name of what keeps the device from its calendars, as it last reported, and since when.
    public var problem: String?
    public var problemAt: Int?

    init(_ row: SQLRow) throws {
        id = try row.text(required: "id")
        userID = try row.text(required: "user_id")
        deviceID = try row.text(required: "device_id")
        name = row.text("name")
        platform = row.text("platform")
        createdAt = try row.integer(required: "created_at")
        registeredAt = try row.integer(required: "registered_at")
        lastUsedAt = row.integer("last_used_at")
        problem = row.text("problem")
        problemAt = row.integer("problem_at")
    }
}

extension ReadTransaction {
    /// Returns the device whose token has this hash.
    public func device(hash: String) throws -> Device? {
        try row("\(select: .devices) WHERE hash = $1", [.text(hash)]).map(Device.init)
    }

    /// Returns a user's device; nil when it belongs to another user.
    public func device(_ id: String, of user: String) throws -> Device? {
        try row("\(select: .devices) WHERE id = $1 AND user_id = $2", [.text(id), .text(user)]).map(Device.init)
    }

    /// Returns a user's device by the name that it gives itself.
    public func device(named deviceID: String, of user: String) throws -> Device? {
        try row("\(select: .devices) WHERE user_id = $1 AND device_id = $2", [.text(user), .text(deviceID)])
            .map(Device.init)
    }

    /// Returns a user's devices, in order of id.
    public func devices(of user: String, after cursor: String, limit: Int) throws -> [Device] {
        try rows(
            "\(select: .devices) WHERE user_id = $1 AND id > $2 ORDER BY id LIMIT $3",
            [.text(user), .text(cursor), .integer(limit)]
        ).map(Device.init)
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
        try execute(
            """
            INSERT INTO devices (id, hash, user_id, device_id, name, platform, created_at, registered_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
            ON CONFLICT (user_id, device_id)
            DO UPDATE SET hash = $2, name = $5, platform = $6, registered_at = $7, last_used_at = NULL,
                problem = NULL, problem_at = NULL
            """,
            [
                .text(id), .text(hash), .text(user), .text(deviceID), SQLValue(name), SQLValue(platform), .integer(now),
            ])
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
