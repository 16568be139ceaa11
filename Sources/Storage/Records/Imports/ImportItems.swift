// SPDX-License-Identifier: Apache-2.0

/// The items of one block of an import, a JSON array; the block's number is the place of its first item, from 0.
public struct ImportedItems: Hashable, Sendable {
    var importID = ""
    var block = 0
    public private(set) var items = ""
}

extension ImportedItems: StoredRow {
    static let table = RecordTable<ImportedItems>(
        "import_items", [.init("import_id", \.importID), .init("block", \.block), .init("items", \.items)])
}

extension ReadTransaction {
    /// Returns the blocks with some items, each a JSON array with the place of its first item.
    public func importItems(of record: ImportRecord, _ items: Range<Int>) throws -> [(first: Int, items: String)] {
        try rows(
            """
            SELECT block, items FROM import_items WHERE import_id = $1 AND block < $3 AND block >= COALESCE(
                (SELECT MAX(block) FROM import_items WHERE import_id = $1 AND block >= $4 AND block <= $2), $2)
            ORDER BY block
            """,
            [
                .text(record.id), .integer(record.itemBase + items.lowerBound),
                .integer(record.itemBase + items.upperBound), .integer(record.itemBase),
            ]
        ).map { (try $0.integer(required: "block") - record.itemBase, try $0.text(required: "items")) }
    }

    /// Returns the part of the file that one block read.
    public func importSource(ofImport id: String, block: Int) throws -> String {
        let parts = try rows(
            "SELECT source FROM import_sources WHERE import_id = $1 AND block = $2 ORDER BY part",
            [.text(id), .integer(block)])
        guard !parts.isEmpty else {
            throw StorageError.unexpectedResult("An import has lost a part of what was read.")
        }
        return try parts.map { try $0.text(required: "source") }.joined()
    }
}

extension WriteTransaction {
    /// Stores the items of one block of an import, a JSON array.
    public func putItems(ofImport id: String, block: Int, items: String) throws {
        try put(ImportedItems(importID: id, block: block, items: items))
    }

    /// Stores one part of a block of what was read from the file, for as long as it is needed; the block's number is the
    /// place of its first event, from 0.
    public func putSource(ofImport id: String, block: Int, part: Int, _ source: String) throws {
        try execute(
            """
            INSERT INTO import_sources (import_id, block, part, source) VALUES ($1, $2, $3, $4)
            ON CONFLICT (import_id, block, part) DO UPDATE SET source = EXCLUDED.source
            """, [.text(id), .integer(block), .integer(part), .text(source)])
    }

    /// Removes some stored parts of an import that are not needed: items that its report does not show, what an
    /// interrupted commit left, and what was read once it is committed. Returns false when none is left.
    public func trimItems(ofImport id: String, limit: Int) throws -> Bool {
        guard let record = try importRecord(id) else { return false }
        let isNeeded = record.state == .previewed && record.stage != .readFailed
        let items = try execute(
            """
            DELETE FROM import_items WHERE import_id = $1 AND block IN (
                SELECT block FROM import_items
                WHERE import_id = $1 AND (block < $2 OR block >= $3) LIMIT $4)
            """,
            [
                .text(id), .integer(record.stage == .readFailed ? .max : record.itemBase),
                .integer(record.itemBase + ImportRecord.span), .integer(limit),
            ])
        if items == limit { return true }
        if record.state == .previewed, try deleteParts("import_changes", of: id, limit: limit) == limit {
            return true
        }
        guard !isNeeded else { return false }
        return try deleteParts("import_sources", of: id, limit: limit) == limit
    }

    /// Removes a part of a discarded import; returns false when all of it is gone.
    public func purgeForgottenImport(_ id: String, limit: Int) throws -> Bool {
        let tables: [SchemaTable] = ["import_sources", "import_items", "import_changes"]
        for table in tables where try deleteParts(table, of: id, limit: limit) > 0 { return true }
        try execute("DELETE FROM imports WHERE id = $1", [.text(id)])
        return false
    }

    private func deleteParts(_ table: SchemaTable, of id: String, limit: Int) throws -> Int {
        try delete(from: table, with: "import_id", id, limit: limit)
    }
}
