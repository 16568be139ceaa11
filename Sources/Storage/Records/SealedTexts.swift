// SPDX-License-Identifier: Apache-2.0

/// Where sealed texts are stored, for a change of the key that seals them.
public struct SealedColumn: Sendable {
    let table: String
    let key: String
    let column: String
    /// What a text is sealed for, by its row's key.
    public let purpose: @Sendable (String) -> String

    /// - Parameter key: the column that names a row.
    public init(
        _ table: String, _ column: String, key: String = "id", _ purpose: @escaping @Sendable (String) -> String
    ) {
        (self.table, self.key, self.column, self.purpose) = (table, key, column, purpose)
    }
}

extension WriteTransaction {
    /// Puts other texts in place of all sealed ones of a column.
    ///
    /// - Parameter other: gets a row's key and its text; nil leaves the text as it is.
    /// - Returns: how many were replaced.
    public func reseal(_ own: SealedColumn, _ other: (_ key: String, _ text: String) throws -> String?) throws -> Int {
        var (place, replaced) = ("", 0)
        while true {
            let found = try rows(
                """
                SELECT \(own.key) AS name, \(own.column) AS text FROM \(own.table)
                WHERE \(own.key) > $1 AND \(own.column) IS NOT NULL ORDER BY \(own.key) LIMIT 500
                """, [.text(place)])
            for row in found {
                place = try row.text(required: "name")
                guard let text = try other(place, try row.text(required: "text")) else { continue }
                try execute(
                    "UPDATE \(own.table) SET \(own.column) = $2 WHERE \(own.key) = $1", [.text(place), .text(text)])
                replaced += 1
            }
            if found.count < 500 { return replaced }
        }
    }
}
