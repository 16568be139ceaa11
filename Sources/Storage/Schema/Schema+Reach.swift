// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Who has seen an item's latest change, and whether a person allows their phone's calendar to be read.
    static let reach: [String] = [
        // The latest version of the circle that a family of programs was shown; 0 when none is known.
        "ALTER TABLE feed_clients ADD COLUMN seen_version BIGINT NOT NULL DEFAULT 0",
        // The version with the latest change that calendars show; null when that is `changed_in`.
        "ALTER TABLE schedule_items ADD COLUMN shown_in BIGINT",
        // Whether that change was a creation or an update; null when the item itself shows it.
        "ALTER TABLE schedule_items ADD COLUMN shown_as TEXT CHECK (shown_as IN ('created', 'updated'))",
        // Null for a person who has not chosen.
        "ALTER TABLE users ADD COLUMN reads_phone BIGINT",
    ]
}
