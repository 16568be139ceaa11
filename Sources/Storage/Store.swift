// SPDX-License-Identifier: Apache-2.0

/// Where Kalends keeps its state: consistent reads and serial writes over one SQL database.
///
/// Statements are written once for all engines: `ON CONFLICT`, `RETURNING`, parameters `$1`, `$2`…, and only `TEXT`
/// and `BIGINT` columns. An engine runs them; the verbs on records live in `Records/` and know no engine.
///
/// Every body may run more than once before its value is returned, and only the last run counts. So a body sends
/// nothing, reports nothing, changes nothing in memory that a second run would change again, and waits for nobody; what
/// follows from its value is done after the call has returned. It throws what its caller is to see, and an engine throws
/// only `StorageError`, or `CancellationError` when the caller was cancelled.
public protocol Store: Sendable {
    /// Runs `body` on one consistent snapshot, in which everything committed before is seen.
    ///
    /// An engine may run `body` again on another snapshot: it has no effect but its value.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any ReadTransaction) throws -> Value
    ) async throws -> Value

    /// Runs `body` in a transaction; committed durably before this returns, rolled back when it throws.
    ///
    /// Transactions take effect as if they ran one after the other. Where two met, an engine rolls one back and runs its
    /// `body` again: it has no effect but its value and what it writes, and reports no progress.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value

    /// Like `write`, for what no cached answer depends on, such as counts: `clock` stays.
    ///
    /// Its `body` may run again as that of `write` may.
    func record<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value

    /// It has moved on before any `write` returns, for the circles that the write concerns.
    var clock: WriteClock { get }

    /// Releases the database; no call may follow.
    func close() throws
}

/// A consistent view of the database; it must not be kept beyond the call that gave it.
public protocol ReadTransaction {
    /// Hands over the rows that a query gives one by one, with `arguments` for `$1`, `$2`…
    ///
    /// - Parameter body: asks the database nothing meanwhile.
    func eachRow(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Void) throws

    /// Whether each row of a table that is not clustered has a number, `rowid`, in whose order rows lie.
    var hasRowNumbers: Bool { get }

    /// The time of the database's own clock, the same for all servers, in milliseconds since 1970.
    ///
    /// Throws `StorageError.unexpectedResult` in an engine that one process has.
    func sharedTime() throws -> Int
}

extension ReadTransaction {
    public var hasRowNumbers: Bool { false }

    public func sharedTime() throws -> Int {
        throw StorageError.unexpectedResult("A database that one process has keeps no time of its own.")
    }
}

extension ReadTransaction {
    /// All rows that a query gives.
    public func rows(_ sql: String, _ arguments: [SQLValue]) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        try eachRow(sql, arguments) { rows.append($0) }
        return rows
    }

    /// What is made of each row, without all of the rows in memory beside it.
    func values<Value>(
        _ sql: String, _ arguments: [SQLValue], _ make: (SQLRow) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try eachRow(sql, arguments) { values.append(try make($0)) }
        return values
    }

    func row(_ sql: String, _ arguments: [SQLValue]) throws -> SQLRow? { try rows(sql, arguments).first }
}

/// A view that can change the database; all of its changes or none are kept.
public protocol WriteTransaction: ReadTransaction {
    /// Runs a statement and returns how many rows it changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: [SQLValue]) throws -> Int

    /// Says that the transaction concerns this circle and no other, unless another is named too.
    ///
    /// Without a word it concerns all of them: what is remembered of any is then looked up again.
    func concerns(circle: String)

    /// Says that the transaction concerns no circle but those that are named.
    func concernsNamedCirclesOnly()
}
