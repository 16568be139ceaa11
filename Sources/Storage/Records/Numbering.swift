// SPDX-License-Identifier: Apache-2.0

// Numbers that rise by one with each row. Each is taken from a counter, whose row is this transaction's until it ends:
// where several write at once, the others wait or begin again, and the numbers are in the order of the commits.

extension WriteTransaction {
    /// Runs a statement that raises one counter and returns it as `number`.
    func nextNumber(_ statement: String, _ arguments: [SQLValue] = []) throws -> Int {
        guard let row = try row(statement, arguments) else {
            throw StorageError.unexpectedResult("What is to be numbered has no counter.")
        }
        return try row.integer(required: "number")
    }

    /// The number of the next change of all circles. It is taken before a circle's, so that two who change several
    /// circles never wait for each other.
    func nextChangeSequence() throws -> Int {
        try nextNumber(
            """
            UPDATE counters SET last_number = last_number + 1 WHERE name = 'changes' RETURNING last_number AS number
            """)
    }

    /// The number of a circle's next change, from 1 on; a circle that was deleted and made again continues counting.
    func nextChangeNumber(in circle: String) throws -> Int {
        try nextNumber(
            """
            INSERT INTO change_numbers (circle_id, last_number) VALUES ($1, 1)
            ON CONFLICT (circle_id) DO UPDATE SET last_number = change_numbers.last_number + 1
            RETURNING last_number AS number
            """, [.text(circle)])
    }

    /// The place of the next message behind all others of its webhook.
    func nextDeliveryOrdinal(of webhook: String) throws -> Int {
        try nextNumber(
            "UPDATE webhooks SET last_ordinal = last_ordinal + 1 WHERE id = $1 RETURNING last_ordinal AS number",
            [.text(webhook)])
    }

    /// Keeps everybody else from writing the audit trail until this transaction ends, so that its last entry stays the
    /// last.
    func takeAuditTurn() throws {
        let turn = "UPDATE counters SET last_number = last_number + 1 WHERE name = 'auditTrail'"
        guard try execute(turn, []) == 1 else {
            throw StorageError.unexpectedResult("The audit trail has no counter.")
        }
    }

    /// Keeps everybody else from numbering something of a connection until this transaction ends.
    func holdConnection(_ id: String) throws {
        try execute("UPDATE connections SET id = id WHERE id = $1", [.text(id)])
    }

    /// Keeps everybody else from numbering something of a circle until this transaction ends.
    func holdCircle(_ id: String) throws {
        try execute("UPDATE circles SET version = version WHERE id = $1", [.text(id)])
    }
}
