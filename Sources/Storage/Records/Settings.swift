// SPDX-License-Identifier: Apache-2.0

extension ReadTransaction {
    /// Returns a stored value of the installation; nil when it was never set.
    public func setting(_ name: String) throws -> String? {
        try row("SELECT value FROM settings WHERE name = $1", [.text(name)])?.text("value")
    }
}

extension WriteTransaction {
    public func set(_ name: String, to value: String) throws {
        try execute(
            """
            INSERT INTO settings (name, value) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value
            """, [.text(name), .text(value)])
    }
}

extension ReadTransaction {
    /// Returns the id that distinguishes this installation's events from those of all others; it is created at the
    /// first start.
    public func installationID() throws -> String {
        guard let id = try setting("installation") else {
            throw StorageError.unexpectedResult("The installation has no name.")
        }
        return id
    }
}

extension WriteTransaction {
    /// Stores the installation's id unless it has one.
    public func nameInstallation(_ id: String) throws {
        if try setting("installation") == nil { try set("installation", to: id) }
    }
}

extension ReadTransaction {
    /// Returns the random text that distinguishes the database from what it was before a restore; nil before a server
    /// started on it.
    public func databaseID() throws -> String? { try setting("mark") }
}

extension WriteTransaction {
    /// Marks the database unless it has a mark, and returns the one that it has.
    public func identifyDatabase(_ newID: String) throws -> String {
        if let known = try databaseID() { return known }
        try set("mark", to: newID)
        return newID
    }

    /// Takes the mark away: the next server that starts gives another one.
    public func forgetDatabaseID() throws { try execute("DELETE FROM settings WHERE name = 'mark'", []) }
}
