// SPDX-License-Identifier: Apache-2.0

/// Rows from which an erasure takes a person, and to which no index leads.
///
/// A circle may have hundreds of thousands of other rows as well. So reads find the keys of these rows, for which no writer
/// waits, and transactions touch only rows whose keys they have.
public struct ErasureSearch: Sendable {
    fileprivate static let stepTime = Duration.milliseconds(40)

    fileprivate let table: SchemaTable
    fileprivate let condition: String
    /// The arguments of the condition: `$1` and `$2`.
    fileprivate let arguments: [SQLValue]
    /// The assignment in the rows, and its own arguments from `$3` on; nil where the rows are removed.
    fileprivate var change: (set: String, arguments: [SQLValue])?
    /// The circle whose bytes change with each row, and by how many.
    fileprivate var usage: (circle: String, bytes: Int)?

    /// What only the person saw of events, and of imports that others see as well, so that no undo brings it back.
    public static func removals(of user: String, _ erasure: Erasure) -> [ErasureSearch] {
        let own: [SQLValue] = [.text(user), .text(EventSource.own(user).text)]
        return [
            ErasureSearch(
                table: "event_versions", condition: "\(PersonTable.circles) AND (source = $2 OR visible_to = $1)",
                arguments: own),
            ErasureSearch(
                table: "import_changes",
                condition: """
                    source = $2 AND import_id IN (
                        SELECT id FROM imports WHERE \(PersonTable.circles) AND imported_by = $1)
                    """, arguments: own),
            // Its earlier content and its UID are no longer kept; the row stays, because the circle's share counts its bytes.
            ErasureSearch(
                table: KeptContent.schema,
                condition: """
                    CAST($2 AS TEXT) IS NOT NULL AND \(PersonTable.circles) AND content IS NOT NULL
                        AND collection = '\(KeptContent.events.rawValue)' AND EXISTS (
                            SELECT 1 FROM changes
                            WHERE changes.circle_id = kept_contents.circle_id AND changes.number = kept_contents.number
                                AND changes.user_id = $1)
                    """, arguments: own, change: ("content = NULL, item_id = $3", [.text(erasure.pseudonym)])),
            // The items of a report include the titles of private events.
            ErasureSearch(
                table: "import_items",
                condition: """
                    CAST($2 AS TEXT) IS NOT NULL AND import_id IN (
                        SELECT id FROM imports WHERE \(PersonTable.circles) AND imported_by = $1)
                    """, arguments: own),
        ]
    }

    /// The columns that name a person in a circle; the made-up id of the erasure replaces the name.
    public static func names(of user: String, in circle: String, _ erasure: Erasure) -> [ErasureSearch] {
        // No id has anything that JSON writes in another way, and within a text each quotation mark is escaped.
        func owner(_ parameter: String) -> String { "'\"ownerId\":\"' || CAST(\(parameter) AS TEXT) || '\"'" }
        let content = "content = REPLACE(content, \(owner("$2")), \(owner("$3")))"
        let pseudonym = erasure.pseudonym
        func search(_ table: SchemaTable, _ change: String, where condition: String) -> ErasureSearch {
            ErasureSearch(
                table: table, condition: condition, arguments: [.text(circle), .text(user)],
                change: (change, [.text(pseudonym)]))
        }
        var items = search(
            "schedule_items", "owner_id = $3, \(content)", where: "circle_id = $1 AND owner_id = $2")
        items.usage = (circle, pseudonym.utf8.count - user.utf8.count)
        return [
            items,
            search(
                KeptContent.schema, content, where: "circle_id = $1 AND REPLACE(content, \(owner("$2")), '') <> content"
            ),
            search("event_versions", "imported_by = $3", where: "circle_id = $1 AND imported_by = $2"),
            search(
                ImportRecord.schema, "imported_by = $3, report = ''", where: "circle_id = $1 AND imported_by = $2"),
            search(
                "import_changes", "imported_by_before = $3",
                where: "import_id IN (SELECT id FROM imports WHERE circle_id = $1) AND imported_by_before = $2"),
            search(Subscription.schema, "created_by = $3", where: "circle_id = $1 AND created_by = $2"),
        ]
    }
}

extension ReadTransaction {
    /// Returns the keys of some of the rows.
    public func keys(of search: ErasureSearch, limit: Int) throws -> [[SQLValue]] {
        let table = search.table
        return try rows(
            "SELECT \(table.key.joined(separator: ", ")) FROM \(table.name) WHERE \(search.condition) LIMIT $3",
            search.arguments + [.integer(limit)]
        ).map(\.values)
    }
}

extension WriteTransaction {
    /// Takes a person from rows with these keys as far as the time of a step allows, unless somebody else has done so;
    /// returns the index of the first key that is left.
    public func carryOut(_ search: ErasureSearch, on keys: ArraySlice<[SQLValue]>, in erasure: String) throws -> Int {
        let (table, start) = (search.table, ContinuousClock.now)
        let arguments = search.arguments + (search.change?.arguments ?? [])
        let key = table.key.enumerated().map { "\($1) = $\(arguments.count + 1 + $0)" }.joined(separator: " AND ")
        let sql =
            (search.change.map { "UPDATE \(table.name) SET \($0.set)" } ?? "DELETE FROM \(table.name)")
            + " WHERE \(key) AND (\(search.condition))"
        var (next, found) = (keys.startIndex, 0)
        while next < keys.endIndex, next == keys.startIndex || ContinuousClock.now - start < ErasureSearch.stepTime {
            found += try execute(sql, arguments + keys[next])
            next += 1
        }
        if let usage = search.usage {
            try execute(
                "UPDATE circle_usage SET bytes = bytes + $2 WHERE circle_id = $1",
                [.text(usage.circle), .integer(found * usage.bytes)])
        }
        try count(found, of: table.name, areKept: search.change != nil, in: erasure)
        return next
    }
}
