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
