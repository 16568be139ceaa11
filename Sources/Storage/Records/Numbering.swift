// SPDX-License-Identifier: Apache-2.0

// Numbers that rise by one with each row. Each is taken from a counter, whose row is locked by this transaction until
// it ends: when several write at once, the others wait or start again, and the numbers are in the order of the commits.
// Rows that are written together take their numbers together. Numbers that all circles share are for writes that go
// alone (docs/nodes.md).

extension WriteTransaction {
    /// Runs a statement that raises one counter and returns it as `number`.
    func nextNumber(_ statement: String, _ arguments: [SQLValue] = []) throws -> Int {
        guard let row = try row(statement, arguments) else {
            throw StorageError.unexpectedResult("What is to be numbered has no counter.")
        }
        return try row.integer(required: "number")
    }

    /// Returns the next places among the changes of all circles. They are taken before a circle's numbers, so that two
    /// writers that change several circles never wait for each other.
    func nextChangeSequences(_ count: Int) throws -> ClosedRange<Int> {
        let last = try nextNumber(
            """
            UPDATE counters SET last_number = last_number + $1 WHERE name = 'changes' RETURNING last_number AS number
            """, [.integer(count)])
        return last - count + 1...last
    }

    /// Returns the numbers of a circle's next changes, from 1 on; a circle that was deleted and created again continues
    /// counting.
    func nextChangeNumbers(_ count: Int, in circle: String) throws -> ClosedRange<Int> {
        let last = try nextNumber(
            """
            INSERT INTO change_numbers (circle_id, last_number) VALUES ($1, $2)
            ON CONFLICT (circle_id) DO UPDATE SET last_number = change_numbers.last_number + EXCLUDED.last_number
            RETURNING last_number AS number
            """, [.text(circle), .integer(count)])
        return last - count + 1...last
    }

    /// Returns the place of the next message, after all others of its webhook.
    func nextDeliveryOrdinal(of webhook: String) throws -> Int {
        try nextNumber(
            "UPDATE webhooks SET last_ordinal = last_ordinal + 1 WHERE id = $1 RETURNING last_ordinal AS number",
            [.text(webhook)])
    }

    /// Keeps all others from writing the audit trail until this transaction ends, so that its last entry stays the
    /// last.
    func takeAuditTurn() throws {
        let turn = "UPDATE counters SET last_number = last_number + 1 WHERE name = 'auditTrail'"
        guard try execute(turn, []) == 1 else {
            throw StorageError.unexpectedResult("The audit trail has no counter.")
        }
    }

    /// Keeps all others from numbering rows of a connection until this transaction ends.
    func holdConnection(_ id: String) throws {
        // A statement that names the key would look at every row that refers to it.
        try execute("UPDATE connections SET failures = failures WHERE id = $1", [.text(id)])
    }

    /// Keeps all others from numbering rows of a circle until this transaction ends.
    func holdCircle(_ id: String) throws {
        try execute("UPDATE circles SET version = version WHERE id = $1", [.text(id)])
    }
}
