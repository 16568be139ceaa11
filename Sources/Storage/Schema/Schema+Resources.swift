// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// What calendar apps know of a circle's items besides what the items are.
    static let resources: [String] = [
        // The names that calendar apps gave to what they made; a deleted item keeps its name. list is `events` or
        // `tasks`.
        """
        CREATE TABLE resource_names (
            circle_id TEXT NOT NULL,
            list TEXT NOT NULL CHECK (list IN ('events', 'tasks')),
            name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
            collection TEXT NOT NULL,
            item_id TEXT NOT NULL,
            PRIMARY KEY (circle_id, list, name)
        ) /* clustered */
        """,
        "CREATE UNIQUE INDEX resource_names_by_item ON resource_names (circle_id, collection, item_id)",
        // Names that items had before they were deleted and came back under others, with the version in which they did.
        """
        CREATE TABLE former_resource_names (
            circle_id TEXT NOT NULL,
            list TEXT NOT NULL CHECK (list IN ('events', 'tasks')),
            name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
            version BIGINT NOT NULL,
            PRIMARY KEY (circle_id, list, name)
        ) /* clustered */
        """,
        // What one person keeps of an item or an imported event, by the UID that calendars show. changed_in is the
        // version of the circle with the last change; content is null once nothing is kept.
        """
        CREATE TABLE personal_parts (
            circle_id TEXT NOT NULL,
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            uid TEXT NOT NULL,
            content TEXT,
            changed_in BIGINT NOT NULL,
            PRIMARY KEY (circle_id, user_id, uid)
        ) /* clustered */
        """,
        "CREATE INDEX personal_parts_by_change ON personal_parts (circle_id, user_id, changed_in)",
    ]
}
