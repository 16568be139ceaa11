// SPDX-License-Identifier: Apache-2.0

internal import Storage
internal import Synchronization

/// Connects sessions to one database, with the settings that they need.
final class SessionMaker: Sendable {
    private struct Outage {
        var until: ContinuousClock.Instant
        var error: StorageError
    }

    let target: ConnectionTarget
    /// The last failed attempt to connect: within a moment after it, sessions are refused without another attempt.
    private let outage = Mutex<Outage?>(nil)

    /// How many hosts are tried after the others.
    private let skipped = Atomic(0)

    init(_ target: ConnectionTarget) { self.target = target }

    /// Has later sessions try the next of several hosts first.
    func tryNextHost() { skipped.wrappingAdd(1, ordering: .relaxed) }

    /// Whether the last attempt to connect succeeded.
    var isReachable: Bool { outage.withLock { $0 == nil } }

    /// Records that a session got an answer.
    func noteAnswer() { outage.withLock { $0 = nil } }

    /// Returns a new session; throws `StorageError.unreachable` or `.unusable`.
    func session() throws -> Session {
        if let outage = outage.withLock({ $0 }), ContinuousClock.now < outage.until { throw outage.error }
        do {
            let session = try Session(target, skipping: skipped.load(ordering: .relaxed))
            try Self.prepare(session)
            outage.withLock { $0 = nil }
            return session
        } catch let failure as SessionFailure {
            let error = StorageError.unreachable(failure.reason)
            outage.withLock { $0 = Outage(until: .now + .milliseconds(300), error: error) }
            throw error
        }
    }

    private static func prepare(_ session: Session) throws {
        let limit = Int(Session.statementLimit / .milliseconds(1))
        let found =
            try session.run(
                """
                SET statement_timeout = \(limit);
                SET lock_timeout = 10000;
                SET idle_in_transaction_session_timeout = \(limit);
                SET tcp_keepalives_idle = 10;
                SET tcp_keepalives_interval = 5;
                SET tcp_keepalives_count = 3;
                SET standard_conforming_strings = on;
                SET jit = off;
                SELECT current_setting('server_version_num'), current_setting('server_encoding'), current_setting('fsync'),
                    current_schema(), EXTRACT(EPOCH FROM pg_postmaster_start_time())
                """
            ).last ?? []
        guard found.count == 5, let version = found[0].flatMap({ Int($0) }), version >= 150_000 else {
            throw StorageError.unusable("Kalends needs PostgreSQL 15 or later.")
        }
        guard let encoding = found[1], encoding == "UTF8" else {
            throw StorageError.unusable("The database's texts are not in UTF-8: make it with ENCODING 'UTF8'.")
        }
        guard let flushes = found[2], flushes == "on" else {
            throw StorageError.unusable(
                "PostgreSQL runs with fsync off: what is committed would be lost when the power fails.")
        }
        guard found[3] != nil else {
            throw StorageError.unusable("The database has no schema in which its user may make tables.")
        }
        session.serverStart = found[4]
    }
}

extension Session {
    /// The setting that says what commits wait for, as an expression. Where it was `off`, it is `on` for this transaction:
    /// what is answered is on the disk. A session keeps no value of its own, so that one that runs already follows when
    /// the operator changes the setting.
    static let waitingForCommits = """
        CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true)
            ELSE current_setting('synchronous_commit') END
        """
}

extension SessionFailure {
    /// The reason that an operator reads.
    var reason: String {
        switch self {
        case .lost(let reason): reason
        case .refused(_, let words): words
        }
    }
}
