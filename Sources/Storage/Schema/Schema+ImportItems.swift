// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The items of an import in blocks, so that a page of a report reads little, and imports that are under way.
    static let importItems: [String] = [
        """
        CREATE TABLE import_items (
            import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
            block BIGINT NOT NULL,
            items TEXT NOT NULL,
            source TEXT NOT NULL,
            PRIMARY KEY (import_id, block)
        )
        """,
        // The step that is under way or failed; the state itself changes when it is done.
        "ALTER TABLE imports ADD COLUMN stage TEXT",
        "ALTER TABLE imports ADD COLUMN problem TEXT",
        "ALTER TABLE imports ADD COLUMN outline TEXT",
        "CREATE INDEX imports_by_circle ON imports (circle_id, created_at, id)",
    ]
}
