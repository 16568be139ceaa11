// SPDX-License-Identifier: Apache-2.0

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
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 4
        // An error text may end up in a log, so it must never contain the values of a statement.
        configuration.publicStatementArguments = false
        // A schema that somebody manipulated cannot call functions that act beyond the database.
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA trusted_schema = OFF") }
        do {
            try Self.look(path, mustBeKalends: mustBeKalends)
            pool = try DatabasePool(path: path, configuration: configuration)
            // This comes after the pool is open: GRDB sets NORMAL once prepareDatabase has run, and NORMAL loses
            // acknowledged commits when the power fails.
            let synchronous = try pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                return try Int.fetchOne(db, sql: "PRAGMA synchronous")
            }
            let journal = try pool.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
            guard synchronous == 2, journal == "wal" else {
                throw StorageError.unusable("SQLite does not keep synchronous=FULL in WAL mode on \(path).")
            }
            try Schema.migrate(SQLiteMigrationTarget(pool: pool), continuesCopy: continuesCopy)
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
        configuration.busyMode = .timeout(5)
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
        // A newly opened connection would read whatever is in its place.
        if case .replaced = files.state { throw StorageError.fileGone(files.path) }
        return try await Self.inOurWords { [self] in try await pool.read { db in try body(SQLiteTransaction(db: db)) } }
    }

    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        let scope = WriteScope()
        // A failure is recorded too: an error at COMMIT does not show whether the change was stored.
        defer { clock.note(scope.circles) }
        return try await transaction(scope, body)
    }

    public func record<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await transaction(WriteScope(), body)
    }

    private func transaction<Value: Sendable>(
        _ scope: WriteScope, _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        // It runs in a separate task: GRDB interrupts the only writer when a caller's task is cancelled, which may hit
        // the statement of the next caller. A transaction that has begun is committed or rolled back as a whole,
        // whether or not anybody waits for it.
        try await Task { try await uninterrupted(scope, body) }.value
    }

    private func uninterrupted<Value: Sendable>(
        _ scope: WriteScope, _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await Self.inOurWords { [self] in
            try await pool.writeWithoutTransaction { db in
                let start = ContinuousClock.now
                defer { self.writes.note(ContinuousClock.now - start) }
                // Anything committed to a file without a name is lost when this process ends.
                guard self.files.state == .inPlace else { throw StorageError.fileGone(self.files.path) }
                var value: Value?
                try db.inTransaction(.immediate) {
                    try self.noteForeignChange(db)
                    value = try body(SQLiteTransaction(db: db, scope: scope))
                    return .commit
                }
                guard let value else { throw StorageError.unexpectedResult("A transaction gave nothing.") }
                return value
            }
        }
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
        try await Self.inOurWords { [self] in
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
        let found = try await Self.inOurWords { [self] in
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

    @Sendable
    private static func readDataVersion(_ db: Database) throws -> Int {
        try Int.fetchOne(db.cachedStatement(sql: "PRAGMA data_version")) ?? 0
    }
}

/// A transaction of GRDB, used only on its queue.
struct SQLiteTransaction: WriteTransaction {
    let db: Database
    fileprivate let scope: WriteScope

    fileprivate init(db: Database, scope: WriteScope = WriteScope()) {
        self.db = db
        self.scope = scope
    }

    var hasRowNumbers: Bool { true }

    func concerns(circle: String) { scope.add(circle) }
    func concernsNamedCirclesOnly() { scope.beginEmpty() }

    func eachRow(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Void) throws {
        let statement = try db.cachedStatement(sql: sql)
        var columns: [String: Int] = [:]
        for (index, name) in statement.columnNames.enumerated() where columns[name] == nil { columns[name] = index }
        let cursor = try Row.fetchCursor(statement, arguments: try bound(arguments, to: sql))
        while let row = try cursor.next() {
            try body(SQLRow(columns: columns, values: row.databaseValues.map(SQLValue.init)))
        }
    }

    func execute(_ sql: String, _ arguments: [SQLValue]) throws -> Int {
        try db.cachedStatement(sql: sql).execute(arguments: try bound(arguments, to: sql))
        return db.changesCount
    }

    /// Binds arguments; SQLite takes `$1` as a name, so that a parameter may occur twice and in any order, as in
    /// PostgreSQL.
    private func bound(_ arguments: [SQLValue], to sql: String) throws -> StatementArguments {
        for case .text(let text) in arguments where text.utf8.contains(0) {
            // GRDB binds a text up to its first NUL, so that one id would be mistaken for another.
            throw StorageError.unstorable
        }
        // Binding by place, where that is equivalent, takes a tenth of the time.
        if Self.firstStandInOrder(sql) { return StatementArguments(arguments.map(\.databaseValue)) }
        return StatementArguments(
            Dictionary(uniqueKeysWithValues: arguments.enumerated().map { (String($0 + 1), $1.databaseValue) }))
    }

    /// Whether the parameters first appear in the order of their numbers.
    private static func firstStandInOrder(_ sql: String) -> Bool {
        var (greatest, number, isInside) = (0, 0, false)
        for byte in sql.utf8 {
            if isInside, byte >= 48, byte <= 57 {
                number = number * 10 + Int(byte - 48)
                continue
            }
            if isInside {
                if number > greatest + 1 { return false }
                greatest = max(greatest, number)
            }
            (isInside, number) = (byte == 36, 0)
        }
        return number <= greatest + 1
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

extension SQLValue {
    fileprivate init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .int64(let number): .integer(Int(number))
            case .string(let text): .text(text)
            // Only a number that another program wrote can be too large.
            case .double(let number): Int(exactly: number.rounded(.towardZero)).map(SQLValue.integer) ?? .null
            case .blob, .null: .null
            }
    }

    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .text(let text): text.databaseValue
        }
    }
}
