// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import FoundationEssentials
import Glibc
import ICalBridge
package import KalendsCore
package import KalendsFront
package import Storage

/// The database in use by this process: its lock, key and services, from opening to closing.
package struct Installation: Sendable {
    package let services: Services
    /// The services and further state of the HTTP handlers.
    package let front: FrontServices
    /// Held as long as anything in the database is in use.
    private let lock: DatabaseLock

    /// Takes the lock, then opens the database and the key; throws `StorageError.locked` when another process has it.
    ///
    /// - Parameters:
    /// - isServer: whether feeds are served with these settings; a command's own settings do not affect feeds.
    /// - creates: whether to create a database that does not exist; a server always does.
    /// - calendars: opens people's external accounts; nil for the providers in the settings.
    /// - open: opens the database.
    package init(
        _ settings: ServerSettings, isServer: Bool, creates: Bool = false, now: @escaping Clock = systemClock,
        calendars: (any CalendarProviding)? = nil, open: StoreOpening? = nil
    ) async throws {
        guard SystemTimeZones.shared.isAvailable else {
            throw StorageError.unusable(
                "This machine has no time zone data. Install it (Debian, Ubuntu: apt-get install tzdata).")
        }
        // Only the owner may use the files of this process (database, log, socket and key), from the moment they are
        // made.
        _ = umask(0o077)
        guard settings.socketFile.utf8.count < 108 else {
            throw StorageError.unusable("The path \(settings.socketFile) is too long for a socket: 107 bytes at most.")
        }
        if isServer || creates { try Self.makeFolder(of: settings.database) }
        // A command uses the local socket, where tokens are not checked.
        let intake = Intake(settings)
        let userTokens = try await UserTokens(isServer ? settings.tokens : TokenSettings(), intake)
        lock = try DatabaseLock(settings, creates: isServer || creates)
        let store = try (open ?? Engine.opening(settings.servers))(settings.place, !isServer && !creates)
        let sharing = store as? any SharedStore
        guard !settings.isShared || sharing != nil else {
            throw StorageError.unusable("This database cannot be shared by several servers.")
        }
        try Self.checkSocketPlace(settings.socketFile)
        let keyFiles = settings.secretKey == nil ? KeyFiles(path: settings.keyFile) : nil
        let key =
            if let text = settings.secretKey {
                try SealingKey(text: text.reveal(), source: settings.secretKeySource)
            } else {
                try KeyFiles(path: settings.keyFile).key()
            }
        var interrupted: [String] = []
        let form = ShownForm(settings)
        if isServer, settings.isShared { try await form.checkOthers(in: store, own: Self.owner(settings).name) }
        if isServer {
            try await form.note(in: store, own: settings.isShared ? Self.owner(settings).name : nil, now: now())
        }
        // If several servers share the database, the one that does background work finds imports that no server is
        // working on.
        if isServer, !settings.isShared {
            let problem = try ProblemDocument(ImportFailure.interrupted).json.text()
            while true {
                let failed = try await store.record { try $0.failInterruptedImports(problem: problem, limit: 100) }
                if failed.isEmpty { break }
                interrupted += failed
            }
        }
        if try await store.read({ try $0.setting("installation") }) == nil {
            // The id is derived from the first key, so that a database which was lost, and created again beside the
            // same key, recognizes its events in people's calendars.
            let id = key.name(for: "installation")
            try await store.record { try $0.nameInstallation(id) }
        }
        var databaseID = try await store.read { try $0.databaseID() }
        if databaseID == nil {
            let newID = FeedLedger.makeID()
            databaseID = try await store.record { try $0.identifyDatabase(newID) }
        }
        let isSealingKeyRight = try await Self.check(key, store)
        guard isSealingKeyRight || !settings.isShared else {
            throw StorageError.unusable(
                """
                The sealing key is not the one of this database: all servers need the same, so copy \(settings.keyFile).
                """)
        }
        let counter = try await Self.counter(settings, store)
        let metrics = Metrics(writes: store.writes)
        let brake = try await SignInThrottle(store, isShared: settings.isShared)
        let sync = SyncScheduler(settings.limits)
        let leases = Leases(store, holder: settings.isShared ? sync.holder : nil)
        let turns = CircleLock(settings.isShared ? leases : nil)
        let tidying = Tidying(store, store, turns, settings.kinds, now: now)
        let grants = GrantRegistry(store: store, key: key, now: now)
        services = Services(
            store: store, maintenance: store, ledger: FeedLedger(store: store, key: key), sealingKey: key,
            rotation: KeyRotation(key: key, files: keyFiles), counter: counter,
            feedCache: FeedCache(),
            renderer: FeedRenderer(limit: settings.cacheBytes / 3 * 2),
            intake: intake, importReader: ImportReader(settings), importRegistry: ImportRegistry(), turns: turns,
            leases: leases,
            sharing: settings.isShared ? sharing : nil, tidying: tidying, fetcher: GuardedFetcher(settings),
            refreshes: RefreshRegistry(), sync: sync,
            calendars: calendars
                ?? ConnectionProviders(settings: settings, store: store, key: key, grants: grants, sync: sync, now: now),
            mints: RateLimit(burst: 100, span: 30_000), grants: grants, userTokens: userTokens,
            passwords: Passwords(cost: settings.passwordCost, brake: brake), metrics: metrics,
            memory: MemoryBudgets(settings.limits, width: min(LongWork.width, 3)), settings: settings,
            isSealingKeyRight: isSealingKeyRight, databaseID: databaseID ?? "", isServer: isServer, now: now)
        front = FrontServices(services)
        if isServer, !settings.isShared {
            // In a copy of a database that servers shared, acts may wait for their places.
            try await services.audit.order()
            tidying.begin(after: interrupted)
        }
    }

    /// Like the initialiser, but waits for a moment while a command briefly holds the database.
    package static func opened(
        _ settings: ServerSettings, now: @escaping Clock = systemClock, calendars: (any CalendarProviding)? = nil,
        open: StoreOpening? = nil
    ) async throws -> Installation {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(3)
        while true {
            do {
                return try await Installation(
                    settings, isServer: true, now: now, calendars: calendars, open: open)
            } catch let error as StorageError where error.isLocked {
                guard clock.now < deadline else { throw error }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    package func close() async throws {
        await services.refreshes.close()
        await services.sync.close()
        await services.importRegistry.close()
        await services.turns.close()
        await services.counter.close()
        await services.uses.close()
        await services.streams.close()
        try services.store.close()
    }

    private static func counter(_ settings: ServerSettings, _ store: any Store) async throws -> AccessCounter {
        do {
            return try await AccessCounter(
                store: store, path: settings.accessesFile, bytes: settings.accessJournalBytes,
                durability: settings.accessDurability,
                owner: settings.isShared ? Self.owner(settings) : nil)
        } catch let failure as JournalFailure {
            throw StorageError.unusable(failure.description)
        }
    }

    /// This server's identity among several, as people know it.
    static func owner(_ settings: ServerSettings) -> JournalOwner {
        JournalOwner(
            name: "\(ProcessInfo.processInfo.hostName):\(settings.database)", program: Program.version,
            shown: ShownForm(settings).text)
    }

    /// Whether the key matches the one that the database was first sealed with; a new database adopts the key.
    private static func check(_ key: SealingKey, _ store: any Store) async throws -> Bool {
        let purpose = SealedColumn.purpose(ofSetting: "keyCheck")
        if let sealed = try await store.read({ try $0.setting("keyCheck") }) {
            return (try? key.open(sealed, for: purpose)) != nil
        }
        let own = try key.seal("kalends", for: purpose)
        let sealed = try await store.write { transaction in
            // Another server may have stored its check first.
            if let known = try transaction.setting("keyCheck") { return known }
            try transaction.set("keyCheck", to: own)
            return own
        }
        return (try? key.open(sealed, for: purpose)) != nil
    }

    /// Throws when the socket's path has something other than a socket; a socket there was left by a killed server.
    private static func checkSocketPlace(_ path: String) throws {
        guard let kind = FileKind(path: path, followsLinks: false), kind != .socket else { return }
        throw StorageError.unusable("\(path) is \(kind.rawValue), where the server's socket has to be: remove it.")
    }

    private static func makeFolder(of file: String) throws {
        let folder = URL(filePath: file).deletingLastPathComponent().path
        var isDirectory = false
        if FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory) {
            guard isDirectory else { throw StorageError.unusable("\(folder) is not a folder.") }
            return
        }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StorageError.unusable("The folder \(folder) cannot be created.")
        }
    }
}
