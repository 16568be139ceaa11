// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// How people reach their pages: links that sign in once, sessions of the operator's pages, and their language.
    static let signInLinks: [String] = [
        // A null user_id is the operator. A link that was used or has ended is kept for a while, so that its page can
        // say so.
        """
        CREATE TABLE sign_in_links (
            id TEXT NOT NULL PRIMARY KEY,
            hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
            user_id TEXT CHECK (length(user_id) BETWEEN 1 AND 128),
            leads_to TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            used_at BIGINT
        )
        """,
        "CREATE INDEX sign_in_links_by_user ON sign_in_links (user_id, created_at)",
        "CREATE INDEX sign_in_links_by_end ON sign_in_links (expires_at)",
        """
        CREATE TABLE operator_sessions (
            id TEXT NOT NULL PRIMARY KEY,
            hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
            created_at BIGINT NOT NULL,
            last_used_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL
        )
        """,
        // Null means the browser's preference.
        "ALTER TABLE users ADD COLUMN language TEXT",
    ]
}
