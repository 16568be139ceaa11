// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import FoundationEssentials
import Glibc
import ICalBridge
import KalendsCore
import KalendsFront
import Logging
import Storage

/// The database in use by this process: lock, key and services, from opening to closing.
struct Installation: Sendable {
    let services: Services
    /// What those who answer over HTTP need beside them.
    let front: FrontServices
    /// Held as long as anything of the database is in use.
    private let lock: DatabaseLock

    /// Takes the lock, then opens the database and the key; `StorageError.locked` when another process has it.
    ///
    /// - Parameters:
    ///   - isServer: whether feeds are served with these settings; a command's own are no change of them.
    ///   - creates: whether a database that is not there is made; a server makes it in any case.
    ///   - calendars: opens people's accounts elsewhere; nil for the providers of the settings.
    ///   - open: opens the database.
    init(
        _ settings: ServerSettings, isServer: Bool, creates: Bool = false, now: @escaping Clock = systemClock,
        calendars: (any CalendarProviding)? = nil, open: StoreOpening = Engine.open
    ) async throws {
        guard SystemTimeZones.shared.isAvailable else {
            throw StorageError.unusable(
                "This machine has no time zone data. Install it (Debian, Ubuntu: apt-get install tzdata).")
        }
        // What this process makes, database, log, socket and key, is its owner's alone from the first moment on.
        _ = umask(0o077)
        guard settings.socketFile.utf8.count < 108 else {
            throw StorageError.unusable("The path \(settings.socketFile) is too long for a socket: 107 bytes at most.")
        }
        if isServer || creates { try Self.makeFolder(of: settings.database) }
        // A command asks through the local socket, where no token is looked at.
        let intake = Intake(settings)
        let userTokens = try await UserTokens(isServer ? settings.tokens : TokenSettings(), intake)
        lock = try DatabaseLock(settings, creates: isServer || creates)
        let store = try open(settings.place, !isServer && !creates)
        try Self.checkSocketPlace(settings.socketFile)
        let keyFiles = settings.secretKey == nil ? KeyFiles(path: settings.keyFile) : nil
        let key =
            if let text = settings.secretKey {
                try SealingKey(text: text, source: settings.secretKeySource)
            } else {
                try KeyFiles(path: settings.keyFile).key()
            }
        var interrupted: [String] = []
        if isServer {
            try await Self.noteProgram(settings, store, now: now())
            let problem = try ProblemDocument(ImportFailure.interrupted).json.text()
            while true {
                let failed = try await store.record { try $0.failInterruptedImports(problem: problem, limit: 100) }
                if failed.isEmpty { break }
                interrupted += failed
            }
        }
        if try await store.read({ try $0.setting("installation") }) == nil {
            // That of its first key, so that a database which was lost, and made again beside the same key, finds its events
            // in people's calendars again.
            let id = key.name(for: "installation")
            try await store.record { try $0.nameInstallation(id) }
        }
        try await LegacyEvents.sort(store)
        let isSealingKeyRight = try await Self.check(key, store)
        let counter = try await Self.counter(settings, store)
        let metrics = Metrics(writes: store.writes)
        let brake = try await SignInBrake(store)
        let turns = CircleTurns()
        let tidying = Tidying(store, turns, now: now)
        let grants = GrantDesk(store: store, key: key, now: now)
        services = Services(
            store: store, maintenance: store, ledger: FeedLedger(store: store, key: key), sealingKey: key,
            rotation: KeyRotation(key: key, files: keyFiles), counter: counter,
            feeds: FeedCache(),
            renderer: FeedRenderer(limit: settings.cacheBytes / 3 * 2),
            intake: intake, importReader: ImportReader(settings), importDesk: ImportDesk(), turns: turns,
            tidying: tidying, fetcher: GuardedFetcher(settings), refreshes: RefreshDesk(), sync: SyncDesk(),
            calendars: calendars
                ?? ConnectionProviders(settings: settings, store: store, key: key, grants: grants, now: now),
            mints: RateLimit(burst: 100, span: 30_000), grants: grants, userTokens: userTokens,
            passwords: Passwords(cost: settings.passwordCost, brake: brake), metrics: metrics,
            memory: MemoryBudgets(settings.limits, width: LongWork.width), settings: settings,
            isSealingKeyRight: isSealingKeyRight, isServer: isServer, now: now)
        front = FrontServices(services)
        if isServer { tidying.begin(after: interrupted) }
    }

    /// As the initialiser, but waits a moment for a command that holds the database for its short time.
    static func opened(
        _ settings: ServerSettings, now: @escaping Clock = systemClock, calendars: (any CalendarProviding)? = nil,
        open: StoreOpening = Engine.open
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

    func close() async throws {
        await services.refreshes.close()
        await services.sync.close()
        await services.importDesk.close()
        await services.turns.close()
        await services.counter.close()
        try services.store.close()
    }

    private static func counter(_ settings: ServerSettings, _ store: any Store) async throws -> AccessCounter {
        do {
            return try await AccessCounter(
                store: store, path: settings.accessesFile, bytes: settings.accessJournalBytes,
                durability: settings.accessDurability)
        } catch let failure as JournalFailure {
            throw StorageError.unusable(failure.description)
        }
    }

    /// Tells readers when the program or its configuration shows the same items differently than at the last start.
    private static func noteProgram(_ settings: ServerSettings, _ store: any Store, now: Int) async throws {
        let renderer = String(FeedRenderer.version)
        let shown = ["titlePrefix": settings.titlePrefix, "linkTemplate": settings.linkTemplate ?? ""]
        let (isFirstStart, changed, isSame) = try await store.read { transaction in
            let former = try transaction.setting("renderer")
            return (former == nil, try shown.filter { try transaction.setting($0.key) != $0.value }, former == renderer)
        }
        // Noted when it is done: what is broken off begins again with the next start.
        if !isFirstStart, !changed.isEmpty { try await store.reviseEverything(now: now) }
        if !isFirstStart, !changed.isEmpty || !isSame { try await store.touchAllCircles(now: now) }
        guard isFirstStart || !changed.isEmpty || !isSame else { return }
        try await store.write { transaction in
            for (name, value) in changed { try transaction.set(name, to: value) }
            try transaction.set("renderer", to: renderer)
        }
    }

    /// Whether the key opens what the database was first sealed with; a new database takes it as its own.
    private static func check(_ key: SealingKey, _ store: any Store) async throws -> Bool {
        let purpose = SealedColumn.keyCheckPurpose(ofSetting: "keyCheck")
        if let sealed = try await store.read({ try $0.setting("keyCheck") }) {
            return (try? key.open(sealed, for: purpose)) != nil
        }
        let sealed = try key.seal("kalends", for: purpose)
        try await store.write { try $0.set("keyCheck", to: sealed) }
        return true
    }

    /// Throws when something else than a socket is in the socket's place; a socket is one that a killed server left.
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
            throw StorageError.unusable("The folder \(folder) cannot be made.")
        }
    }
}
