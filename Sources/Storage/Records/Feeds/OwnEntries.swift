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

    /// Returns a user's events that are not changed occurrences, in order of their ids, until they fill a page.
    ///
    /// - Parameter last: the event after which the page begins; nil for the first page.
    public func personalEventPage(of user: String, after last: PersonalEvent?) throws -> [PersonalEvent] {
        var page: [PersonalEvent] = []
        var bytes = 0
        do {
            try eachRow(
                """
                \(select: PersonalEvent.self)
                WHERE user_id = $1 AND deleted_at IS NULL AND connection_id IS NULL AND instance_key = ''
                    AND id > $2
                ORDER BY id LIMIT 1000
                """, [.text(user), .text(last?.id ?? "")]
            ) { row in
                page.append(try PersonalEvent(row))
                for case .text(let text) in row.values { bytes += text.utf8.count }
                if bytes >= PersonRows.mostBytes { throw PersonRows.Full() }
            }
        } catch is PersonRows.Full {}
        return page
    }

    /// Returns the changed occurrences of a user's series, including deleted ones, in order of their original starts.
    ///
    /// - Parameter series: the event whose occurrences they are; nil for those of all series.
    public func personalOccurrences(of user: String, in series: PersonalEvent? = nil) throws -> [PersonalEvent] {
        let (key, one) = (series?.mapping, " AND provider = $2 AND external_id = $3")
        return try all(
            """
            WHERE user_id = $1 AND instance_key <> '' AND connection_id IS NULL\(key == nil ? "" : one)
            ORDER BY instance_key, id
            """, [.text(user)] + (key.map { [.text($0.provider), .text($0.externalID ?? "")] } ?? []))
    }

    /// Returns the changed occurrences of a user whose series no device has ever sent, in order of their ids.
    ///
    /// - Parameter last: the occurrence after which the list begins; nil for the first.
    public func personalOccurrencesWithoutSeries(
        of user: String, after last: PersonalEvent?, limit: Int
    ) throws -> [PersonalEvent] {
        try all(
            """
            WHERE user_id = $1 AND instance_key <> '' AND connection_id IS NULL AND deleted_at IS NULL AND id > $2
                AND NOT EXISTS (
                    SELECT 1 FROM personal_events AS series
                    WHERE series.user_id = $1 AND series.provider = personal_events.provider
                        AND series.external_id = personal_events.external_id AND series.instance_key = '')
            ORDER BY id LIMIT $3
            """, [.text(user), .text(last?.id ?? ""), .integer(limit)])
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
