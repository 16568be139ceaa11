// SPDX-License-Identifier: Apache-2.0

/// The device of a user that writes the items of a source into its calendar, one device at a time.
public struct PhoneCarrier: Hashable, Sendable {
    /// The source of office days that go to a device without a connection.
    public static let officeDays = "office-days"

    public var userID = ""
    /// A connection's id, or `officeDays`.
    public var source = ""
    /// The device's id; nil before a device asked.
    public var carrier: String?
    /// The fencing number, which rises whenever another device takes over.
    public var turn = 0
    public var seenAt: Int?
    /// Changes up to this time have reached the carrier.
    public var deliveredAt = 0
    /// The state that the items were last made from.
    public var shown: String?

}

extension PhoneCarrier: StoredRow {
    public init(of user: String, source: String) { self.init(userID: user, source: source) }

    static let table = RecordTable<PhoneCarrier>(
        "phone_carriers",
        [
            .init("user_id", \.userID), .init("source", \.source), .init("carrier", \.carrier), .init("turn", \.turn),
            .init("seen_at", \.seenAt), .init("delivered_at", \.deliveredAt), .init("shown", \.shown),
        ])
}

extension ReadTransaction {
    public func phoneCarriers(of user: String) throws -> [PhoneCarrier] {
        try all("WHERE user_id = $1 ORDER BY source", [.text(user)])
    }

    public func phoneCarrier(of user: String, source: String) throws -> PhoneCarrier? {
        try first("WHERE user_id = $1 AND source = $2", [.text(user), .text(source)])
    }

    /// Returns the event that an earlier carrier of its source knew by this id.
    public func formerPhoneEvent(_ externalID: String, instance: String, of user: String) throws -> String? {
        try row(
            """
            SELECT event_id FROM phone_former_events
            WHERE user_id = $1 AND external_id = $2 AND instance_key = $3
            """, [.text(user), .text(externalID), .text(instance)])?.text("event_id")
    }
}

extension WriteTransaction {
    public func putPhoneCarrier(_ own: PhoneCarrier) throws { try put(own) }

    /// Gives a source to a device: the device gets its events as if they were new, and the ids by which the device
    /// before knew them are recorded.
    public func give(_ own: PhoneCarrier, to device: String, now: Int) throws {
        var own = own
        (own.carrier, own.turn, own.seenAt, own.deliveredAt) = (device, own.turn + 1, now, 0)
        try putPhoneCarrier(own)
        try forgetManyFormerIDs(of: own.source)
        try execute(
            """
            INSERT INTO phone_former_events (user_id, external_id, instance_key, source, event_id)
            SELECT user_id, external_id, instance_key, connection_id, id FROM personal_events
            WHERE connection_id = $2 AND user_id = $1 AND external_id IS NOT NULL
            ON CONFLICT (user_id, external_id, instance_key)
            DO UPDATE SET source = EXCLUDED.source, event_id = EXCLUDED.event_id
            """, [.text(own.userID), .text(own.source)])
        var calendar = try personalCalendar(of: own.userID)
        // In one statement, since there may be very many; each row gets a time of its own.
        let first = max(now, calendar.lastAt + 1)
        calendar.lastAt =
            first
            + (try execute(
                """
                WITH numbered AS (
                    SELECT id AS event_id, ROW_NUMBER() OVER (ORDER BY updated_at) AS place FROM personal_events
                    WHERE user_id = $1 AND connection_id = $2
                )
                UPDATE personal_events SET carrier = $3, turn = $4, updated_at = $5 + numbered.place,
                    provider = 'manual', external_id = NULL, external_calendar_id = NULL, last_synced_at = NULL,
                    earlier = NULL, sync_state = CASE WHEN sync_state = 'conflict' THEN 'conflict' ELSE 'pending' END
                FROM numbered WHERE personal_events.user_id = $1 AND personal_events.id = numbered.event_id
                """,
                [.text(own.userID), .text(own.source), .text(device), .integer(own.turn), .integer(first)]))
        try putPersonalCalendar(calendar, of: own.userID)
    }

    /// The maximum number of bytes that are remembered for ids of earlier carriers of a source.
    private static var mostFormerBytes: Int { 4 << 20 }

    private func forgetManyFormerIDs(of source: String) throws {
        let row = try row(
            """
            SELECT SUM(128 + length(CAST(external_id AS BLOB))) AS size FROM phone_former_events WHERE source = $1
            """, [.text(source)])
        guard row?.integer("size") ?? 0 > Self.mostFormerBytes else { return }
        try execute("DELETE FROM phone_former_events WHERE source = $1", [.text(source)])
    }

    /// Ends some of a source's events: they are removed from the device, except those that end before a day. Returns
    /// false when none was left, so that nobody carries the source.
    ///
    /// - Parameter day: in days since 1970-01-01; nil when all events are removed.
    func endSomePhoneItems(of own: Connection, from day: Int?, now: Int, limit: Int) throws -> Bool {
        let ids = try livingPhoneItemIDs(of: own, from: day, limit: limit)
        if !ids.isEmpty {
            var calendar = try personalCalendar(of: own.userID)
            for id in ids {
                calendar.lastAt = max(now, calendar.lastAt + 1)
                try execute(
                    """
                    UPDATE personal_events SET deleted_at = $3, updated_at = $4, earlier = NULL
                    WHERE user_id = $1 AND id = $2
                    """, [.text(own.userID), .text(id), .integer(now), .integer(calendar.lastAt)])
            }
            try putPersonalCalendar(calendar, of: own.userID)
            return true
        }
        let left = try execute(
            """
            DELETE FROM personal_events WHERE user_id = $1 AND id IN (
                SELECT id FROM personal_events WHERE user_id = $1 AND connection_id = $2 AND deleted_at IS NULL
                LIMIT $3)
            """, [.text(own.userID), .text(own.id), .integer(limit)])
        if left > 0 { return true }
        try execute(
            """
            DELETE FROM phone_former_events WHERE source = $1 AND NOT EXISTS (
                SELECT 1 FROM personal_events WHERE personal_events.user_id = phone_former_events.user_id
                    AND personal_events.id = phone_former_events.event_id)
            """, [.text(own.id)])
        try forgetPhoneCarrier(of: own)
        return false
    }

    /// Removes the records of a source whose events stay on the device.
    func forgetPhoneItems(of own: Connection) throws {
        try execute(
            "DELETE FROM personal_events WHERE connection_id = $1 AND user_id = $2", [.text(own.id), .text(own.userID)])
        try execute("DELETE FROM phone_former_events WHERE source = $1", [.text(own.id)])
        try forgetPhoneCarrier(of: own)
    }

    private func forgetPhoneCarrier(of own: Connection) throws {
        try execute(
            "DELETE FROM phone_carriers WHERE user_id = $1 AND source = $2", [.text(own.userID), .text(own.id)])
    }
}

extension ReadTransaction {
    /// Returns events of a source that are not deleted, in the order of their changes.
    fileprivate func livingPhoneItemIDs(of own: Connection, from day: Int?, limit: Int) throws -> [String] {
        try rows(
            """
            SELECT id FROM personal_events WHERE connection_id = $1 AND user_id = $2 AND deleted_at IS NULL
                AND (CAST($3 AS BIGINT) IS NULL OR last_day IS NULL OR last_day >= $3)
            ORDER BY updated_at LIMIT $4
            """, [.text(own.id), .text(own.userID), SQLValue(day), .integer(limit)]
        ).map { try $0.text(required: "id") }
    }
}
