// SPDX-License-Identifier: Apache-2.0

extension ReadTransaction {
    /// The items of some blocks, each a JSON array.
    public func importItems(ofImport id: String, blocks: ClosedRange<Int>) throws -> [String] {
        try rows(
            "SELECT items FROM import_items WHERE import_id = $1 AND block >= $2 AND block <= $3 ORDER BY block",
            [.text(id), .integer(blocks.lowerBound), .integer(blocks.upperBound)]
        ).map { try $0.text(required: "items") }
    }

    /// What was read of the file, of one block.
    public func importSource(ofImport id: String, block: Int) throws -> String {
        guard
            let row = try row(
                "SELECT source FROM import_items WHERE import_id = $1 AND block = $2", [.text(id), .integer(block)])
        else { throw StorageError.unexpectedResult("An import has lost a part of what was read.") }
        return try row.text(required: "source")
    }
}

extension WriteTransaction {
    /// Stores a block of an import's items, a JSON array, with what was read of the file as long as it is needed.
    public func putItems(ofImport id: String, block: Int, items: String, source: String) throws {
        try execute(
            """
            INSERT INTO import_items (import_id, block, items, source) VALUES ($1, $2, $3, $4)
            ON CONFLICT (import_id, block) DO UPDATE SET items = EXCLUDED.items, source = EXCLUDED.source
            """, [.text(id), .integer(block), .text(items), .text(source)])
    }
}
