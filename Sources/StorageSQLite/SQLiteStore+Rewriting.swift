// SPDX-License-Identifier: Apache-2.0

internal import GRDB

extension SQLiteStore {
    /// The size up to which a file is rewritten: all others wait for that, about a quarter of a second.
    private static let mostRewritten = 32 << 20

    /// Rewrites a small file, and empties the log, which has former contents of pages up to its end.
    ///
    /// What is removed is overwritten with zeros, but SQLite may have moved a row from one page to another before, and
    /// leaves it in the unused part of the first. Throws `StorageError` while somebody reads from the log.
    public func overwriteRemoved() async throws -> Bool {
        try await Self.inOurWords { [self] in
            let isSmall = size() <= Self.mostRewritten
            return try await pool.writeWithoutTransaction { db in
                var isRewritten = false
                // Without room for a copy, the rest is done all the same.
                if isSmall { isRewritten = (try? db.execute(sql: "VACUUM")) != nil }
                try db.checkpoint(.truncate)
                return isRewritten
            }
        }
    }
}
