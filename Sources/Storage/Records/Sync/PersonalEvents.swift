// SPDX-License-Identifier: Apache-2.0

/// The latest change and the size of a user's own calendar.
public struct PersonalCalendar: Hashable, Sendable {
    /// The highest `updatedAt` of its events.
    public var lastAt: Int
    /// How many events there ever were.
    public var events: Int
    /// The bytes of their texts.
    public var bytes: Int
}

/// How many events of each kind a user has.
public struct PersonalEventCounts: Hashable, Sendable {
    public var events: Int
    public var linked: Int
    public var pending: Int
    public var conflicts: Int
}

extension ReadTransaction {
    public func personalCalendar(of user: String) throws -> PersonalCalendar {
        let row = try row("SELECT last_at, events, bytes FROM personal_calendars WHERE user_id = $1", [.text(user)])
        return PersonalCalendar(
            lastAt: row?.integer("last_at") ?? 0, events: row?.integer("events") ?? 0,
            bytes: row?.integer("bytes") ?? 0)
    }

    /// Returns a user's event, including a deleted one.
    public func personalEventEverKnown(_ id: String, of user: String) throws -> PersonalEvent? {
        try first("WHERE user_id = $1 AND id = $2", [.text(user), .text(id)])
    }

    /// Returns the event that a provider knows by this id, including a deleted one.
    ///
    /// - Parameter instance: the key of a changed occurrence, otherwise empty.
    public func personalEventEverKnown(
        _ externalID: String, instance: String, of provider: String, user: String
    ) throws -> PersonalEvent? {
        try first(
            "WHERE user_id = $1 AND provider = $2 AND external_id = $3 AND instance_key = $4",
            [.text(user), .text(provider), .text(externalID), .text(instance)])
    }

    /// Returns a user's events that touch some days, in order of id.
    public func personalEvents(
        of user: String, from firstDay: Int, to lastDay: Int, after cursor: String, limit: Int
    ) throws -> [PersonalEvent] {
        try all(
            """
            WHERE user_id = $1 AND id > $2 AND deleted_at IS NULL AND connection_id IS NULL
                AND first_day <= $4 AND (last_day IS NULL OR last_day >= $3)
            ORDER BY id LIMIT $5
            """, [.text(user), .text(cursor), .integer(firstDay), .integer(lastDay), .integer(limit)])
    }

    /// Returns what changed after a time among a user's events and the items for a device, including deleted ones,
    /// oldest first.
    ///
    /// - Parameters:
    ///   - provider: nil for all providers.
    ///   - device: the device that asks; nil for a caller without a device, who sees the items that no device carries.
    public func personalEvents(
        of user: String, changedAfter time: Int, provider: String?, for device: String?, limit: Int
    ) throws -> [PersonalEvent] {
        let isShown = "(connection_id IS NULL OR COALESCE(carrier, '') = $4)"
        let common: [SQLValue] = [.text(user), .integer(time), .integer(limit), .text(device ?? "")]
        if let provider {
            return try all(
                """
                WHERE user_id = $1 AND provider = $5 AND updated_at > $2 AND \(isShown)
                ORDER BY updated_at LIMIT $3
                """, common + [.text(provider)])
        }
        return try all(
            """
            WHERE user_id = $1 AND updated_at > $2 AND \(isShown)
            ORDER BY updated_at LIMIT $3
            """, common)
    }

    public func personalEventCounts(of user: String) throws -> PersonalEventCounts {
        let row = try row(
            """
            SELECT COUNT(*) AS events,
                COALESCE(SUM(CASE WHEN sync_state = 'linked' THEN 1 ELSE 0 END), 0) AS linked,
                COALESCE(SUM(CASE WHEN sync_state = 'pending' THEN 1 ELSE 0 END), 0) AS pending,
                COALESCE(SUM(CASE WHEN sync_state = 'conflict' THEN 1 ELSE 0 END), 0) AS conflicts
            FROM personal_events WHERE user_id = $1 AND deleted_at IS NULL AND connection_id IS NULL
            """, [.text(user)])
        return PersonalEventCounts(
            events: row?.integer("events") ?? 0, linked: row?.integer("linked") ?? 0,
            pending: row?.integer("pending") ?? 0, conflicts: row?.integer("conflicts") ?? 0)
    }
}

extension WriteTransaction {
    public func putPersonalCalendar(_ calendar: PersonalCalendar, of user: String) throws {
        try execute(
            """
            INSERT INTO personal_calendars (user_id, last_at, events, bytes) VALUES ($1, $2, $3, $4)
            ON CONFLICT (user_id) DO UPDATE SET last_at = EXCLUDED.last_at, events = EXCLUDED.events,
                bytes = EXCLUDED.bytes
            """,
            [.text(user), .integer(calendar.lastAt), .integer(calendar.events), .integer(calendar.bytes)])
    }

    /// Stores a new or changed event.
    public func putPersonalEvent(_ event: PersonalEvent) throws { try put(event) }
}
