// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The audit trail. The table references no other, because its rows outlive what they describe.
    static let auditTrail: [String] = [
        """
        CREATE TABLE audit_trail (
            number BIGINT NOT NULL PRIMARY KEY,
            at BIGINT NOT NULL,
            actor TEXT NOT NULL,
            action TEXT NOT NULL,
            subject TEXT NOT NULL,
            circle_id TEXT,
            detail TEXT NOT NULL,
            previous_hash TEXT NOT NULL,
            hash TEXT NOT NULL
        ) /* clustered */
        """,
        "CREATE INDEX audit_trail_by_circle ON audit_trail (circle_id, number)",
    ]
}
