// SPDX-License-Identifier: Apache-2.0

/// One act of a person or program, chained to the act before it by that entry's hash.
public struct AuditEntry: Hashable, Sendable {
    /// The entry's number, counted from 1 without gaps.
    public var number = 0
    /// Milliseconds since 1970.
    public var at = 0
    public var actor = ""
    public var action = ""
    /// The id of the object of the act.
    public var subject = ""
    public var circleID: String?
    /// A JSON object of ids and fixed words.
    public var detail = ""
    /// A random text that is hashed with the names, so that nobody guesses them from their hash; empty once the names
    /// were taken out.
    public var salt = ""
    /// The hash of the salt, the actor, the subject and the detail, which stays when these are taken out.
    public var namesHash = ""
    public var previousHash = ""
    public var hash = ""

    init() {}

    public init(
        number: Int, at: Int, actor: String, action: String, subject: String, circleID: String?, detail: String,
        salt: String = "", namesHash: String = "", previousHash: String, hash: String
    ) {
        (self.number, self.at, self.actor, self.action) = (number, at, actor, action)
        (self.subject, self.circleID, self.detail) = (subject, circleID, detail)
        (self.salt, self.namesHash) = (salt, namesHash)
        (self.previousHash, self.hash) = (previousHash, hash)
    }

    /// Whether the names were taken out, because the person whose they were was erased.
    public var isAnonymous: Bool { salt.isEmpty && actor.isEmpty && subject.isEmpty && detail.isSameText(as: "{}") }
}

extension AuditEntry: StoredRow {
    static let table = RecordTable<AuditEntry>(
        "audit_trail",
        [
            .once("number", \.number), .once("at", \.at), .once("actor", \.actor), .once("action", \.action),
            .once("subject", \.subject), .once("circle_id", \.circleID), .once("detail", \.detail),
            .once("salt", \.salt), .once("names_hash", \.namesHash), .once("previous_hash", \.previousHash),
            .once("hash", \.hash),
        ])
}

extension AuditEntry {
    /// Reads an entry whose texts were selected as their bytes in hex.
    fileprivate static func ofBytes(_ row: SQLRow) throws -> AuditEntry {
        func text(_ name: String) throws -> String {
            guard let text = decoded(hex: try row.text(required: name)) else {
                throw StorageError.unexpectedResult("Column \(name) does not hold UTF-8.")
            }
            return text
        }
        return AuditEntry(
            number: try row.integer(required: "number"), at: try row.integer(required: "at"), actor: try text("actor"),
            action: try text("action"), subject: try text("subject"),
            circleID: row.text("circle_type") == "null" ? nil : try text("circle_id"), detail: try text("detail"),
            salt: try text("salt"), namesHash: try text("names_hash"), previousHash: try text("previous_hash"),
            hash: try text("hash"))
    }

