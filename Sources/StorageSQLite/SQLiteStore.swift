// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.
internal import GRDB
public import Storage
internal import Synchronization

/// The embedded engine: the system's SQLite through GRDB, in WAL mode, with every commit flushed to the disk.
public final class SQLiteStore: Store, StoreMaintenance {
    let pool: DatabasePool
    public let clock = WriteClock()
    public let writes = WriteGauge()
    private let dataVersion = Atomic<Int>(0)
    private let files: OpenedFiles
    /// Whether a commit waits until it is on the disk; only the writer's queue uses it.
    private let waitsForDisk = Atomic(true)
    private let folding = LogFolding()
    /// Those whose reads are not short: however many lists and exports read, a poll finds a connection, and however many
    /// one caller asks for, so does everybody else.
    private let others = TurnSemaphore(otherReaders, most: otherReaders / 2)
    private let writer = TurnSemaphore(1)
    private static let otherReaders = 4

    /// KiB of pages that the writer keeps, twice as many as SQLite's default: an import changes pages all over four indexes, and
    /// a page that has to make room for another one is written to the log as often as it returns. Eight times as many
    /// made an import of 15,000 events no faster.
    private static let writerCache = 4 << 10
    /// How many seconds a connection waits for another one.
    static let patience = 5

    /// Opens or creates the file and brings its schema up to date.
    ///
    /// The caller holds `DatabaseLock`. Throws `StorageError` when the file is not a database, was made by a newer
    /// version, or does not accept a setting that durability depends on.
    ///
    /// - Parameters:
    ///   - mustBeKalends: also refuses an empty file.
    ///   - continuesCopy: also accepts a file with a copy that was interrupted.
    public init(path: String, mustBeKalends: Bool = false, continuesCopy: Bool = false) throws {
        try FileKind.requireDatabase(path)
        var configuration = Configuration()
        configuration.label = "kalends"
        configuration.busyMode = .timeout(Double(Self.patience))
        configuration.maximumReaderCount = Self.otherReaders + 1
        // An error text may end up in a log, so it must never contain the values of a statement.
        configuration.publicStatementArguments = false
        // A schema that somebody manipulated cannot call functions that act beyond the database.
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA trusted_schema = OFF")
            db.add(function: shardNumber)
        }
        do {
            try Self.look(path, mustBeKalends: mustBeKalends)
            pool = try DatabasePool(path: path, configuration: configuration)
            // This comes after the pool is open: GRDB sets NORMAL once prepareDatabase has run, and NORMAL loses
            // acknowledged commits when the power fails.
            let synchronous = try pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                try db.execute(sql: "PRAGMA cache_size = -\(Self.writerCache)")
                // Most systems build SQLite so: what is removed is overwritten where it was.
                try db.execute(sql: "PRAGMA secure_delete = ON")
                return try Int.fetchOne(db, sql: "PRAGMA synchronous")
            }
            let journal = try pool.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
            guard synchronous == 2, journal == "wal" else {
                throw StorageError.unusable("SQLite does not keep synchronous=FULL in WAL mode on \(path).")
            }
            try Schema.migrate(SQLiteMigrationTarget(pool: pool), continuesCopy: continuesCopy)
            // The data that a statement needs to undo itself stays in memory: a file for it, made and removed each time, took
            // longer than the statement. A migration may sort whole tables, which would need all of the memory.
            try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA temp_store = MEMORY") }
            // A migration is committed as a whole, and SQLite folds the log in that commit.
            pool.writeWithoutTransaction(folding.follow)
            dataVersion.store(try pool.writeWithoutTransaction(Self.readDataVersion), ordering: .relaxed)
            files = OpenedFiles(database: path)
        } catch let error as DatabaseError {
            throw StorageError.unusable(
                "\(path) cannot be opened as a database: \(error.message ?? "\(error.resultCode)").")
        }
    }

    /// Examines an existing file before changing anything in it: it may be another program's database.
    private static func look(_ path: String, mustBeKalends: Bool) throws {
        let isThere = FileIdentity(path: path)?.size ?? 0 > 0
        guard isThere || mustBeKalends else { return }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(Double(Self.patience))
        let foreign = StorageError.unusable("\(path) is not a database of Kalends.")
        guard isThere else { throw foreign }
        let tables = try DatabaseQueue(path: path, configuration: configuration).read { db in
            try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        guard tables.contains("schema_migrations") || (tables.isEmpty && !mustBeKalends) else { throw foreign }
    }

    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any ReadTransaction) throws -> Value
    ) async throws -> Value {
        try await withConnection {
            // A newly opened connection would read whatever is in its place.
            if case .replaced = self.files.state { throw StorageError.fileGone(self.files.path) }
            let caller = DatabaseCaller.current
            return try await self.pool.read { db in
                let transaction = SQLiteTransaction(db: db)
                return try caller?.count { try body(transaction) } ?? body(transaction)
            }
        }
    }

    /// Reads in our words, on one of the connections that everybody shares; a short read also finds the one that is kept for
    /// such reads.
    func withConnection<Value: Sendable>(_ work: @Sendable () async throws -> Value) async throws -> Value {
        ReadPurpose.isShort
            ? try await Self.inOurWords(work) : try await others.with { try await Self.inOurWords(work) }
    }

    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        let scope = WriteScope()
        // A failure is noted too: an error at COMMIT does not show whether the change was stored.
        defer { scope.note(in: clock) }
        return try await transaction(scope, body)
    }

    public func record<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await transaction(WriteScope(), body)
    }

    public func stage<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await transaction(WriteScope(), isStaged: true, body)
    }

    private func transaction<Value: Sendable>(
        _ scope: WriteScope, isStaged: Bool = false,
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        // It runs in a separate task: GRDB interrupts the only writer when a caller's task is cancelled, which may hit
        // the statement of the next caller. A transaction that has begun is committed or rolled back as a whole,
        // whether or not anybody waits for it.
        try await Task { try await writer.with { try await uninterrupted(scope, isStaged: isStaged, body) } }.value
    }

    private func uninterrupted<Value: Sendable>(
        _ scope: WriteScope, isStaged: Bool,
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await Self.inOurWords { [self] in
            try await pool.writeWithoutTransaction { db in
                let value = try self.writes.measure {
                    // Anything committed to a file without a name is lost when this process ends.
                    guard self.files.state == .inPlace else { throw StorageError.fileGone(self.files.path) }
                    try self.wait(forDisk: !isStaged, db)
                    var value: Value?
                    try db.inTransaction(.immediate) {
                        try self.noteForeignChange(db)
                        scope.beginBody()
                        value = try body(SQLiteTransaction(db: db, scope: scope, gauge: self.writes))
                        return .commit
                    }
                    self.folding.afterCommit(isStaged: isStaged, self.pool, self.writes)
                    return value
                }
                guard let value else { throw StorageError.unexpectedResult("A transaction gave nothing.") }
                return value
            }
        }
    }

    public func giveUpWrite(after limit: Duration) {
        // A single statement may take long, too; this interrupts those of readers as well.
        if writes.giveUp(after: limit) { pool.interrupt() }
    }

    /// Makes commits wait until they are on the disk, or not: the log is written in order, so the next one that waits brings
    /// what came before to the disk, and SQLite waits for the log before it folds it into the file.
    private func wait(forDisk waits: Bool, _ db: Database) throws {
        guard waitsForDisk.load(ordering: .relaxed) != waits else { return }
        // If changing it fails, every write tries again and fails, and none is reported as durable that is not.
        waitsForDisk.store(false, ordering: .relaxed)
        try db.execute(sql: "PRAGMA synchronous = \(waits ? "FULL" : "NORMAL")")
        waitsForDisk.store(waits, ordering: .relaxed)
    }

    /// Runs work of the engine; its failures become a `StorageError`.
    static func inOurWords<Value>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let error as DatabaseError {
            throw error.inOurWords
        }
    }

    /// Checks whether another process changed the database, which no lock of ours can prevent.
    ///
    /// Every write checks as well; without writes, only this finds the change.
    public func lookForForeignChange() async throws {
        try await Self.inOurWords { [self] in
            try await pool.writeWithoutTransaction { db in try self.noteForeignChange(db) }
        }
    }

    /// A change by another process shows as another data_version on the writer's own connection.
    private func noteForeignChange(_ db: Database) throws {
        let seen = try Self.readDataVersion(db)
        if dataVersion.exchange(seen, ordering: .relaxed) != seen { clock.note(nil) }
    }

    /// Whether the database is still the file that its path leads to.
    public var isInPlace: Bool { files.state == .inPlace }

    public func close() throws {
        guard folding.end() else { return }
        guard isInPlace else {
            // SQLite removes the log by its name, which may belong to another database now.
            Self.abandoned.withLock { $0.append(pool) }
            return
        }
        // The last connection to close would fold the log into the file, but GRDB closes the writer before its readers.
        // So the log is folded here, and the file is the whole database.
        _ = try pool.writeWithoutTransaction { db in try db.checkpoint(.truncate) }
        try pool.close()
    }

    /// Pools that are kept open until the process ends.
    private static let abandoned = Mutex<[DatabasePool]>([])

    /// Writes a complete and consistent copy of the database to a new file, which appears once it is complete.
    ///
    /// The copy belongs to no journal of accesses: what is recorded after the backup is not counted in it.
    public func backup(to path: String) async throws {
        try await withConnection { [self] in
            let file = try StagedFile(new: path)
            do {
                // A reader writes the copy, so that others can go on writing.
                try await pool.unsafeRead { db in
                    try db.execute(sql: "VACUUM INTO ?", arguments: [file.staged])
                }
                let copy = try DatabaseQueue(path: file.staged)
                try await copy.write { db in try SQLiteTransaction(db: db).forgetAccessJournal() }
                try copy.close()
                try file.publish()
            } catch {
                file.discard()
                throw error
            }
        }
    }

    /// Runs SQLite's own check of the file.
    public func integrityCheck() async throws -> String {
        let found = try await withConnection { [self] in
            try await pool.read { db in try String.fetchAll(db, sql: "PRAGMA integrity_check") }
        }
        // Some results are several lines below a heading.
        return found.flatMap { $0.split(separator: "\n") }.filter { !$0.hasPrefix("***") }.joined(separator: "; ")
    }

    /// Returns the version of the library that is actually linked.
    public func engineVersion() async throws -> String {
        try await Self.inOurWords { [self] in
            try await pool.read { db in try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "unknown" }
        }
    }

    /// Returns the bytes of the database and its log on the disk.
    public func size() -> Int {
        [files.path, files.path + "-wal"].compactMap { FileIdentity(path: $0)?.size }.reduce(0, +)
    }

    private static func readDataVersion(_ db: Database) throws -> Int {
        try Int.fetchOne(db.cachedStatement(sql: "PRAGMA data_version")) ?? 0
    }
}

