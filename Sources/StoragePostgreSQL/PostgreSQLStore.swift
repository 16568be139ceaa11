// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import Storage
internal import Synchronization

/// PostgreSQL as the engine: one session that writes and some that read, each in a separate thread.
///
/// Writes are serializable, reads are snapshots. Of one process the writes come one after the other, so that they never
/// collide; where those of two processes collided, the server rolls one back, and it is run again. Servers that share a
/// database take turns (`PostgreSQLStore+Sharing`).
public final class PostgreSQLStore: Store, StoreMaintenance {
    public let clock = WriteClock()
    public let writes = WriteGauge()
    let maker: SessionMaker
    /// Who else may have the database, which the writing session enforces.
    let use: Use
    private let copies: StoreOpening
    private let writer = Worker("writer")
    private let readers = WorkerPool(6, waiting: .seconds(10))
    let confirmations = Confirmations()
    /// The process of the server that held the lock of use last.
    private let holder = Atomic<Int>(0)
    let isClosed = Atomic<Bool>(false)

    /// How long a write is run again before it is given up, and how long a commit without an answer is asked after.
    private static let patience = Duration.seconds(10)
    /// Rings at other processes after a commit; they look by themselves, so that nothing rests on it.
    private static let bell = "kalends_changed"

    /// Who else may have the database.
    enum Use {
        /// Nobody.
        case only
        /// Servers that share it too, and nobody else.
        case shared
        /// Anybody; for tests.
        case unguarded
    }

    /// Connects, and brings the schema up to date.
    ///
    /// Throws `StorageError`: `.inUse` when another process has the database, `.unreachable` when there is no server,
    /// `.unusable` when it is not one that this program can keep its data on.
    ///
    /// - Parameters:
    ///   - mustBeKalends: also refuses an empty database.
    ///   - isOnly: whether only this process may use the database as long as it is open.
    ///   - isShared: whether other servers that share it may have it too; no server can take all of it then.
    ///   - copies: makes the file that a backup goes to.
    public init(
        _ target: ConnectionTarget, mustBeKalends: Bool = false, isOnly: Bool, isShared: Bool = false,
        copies: @escaping StoreOpening
    ) throws {
        maker = SessionMaker(target)
        use = isShared ? .shared : isOnly ? .only : .unguarded
        self.copies = copies
        try writer.runNow { [self] slot in
            let session = try writing(&slot)
            do {
                try Self.look(session, mustBeKalends: mustBeKalends)
                if use == .shared {
                    try migrateAlone(session)
                } else {
                    try Schema.migrate(PostgreSQLMigrationTarget(session: session))
                }
            } catch let failure as SessionFailure {
                throw failure.inOurWords
            }
        }
    }