    private static func decoded(hex: String) -> String? {
        func value(_ digit: UInt8) -> UInt8 { digit < 65 ? digit - 48 : digit - 55 }
        let digits = Array(hex.utf8)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { value(digits[$0]) << 4 | value(digits[$0 + 1]) }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension ReadTransaction {
    /// Returns the last entry of all; nil before the first.
    public func lastAuditEntry() throws -> AuditEntry? {
        try first("ORDER BY number DESC LIMIT 1")
    }

    public func auditEntry(_ number: Int) throws -> AuditEntry? {
        try first("WHERE number = $1", [.integer(number)])
    }

    /// Returns entries before a number, latest first: those of one circle, or of all circles when `circle` is nil.
    ///
    /// - Parameter leavesOut: whether those of feeds that show a user's own calendar are left out.
    public func auditEntries(
        before number: Int, in circle: String?, leavesOutOwn leavesOut: Bool = false, limit: Int
    ) throws -> [AuditEntry] {
        guard let circle else {
            return try all("WHERE number < $1 ORDER BY number DESC LIMIT $2", [.integer(number), .integer(limit)])
        }
        return try all(
            """
            WHERE circle_id = $1 AND number < $2 \(leavesOut ? "AND NOT (\(AuditEntry.isOfOwn))" : "")
            ORDER BY number DESC LIMIT $3
            """,
            [.text(circle), .integer(number), .integer(limit)])
    }

    /// Returns entries before a number that contain this text in one of their names, latest first.
    public func auditEntries(with text: String, before number: Int, limit: Int) throws -> [AuditEntry] {
        let escaped = ["\\", "%", "_"].reduce(text) { $0.replacing($1, with: "\\\($1)") }
        let columns = ["actor", "action", "subject", "COALESCE(circle_id, '')"]
        return try all(
            """
            WHERE number < $1
                AND (\(columns.map { "\($0) LIKE $2 ESCAPE '\\'" }.joined(separator: " OR ")))
            ORDER BY number DESC LIMIT $3
            """, [.integer(number), .text("%\(escaped)%"), .integer(limit)])
    }

    /// Returns entries from a number on, in order, decoded from the exact bytes that are stored; nil stands for a row
    /// that does not hold what the schema requires.
    ///
    /// Read as a text, a value would end at its first NUL; read as an integer, a number would lose its fraction.
    public func auditEntries(from number: Int, limit: Int) throws -> [AuditEntry?] {
        let columns =
            ["number", "at"].map { "CASE typeof(\($0)) WHEN 'integer' THEN \($0) END AS \($0)" }
            + ["actor", "action", "subject", "detail", "salt", "names_hash", "previous_hash", "hash"]
            .map { Self.bytes($0) }
            + [Self.bytes("circle_id"), "typeof(circle_id) AS circle_type"]
        return try rows(
            """
            SELECT \(columns.joined(separator: ", ")) FROM audit_trail AS trail
            WHERE trail.number >= $1 ORDER BY trail.number LIMIT $2
            """, [.integer(number), .integer(limit)]
        ).map { try? AuditEntry.ofBytes($0) }
    }

    private static func bytes(_ column: String) -> String {
        "CASE typeof(\(column)) WHEN 'text' THEN hex(CAST(\(column) AS BLOB)) END AS \(column)"
    }

    /// Whether acts wait for their places in the trail.
    public func hasWaitingAuditEntries() throws -> Bool {
        try row("SELECT place FROM audit_waiting ORDER BY written_in, place LIMIT 1", []) != nil
    }
}

extension WriteTransaction {
    /// Stores an act that gets its place in the trail later, so that no write waits for the entry of another.
    ///
    /// - Parameter number: the transaction's (`sharedNumber`).
    public func insertWaiting(_ entry: AuditEntry, in number: Int) throws {
        try execute(
            """
            INSERT INTO audit_waiting (written_in, place, at, actor, action, subject, circle_id, detail)
            VALUES ($1, (SELECT COUNT(*) FROM audit_waiting WHERE written_in = $1), $2, $3, $4, $5, $6, $7)
            """,
            [
                .integer(number), .integer(entry.at), .text(entry.actor), .text(entry.action), .text(entry.subject),
                SQLValue(entry.circleID), .text(entry.detail),
            ])
    }

    /// Removes acts that wait for their places, and returns them, up to a number of them.
    ///
    /// An act that began after another was answered comes after it: its transaction has a higher number.
    public func takeWaitingAuditEntries(limit: Int) throws -> [AuditEntry] {
        let found = try rows(
            """
            SELECT written_in, place, at, actor, action, subject, circle_id, detail FROM audit_waiting
            ORDER BY written_in, place LIMIT $1
            """, [.integer(limit)])
        return try found.map { row in
            try execute(
                "DELETE FROM audit_waiting WHERE written_in = $1 AND place = $2",
                [.integer(try row.integer(required: "written_in")), .integer(try row.integer(required: "place"))])
            return AuditEntry(
                number: 0, at: try row.integer(required: "at"), actor: try row.text(required: "actor"),
                action: try row.text(required: "action"), subject: try row.text(required: "subject"),
                circleID: row.text("circle_id"), detail: try row.text(required: "detail"), previousHash: "", hash: "")
        }
    }

    /// Returns the last entry of all, which stays the last until this transaction ends; nil before the first.
    public func auditEntryToFollow() throws -> AuditEntry? {
        try takeAuditTurn()
        return try lastAuditEntry()
    }

    /// Stores the entry that follows `auditEntryToFollow()`.
    public func insert(_ entry: AuditEntry) throws { try insert(new: entry) }
}
