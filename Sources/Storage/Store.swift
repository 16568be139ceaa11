// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.

/// For whom the current task reads.
public enum ReadPurpose {
    /// Whether a calendar app polls a feed, or the read is as short as that: an engine with few connections keeps one of
    /// them for such reads.
    @TaskLocal public static var isShort = false
}

/// The storage of Kalends' state: consistent reads and serial writes over one SQL database.
///
/// Statements are written once for all engines: `ON CONFLICT`, `RETURNING`, parameters `$1`, `$2`…, and only `TEXT` and
/// `BIGINT` columns. An engine runs them; the functions on records are in `Records/` and depend on no engine.
///
/// Every body may run more than once before its value is returned, and only the last run counts. So a body must not
/// send or report anything, change anything in memory that a second run would change again, or wait for anybody; the
/// caller acts on its value after the call has returned. A body throws what its caller is to see; an engine throws only
/// `StorageError`, or `CancellationError` when the caller was cancelled.
public protocol Store: Sendable {
    /// Runs `body` on one consistent snapshot with everything that was committed before.
    ///
    /// An engine may run `body` again on another snapshot: it must have no effect other than its value.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any ReadTransaction) throws -> Value
    ) async throws -> Value

    /// Runs `body` in a transaction, which is committed durably before this returns, or rolled back when it throws.
    ///
    /// Transactions take effect as if they ran one after the other. When two collide, an engine rolls one back and runs
    /// its `body` again: it must have no effect other than its value and what it writes, and must not report progress.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value

    /// Writes like `write`, beside other writes where the engine can: the caller guarantees that `turn` describes `body`
    /// correctly.
    func write<Value: Sendable>(
        _ turn: WriteTurn, _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value

    /// Writes like `write`, for data on which no cached answer depends, such as counts: `clock` does not advance.
    ///
    /// Its `body` may run again, like that of `write`.
    func record<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value

    /// Writes like `record` what only a later `write` makes visible: it is durable when that has returned, and a power
    /// cut before may undo it. A process that is killed undoes nothing.
    func stage<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value

    /// Whether other servers write to the database as well.
    var isShared: Bool { get }

    /// The clock of writes, which has advanced for the circles of a `write` before that returns.
    var clock: WriteClock { get }

    /// Releases the database; no call may follow.
    func close() throws
}

extension Store {
    public var isShared: Bool { false }

    public func stage<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await record(body)
    }
}

/// A consistent view of the database; it must not be used after the call that provided it.
public protocol ReadTransaction {
    /// Passes on the rows of a query one by one, with `arguments` for `$1`, `$2`…
    ///
    /// - Parameter body: must not query the database.
    func eachRow(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Void) throws

    /// Announces queries of a read that follow in this order, so that an engine which waits for each answer can ask all of
    /// them before it waits. Their rows do not depend on it: a query that was not announced is asked by itself, and the
    /// answers to those before it that nobody takes are thrown away.
    ///
    /// - Parameter queries: asks them of a transaction in which they have no rows; an engine may leave it out.
    func expect(_ queries: (any ReadTransaction) throws -> Void) throws

    /// Whether each row of a table that is not clustered has a number, `rowid`, by which rows are ordered.
    var hasRowNumbers: Bool { get }

    /// Returns the time of the database's own clock, the same for all servers, in milliseconds since 1970.
    ///
    /// Throws `StorageError.unexpectedResult` in an engine that only one process uses.
    func sharedTime() throws -> Int

    /// Returns the expression for the shard of the id in a column, as `Shards.number(of:)` has it.
    func shard(of column: String) -> String
}

extension WriteTransaction {
    public var insertMany: String { "INSERT" }
}

extension ReadTransaction {
    public func expect(_ queries: (any ReadTransaction) throws -> Void) {}

    public var hasRowNumbers: Bool { false }

    public func sharedTime() throws -> Int {
        throw StorageError.unexpectedResult("A database that one process has keeps no time of its own.")
    }

    /// Returns all rows of a query.
    public func rows(_ sql: String, _ arguments: [SQLValue]) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        try eachRow(sql, arguments) { rows.append($0) }
        return rows
    }

    /// Returns the value made from each row, without keeping all rows in memory.
    func values<Value>(
        _ sql: String, _ arguments: [SQLValue], _ make: (SQLRow) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try eachRow(sql, arguments) { values.append(try make($0)) }
        return values
    }

    func row(_ sql: String, _ arguments: [SQLValue]) throws -> SQLRow? { try rows(sql, arguments).first }
}

/// A transaction that can change the database; either all of its changes are stored or none.
public protocol WriteTransaction: ReadTransaction {
    /// Runs a statement and returns how many rows it changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: [SQLValue]) throws -> Int

    /// The first words of a statement that inserts several rows. When one of them fails, the whole transaction must be
    /// given up, because earlier ones may have been inserted.
    var insertMany: String { get }

    /// Declares that the transaction concerns this circle, and only the circles that are named.
    ///
    /// Without any declaration it concerns all circles, and everything cached is looked up again.
    func concerns(circle: String)

    /// Declares that the transaction concerns only the circles that are named.
    func concernsNamedCirclesOnly()

    /// Declares who makes the changes that are noted from here on; without it, the server itself does.
    func isMade(by author: ChangeAuthor)

    var author: ChangeAuthor? { get }

    /// Notes that the connections of a circle are woken, which one statement does for all changes of a transaction;
    /// returns false if they were before.
    func wakes(_ circle: String) -> Bool

    /// The number that the database gave the transaction, and gives no other, where several servers write to it; nil where
    /// only one does.
    var sharedNumber: Int? { get }

    /// Whether no other write goes on at the same time.
    var isAlone: Bool { get }
}
