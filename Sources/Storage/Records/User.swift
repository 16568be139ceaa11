// SPDX-License-Identifier: Apache-2.0

/// The properties of a user besides credentials and circles.
public struct User: Hashable, Sendable {
    public var id: String
    /// The IANA id of their zone; nil to use the zone of the circle in which something is shown.
    public var timeZone: String?
    /// The language of pages as a BCP 47 tag; nil for the browser's preference.
    public var language: String?
    /// Whether the events in the calendar of the person's phone are read; nil when the person has not chosen.
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
    /// Returns a user with stored properties.
    public func user(_ id: String) throws -> User? {
        try row("\(select: .users) WHERE id = $1", [.text(id)]).map(User.init)
    }

    /// Whether the events in the calendar of a person's phone may be read and shown.
    public func readsPhone(of id: String) throws -> Bool { try user(id)?.readsPhone ?? true }
}

extension WriteTransaction {
    /// Sets a user's zone; nothing changes when the user has that zone already.
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

    /// Sets the language of a user's pages; nil for the browser's preference.
    public func putLanguage(_ language: String?, of id: String, now: Int) throws {
        try execute(
            """
            INSERT INTO users (id, language, created_at, updated_at) VALUES ($1, $2, $3, $3)
            ON CONFLICT (id) DO UPDATE SET language = EXCLUDED.language
            """, [.text(id), SQLValue(language), .integer(now)])
    }

    /// Sets whether the events in the calendar of a person's phone are read and shown.
    public func putReadsPhone(_ reads: Bool, of id: String, now: Int) throws {
        try execute(
            """
            INSERT INTO users (id, reads_phone, created_at, updated_at) VALUES ($1, $2, $3, $3)
            ON CONFLICT (id) DO UPDATE SET reads_phone = EXCLUDED.reads_phone
            """, [.text(id), .integer(reads ? 1 : 0), .integer(now)])
    }
}
