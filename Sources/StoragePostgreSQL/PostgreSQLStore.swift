// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.
internal import Glibc
public import Storage
internal import Synchronization

/// The PostgreSQL engine, with sessions that write and some that read, each on a separate thread.
///
/// Writes are serializable, reads are snapshots. One process writes one transaction after the other, so that they never
/// collide; when those of two processes collide, the server rolls one back, and it is run again. Servers that share a
/// database take turns, and write side by side what has nothing in common (docs/nodes.md).
public final class PostgreSQLStore: Store, StoreMaintenance {
    public let clock = WriteClock()
    public let writes = WriteGauge()
    let maker: SessionMaker
    /// Who else may use the database; the writing session enforces it.
    let use: Use
    let history: SchemaHistory
    let copies: StoreOpening
    let writer = Worker("writer")
    /// Those of a server that shares the database, for writes that go beside others.
    private let writers = WorkerPool("writer", writerCount, waiting: .seconds(10))
    private static let writerCount = 8
    private let besideTurns = TurnSemaphore(writerCount)
    /// Whoever waits for a session may hold its circle, for which others wait, so a caller's further writes wait before that.
    private let besideOfCaller = TurnSemaphore(.max, most: writerCount - 2)
    /// Those that renew what this server has to renew in time, however many other writes wait.
    private let keepers = WorkerPool("keeper", 2, waiting: .seconds(10))
    private let circles = CircleQueue()
    private let readers = WorkerPool("reader", readerCount, waiting: .seconds(10))
    private static let readerCount = 6
    /// Those whose reads are not short: they leave a session to polls, and half of the others to other callers.
    private let readTurns = TurnSemaphore(readerCount - 1, most: readerCount / 2 - 1)
    private let writeTurns = TurnSemaphore(1)
    let confirmations = Confirmations()
    /// The process on the server that last held the lock of use.
    private let holder = Atomic<Int>(0)
    let isClosed = Atomic<Bool>(false)

    /// How long a write is repeated before it is given up, and how long the outcome of an unanswered commit is asked
    /// for.
    static let patience = Duration.seconds(10)
    /// The channel that notifies other processes after a commit; they also look by themselves, so that nothing depends
    /// on it.
    private static let bell = "kalends_changed"

    /// Who else may use the database.
    enum Use {
        /// Nobody else.
        case only
        /// Only servers that share it too.
        case shared
        /// Anybody, for tests.
        case unguarded
    }

    /// Connects, and brings the schema up to date.
    ///
    /// Throws `StorageError`: `.inUse` when another process has the database, `.unreachable` when there is no server,
    /// `.unusable` when this program cannot store its data there.
    ///
    /// - Parameters:
    ///   - mustBeKalends: also refuses an empty database.
    ///   - isOnly: whether only this process may use the database as long as it is open.
    ///   - isShared: whether other servers that share it may use it too; then no server can have it to itself.
    ///   - continuesCopy: also accepts a database with a copy that was interrupted, for this process only.
    ///   - copies: opens the file for a backup.
    public convenience init(
        _ target: ConnectionTarget, mustBeKalends: Bool = false, isOnly: Bool, isShared: Bool = false,
        continuesCopy: Bool = false, copies: @escaping StoreOpening
    ) throws {
        try self.init(
            target, mustBeKalends: mustBeKalends, isOnly: isOnly, isShared: isShared, history: SchemaHistory(),
            continuesCopy: continuesCopy, copies: copies)
    }

    /// - Parameter history: the schema's history as this program knows it; tests have programs of other versions.
    package init(
        _ target: ConnectionTarget, mustBeKalends: Bool = false, isOnly: Bool, isShared: Bool,
        history: SchemaHistory, continuesCopy: Bool = false, copies: @escaping StoreOpening
    ) throws {
        maker = SessionMaker(target)
        self.history = history
        use = isShared ? .shared : isOnly ? .only : .unguarded
        self.copies = copies
        try writer.runNow { [self] slot in
            let session = try writing(&slot, isStart: true)
            do {
                try Self.look(session, mustBeKalends: mustBeKalends)
                if use == .shared {
                    try migrateTogether(session)
                } else {
                    try Schema.migrate(
                        PostgreSQLMigrationTarget(session: session), history, continuesCopy: continuesCopy)
                }
            } catch let failure as SessionFailure {
                throw failure.inOurWords
            }
        }
    }

    /// Examines an existing database before changing anything in it: it may be another program's.
    private static func look(_ session: Session, mustBeKalends: Bool) throws {
        let foreign = StorageError.unusable("The database is not one of Kalends.")
        let tables = try session.run(
            "SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'"
        )
        let isOurs = tables.contains { $0.first??.utf8.elementsEqual("schema_migrations".utf8) ?? false }
        guard isOurs || (tables.isEmpty && !mustBeKalends) else { throw foreign }
    }

