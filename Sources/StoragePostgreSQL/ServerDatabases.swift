// SPDX-License-Identifier: Apache-2.0

/// The databases of a server, for callers that may create some; the store does not need any of this.
package enum ServerDatabases {
    /// Creates a database, either empty or as a copy of another one that is not in use.
    package static func make(_ name: String, like template: String?, at target: ConnectionTarget) throws {
        try run("CREATE DATABASE \"\(name)\" TEMPLATE \"\(template ?? "template0")\" ENCODING 'UTF8'", at: target)
    }

    package static func remove(_ name: String, at target: ConnectionTarget) throws {
        try run("DROP DATABASE IF EXISTS \"\(name)\" WITH (FORCE)", at: target)
    }

    private static func run(_ statement: String, at target: ConnectionTarget) throws {
        do {
            try Session(target).run(statement)
        } catch {
            throw error.inOurWords
        }
    }
}
