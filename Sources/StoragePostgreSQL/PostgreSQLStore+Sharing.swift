// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import Storage
internal import Synchronization

// The additional work of servers that share a database: they take turns in writing, each write notes the circles that it
// concerns, and a cached answer is used only after a look at those notes (docs/nodes.md).

extension PostgreSQLStore: SharedStore {
    /// How long to wait for the answer to a look at what was written.
    private static let confirmationLimit = Duration.seconds(3)
    /// How long a server that is paused in the middle of a write may keep the others waiting.
    private static let turnLimit = Duration.seconds(5)
    /// How long to wait for a server that has the database to itself.
    private static let sharePatience = Duration.seconds(2)
    /// How long to try to change the schema, next to other servers or as the only one.
    private static let migrationPatience = Duration.seconds(10)

    /// The statement that takes a turn alone among all servers, before the transaction's snapshot and until it ends.
    var turn: String { use == .shared ? "LOCK TABLE schema_migrations IN EXCLUSIVE MODE; " : "" }

    /// The statements that begin a transaction and take its turn before its snapshot, in one message; the last one returns
    /// the transaction's number, which serves to ask for the outcome of an unanswered commit, and to note what it wrote.
    ///
    /// A circle's lock would take the snapshot if the transaction asked for it first. So the session takes it in a
    /// transaction of its own, and hands it over: from then on it ends with the transaction, and with the session.
    func beginning(_ turn: WriteTurn) -> String {
        let last = "SELECT pg_current_xact_id(), \(Session.waitingForCommits)"
        let shared = "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE; LOCK TABLE schema_migrations IN"
        return switch turn {
        case .alone: "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE; \(self.turn)\(last)"
        case .order: "\(shared) SHARE UPDATE EXCLUSIVE MODE; \(last)"
        case .circle(let name), .keeping(let name):
            """
            BEGIN; SELECT pg_advisory_lock(\(Self.key(name))); COMMIT; \(shared) ROW SHARE MODE;
            SELECT pg_advisory_xact_lock(\(Self.key(name))); SELECT pg_advisory_unlock(\(Self.key(name))); \(last)
            """
        }
    }

    /// Releases the locks that a session holds for a turn that it did not get, after its transaction was rolled back.
    func leave(_ turn: WriteTurn, _ session: Session) throws(SessionFailure) {
        guard let key = turn.name.map(Self.key) else { return }
        let (high, low) = (UInt32(truncatingIfNeeded: key >> 32), UInt32(truncatingIfNeeded: key))
        // PostgreSQL warns when a lock is released that was not held.
        try session.run(
            """
            SELECT pg_advisory_unlock(\(key)) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
                AND (classid, objid, objsubid) = (\(high), \(low), 1)
            """)
    }

