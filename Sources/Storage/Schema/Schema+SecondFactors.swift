// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The second factors of users who sign in with a password.
    ///
    /// This is not an expansion: a program that does not know it would sign these users in with only a password.
    static let secondFactors: [String] = [
        // sealed is the secret that the user's app has too. confirmed_at is null until a code has shown that it does.
        // last_step is the latest time step whose code was used, so that no code is accepted twice.
        """
        CREATE TABLE second_factors (
            user_id TEXT NOT NULL PRIMARY KEY CHECK (length(user_id) BETWEEN 1 AND 128),
            sealed TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            confirmed_at BIGINT,
            last_step BIGINT NOT NULL DEFAULT 0
        )
        """,
        // The codes that are left; a used code is removed.
        """
        CREATE TABLE recovery_codes (
            user_id TEXT NOT NULL REFERENCES second_factors (user_id) ON DELETE CASCADE,
            hash TEXT NOT NULL CHECK (length(hash) = 64),
            PRIMARY KEY (user_id, hash)
        ) /* clustered */
        """,
    ]
}