/// A transaction of GRDB, used only on its queue.
struct SQLiteTransaction: WriteTransaction {
    let db: Database
    fileprivate let scope: WriteScope
    /// Nil for a transaction that is not given up: a read, or a migration.
    fileprivate let gauge: WriteGauge?

    fileprivate init(db: Database, scope: WriteScope = WriteScope(), gauge: WriteGauge? = nil) {
        self.db = db
        self.scope = scope
        self.gauge = gauge
    }

    var hasRowNumbers: Bool { true }

    func shard(of column: String) -> String { "\(shardNumber.name)(\(column))" }

    // Otherwise SQLite keeps a copy of each page that the statement changes, so that it can undo only that statement;
    // the copies took longer than inserting the rows.
    var insertMany: String { "INSERT OR FAIL" }

    func concerns(circle: String) { scope.add(circle) }
    func concernsNamedCirclesOnly() { scope.beginEmpty() }
    func isMade(by author: ChangeAuthor) { scope.author = author }
    var author: ChangeAuthor? { scope.author }
    func wakes(_ circle: String) -> Bool { scope.wakes(circle) }

    func eachRow(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Void) throws {
        let statement = try db.cachedStatement(sql: sql)
        let values = try BoundValues(arguments, in: statement, sql)
        defer { values.clear() }
        let columns = statement.columnNames
        let cursor = try Row.fetchCursor(statement)
        while try cursor.next() != nil {
            try gauge?.check()
            try body(SQLRow(columns: columns, values: values.row()))
        }
    }

    func execute(_ sql: String, _ arguments: [SQLValue]) throws -> Int {
        try gauge?.check()
        let statement = try db.cachedStatement(sql: sql)
        let values = try BoundValues(arguments, in: statement, sql)
        defer { values.clear() }
        try statement.execute()
        return db.changesCount
    }
}

struct SQLiteMigrationTarget: MigrationTarget {
    let pool: any DatabaseWriter

    func adapted(_ statement: String) -> String {
        // Otherwise rows are stored apart from their key, and each change writes two pages.
        statement.replacing("/* clustered */", with: "WITHOUT ROWID")
    }

    func transaction(_ body: (any WriteTransaction) throws -> Void) throws {
        try pool.write { db in try body(SQLiteTransaction(db: db)) }
    }
}
