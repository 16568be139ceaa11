// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The version of the circle with a row's last change, so that a feed reads only what changed.
    static let changeVersions: [String] = [
        "ALTER TABLE schedule_items ADD COLUMN changed_in BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE imported_events ADD COLUMN changed_in BIGINT NOT NULL DEFAULT 0",
        "CREATE INDEX schedule_items_by_change ON schedule_items (circle_id, changed_in)",
        "CREATE INDEX imported_events_by_change ON imported_events (circle_id, changed_in)",
    ]
}
