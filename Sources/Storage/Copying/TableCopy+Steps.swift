// SPDX-License-Identifier: Apache-2.0

extension TableCopy {
    /// How a copy in steps began.
    public enum Beginning: Hashable, Sendable {
        /// Nothing of it was there.
        case new
        /// An interrupted copy was continued; this many rows were there.
        case continued(rows: Int)
        /// An interrupted copy was of other data, so everything was copied again.
        case again
    }

    /// Copies in many transactions of the second database, so that a copy which is interrupted can be continued.
    ///
    /// Until the end the second database is marked, and no program uses it (`Schema.unfinishedCopy`). A copy is
    /// continued by the same call: the existing rows are compared with those of the first database, and only the
    /// missing ones are stored. Everything is read again before the mark is removed.
    ///
    /// - Parameters:
    ///   - target: opened to continue a copy where one was interrupted.
    ///   - stepRows: about how many rows are stored in one transaction.
    ///   - end: what else is stored before the database can be used.
    /// - Returns: how it began, and the contents of each table.
    /// - Throws: `StorageError.unusable` when the copy differs from what was read.
    public static func copyInSteps(
        from source: any Store, to target: any Store, stepRows: Int = 20_000,
        end: @escaping @Sendable (any WriteTransaction) throws -> Void = { _ in }
    ) async throws -> (Beginning, [Content]) {
        var beginning = Beginning.new
        var present: [Content] = []
        if try await target.read({ try isUnfinished($0) }) {
            present = try await target.read { try contents($0, of: tables.dropLast()) }
            beginning = .continued(rows: present.reduce(0) { $0 + $1.rows })
        } else {
            try await begin(target)
        }
        let reading: RowReading
        do {
            reading = try await pass(source, target, behind: present, stepRows)
        } catch is CopyDiffers {
            beginning = .again
            try await begin(target)
            reading = try await pass(source, target, behind: [], stepRows)
        }
        let copied = reading.contents
        try requireSame(copied, try await target.read { try contents($0, of: tables.dropLast()) })
        try await target.write { writer in
            // A program that knows a later schema may have noted it here when it opened the database.
            try writer.execute("DELETE FROM settings", [])
            _ = try finish(reading, writer)
            try requireSame(copied.suffix(1), try contents(writer, of: [settings]))
            try end(writer)
            try writer.execute("DELETE FROM schema_migrations WHERE version = $1", [.integer(Schema.unfinishedCopy)])
        }
        return (beginning, copied)
    }

    private static func isUnfinished(_ reader: any ReadTransaction) throws -> Bool {
        try reader.row("SELECT version FROM schema_migrations WHERE version = $1", [.integer(Schema.unfinishedCopy)])
            != nil
    }

    /// Empties the second database and marks it.
    private static func begin(_ target: any Store) async throws {
        try await target.write { writer in
            try empty(writer)
            guard try !isUnfinished(writer) else { return }
            try writer.execute(
                "INSERT INTO schema_migrations (version) VALUES ($1)", [.integer(Schema.unfinishedCopy)])
        }
    }

    /// Copies what follows the rows that are present.
    private static func pass(
        _ source: any Store, _ target: any Store, behind present: [Content], _ stepRows: Int
    ) async throws -> RowReading {
        let rows = RowChannel()
        read(source, into: rows, behind: present)
        defer { rows.close() }
        for step in 1... {
            let isLast = try await target.write { writer in
                rows.begin(step)
                var (count, bytes) = (0, 0)
                while count < stepRows, bytes < 1 << 24 {
                    guard let batch = rows.next() else { return true }
                    try insert(batch, writer)
                    count += batch.rows.count
                    bytes += batch.bytes
                }
                return false
            }
            if isLast { break }
        }
        return try rows.result()
    }
}

/// The rows that are in the second database are not the first ones of the first database.
struct CopyDiffers: Error {}
