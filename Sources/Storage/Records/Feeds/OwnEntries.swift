// SPDX-License-Identifier: Apache-2.0

extension ReadTransaction {
    /// Returns the circles of a user's feeds that show their owner's own entries.
    public func circlesShowingOwn(of user: String) throws -> [String] {
        try rows("SELECT DISTINCT circle_id FROM feeds WHERE user_id = $1 AND shows_own = 1", [.text(user)])
            .map { try $0.text(required: "circle_id") }
    }

    /// Calls the body with a user's events that touch some days, in order of their first day; series count as soon as
    /// they have begun. An index has that order, so that large texts are never sorted.
    ///
    /// - Parameter body: must not query the database.
    public func eachPersonalEvent(
        of user: String, onDays days: ClosedRange<Int>, _ body: (PersonalEvent) throws -> Void
    ) throws {
        try eachRow(
            """
            \(select: PersonalEvent.self)
            WHERE user_id = $1 AND deleted_at IS NULL AND connection_id IS NULL AND instance_key = '' AND first_day <= $3
                AND (last_day IS NULL OR last_day >= $2)
            ORDER BY first_day, id
            """, [.text(user), .integer(days.lowerBound), .integer(days.upperBound)]
        ) { try body(PersonalEvent($0)) }
    }

    /// Returns all changed occurrences of a user's series, including deleted ones, in order of their original starts.
    public func personalOccurrences(of user: String) throws -> [PersonalEvent] {
        try all(
            """
            WHERE user_id = $1 AND instance_key <> '' AND connection_id IS NULL
            ORDER BY instance_key, id
            """, [.text(user)])
    }
}

extension WriteTransaction {
    /// Records that feeds with their owner's own entries may look different.
    public func touchOwnFeeds(of user: String, now: Int) throws {
        try execute(
            """
            UPDATE feeds SET own_version = own_version + 1,
                own_changed_at = \(ChangeTime.after(column: "own_changed_at", now: "$2"))
            WHERE user_id = $1 AND shows_own = 1
            """, [.text(user), .integer(now)])
    }
}
