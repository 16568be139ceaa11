// SPDX-License-Identifier: Apache-2.0

// Events that a connection left in a phone's calendar keep their marks. The user's next connection of the same circle
// continues with these marks, so that a phone finds the events by them and creates none of them twice.

extension ReadTransaction {
    /// Returns the marks of a user's connections by the connection's id; a connection that is missing uses its own id
    /// as the mark.
    public func phoneMarks(of user: String) throws -> [ByteString: String] {
        var found: [ByteString: String] = [:]
        for row in try rows("SELECT connection_id, mark FROM phone_marks WHERE user_id = $1", [.text(user)]) {
            found[ByteString(try row.text(required: "connection_id"))] = try row.text(required: "mark")
        }
        return found
    }
}

extension WriteTransaction {
    /// Gives a new connection the mark of this user's connection in this circle that ended last.
    public func takePhoneMark(_ own: Connection) throws {
        try execute(
            """
            UPDATE phone_marks SET connection_id = $3, ended_at = NULL WHERE mark = (
                SELECT mark FROM phone_marks WHERE user_id = $1 AND circle_id = $2 AND ended_at IS NOT NULL
                ORDER BY ended_at DESC, mark LIMIT 1)
            """, [.text(own.userID), .text(own.circleID), .text(own.id)])
    }

    /// Releases the mark of a connection that has ended.
    func leavePhoneMark(_ own: Connection, now: Int) throws {
        try execute(
            """
            INSERT INTO phone_marks (mark, circle_id, user_id, connection_id, ended_at) VALUES ($1, $2, $3, $1, $4)
            ON CONFLICT (connection_id) DO UPDATE SET ended_at = EXCLUDED.ended_at
            """, [.text(own.id), .text(own.circleID), .text(own.userID), .integer(now)])
    }
}
