// SPDX-License-Identifier: Apache-2.0

public import Storage
internal import Synchronization

// What servers that share a database do beside the others: they take turns in writing, each write is numbered with the
// circles that it concerns, and what is remembered is answered from only after a look at those numbers (docs/nodes.md).

extension PostgreSQLStore: SharedStore {
    /// How long the answer to a look at the numbers is waited for.
    private static let confirmationLimit = Duration.seconds(3)
    /// How long a server that is paused in the middle of a write keeps the others waiting.
    private static let turnLimit = Duration.seconds(5)
    /// How long it is tried to be the only one while the schema is changed.
    private static let migrationPatience = Duration.seconds(10)

    /// Takes a write's turn among all servers, before the transaction's snapshot is taken, and until it has ended.
    var turn: String { use == .shared ? "LOCK TABLE schema_migrations IN EXCLUSIVE MODE; " : "" }

    public func confirm(then completion: @escaping Confirmation) {
        confirmations.add(completion) { [self] slot in
            do {
                return .success(try confirm(&slot))
            } catch {
                // What is on its way on this session could be mistaken for the answer to a later question.
                slot = nil
                return .failure(
                    error as? StorageError ?? (error as? SessionFailure)?.inOurWords
                        ?? .unreachable("it did not answer"))
            }
        }
    }

    private func confirm(_ slot: inout Session?) throws -> Int {
        guard !isClosed.load(ordering: .acquiring) else { throw StorageError.unreachable("it was closed") }
        let session = try confirming(&slot)
        session.beginAnew()
        var (last, time) = (confirmations.applied.load(ordering: .relaxed), 0)
        var (circles, isAny): (Set<ByteString>, Bool) = ([], false)
        try session.each(
            """
            SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now, w.number, w.circle
            FROM (SELECT 1 AS one) AS once LEFT JOIN written_circles AS w ON w.number > $1 ORDER BY w.number
            """, [.integer(last)]
        ) { row in
            time = try row.integer(required: "now")
            guard let number = row.integer("number") else { return }
            let circle = try row.text(required: "circle")
            // Without a gap, or those in between were removed.
            if circle.isEmpty || number > last + 1 { isAny = true }
            circles.insert(ByteString(circle))
            last = number
        }
        if isAny { clock.note(nil) } else if !circles.isEmpty { clock.note(circles) }
        confirmations.applied.store(last, ordering: .relaxed)
        maker.noteAnswer()
        return time
    }

    /// The session that asks. It has a share of the database as the one that writes has, so that no server that shares
    /// nothing writes what this one does not hear of.
    private func confirming(_ slot: inout Session?) throws -> Session {
        if let session = slot { return session }
        let session = try maker.session()
        session.answerLimit = Self.confirmationLimit
        try takeShare(session)
        let found = try session.run("SELECT last_number FROM counters WHERE name = 'writes'").first?.first ?? nil
        guard let last = found.flatMap({ Int($0) }) else {
            throw StorageError.unexpectedResult("Writes have no counter.")
        }
        // It may be another server's database by now, with other numbers than those that were seen: what was remembered
        // before this session is forgotten, and what is remembered from here on is read later than its number.
        clock.note(nil)
        confirmations.applied.store(last, ordering: .relaxed)
        slot = session
        return session
    }

    /// Takes a share of the database, so that no server can take all of it.
    func takeShare(_ session: Session) throws {
        let deadline = ContinuousClock.now + .seconds(2)
        while try !session.takes(SessionLock.use, isShared: true) {
            guard ContinuousClock.now < deadline else { throw StorageError.inUse }
            pause(.milliseconds(50))
        }
        try session.run("SET idle_in_transaction_session_timeout = \(Int(Self.turnLimit / .milliseconds(1)))")
    }

    /// Brings the schema up to date while no other server has the database: an earlier one would not understand it.
    func migrateAlone(_ session: Session) throws {
        let deadline = ContinuousClock.now + Self.migrationPatience
        while try !Self.isUpToDate(session) {
            if try session.takes(SessionLock.use) {
                defer { _ = try? session.run("SELECT pg_advisory_unlock(\(SessionLock.use))") }
                return try Schema.migrate(PostgreSQLMigrationTarget(session: session))
            }
            guard ContinuousClock.now < deadline else {
                throw StorageError.unusable(
                    "Servers of another version run on this database: stop all of them before this one is started.")
            }
            // Of two that start at once, one lets go of its share first.
            try session.run("SELECT pg_advisory_unlock_shared(\(SessionLock.use))")
            pause(.milliseconds(Int.random(in: 20...300)))
            try takeShare(session)
        }
    }

    private static func isUpToDate(_ session: Session) throws -> Bool {
        let table = try session.run("SELECT to_regclass('schema_migrations') IS NOT NULL").first?.first ?? nil
        guard table == "t" else { return false }
        let version = try session.run("SELECT COALESCE(MAX(version), 0) FROM schema_migrations").first?.first ?? nil
        return version.flatMap { Int($0) } == Schema.migrations.count
    }
}
