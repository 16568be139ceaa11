// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Records that stop guesses at passwords without locking the user out, even after a restart.
    ///
    /// Networks are shortened, as everywhere. name is `user`, `user network` or ` network`: neither part contains a
    /// space.
    static let signInBrake: [String] = [
        """
        CREATE TABLE sign_in_homes (
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            network TEXT NOT NULL,
            used_at BIGINT NOT NULL,
            PRIMARY KEY (user_id, network)
        ) /* clustered */
        """,
        "CREATE INDEX sign_in_homes_by_use ON sign_in_homes (used_at)",
        """
        CREATE TABLE sign_in_failures (
            name TEXT NOT NULL PRIMARY KEY,
            count BIGINT NOT NULL,
            last_at BIGINT NOT NULL,
            until_at BIGINT NOT NULL
        ) /* clustered */
        """,
        "CREATE INDEX sign_in_failures_by_time ON sign_in_failures (last_at)",
    ]
}
