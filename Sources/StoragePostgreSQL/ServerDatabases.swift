// SPDX-License-Identifier: Apache-2.0

internal import Storage

/// The databases of a server, for whoever may make some; the store does not need any of this.
package enum ServerDatabases {
    /// Makes a database, empty or as another one is that nobody uses.
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
