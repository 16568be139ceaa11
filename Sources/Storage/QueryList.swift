// SPDX-License-Identifier: Apache-2.0

/// A query of the store with its arguments for `$1`, `$2`…
package struct Query: Hashable, Sendable {
    package let sql: String
    package let arguments: [SQLValue]

    package init(_ sql: String, _ arguments: [SQLValue]) { (self.sql, self.arguments) = (sql, arguments) }
}

/// A transaction that asks nothing and notes the queries that it gets; each has no rows.
package final class QueryList: ReadTransaction {
    package private(set) var queries: [Query] = []

    /// Returns the queries of `body`.
    package static func of(_ body: (any ReadTransaction) throws -> Void) rethrows -> [Query] {
        let list = QueryList()
        try body(list)
        return list.queries
    }

    /// Depends on the engine, which is not known here: a query with this text is asked by itself, as one that was not noted.
    package func shard(of column: String) -> String { column }

    package func eachRow(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Void) {
        queries.append(Query(sql, arguments))
    }
}
