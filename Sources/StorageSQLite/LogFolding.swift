// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite
import Storage
internal import Synchronization

/// Folds the log into the file once it has enough pages, in the writer's turn, before the next one that waits for it.
///
/// SQLite would do so within the commit that brings the log to that length. Another connection must not do it: versions of SQLite
/// before 3.51.3 may damage the file then.
final class LogFolding: Sendable {
    /// The pages in the log at which they are folded into the file, twice as many as SQLite's default: a page that
    /// several transactions change is then written to the file once for all of them. Writers wait for the folding, so it
    /// is not more.
    private static let pages = 2000
    /// The same while an import stages events: each of its transactions changes nearly the same pages of four indexes.
    private static let pagesWhileStaging = 6000
    /// The pages from which the log is made to begin again (64 MiB). As long as one reader follows another, SQLite does not
    /// do so by itself, and the log grows.
    private static let mostPages = 16_384
    /// How many milliseconds readers may prevent it, and how long it waits after they did.
    private static let patience = 100
    private static let pause = Duration.seconds(1)

    private let pages = Atomic(0)
    private let isComing = Atomic(false)
    private let hasEnded = Atomic(false)
    /// When the log may be made to begin again; only the writer's queue uses it.
    private let nextRestart = Mutex(ContinuousClock.now)

    /// Counts the pages that the connection's commits leave in the log; it folds none of them by itself from here on.
    ///
    /// The folding must live as long as something is committed through the connection.
    func follow(_ db: Database) {
        let own = unsafe Unmanaged.passUnretained(self)
        // The callback only stores a number.
        _ = unsafe sqlite3_wal_hook(
            db.sqliteConnection,
            { folding, _, _, pages in
                if let folding = unsafe folding {
                    unsafe Unmanaged<LogFolding>.fromOpaque(folding).takeUnretainedValue()
                        .pages.store(Int(pages), ordering: .relaxed)
                }
                return SQLITE_OK
            }, own.toOpaque())
    }

    /// Lets the log be folded after a commit if it is long enough.
    ///
    /// - Parameters:
    ///   - isStaged: whether an import staged events, and will stage more.
    ///   - writes: measures it, because writers wait for it.
    func afterCommit(isStaged: Bool, _ pool: DatabasePool, _ writes: WriteGauge) {
        let most = isStaged ? Self.pagesWhileStaging : Self.pages
        guard pages.load(ordering: .relaxed) >= most, !isComing.exchange(true, ordering: .relaxed) else { return }
        pool.asyncWriteWithoutTransaction { db in
            self.isComing.store(false, ordering: .relaxed)
            // A step that fails here, for example for lack of space, is tried again after the next commit.
            if !self.hasEnded.load(ordering: .relaxed) { try? writes.measure(count: 0) { try self.fold(db) } }
        }
    }

    private func fold(_ db: Database) throws {
        _ = try db.checkpoint(.passive)
        let isDue = nextRestart.withLock { next in
            guard pages.load(ordering: .relaxed) >= Self.mostPages, next <= .now else { return false }
            next = .now + Self.pause
            return true
        }
        guard isDue else { return }
        try db.execute(sql: "PRAGMA busy_timeout = \(Self.patience)")
        defer { try? db.execute(sql: "PRAGMA busy_timeout = \(SQLiteStore.patience * 1000)") }
        _ = try? db.checkpoint(.restart)
    }

    /// Must be called before the connection is closed; returns false when it was called before.
    func end() -> Bool { !hasEnded.exchange(true, ordering: .relaxed) }
}