    /// The number by which all servers lock a circle (FNV-1a). Circles that have one in common only wait for each other.
    private static func key(_ circle: String) -> Int64 {
        Int64(bitPattern: circle.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
    }

    /// Returns a session for writes that run next to others.
    func beside(_ slot: inout Session?) throws -> Session {
        if let session = slot, isCurrent(session) { return session }
        slot = nil
        let session = try maker.session()
        try follow(session)
        do { try takeShare(session) } catch let failure as SessionFailure { throw failure.inOurWords }
        slot = session
        return session
    }

    public func confirm(then completion: @escaping Confirmation) {
        confirmations.add(completion) { [self] slot in
            do {
                return .success(try confirm(&slot))
            } catch {
                // An answer that is still on its way on this session could be mistaken for that to a later query.
                slot = nil
                // The server may have been replaced by another of those in the address.
                maker.tryNextHost()
                return .failure(
                    error as? StorageError ?? (error as? SessionFailure)?.inOurWords
                        ?? .unreachable("it did not answer"))
            }
        }
    }

    /// Asks for the time, and for what was written by transactions that were not over for an earlier snapshot: those from
    /// its end on, and those that were running (docs/nodes.md).
    ///
    /// Where commits wait for a standby, the question writes a message of a few bytes to the log, and so waits for the
    /// standby like a change: a primary that was replaced, without knowing it, no longer gets an answer from the standby
    /// that replaced it, and its own answer never comes.
    private static let question = """
        SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now, once.seen, once.forgotten,
            once.message, w.circle
        FROM (
            SELECT CAST(pg_current_snapshot() AS TEXT) AS seen,
                (SELECT last_number FROM counters WHERE name = 'writesForgotten') AS forgotten,
                CASE WHEN current_setting('synchronous_standby_names') <> ''
                        AND \(Session.waitingForCommits) <> 'local'
                    THEN CAST(pg_logical_emit_message(true, 'kalends', '') AS TEXT) END AS message
        ) AS once LEFT JOIN written_circles AS w
            ON w.written_in >= $1 OR w.written_in = ANY(CAST($2 AS BIGINT[]))
        """

    private func confirm(_ slot: inout Session?) throws -> Int {
        guard !isClosed.load(ordering: .acquiring) else { throw StorageError.unreachable("it was closed") }
        let session = try confirming(&slot)
        session.beginAnew()
        _ = session.takeWarnings()
        let before = confirmations.applied.withLock { $0 }
        var (found, time): (Snapshot?, Int) = (nil, 0)
        var (circles, isAny): (Set<ByteString>, Bool) = ([], false)
        try session.each(Self.question, [.integer(before.end), .text(before.running)]) { row in
            (found, time) = (Snapshot(try row.text(required: "seen")), try row.integer(required: "now"))
            // Records that this server has not seen may have been removed.
            if before.mayLack(upTo: try row.integer(required: "forgotten")) { isAny = true }
            guard let circle = row.text("circle") else { return }
            if circle.isEmpty { isAny = true }
            circles.insert(ByteString(circle))
        }
        // The notification that was awaited at the end may not have come: the server warns, and may be one that was replaced.
        guard session.takeWarnings() == 0 else {
            throw StorageError.unreachable("no standby confirms that it is the primary")
        }
        guard let seen = found else { throw StorageError.unexpectedResult("A snapshot cannot be read.") }
        if confirmations.lead(session) {
            // Until now, the other sessions read from the former server, which may have been replaced. This comes after
            // they were sent away, so that nothing that they read there is used.
            isAny = true
        }
        if isAny { clock.note(nil) } else if !circles.isEmpty { clock.note(circles) }
        confirmations.applied.withLock { $0 = seen }
        maker.noteAnswer()
        return time
    }

    /// Returns the session that asks. It shares the database like the writing session, so that no server that does not
    /// share can write without this one learning of it.
    private func confirming(_ slot: inout Session?) throws -> Session {
        if let session = slot { return session }
        let session = try maker.session()
        try endFormerQuestion(session)
        session.answerLimit = Self.confirmationLimit
        try takeShare(session)
        // A plan for any number would read the whole list.
        try session.run("SET enable_seqscan = off")
        let found = try session.run("SELECT pg_current_snapshot()").first?.first ?? nil
        guard let seen = found.flatMap(Snapshot.init) else {
            throw StorageError.unexpectedResult("A snapshot cannot be read.")
        }
        // It may be another server's database now, with other numbers than those seen before. Everything cached before
        // this session is discarded, and everything cached from here on is read after its snapshot.
        clock.note(nil)
        confirmations.applied.withLock { $0 = seen }
        slot = session
        return session
    }

    public func forgetWritten(below number: Int?) async throws -> Int {
        try await write(.order) { transaction in
            transaction.concernsNamedCirclesOnly()
            if let number { try transaction.forgetWritten(below: number) }
            // Rows that another server's database brought with it would be found by each question.
            try transaction.execute(
                """
                DELETE FROM written_circles
                WHERE written_in >= CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)
                """, [])
            let floor = try transaction.rows(
                "SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) AS floor", [])
            guard let floor = floor.first else { throw StorageError.unexpectedResult("A snapshot cannot be read.") }
            return try floor.integer(required: "floor")
        }
    }

    /// Whether a session is with the server that confirms what ended. One of another server is dropped: the server may
    /// have been replaced, and its data is then no longer authoritative.
    func isCurrent(_ session: Session) -> Bool {
        use != .shared || confirmations.isLed(by: session)
    }

    /// Has a session end once another server confirms what ended; throws unless its own server does.
    func follow(_ session: Session) throws {
        // The server may have been restarted or replaced since it was last asked, which the first question notices and
        // the second finds answered by another.
        for _ in 0..<2 where !isCurrent(session) {
            let answered = DispatchSemaphore(value: 0)
            confirm { _ in answered.signal() }
            answered.wait()
        }
        guard isCurrent(session) else {
            maker.tryNextHost()
            throw StorageError.unreachable("it is not the server that confirms what ended")
        }
        if use == .shared {
            session.isReplaced = { [weak session, confirmations] in
                session.map { !confirmations.isLed(by: $0) } ?? false
            }
        }
    }

    /// Ends our earlier session that asked, where it still waits for a standby: no time limit of the server applies to
    /// that wait, and such sessions would take up all connections.
    private func endFormerQuestion(_ session: Session) throws {
        let former = confirmations.process.exchange(session.process, ordering: .relaxed)
        guard former != 0 else { return }
        try session.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE pid = \(former) AND datname = current_database() AND usename = current_user AND wait_event = 'SyncRep'
                AND query LIKE '%pg_logical_emit_message(true, ''kalends''%'
            """)
    }

    /// Takes a share of the database, so that no server can have it to itself.
    ///
    /// - Parameter isStart: also waits for a server that makes or changes the tables, which has the database to itself
    ///   meanwhile.
    func takeShare(_ session: Session, isStart: Bool = false) throws {
        let migrated = ContinuousClock.now + PostgreSQLMigrationTarget.patience
        var deadline = ContinuousClock.now + Self.sharePatience
        while try !session.takes(SessionLock.use, isShared: true) {
            if isStart, try session.isTaken(SessionLock.migration) {
                guard ContinuousClock.now < migrated else { throw PostgreSQLMigrationTarget.takesLong }
                deadline = .now + Self.sharePatience
            }
            guard ContinuousClock.now < deadline else { throw StorageError.inUse }
            pause(.milliseconds(50))
        }
        try session.run("SET idle_in_transaction_session_timeout = \(Int(Self.turnLimit / .milliseconds(1)))")
    }

    /// Brings the schema up to date. Servers of earlier versions may go on where they can work with the new one;
    /// otherwise it is changed while no other server uses the database.
    func migrateTogether(_ session: Session) throws {
        let deadline = ContinuousClock.now + Self.migrationPatience
        while true {
            let (version, oldest) = try Self.schema(session)
            if version == history.latest { return }
            if version > history.latest {
                guard oldest <= history.latest else {
                    throw Schema.refusal(found: version, known: history.latest)
                }
                return
            }
            if history.expands(version) {
                do {
                    return try Schema.migrate(PostgreSQLMigrationTarget(session: session, turn: turn), history)
                } catch StorageError.contended where ContinuousClock.now < deadline {
                    // A long read holds a table. Others waited behind this attempt, so they go first.
                    pause(.milliseconds(Int.random(in: 500...1_500)))
                    continue
                }
            }
            if try session.takes(SessionLock.use) {
                defer { _ = try? session.run("SELECT pg_advisory_unlock(\(SessionLock.use))") }
                return try Schema.migrate(PostgreSQLMigrationTarget(session: session), history)
            }
            guard ContinuousClock.now < deadline else {
                throw StorageError.unusable(
                    """
                    Servers of an earlier version run on this database, and cannot work with this one's: stop all of \
                    them before this one is started.
                    """)
            }
            // When two start at once, one gives up its share first.
            try session.run("SELECT pg_advisory_unlock_shared(\(SessionLock.use))")
            pause(.milliseconds(Int.random(in: 20...300)))
            try takeShare(session, isStart: true)
        }
    }

    /// Returns the schema's version, 0 for an empty database, and the oldest whose programs can work with it.
    private static func schema(_ session: Session) throws -> (version: Int, oldest: Int) {
        let table = try session.run("SELECT to_regclass('schema_migrations') IS NOT NULL").first?.first ?? nil
        guard table == "t" else { return (0, 0) }
        let found = try session.run("SELECT COALESCE(MAX(version), 0) FROM schema_migrations").first?.first ?? nil
        let version = found.flatMap { Int($0) } ?? 0
        guard version > 0 else { return (0, 0) }
        let oldest =
            try session.run("SELECT value FROM settings WHERE name = '\(Schema.oldestSetting)'").first?.first ?? nil
        return (version, oldest.flatMap { Int($0) } ?? version)
    }
}

extension WriteTurn {
    /// The lock that the turn takes by its name.
    fileprivate var name: String? {
        switch self {
        case .alone, .order: nil
        case .circle(let name), .keeping(let name): name
        }
    }
}
