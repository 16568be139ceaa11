// SPDX-License-Identifier: Apache-2.0

extension ReadTransaction {
    /// A value that the installation remembers, nil when it was never set.
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
    /// The id that distinguishes this installation's events from those of every other one; it is made at the first start.
    public func installationID() throws -> String {
        guard let id = try setting("installation") else {
            throw StorageError.unexpectedResult("The installation has no name.")
        }
        return id
    }
}

extension WriteTransaction {
    /// Names the installation unless it has a name.
    public func nameInstallation(_ id: String) throws {
        if try setting("installation") == nil { try set("installation", to: id) }
    }
}
