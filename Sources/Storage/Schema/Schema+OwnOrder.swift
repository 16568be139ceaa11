// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Indexes in the order in which feeds show their owner's own events, whose texts need not be sorted then.
    ///
    /// This is an expansion: each index replaces one that served the same statements.
    static let ownOrder: [String] = [
        "DROP INDEX personal_events_by_day",
        """
        CREATE INDEX personal_events_by_day ON personal_events (user_id, first_day, id, last_day)
            WHERE deleted_at IS NULL
        """,
        "DROP INDEX personal_events_by_series",
        """
        CREATE INDEX personal_events_by_series ON personal_events (user_id, instance_key, id)
            WHERE instance_key <> ''
        """,
    ]
}