    // MARK: Store

    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any ReadTransaction) throws -> Value
    ) async throws -> Value {
        let (asked, caller) = (ContinuousClock.now, DatabaseCaller.current)
        let work: @Sendable (inout Session?) throws -> Value = { [self] slot in
            guard ContinuousClock.now - asked < Self.patience else {
                throw StorageError.unreachable("all of its connections are in use")
            }
            return try again { isFirst in
                try run(&slot, reading, nil, .alone, isFirst: isFirst) { transaction in
                    try caller?.count { try body(transaction) } ?? body(transaction)
                }
            }
        }
        return ReadPurpose.isShort
            ? try await readers.with(work) : try await readTurns.with { try await readers.with(work) }
    }

    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        let scope = WriteScope()
        defer { scope.note(in: clock) }
        return try await transaction(scope, isNoted: use == .shared, body)
    }

    public func write<Value: Sendable>(
        _ turn: WriteTurn, _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        guard use == .shared else { return try await write(body) }
        let scope = WriteScope()
        defer { scope.note(in: clock) }
        do {
            return try await inTurn(turn, scope, body)
        } catch is TurnIsNarrow {
            return try await transaction(scope, isKept: turn.isKept, isNoted: true, body)
        }
    }

    /// Runs a write next to those of other circles.
    private func inTurn<Value: Sendable>(
        _ turn: WriteTurn, _ scope: WriteScope, _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        guard case .circle(let id) = turn else {
            return try await transaction(scope, in: turn, isKept: turn.isKept, isNoted: true, body)
        }
        let (circle, asked) = (ByteString(id), ContinuousClock.now)
        return try await besideOfCaller.with {
            await circles.enter(circle)
            defer { circles.leave(circle) }
            return try await transaction(scope, in: turn, isNoted: true, asked: asked, body)
        }
    }

    public func record<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await transaction(WriteScope(), body)
    }

    public func close() throws {
        isClosed.store(true, ordering: .releasing)
        for worker in readers.all + writers.all + keepers.all + [writer, confirmations.worker] {
            try worker.runNow { $0 = nil }
        }
    }

    // MARK: Transactions

    /// - Parameters:
    ///   - isKept: whether it uses a session that only renewals use.
    ///   - isNoted: whether other servers are informed which circles it concerns.
    ///   - asked: when the caller began to wait.
    private func transaction<Value: Sendable>(
        _ scope: WriteScope, in turn: WriteTurn = .alone, isKept: Bool = false, isNoted: Bool = false,
        asked: ContinuousClock.Instant = .now,
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        let leases = use == .shared ? Set(HeldLeases.current.map(\.lease)) : []
        let isMain = turn.isAlone && !isKept
        let work: @Sendable (inout Session?) throws -> Value = { [self] slot in
            guard ContinuousClock.now - asked < Session.statementLimit else {
                throw StorageError.unreachable("what was to be written waited too long")
            }
            return try again { isFirst in
                scope.reset()
                return try writes.measure(isAlone: isMain) {
                    try run(
                        &slot, isMain ? { try self.writing(&$0) } : beside, scope, turn, gauge: isMain ? writes : nil,
                        isFirst: isFirst
                    ) { transaction in
                        guard try transaction.areHeld(leases) else { throw StorageError.leaseLost }
                        scope.beginBody()
                        let value = try body(transaction)
                        if isNoted, let number = transaction.sharedNumber {
                            try transaction.noteWritten(scope.circles, in: number)
                        }
                        return value
                    }
                }
            }
        }
        if isKept { return try await keepers.with(work) }
        return isMain
            ? try await writeTurns.with { try await writer.run(work) }
            : try await besideTurns.with { try await writers.with(work) }
    }

    /// A run that stored nothing and may be repeated; the caller sees `error` when it was the last.
    private struct Again: Error {
        var error: StorageError
    }

    /// Repeats a transaction that collided with another, or whose session was lost before its end.
    private func again<Value>(_ attempt: (_ isFirst: Bool) throws -> Value) throws -> Value {
        let deadline = ContinuousClock.now + Self.patience
        var count = 0
        while true {
            do {
                return try attempt(count == 0)
            } catch let again as Again {
                count += 1
                guard ContinuousClock.now < deadline else { throw again.error }
                // Transactions that collided are repeated at different times.
                pause(.microseconds(Int.random(in: 200...(2_000 * min(count, 20)))))
            }
        }
    }

    /// Runs a transaction once.
    ///
    /// - Parameters:
    ///   - open: returns the session, which it may have to begin.
    ///   - scope: nil for a read.
    ///   - gauge: nil for a transaction that is not given up.
    private func run<Value>(
        _ slot: inout Session?, _ open: (inout Session?) throws -> Session, _ scope: WriteScope?, _ turn: WriteTurn,
        gauge: WriteGauge? = nil, isFirst: Bool, _ body: (PostgreSQLTransaction) throws -> Value
    ) throws -> Value {
        guard !isClosed.load(ordering: .acquiring) else { throw StorageError.unreachable("it was closed") }
        let session = try open(&slot)
        session.beginAnew()
        var hasBegun = false
        do {
            let isWrite = scope != nil
            var begun: [[String?]] = []
            if isWrite { begun = try session.run(beginning(turn)) } else { try session.beginReading() }
            hasBegun = true
            if isWrite, session.wasRung() { clock.note(nil) }
            _ = session.takeWarnings()
            let number = isWrite ? begun.last?.first ?? nil : nil
            let value = try body(
                PostgreSQLTransaction(
                    session: session, scope: scope ?? WriteScope(), gauge: gauge,
                    sharedNumber: use == .shared ? number.flatMap { Int($0) } : nil, isAlone: turn.isAlone))
            // A body that continues after a failed statement has nothing that could be committed.
            if let failure = session.failure { throw failure }
            if let scope {
                try commit(&slot, session, number)
                ring(&slot, session, scope)
            } else {
                try session.endReading()
                // A query that was announced and not asked for may have failed.
                if let failure = session.failure { throw failure }
            }
            return value
        } catch {
            let failure = session.failure
            if let failure, failure.endsSession(isWrite: scope != nil) {
                slot = nil
                // An earlier session may have ended unnoticed; when a new one is lost too, it is an outage.
                // A read learns of it within its body, which may make anything of it.
                if isFirst, scope == nil || error is SessionFailure || error is StorageError,
                    !(error as? StorageError).isUnknown
                {
                    throw Again(error: failure.inOurWords)
                }
                if (error as? StorageError).isUnknown { throw error }
                throw error is SessionFailure ? failure.inOurWords : error
            }
            if slot != nil {
                do {
                    try scope == nil ? session.endReading() : session.rollBack()
                    // A session that got only a part of its turn keeps none of it.
                    if !hasBegun { try leave(turn, session) }
                } catch {
                    slot = nil
                }
            }
            if let failure, failure.isPassing, !(error as? StorageError).isUnknown {
                if slot != nil { _ = try? session.forgetStatementsAfter(failure) }
                throw Again(error: failure.inOurWords)
            }
            throw (error as? SessionFailure)?.inOurWords ?? error
        }
    }

    private func ring(_ slot: inout Session?, _ session: Session, _ scope: WriteScope) {
        guard use == .unguarded, slot != nil else { return }
        // The notification comes after the commit and has no content: within it, it would make the commits of the whole
        // server wait.
        do { try session.run("NOTIFY \(Self.bell)") } catch { slot = nil }
    }

    // MARK: Sessions

    private func reading(_ slot: inout Session?) throws -> Session {
        if let session = slot, isCurrent(session) { return session }
        slot = nil
        let session = try maker.session()
        try follow(session)
        slot = session
        return session
    }

    /// Returns the session that writes; it holds the lock of use as long as it lives, so that nothing is written
    /// without the lock.
    func writing(_ slot: inout Session?, isStart: Bool = false) throws -> Session {
        if let session = slot, isCurrent(session) { return session }
        slot = nil
        let session = try maker.session()
        try follow(session)
        do {
            if use == .only { try takeLock(session) }
            if use == .shared { try takeShare(session, isStart: isStart) }
            try session.run("LISTEN \(Self.bell)")
        } catch let failure as SessionFailure {
            throw failure.inOurWords
        }
        // Notifications that came before were heard by nobody.
        clock.note(nil)
        slot = session
        return session
    }

    private func takeLock(_ session: Session) throws {
        let deadline = ContinuousClock.now + .seconds(2)
        let own = holder.load(ordering: .relaxed)
        while try !session.takes(SessionLock.use) {
            if own != 0 {
                // This may be our own earlier session, whose end the server has not noticed. One that waits for a
                // standby is left alone: its commit would be reported as done.
                try session.run(
                    """
                    SELECT pg_terminate_backend(l.pid) FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
                    WHERE l.locktype = 'advisory' AND l.pid = \(own) AND a.usename = current_user
                        AND (l.classid, l.objid) = (\(SessionLock.use))
                        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                        AND a.wait_event IS DISTINCT FROM 'SyncRep'
                    """)
            }
            guard ContinuousClock.now < deadline else { throw StorageError.inUse }
            pause(.milliseconds(50))
        }
        holder.store(session.process, ordering: .relaxed)
    }
}

extension WriteTurn {
    fileprivate var isAlone: Bool { if case .alone = self { true } else { false } }
    fileprivate var isKept: Bool { if case .keeping = self { true } else { false } }
}

extension Optional where Wrapped == StorageError {
    fileprivate var isUnknown: Bool { self == .outcomeUnknown }
}
