// SPDX-License-Identifier: Apache-2.0

/// The part of an engine that migrations need: a transaction, before anything else runs.
package protocol MigrationTarget {
    /// Returns a statement in the engine's dialect; `/* clustered */` marks a table that is stored in its key's order.
    func adapted(_ statement: String) -> String

    func transaction(_ body: (any WriteTransaction) throws -> Void) throws
}

/// The schema's history, which is only appended to: what was released never changes.
///
/// Times are milliseconds since 1970 in UTC. Secrets are stored as SHA-256 (hex) or sealed (base64), never in plain
/// text.
package enum Schema {
    package static let migrations: [[String]] = [baseline]

    /// The schema of the first release; each table comes after those that it refers to.
    static let baseline: [String] = [
        servers, schedule, people, appPasswords, feeds, imports, changes, connections, sync, personal, officeDays,
        calendars, resources,
    ].flatMap { $0 }

    /// The versions that a program which knows only the version before can work with.
    ///
    /// Such a version only adds what that program does not look at: tables, indexes, columns that may be null or have a
    /// default; or it replaces an index by one that serves the same statements. It changes no existing row. Servers of
    /// both programs can then run on one database (docs/nodes.md). Tables and columns that are no longer needed are
    /// removed by a later version, which is not one of these.
    package static let expansions: Set<Int> = []

    /// Runs the migrations that the database does not have yet, all in one transaction: if one of them fails or the
    /// process ends, the database stays as it was, and the earlier program can continue to use it.
    ///
    /// - Parameters:
    ///   - last: the version to end with, for the check of a database that has no later one; nil for the latest.
    ///   - continuesCopy: whether a database with an unfinished copy is accepted, to continue it.
    package static func migrate(
        _ target: any MigrationTarget, upTo last: Int? = nil, _ history: SchemaHistory = SchemaHistory(),
        continuesCopy: Bool = false
    ) throws {
        try target.transaction { transaction in
            try transaction.execute(
                "CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT NOT NULL PRIMARY KEY)", [])
            let versions = try transaction.rows("SELECT version FROM schema_migrations ORDER BY version", [])
                .compactMap { $0.integer("version") }
            let version = versions.last { !continuesCopy || $0 != unfinishedCopy } ?? 0
            guard version <= history.latest else { throw refusal(found: version, known: history.latest) }
            for (index, statements) in history.migrations.enumerated().prefix(last ?? .max).dropFirst(version) {
                for statement in statements { try transaction.execute(target.adapted(statement), []) }
                try transaction.execute("INSERT INTO schema_migrations (version) VALUES ($1)", [.integer(index + 1)])
            }
            guard last == nil, version < history.latest else { return }
            // A program that does not know the latest version finds out here whether it may work with it.
            if history.oldest < history.latest {
                try transaction.set(oldestSetting, to: String(history.oldest))
            } else {
                // The state that an earlier version recorded is out of date.
                try transaction.execute("DELETE FROM settings WHERE name = $1", [.text(oldestSetting)])
            }
        }
    }

    /// The version that a database has, beside its others, while a copy into it is not finished.
    ///
    /// So no program uses it, earlier ones neither: for them it is a version that they do not know.
    package static let unfinishedCopy = 1_000_000_000

    /// The reason why a database of a version that is not known cannot be used.
    package static func refusal(found: Int, known: Int) -> StorageError {
        found == unfinishedCopy ? .unfinishedCopy : .newerSchema(found: found, known: known)
    }

    /// The setting with the oldest version whose programs can work with the database, where it is not the latest.
    package static let oldestSetting = "oldestSchema"
}
