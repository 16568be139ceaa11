// SPDX-License-Identifier: Apache-2.0

/// What a resource that calendar apps read and write is (RFC 4791 section 4.1).
public enum CalendarComponent: String, Hashable, Sendable, CaseIterable, ColumnValue, StoredWord {
    case event = "VEVENT"
    case task = "VTODO"
    case journal = "VJOURNAL"
}

/// A calendar of a person's own, which their calendar apps read and write.
public struct OwnCalendar: Hashable, Sendable {
    public var id = ""
    public var userID = ""
    /// Its name in addresses, which no other calendar of the user has that is not deleted.
    public var segment = ""
    /// The kinds that its resources may have, in the order in which they are listed.
    public var components: [CalendarComponent] = []
    /// The number of its latest change, which each change raises by one.
    public internal(set) var number = 0
    /// Whoever knows only an earlier number than this one cannot be given all that was removed since.
    public internal(set) var firstNumber = 0
    /// How many resources it has, and the bytes of their texts.
    public internal(set) var usage = Usage()
    public var createdAt = 0
    public internal(set) var deletedAt: Int?

    /// The bytes of all events that a feed shows of a user's own calendars: it is made in memory.
    public static let mostShownBytes = 16 << 20
}

extension OwnCalendar: StoredRow {
    public init(id: String, userID: String, segment: String, components: [CalendarComponent], now: Int) {
        self.init(id: id, userID: userID, segment: segment, components: components, createdAt: now)
    }

    static let table = RecordTable<OwnCalendar>(
        "own_calendars",
        [
            .once("id", \.id), .once("user_id", \.userID), .once("segment", \.segment),
            .once("components", \.components), .init("number", \.number), .init("first_number", \.firstNumber),
            .init("resources", \.usage.count), .init("bytes", \.usage.bytes), .once("created_at", \.createdAt),
            .init("deleted_at", \.deletedAt),
        ])
}

extension ReadTransaction {
    /// Returns a user's own calendars in order of their names in addresses.
    public func ownCalendars(of user: String) throws -> [OwnCalendar] {
        try all("WHERE user_id = $1 AND deleted_at IS NULL ORDER BY segment", [.text(user)])
    }

    public func ownCalendar(_ id: String) throws -> OwnCalendar? {
        try first("WHERE id = $1 AND deleted_at IS NULL", [.text(id)])
    }

    public func ownCalendar(_ segment: String, of user: String) throws -> OwnCalendar? {
        try first("WHERE user_id = $1 AND segment = $2 AND deleted_at IS NULL", [.text(user), .text(segment)])
    }

    /// Returns calendars that were deleted and have not been removed completely.
    public func ownCalendarsBeingRemoved(limit: Int) throws -> [String] {
        try rows("SELECT id FROM own_calendars WHERE deleted_at IS NOT NULL LIMIT $1", [.integer(limit)]).map {
            try $0.text(required: "id")
        }
    }
}

extension WriteTransaction {
    /// Stores a new calendar, whose number is above those of all calendars that the user has deleted.
    public func insertOwnCalendar(_ calendar: OwnCalendar) throws -> OwnCalendar {
        var calendar = calendar
        let row = try row(
            "SELECT last_number FROM own_calendar_numbers WHERE user_id = $1", [.text(calendar.userID)])
        calendar.number = try (row?.integer(required: "last_number") ?? 0) + 1
        calendar.firstNumber = calendar.number
        try insert(new: calendar)
        return calendar
    }

    /// Deletes a calendar for everybody; what is left of it is removed by `purgeOwnCalendar`.
    public func deleteOwnCalendar(_ calendar: OwnCalendar, now: Int) throws {
        var calendar = calendar
        calendar.deletedAt = now
        try update(calendar)
        try execute(
            """
            INSERT INTO own_calendar_numbers (user_id, last_number) VALUES ($1, $2)
            ON CONFLICT (user_id) DO UPDATE SET last_number = EXCLUDED.last_number
            WHERE EXCLUDED.last_number > own_calendar_numbers.last_number
            """, [.text(calendar.userID), .integer(calendar.number)])
    }

    /// Removes a part of a deleted calendar; returns false when no part of it is left.
    public func purgeOwnCalendar(_ id: String, limit: Int) throws -> Bool {
        for table in ["own_resources", "own_removals"] {
            let gone = try execute(
                """
                DELETE FROM \(table) WHERE calendar_id = $1
                    AND name IN (SELECT name FROM \(table) WHERE calendar_id = $1 LIMIT $2)
                """, [.text(id), .integer(limit)])
            if gone > 0 { return true }
        }
        try deleteCollectionProperties(of: .own, id: id)
        try execute("DELETE FROM own_calendars WHERE id = $1 AND deleted_at IS NOT NULL", [.text(id)])
        return false
    }

    /// Raises a calendar's number for one change, and changes its counts by what was added, which may be negative.
    func noteChange(of calendar: inout OwnCalendar, adding added: Usage) throws {
        calendar.number += 1
        calendar.usage.count += added.count
        calendar.usage.bytes += added.bytes
        try update(calendar)
    }
}
