// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Counters for numbering without gaps, with one row each, which a transaction locks from its first number on.
    ///
    /// When several write, the others wait for that row, so that numbers are in the order of the commits: a reader that
    /// has seen a number will not find a lower one later.
    static let numbering: [String] = [
        // Rows are never removed, like a circle's newest change, so that no number is used twice.
        "CREATE TABLE change_numbers (circle_id TEXT NOT NULL PRIMARY KEY, last_number BIGINT NOT NULL) /* clustered */",
        """
        INSERT INTO change_numbers (circle_id, last_number)
        SELECT circle_id, MAX(number) FROM changes GROUP BY circle_id
        """,
        // Counters over all circles: that of the changes, and that of the audit trail. The trail numbers itself by its
        // last entry, which its hash needs; its row only lets one transaction at a time write it.
        "CREATE TABLE counters (name TEXT NOT NULL PRIMARY KEY, last_number BIGINT NOT NULL) /* clustered */",
        "INSERT INTO counters (name, last_number) SELECT 'changes', COALESCE(MAX(sequence), 0) FROM changes",
        "INSERT INTO counters (name, last_number) SELECT 'auditTrail', COALESCE(MAX(number), 0) FROM audit_trail",
        "ALTER TABLE webhooks ADD COLUMN last_ordinal BIGINT NOT NULL DEFAULT 0",
        """
        UPDATE webhooks SET last_ordinal = COALESCE(
            (SELECT MAX(ordinal) FROM webhook_deliveries WHERE webhook_id = webhooks.id), 0)
        """,
    ]
}