    /// Looks at what is there before anything of it is changed: it may be another program's database.
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
        try await readers.with { [self] slot in
            try again { isFirst in
                try run(&slot, nil, isFirst: isFirst) { try body($0) }
            }
        }
    }

    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        let scope = WriteScope()
        // A failure is noted too: one at the commit may come after it.
        defer { clock.note(scope.circles) }
        return try await transaction(scope, isNoted: use == .shared, body)
    }

    public func record<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await transaction(WriteScope(), body)
    }

    public func close() throws {
        isClosed.store(true, ordering: .releasing)
        for worker in readers.all + [writer, confirmations.worker] { try worker.runNow { $0 = nil } }
    }

    // MARK: Transactions

    /// - Parameter isNoted: whether other servers learn which circles it concerns.
    private func transaction<Value: Sendable>(
        _ scope: WriteScope, isNoted: Bool = false, _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        let asked = ContinuousClock.now
        let leases = use == .shared ? HeldLeases.current.map(\.lease) : []
        return try await writer.run { [self] slot in
            guard ContinuousClock.now - asked < Session.statementLimit else {
                throw StorageError.unreachable("what was to be written waited too long")
            }
            return try again { isFirst in
                scope.reset()
                let start = ContinuousClock.now
                defer { writes.note(ContinuousClock.now - start) }
                return try run(&slot, scope, isFirst: isFirst) { transaction in
                    for lease in leases where try !transaction.isHeld(lease) { throw StorageError.leaseLost }
                    let value = try body(transaction)
                    if isNoted { try transaction.noteWritten(scope.circles) }
                    return value
                }
            }
        }
    }

    /// A run that kept nothing and may be repeated; `error` is what the caller sees when it was the last.
    private struct Again: Error {
        var error: StorageError
    }

    /// Repeats a transaction that met another, or whose session was lost before its end.
    private func again<Value>(_ attempt: (_ isFirst: Bool) throws -> Value) throws -> Value {
        let deadline = ContinuousClock.now + Self.patience
        var count = 0
        while true {
            do {
                return try attempt(count == 0)
            } catch let again as Again {
                count += 1
                guard ContinuousClock.now < deadline else { throw again.error }
                // Those that met come again at different times.
                pause(.microseconds(Int.random(in: 200...(2_000 * min(count, 20)))))
            }
        }
    }

    /// Runs a transaction once.
    ///
    /// - Parameter scope: nil for a read.
    private func run<Value>(
        _ slot: inout Session?, _ scope: WriteScope?, isFirst: Bool, _ body: (PostgreSQLTransaction) throws -> Value
    ) throws -> Value {
        guard !isClosed.load(ordering: .acquiring) else { throw StorageError.unreachable("it was closed") }
        let session = try scope == nil ? reading(&slot) : writing(&slot)
        session.beginAnew()
        do {
            let isWrite = scope != nil
            // With its number, by which a commit that is not answered is asked after.
            let begun = try session.run(
                isWrite
                    ? "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE; \(turn)SELECT pg_current_xact_id()"
                    : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            if isWrite, session.wasRung() { clock.note(nil) }
            _ = session.takeWarnings()
            let value = try body(PostgreSQLTransaction(session: session, scope: scope ?? WriteScope()))
            // A body that continues after a failed statement has nothing that could be kept.
            if let failure = session.failure { throw failure }
            if let scope {
                try commit(&slot, session, begun.last?.first ?? nil)
                ring(&slot, session, scope)
            } else {
                try session.run("COMMIT")
            }
            return value
        } catch {
            let failure = session.failure
            if let failure, failure.endsSession(isWrite: scope != nil) {
                slot = nil
                // An earlier session may have ended unnoticed; one that is new and lost too is an outage.
                if isFirst, error is SessionFailure || error is StorageError, !(error as? StorageError).isUnknown {
                    throw Again(error: failure.inOurWords)
                }
                if (error as? StorageError).isUnknown { throw error }
                throw error is SessionFailure ? failure.inOurWords : error
            }
            if slot != nil {
                do { try session.run("ROLLBACK") } catch { slot = nil }
            }
            if let failure, failure.isPassing, !(error as? StorageError).isUnknown {
                if slot != nil { _ = try? session.forgetStatementsAfter(failure) }
                throw Again(error: failure.inOurWords)
            }
            throw (error as? SessionFailure)?.inOurWords ?? error
        }
    }

    /// Ends a write, and finds out what became of it when the server does not say.
    private func commit(_ slot: inout Session?, _ session: Session, _ number: String?) throws {
        do {
            guard try session.commit() else {
                // The server answers that it rolled back where a statement had failed before.
                throw StorageError.refused(state: "25P02")
            }
            // The change is there, and a standby that had to have it may not have it.
            if session.takeWarnings() > 0 { throw StorageError.outcomeUnknown }
        } catch let failure as SessionFailure {
            guard case .lost = failure else { throw failure }
            slot = nil
            // A server that warns before it ends the session may have kept what no standby has.
            let isWarned = session.takeWarnings() > 0
            guard let number, let isKept = outcome(of: number, serverStart: session.serverStart, isWarned: isWarned)
            else { throw StorageError.outcomeUnknown }
            guard isKept else { throw failure }
        }
    }

    /// Whether a transaction was kept, asked by a new session; nil when nobody can say.
    ///
    /// A number that was lost with its server is given again: to a transaction of another one that was promoted, or of
    /// the same one once it is back. That one's success says nothing of ours.
    ///
    /// - Parameter serverStart: when the server was started that gave the number.
    /// - Parameter isWarned: whether the server said something before it ended the session.
    private func outcome(of number: String, serverStart: String?, isWarned: Bool) -> Bool? {
        let deadline = ContinuousClock.now + Self.patience
        repeat {
            if let session = try? maker.session() {
                let isSame = session.serverStart == serverStart && !isWarned
                do {
                    switch try session.run("SELECT pg_xact_status('\(number)'::xid8)").first?.first ?? nil {
                    case "committed": return isSame ? true : nil
                    case "aborted": return false
                    // Its session continues at the server.
                    case "in progress": break
                    default: return nil
                    }
                } catch SessionFailure.refused(state: "22023", words: _) {
                    // The number has not been given yet: what had it was lost.
                    return false
                } catch {
                    // Asked again.
                }
            }
            pause(.milliseconds(100))
        } while ContinuousClock.now < deadline
        return nil
    }

    private func ring(_ slot: inout Session?, _ session: Session, _ scope: WriteScope) {
        guard use == .unguarded, slot != nil else { return }
        // This comes after the commit, and has no content: in it, it would keep the commits of the whole server
        // waiting.
        do { try session.run("NOTIFY \(Self.bell)") } catch { slot = nil }
    }

    // MARK: Sessions

    private func reading(_ slot: inout Session?) throws -> Session {
        if let session = slot { return session }
        let session = try maker.session()
        slot = session
        return session
    }

    /// The session that writes; it holds the lock of use as long as it lives, so that nothing is written without.
    private func writing(_ slot: inout Session?) throws -> Session {
        if let session = slot { return session }
        let session = try maker.session()
        do {
            if use == .only { try takeLock(session) }
            if use == .shared { try takeShare(session) }
            try session.run("LISTEN \(Self.bell)")
        } catch let failure as SessionFailure {
            throw failure.inOurWords
        }
        // What rang meanwhile was heard by nobody.
        clock.note(nil)
        slot = session
        return session
    }

    private func takeLock(_ session: Session) throws {
        let deadline = ContinuousClock.now + .seconds(2)
        let own = holder.load(ordering: .relaxed)
        while try !session.takes(SessionLock.use) {
            if own != 0 {
                // Our own earlier session, whose end the server has not noticed. One that waits for a standby is left:
                // its commit would be reported as done.
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

    // MARK: Maintenance

    public func lookForForeignChange() async throws {
        try await writer.run { [self] slot in
            do {
                let session = try writing(&slot)
                try session.run("SELECT 1")
                maker.noteAnswer()
                if session.wasRung() { clock.note(nil) }
            } catch let failure as SessionFailure {
                slot = nil
                throw failure.inOurWords
            }
        }
    }

    public var isInPlace: Bool { true }

    public var isReachable: Bool { maker.isReachable }

    /// Writes a file of the embedded engine, in which everything of one moment is.
    public func backup(to path: String) async throws {
        let file = try StagedFile(new: path)
        do {
            let copy = try copies(file.staged, false)
            do {
                try await TableCopy.copy(from: self, to: copy)
                try await copy.record { try $0.forgetAccessJournal() }
                try copy.close()
            } catch {
                try? copy.close()
                throw error
            }
            try file.publish()
        } catch {
            file.discard()
            throw error
        }
    }
}

extension Optional where Wrapped == StorageError {
    fileprivate var isUnknown: Bool { self == .outcomeUnknown }
}

extension Session {
    /// After a change of the schema no earlier statement can be run.
    fileprivate func forgetStatementsAfter(_ failure: SessionFailure) throws {
        if case .refused(let state, _) = failure, state == "0A000" { try forgetStatements() }
    }
}
