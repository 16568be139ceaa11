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
        try row("\(select: .personalEvents) WHERE user_id = $1 AND id = $2", [.text(user), .text(id)])
            .map(PersonalEvent.init)
    }

    /// Returns the event that a provider knows by this id, including a deleted one.
    ///
    /// - Parameter instance: the key of a changed occurrence, otherwise empty.
    public func personalEventEverKnown(
        _ externalID: String, instance: String, of provider: String, user: String
    ) throws -> PersonalEvent? {
        try row(
            """
            \(select: .personalEvents)
            WHERE user_id = $1 AND provider = $2 AND external_id = $3 AND instance_key = $4
            """, [.text(user), .text(provider), .text(externalID), .text(instance)]
        ).map(PersonalEvent.init)
    }

    /// Returns a user's events that touch some days, in order of id.
    public func personalEvents(
        of user: String, from firstDay: Int, to lastDay: Int, after cursor: String, limit: Int
    ) throws -> [PersonalEvent] {
        try rows(
            """
            \(select: .personalEvents)
            WHERE user_id = $1 AND id > $2 AND deleted_at IS NULL AND connection_id IS NULL
                AND first_day <= $4 AND (last_day IS NULL OR last_day >= $3)
            ORDER BY id LIMIT $5
            """, [.text(user), .text(cursor), .integer(firstDay), .integer(lastDay), .integer(limit)]
        ).map(PersonalEvent.init)
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
            return try rows(
                """
                \(select: .personalEvents)
                WHERE user_id = $1 AND provider = $5 AND updated_at > $2 AND \(isShown)
                ORDER BY updated_at LIMIT $3
                """, common + [.text(provider)]
            ).map(PersonalEvent.init)
        }
        return try rows(
            """
            \(select: .personalEvents) WHERE user_id = $1 AND updated_at > $2 AND \(isShown)
            ORDER BY updated_at LIMIT $3
            """, common
        ).map(PersonalEvent.init)
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
    public func putPersonalEvent(_ event: PersonalEvent) throws {
        let (content, mapping) = (event.content, event.mapping)
        try execute(
            """
            INSERT INTO personal_events (user_id, id, uid, sequence, title, date, start_time, end_time, end_date,
                time_zone, description, location, recurrence, first_day, last_day, provider, external_id,
                external_instance_id, instance_key, external_calendar_id, sync_state, last_synced_at, source_device,
                created_at, updated_at, changed_at, deleted_at, connection_id, circle_id, collection, item_id,
                generation, carrier, turn, sent_at, earlier)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
                $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36)
            ON CONFLICT (user_id, id) DO UPDATE SET sequence = EXCLUDED.sequence, title = EXCLUDED.title,
                date = EXCLUDED.date, start_time = EXCLUDED.start_time, end_time = EXCLUDED.end_time,
                end_date = EXCLUDED.end_date, time_zone = EXCLUDED.time_zone, description = EXCLUDED.description,
                location = EXCLUDED.location, recurrence = EXCLUDED.recurrence, first_day = EXCLUDED.first_day,
                last_day = EXCLUDED.last_day, provider = EXCLUDED.provider, external_id = EXCLUDED.external_id,
                external_instance_id = EXCLUDED.external_instance_id, instance_key = EXCLUDED.instance_key,
                external_calendar_id = EXCLUDED.external_calendar_id, sync_state = EXCLUDED.sync_state,
                last_synced_at = EXCLUDED.last_synced_at, source_device = EXCLUDED.source_device,
                updated_at = EXCLUDED.updated_at, changed_at = EXCLUDED.changed_at, deleted_at = EXCLUDED.deleted_at,
                carrier = EXCLUDED.carrier, turn = EXCLUDED.turn, sent_at = EXCLUDED.sent_at, earlier = EXCLUDED.earlier
            """,
            [
                .text(event.userID), .text(event.id), .text(event.uid), .integer(event.sequence),
                .text(content.title), .text(content.date), SQLValue(content.startTime), SQLValue(content.endTime),
                SQLValue(content.endDate), SQLValue(content.timeZone), SQLValue(content.description),
                SQLValue(content.location), SQLValue(content.recurrence), .integer(event.firstDay),
                SQLValue(event.lastDay), .text(mapping.provider), SQLValue(mapping.externalID),
                SQLValue(mapping.instanceID), .text(mapping.instanceKey), SQLValue(mapping.calendarID),
                .text(mapping.state.rawValue), SQLValue(mapping.lastSyncedAt), SQLValue(mapping.sourceDevice),
                .integer(event.createdAt), .integer(event.updatedAt), .integer(event.changedAt),
                SQLValue(event.deletedAt), SQLValue(event.tie?.source), SQLValue(event.tie?.circleID),
                SQLValue(event.tie?.collection), SQLValue(event.tie?.itemID), SQLValue(event.tie?.generation),
                SQLValue(event.tie?.carrier), SQLValue(event.tie?.turn), SQLValue(event.tie?.sentAt),
                SQLValue(event.tie?.earlier),
            ])
    }
}
