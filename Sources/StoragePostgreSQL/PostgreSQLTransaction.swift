// SPDX-License-Identifier: Apache-2.0

internal import Storage

/// A transaction of a session, used only by the session's thread.
struct PostgreSQLTransaction: WriteTransaction {
    let session: Session
    let scope: WriteScope
    /// Nil for a transaction that is not given up: a read, or a migration.
    var gauge: WriteGauge?
    /// Nil for a read, or a migration, too.
    var sharedNumber: Int?
    var isAlone = true

    func concerns(circle: String) { scope.add(circle) }
    func concernsNamedCirclesOnly() { scope.beginEmpty() }
    func isMade(by author: ChangeAuthor) { scope.author = author }
    var author: ChangeAuthor? { scope.author }
    func wakes(_ circle: String) -> Bool { scope.wakes(circle) }

    func eachRow(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Void) throws {
        _ = try run(sql, arguments, body)
    }

    func expect(_ queries: (any ReadTransaction) throws -> Void) throws {
        guard session.reading != .none else { return }
        let all = try QueryList.of(queries)
        for query in all { try Self.check(query.arguments) }
        do { try session.expect(all) } catch { throw error.inOurWords }
    }

    func sharedTime() throws -> Int {
        let statement = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now"
        guard let row = try rows(statement, []).first else {
            throw StorageError.unexpectedResult("The database's server gave no time.")
        }
        return try row.integer(required: "now")
    }

    func shard(of column: String) -> String {
        "(get_byte(sha256(convert_to(\(column), 'UTF8')), 0) % \(Shards.count))"
    }

    func execute(_ sql: String, _ arguments: [SQLValue]) throws -> Int {
        try run(sql, arguments) { _ in }
    }

    private func run(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Void) throws -> Int {
        try gauge?.check()
        try Self.check(arguments)
        do {
            return try session.each(sql, arguments, body)
        } catch let failure as SessionFailure {
            throw failure.inOurWords
        }
    }

    private static func check(_ arguments: [SQLValue]) throws(StorageError) {
        // The library ends a text at a NUL, so that one id would be mistaken for another.
        for case .text(let text) in arguments where text.utf8.contains(0) { throw .unstorable }
    }
}

/// The target of migrations, which only one process at a time runs.
struct PostgreSQLMigrationTarget: MigrationTarget {
    let session: Session
    /// The statement that takes the turn among servers that may write at the same time.
    var turn = ""

    /// How long another process may make or change the tables.
    static let patience = Duration.seconds(60)
    static let takesLong = StorageError.unusable(
        "Another process has been changing the database's schema for a minute.")

    /// The session adapts every statement.
    func adapted(_ statement: String) -> String { statement }

    func transaction(_ body: (any WriteTransaction) throws -> Void) throws {
        do {
            try waitForTurn()
            defer { _ = try? session.run("SELECT pg_advisory_unlock(\(SessionLock.migration))") }
            // When a statement waits for a lock, all others wait behind it.
            try session.run(
                """
                BEGIN; SET LOCAL lock_timeout = '750ms'; SET LOCAL statement_timeout = 0; \(turn)
                SELECT \(Session.waitingForCommits)
                """)
            do {
                try body(PostgreSQLTransaction(session: session, scope: WriteScope()))
                guard try session.commit() else { throw StorageError.unusable("The schema was not kept.") }
            } catch {
                _ = try? session.run("ROLLBACK")
                throw error
            }
        } catch let failure as SessionFailure {
            throw failure.inOurWords
        }
    }

    /// Asks repeatedly: a session that waits inside the server would keep others from what they wait for.
    private func waitForTurn() throws {
        let deadline = ContinuousClock.now + Self.patience
        while try !session.takes(SessionLock.migration) {
            guard ContinuousClock.now < deadline else { throw Self.takesLong }
            pause(.milliseconds(50))
        }
    }
}

extension Session {
    func rollBack() throws(SessionFailure) { try run("ROLLBACK") }

    /// After a change of the schema, earlier prepared statements cannot be run.
    func forgetStatementsAfter(_ failure: SessionFailure) throws {
        if case .refused(let state, _) = failure, state == "0A000" { try forgetStatements() }
    }

    /// Takes a lock for the session unless another session has it.
    ///
    /// - Parameter isShared: whether other sessions may share it.
    func takes(_ lock: String, isShared: Bool = false) throws(SessionFailure) -> Bool {
        let name = "pg_try_advisory_lock\(isShared ? "_shared" : "")"
        let answer = try run("SELECT CAST(\(name)(\(lock)) AS INT)").first?.first ?? nil
        return answer.flatMap { Int($0) } == 1
    }

    /// Whether some session has a lock.
    func isTaken(_ lock: String) throws(SessionFailure) -> Bool {
        let found = try run(
            """
            SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND (classid, objid) = (\(lock))
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """)
        return !found.isEmpty
    }
}

/// The names of locks that a session holds until it ends; they are local to the database.
enum SessionLock {
    static let migration = "1801546853, 1"
    static let use = "1801546853, 2"
}
