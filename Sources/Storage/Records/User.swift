// SPDX-License-Identifier: Apache-2.0

/// What is known about a user besides credentials and circles.
public struct User: Hashable, Sendable {
    public var id: String
    /// IANA id; nil for the zone of whatever circle something is shown in.
    public var timeZone: String?
    /// The language of pages, as the IETF writes it (BCP 47); nil for what the browser asks for.
    public var language: String?
    /// Whether what is in the calendar of the person's phone is taken in; nil for somebody who has said nothing of it.
    public var readsPhone: Bool?
    public var createdAt: Int
    public var updatedAt: Int

    init(_ row: SQLRow) throws {
        id = try row.text(required: "id")
        timeZone = row.text("time_zone")
        language = row.text("language")
        readsPhone = row.integer("reads_phone").map { $0 == 1 }
        createdAt = try row.integer(required: "created_at")
        updatedAt = try row.integer(required: "updated_at")
    }
}

extension ReadTransaction {
    /// A user of whom something was said.
    public func user(_ id: String) throws -> User? {
        try row("SELECT * FROM users WHERE id = $1", [.text(id)]).map(User.init)
    }

    /// Whether what is in the calendar of a person's phone may be taken in and shown.
    public func readsPhone(of id: String) throws -> Bool { try user(id)?.readsPhone ?? true }
}

extension WriteTransaction {
    /// Sets a user's zone; one that is already set to that stays as it is.
    public func putUser(_ id: String, timeZone: String?, now: Int) throws -> User {
        if let old = try user(id), old.timeZone == timeZone { return old }
        try execute(
            """
            INSERT INTO users (id, time_zone, created_at, updated_at) VALUES ($1, $2, $3, $3)
            ON CONFLICT (id) DO UPDATE SET time_zone = EXCLUDED.time_zone, updated_at = EXCLUDED.updated_at
            """, [.text(id), SQLValue(timeZone), .integer(now)])
        guard let new = try user(id) else { throw StorageError.unexpectedResult("A user was not kept.") }
        return new
    }

    /// Sets the language of a user's pages; nil for what the browser asks for.
    public func putLanguage(_ language: String?, of id: String, now: Int) throws {
        try execute(
            """
            INSERT INTO users (id, language, created_at, updated_at) VALUES ($1, $2, $3, $3)
            ON CONFLICT (id) DO UPDATE SET language = EXCLUDED.language
            """, [.text(id), SQLValue(language), .integer(now)])
    }

    /// Sets whether what is in the calendar of a person's phone is taken in and shown.
    public func putReadsPhone(_ reads: Bool, of id: String, now: Int) throws {
        try execute(
            """
            INSERT INTO users (id, reads_phone, created_at, updated_at) VALUES ($1, $2, $3, $3)
            ON CONFLICT (id) DO UPDATE SET reads_phone = EXCLUDED.reads_phone
            """, [.text(id), .integer(reads ? 1 : 0), .integer(now)])
    }
}
