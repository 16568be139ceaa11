// SPDX-License-Identifier: Apache-2.0

extension WriteTransaction {
    /// Stores a new or changed resource in a calendar, as its next change.
    ///
    /// - Parameter old: what it replaces; nil for a new name.
    public func putOwnResource(
        _ resource: OwnResource, replacing old: OwnMember?, in calendar: inout OwnCalendar
    ) throws {
        try noteChange(
            of: &calendar, adding: Usage(count: old == nil ? 1 : 0, bytes: resource.size - (old?.size ?? 0)))
        var resource = resource
        (resource.calendarID, resource.number) = (calendar.id, calendar.number)
        if let old {
            // The same text again is not another version of its events.
            let isSame = old.etag.isSameText(as: resource.etag)
            resource.sequence = isSame ? old.sequence : min(old.sequence + 1, Int(Int32.max))
        }
        if old == nil {
            try execute(
                "DELETE FROM own_removals WHERE calendar_id = $1 AND name = $2",
                [.text(calendar.id), .text(resource.name)])
            try insert(new: resource)
        } else {
            try update(resource)
        }
    }

    /// Removes a resource from a calendar, as its next change, which stays known for a while.
    public func removeOwnResource(_ member: OwnMember, from calendar: inout OwnCalendar, now: Int) throws {
        try noteChange(of: &calendar, adding: Usage(count: -1, bytes: -member.size))
        try execute(
            "DELETE FROM own_resources WHERE calendar_id = $1 AND name = $2",
            [.text(calendar.id), .text(member.name)])
        try execute(
            "INSERT INTO own_removals (calendar_id, name, number, removed_at) VALUES ($1, $2, $3, $4)",
            [.text(calendar.id), .text(member.name), .integer(calendar.number), .integer(now)])
    }

    /// Forgets some removals from before a time; returns false when none is left.
    public func pruneOwnRemovals(before time: Int, limit: Int) throws -> Bool {
        try forget("WHERE removed_at < $1 LIMIT $2", [.integer(time), .integer(limit)]) == limit
    }

    /// Forgets some of a calendar's removals that are not among its latest changes; returns false when none is left.
    public func pruneOwnRemovals(of calendar: String, keeping count: Int, limit: Int) throws -> Bool {
        try forget(
            """
            WHERE calendar_id = $1 AND number <= (SELECT number FROM own_calendars WHERE id = $1) - $2 LIMIT $3
            """, [.text(calendar), .integer(count), .integer(limit)]) == limit
    }

    /// Forgets removals, and notes in their calendars that not all are known from there on; returns how many.
    private func forget(_ condition: String, _ arguments: [SQLValue]) throws -> Int {
        let found = try rows("SELECT calendar_id, number FROM own_removals \(condition)", arguments)
        for row in found {
            let keyValues: [SQLValue] = [
                .text(try row.text(required: "calendar_id")), .integer(try row.integer(required: "number")),
            ]
            try execute("UPDATE own_calendars SET first_number = $2 WHERE id = $1 AND first_number < $2", keyValues)
            try execute("DELETE FROM own_removals WHERE calendar_id = $1 AND number = $2", keyValues)
        }
        return found.count
    }
}

extension ReadTransaction {
    /// Returns calendars with removals that are not among their latest `count` changes.
    public func ownCalendarsWithManyRemovals(_ count: Int) throws -> [String] {
        try rows(
            """
            SELECT id FROM own_calendars WHERE EXISTS (
                SELECT 1 FROM own_removals WHERE own_removals.calendar_id = own_calendars.id
                    AND own_removals.number <= own_calendars.number - $1)
            """, [.integer(count)]
        ).map { try $0.text(required: "id") }
    }
}

// MARK: Feeds

/// The events of a resource, as feeds show them.
public struct ShownOwnResource: Hashable, Sendable {
    public var calendarID: String
    public var name: String
    public var uid: String
    public var sequence: Int
    public var createdAt: Int
    public var changedAt: Int
    public var shown: String
}

extension ReadTransaction {
    /// Returns events of a calendar that feeds show and that may have something in a span, in the order of their names,
    /// after a name.
    ///
    /// - Parameter span: in seconds since 1970.
    public func shownOwnResources(
        of calendar: String, in span: Range<Int>, after name: String, limit: Int
    ) throws -> [ShownOwnResource] {
        try values(
            """
            SELECT name, uid, sequence, created_at, changed_at, shown FROM own_resources
            WHERE calendar_id = $1 AND name IN (\(OwnResource.inSpan)) ORDER BY name
            """,
            OwnResource.inSpan(
                of: calendar, .text(CalendarComponent.event.rawValue), span, after: name, limit: limit)
        ) { row in
            ShownOwnResource(
                calendarID: calendar, name: try row.text(required: "name"), uid: try row.text(required: "uid"),
                sequence: try row.integer(required: "sequence"), createdAt: try row.integer(required: "created_at"),
                changedAt: try row.integer(required: "changed_at"), shown: try row.text(required: "shown"))
        }
    }
}
