// SPDX-License-Identifier: Apache-2.0

public import Storage
internal import Synchronization

/// Counts accesses exactly: each one is recorded before its reader gets an answer, and reaches the database soon after.
///
/// `journal` records them. `fold` moves what is recorded into the database, in transactions that note how far they got,
/// so that a crash at any instant neither loses nor doubles an access. Anyone who reads a count folds first
/// (`foldForReading`).
public final class AccessCounter: Sendable {
    public let journal: AccessJournal
    private let store: any Store
    private let folding = FoldingQueue()
    /// The identity of the journal when several servers share the database; nil when there is only one server.
    private let shared: SharedJournal?
    private let lastFailure = Mutex<(any Error)?>(nil)
    private let foldSize = Mutex(1 << 13)
    /// Yields an element when an eighth of the journal is in use; supports one reader.
    public let pressure: AsyncStream<Void>
    private let press: AsyncStream<Void>.Continuation

    /// How many accesses one transaction folds: few enough that other writers wait only a moment.
    private static let foldSizes = 1 << 11...1 << 16
    private static let foldTime = Duration.milliseconds(100)
    static let rules = AttentionRules(
        roaming: Set(ClientFamily.allCases.filter { $0.comesFromItsMaker || !$0.subscribes }.map(\.code)))

    /// Opens the journal beside a database, or creates one of `bytes` bytes.
    ///
    /// A journal that belongs to an earlier state of the database, such as before a restore, is replaced: its accesses
    /// do not belong to this database. Throws `JournalFailure` when the space for a journal cannot be reserved.
    ///
    /// - Parameter owner: the server that the journal belongs to, when several servers share the database.
    public convenience init(
        store: any Store, path: String, bytes: Int, durability: AccessDurability = .power, owner: JournalOwner? = nil
    ) async throws {
        let opening = JournalOpening(store: store, path: path, bytes: bytes, durability: durability)
        let (pressure, press) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        if let owner {
            let (journal, shared) = try await opening.journal(of: owner) { press.yield() }
            self.init(store: store, journal: journal, shared: shared, pressure: pressure, press: press)
        } else {
            let journal = try await opening.journal { press.yield() }
            self.init(store: store, journal: journal, pressure: pressure, press: press)
        }
    }

    init(
        store: any Store, journal: AccessJournal, shared: SharedJournal? = nil, pressure: AsyncStream<Void>,
        press: AsyncStream<Void>.Continuation
    ) {
        self.store = store
        self.journal = journal
        self.shared = shared
        self.pressure = pressure
        self.press = press
    }

    /// Records one access; returns once it is recorded, and throws when that is not certain.
    public func count(_ access: FeedAccess) async throws(JournalFailure) { try await journal.append(access) }

    /// Records accesses together without waiting, as `AccessJournal.append` does.
    public func count(_ accesses: [FeedAccess], then completion: @escaping AccessCompletion) {
        journal.append(accesses, then: completion)
    }

    /// Why the last fold failed; nil when it succeeded.
    public var foldingFailure: (any Error)? { lastFailure.withLock { $0 } }

    /// Folds everything that was acknowledged before this call into the database; throws when it cannot be written.
    public func fold() async throws {
        guard journal.pending > 0 else { return }
        try await folding.run { [self] in
            do {
                // Runs without its first caller's leases, because other callers wait for this fold too.
                try await HeldLeases.$current.withValue([]) { try await foldAll() }
                lastFailure.withLock { $0 = nil }
            } catch {
                if error is JournalTaken { journal.abandon() }
                lastFailure.withLock { $0 = error }
                throw error
            }
        }
    }

    /// Folds as `fold` does, but goes on after `patience` when another write takes longer: counts are late then, so that
    /// no read waits for a writer that is stuck.
    public func foldForReading() async throws {
        guard journal.pending > 0 else { return }
        let (ended, end) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
        Task {
            do { end.yield(.success(try await fold())) } catch { end.yield(.failure(error)) }
        }
        _ = try await within(Self.patience) { try await ended.first { _ in true }?.get() }
    }

    /// Far longer than a write may take.
    static let patience = Duration.seconds(3)

    private func foldAll() async throws {
        while true {
            let size = foldSize.withLock { $0 }
            let accesses = try journal.unfolded(limit: size)
            if accesses.isEmpty { return }
            let start = ContinuousClock.now
            let folded =
                if let shared {
                    try await store.write(.order) { transaction in
                        transaction.concernsNamedCirclesOnly()
                        guard
                            let last = try transaction.fold(
                                accesses, ofJournal: shared.journalID, token: shared.token, noting: Self.rules)
                        else { throw JournalTaken() }
                        return last
                    }
                } else {
                    try await store.record { try $0.fold(accesses, noting: Self.rules) }
                }
            journal.noteFolded(through: folded)
            let time = ContinuousClock.now - start
            if time > Self.foldTime {
                foldSize.withLock { $0 = max(Self.foldSizes.lowerBound, size / 2) }
            } else if time < Self.foldTime / 4, accesses.count == size {
                foldSize.withLock { $0 = min(Self.foldSizes.upperBound, size * 2) }
            }
            if accesses.count < size { return }
        }
    }

    /// Reports to the other servers that this one is running, and how far its journal is; does nothing when the
    /// database is not shared.
    public func beat(isStopping: Bool = false) async throws {
        guard let shared else { return }
        let recorded = journal.recorded
        let isOurs = try await store.write(.order) { transaction in
            transaction.concernsNamedCirclesOnly()
            return try transaction.noteServer(
                journal: shared.journalID, token: shared.token, recorded: recorded, isStopping: isStopping)
        }
        if !isOurs { journal.abandon() }
    }

    /// Folds what is recorded and closes the journal; what cannot be folded now is folded at the next start.
    public func close() async {
        try? await fold()
        journal.close()
        // Accesses that arrived in between are folded at the next start, and are missing from the counts until then.
        try? await beat(isStopping: true)
        press.finish()
    }
}

/// Another process has taken over the journal.
private struct JournalTaken: Error, CustomStringConvertible {
    var description: String { "The journal of accesses is used by another server." }
}

/// Lets one fold run at a time; callers that arrive while it runs share the next one.
private actor FoldingQueue {
    private var running: Task<Void, any Error>?
    private var next: Task<Void, any Error>?

    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        if let next { return try await next.value }
        let before = running
        let task = Task {
            _ = await before?.result
            self.begin()
            try await body()
        }
        if before == nil { running = task } else { next = task }
        defer { end(task) }
        try await task.value
    }

    /// The waiting fold starts now: callers that arrive from here on need another one.
    private func begin() {
        if let next {
            running = next
            self.next = nil
        }
    }

    private func end(_ task: Task<Void, any Error>) { if running == task { running = nil } }
}
