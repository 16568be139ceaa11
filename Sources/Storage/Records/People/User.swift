// SPDX-License-Identifier: Apache-2.0

/// The properties of a user besides credentials and circles.
public struct User: Hashable, Sendable {
    public var id = ""
    /// The IANA id of their zone; nil to use the zone of the circle in which something is shown.
    public var timeZone: String?
    /// The language of pages as a BCP 47 tag; nil for the browser's preference.
    public var language: String?
    /// Whether the events in the calendar of the person's phone are read; nil when the person has not chosen.
    public var readsPhone: Bool?
    public var createdAt = 0
    public var updatedAt = 0
}

extension User: StoredRow {
    static let table = RecordTable<User>(
        "users",
        [
            .once("id", \.id), .once("time_zone", \.timeZone), .once("language", \.language),
            .once("reads_phone", \.readsPhone), .once("created_at", \.createdAt), .once("updated_at", \.updatedAt),
        ])
}

extension ReadTransaction {
    /// Returns a user with stored properties.
    public func user(_ id: String) throws -> User? {
        try first("WHERE id = $1", [.text(id)])
    }

    /// Whether the events in the calendar of a person's phone may be read and shown.
    public func readsPhone(of id: String) throws -> Bool { try user(id)?.readsPhone ?? true }
}

extension WriteTransaction {
    /// Sets a user's zone; nothing changes when the user has that zone already.
    public func putUser(_ id: String, timeZone: String?, now: Int) throws -> User {
        if let old = try user(id), old.timeZone == timeZone { return old }
        try insert(
            new: User(id: id, timeZone: timeZone, createdAt: now, updatedAt: now),
            "ON CONFLICT (id) DO UPDATE SET time_zone = EXCLUDED.time_zone, updated_at = EXCLUDED.updated_at")
        guard let new = try user(id) else { throw StorageError.unexpectedResult("A user was not kept.") }
        return new
    }

    /// Sets the language of a user's pages; nil for the browser's preference.
    public func putLanguage(_ language: String?, of id: String, now: Int) throws {
        try insert(
            new: User(id: id, language: language, createdAt: now, updatedAt: now),
            "ON CONFLICT (id) DO UPDATE SET language = EXCLUDED.language")
    }

    /// Sets whether the events in the calendar of a person's phone are read and shown.
    public func putReadsPhone(_ reads: Bool, of id: String, now: Int) throws {
        try insert(
            new: User(id: id, readsPhone: reads, createdAt: now, updatedAt: now),
            "ON CONFLICT (id) DO UPDATE SET reads_phone = EXCLUDED.reads_phone")
    }
}
