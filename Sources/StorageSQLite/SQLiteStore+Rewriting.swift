// SPDX-License-Identifier: Apache-2.0

internal import GRDB

extension SQLiteStore {
    /// The size up to which a file is rewritten: all others wait for that, about a quarter of a second.
    private static let mostRewritten = 32 << 20

    /// Rewrites a small file, and empties the log, which has former contents of pages up to its end.
    ///
    /// Removed data is overwritten with zeros, but SQLite may have moved a row from one page to another before, and
    /// leaves it in the unused part of the first. Throws `StorageError` while somebody reads from the log.
    public func overwriteRemoved() async throws -> Bool {
        try await Self.inOurWords { [self] in
            let isSmall = size() <= Self.mostRewritten
            // Without room for a copy, the rest is done all the same.
            let isRewritten = try await pool.writeWithoutTransaction { db in
                isSmall && (try? db.execute(sql: "VACUUM")) != nil
            }
            for _ in 1..<Self.mostTries {
                if (try? await pool.writeWithoutTransaction(Self.emptyLog)) != nil { return isRewritten }
                try await Task.sleep(for: Self.pause)
            }
            try await pool.writeWithoutTransaction(Self.emptyLog)
            return isRewritten
        }
    }

    /// How often the log is tried to be emptied, which fails while somebody reads from it, and how long others write
    /// between two tries.
    private static let (mostTries, pause) = (40, Duration.milliseconds(250))

    /// Waits for readers no longer than any transaction may take, because every writer waits as well.
    @Sendable
    private static func emptyLog(_ db: Database) throws {
        try db.execute(sql: "PRAGMA busy_timeout = 100")
        defer { try? db.execute(sql: "PRAGMA busy_timeout = \(patience * 1000)") }
        try db.checkpoint(.truncate)
    }
}
