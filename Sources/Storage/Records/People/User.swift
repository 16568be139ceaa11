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
            .init("id", \.id), .init("time_zone", \.timeZone), .init("language", \.language),
            .init("reads_phone", \.readsPhone), .once("created_at", \.createdAt), .init("updated_at", \.updatedAt),
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
        try changeUser(id, now: now) { user in
            if user.timeZone != timeZone { (user.timeZone, user.updatedAt) = (timeZone, now) }
        }
    }

    /// Sets the language of a user's pages; nil for the browser's preference.
    public func putLanguage(_ language: String?, of id: String, now: Int) throws {
        _ = try changeUser(id, now: now) { $0.language = language }
    }

    /// Sets whether the events in the calendar of a person's phone are read and shown.
    public func putReadsPhone(_ reads: Bool, of id: String, now: Int) throws {
        _ = try changeUser(id, now: now) { $0.readsPhone = reads }
    }

    /// Stores a user with a change, also one of whom nothing was stored.
    private func changeUser(_ id: String, now: Int, _ change: (inout User) -> Void) throws -> User {
        let old = try user(id)
        var new = old ?? User(id: id, createdAt: now, updatedAt: now)
        change(&new)
        if new != old { try put(new) }
        return new
    }
}
