// SPDX-License-Identifier: Apache-2.0

public import Storage
internal import Synchronization

// The additional work of servers that share a database: they take turns in writing, each write is numbered with the
// circles that it concerns, and a cached answer is used only after a look at those numbers (docs/nodes.md).

extension PostgreSQLStore: SharedStore {
    /// How long to wait for the answer to a look at the numbers.
    private static let confirmationLimit = Duration.seconds(3)
    /// How long a server that is paused in the middle of a write may keep the others waiting.
    private static let turnLimit = Duration.seconds(5)
    /// How long to try to be the only server while the schema is changed.
    private static let migrationPatience = Duration.seconds(10)

    /// The statement that takes a write's turn among all servers, before the transaction's snapshot and until it ends.
    var turn: String { use == .shared ? "LOCK TABLE schema_migrations IN EXCLUSIVE MODE; " : "" }

    public func confirm(then completion: @escaping Confirmation) {
        confirmations.add(completion) { [self] slot in
            do {
                return .success(try confirm(&slot))
            } catch {
                // An answer that is still on its way on this session could be mistaken for that to a later query.
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
            // The number continues without a gap; otherwise the numbers in between were removed.
            if circle.isEmpty || number > last + 1 { isAny = true }
            circles.insert(ByteString(circle))
            last = number
        }
        if isAny { clock.note(nil) } else if !circles.isEmpty { clock.note(circles) }
        confirmations.applied.store(last, ordering: .relaxed)
        maker.noteAnswer()
        return time
    }

    /// Returns the session that asks. It shares the database like the writing session, so that no server that does not
    /// share can write without this one learning of it.
    private func confirming(_ slot: inout Session?) throws -> Session {
        if let session = slot { return session }
        let session = try maker.session()
        session.answerLimit = Self.confirmationLimit
        try takeShare(session)
        let found = try session.run("SELECT last_number FROM counters WHERE name = 'writes'").first?.first ?? nil
        guard let last = found.flatMap({ Int($0) }) else {
            throw StorageError.unexpectedResult("Writes have no counter.")
        }
        // It may be another server's database now, with other numbers than those seen before. Everything cached before
        // this session is discarded, and everything cached from here on is read after its number.
        clock.note(nil)
        confirmations.applied.store(last, ordering: .relaxed)
        slot = session
        return session
    }

    /// Takes a share of the database, so that no server can have it to itself.
    func takeShare(_ session: Session) throws {
        let deadline = ContinuousClock.now + .seconds(2)
        while try !session.takes(SessionLock.use, isShared: true) {
            guard ContinuousClock.now < deadline else { throw StorageError.inUse }
            pause(.milliseconds(50))
        }
        try session.run("SET idle_in_transaction_session_timeout = \(Int(Self.turnLimit / .milliseconds(1)))")
    }

    /// Brings the schema up to date while no other server uses the database: an earlier version would not understand
    /// it.
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
            // When two start at once, one gives up its share first.
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
