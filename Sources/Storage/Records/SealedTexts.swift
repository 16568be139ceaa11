// SPDX-License-Identifier: Apache-2.0

/// The place of sealed texts, for replacing the key that seals them.
public struct SealedColumn: Sendable {
    let table: String
    let key: String
    let column: String
    /// The purpose of a text's seal, from its row's key.
    public let purpose: @Sendable (String) -> String

    /// - Parameter key: the column that identifies a row.
    public init(
        _ table: String, _ column: String, key: String = "id", _ purpose: @escaping @Sendable (String) -> String
    ) {
        (self.table, self.key, self.column, self.purpose) = (table, key, column, purpose)
    }
}

extension WriteTransaction {
    /// Replaces all sealed texts of a column.
    ///
    /// - Parameter other: is passed a row's key and its text; nil leaves the text unchanged.
    /// - Returns: how many texts were replaced.
    public func reseal(_ own: SealedColumn, _ other: (_ key: String, _ text: String) throws -> String?) throws -> Int {
        var (position, replaced): (String?, Int) = ("", 0)
        while let begin = position {
            let part = try reseal(own, after: begin, limit: 500, other)
            (position, replaced) = (part.last, replaced + part.replaced)
        }
        return replaced
    }

    /// Replaces the sealed texts of at most `limit` rows.
    ///
    /// - Parameter position: the key of the row after which it begins.
    /// - Returns: how many were replaced, and where to continue, or nil when no row is left.
    public func reseal(
        _ own: SealedColumn, after position: String, limit: Int,
        _ other: (_ key: String, _ text: String) throws -> String?
    ) throws -> (replaced: Int, last: String?) {
        var (last, replaced) = (position, 0)
        let found = try rows(
            """
            SELECT \(own.key) AS name, \(own.column) AS text FROM \(own.table)
            WHERE \(own.key) > $1 AND \(own.column) IS NOT NULL ORDER BY \(own.key) LIMIT \(limit)
            """, [.text(position)])
        for row in found {
            last = try row.text(required: "name")
            guard let text = try other(last, try row.text(required: "text")) else { continue }
            try execute(
                "UPDATE \(own.table) SET \(own.column) = $2 WHERE \(own.key) = $1", [.text(last), .text(text)])
            replaced += 1
        }
        return (replaced, found.count < limit ? nil : last)
    }
}
