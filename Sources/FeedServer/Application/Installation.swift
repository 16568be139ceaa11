// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import FoundationEssentials
import Glibc
import ICalBridge
import Logging
import Storage

/// The database in use by this process: lock, key and services, from opening to closing.
struct Installation: Sendable {
    let services: Services
    /// Held as long as anything of the database is in use.
    private let lock: DatabaseLock

    /// Takes the lock, then opens the database and the key; `StorageError.locked` when another process has it.
    ///
    /// - Parameter isServer: whether feeds are served with these settings; a command's own are no change of them.
    init(_ settings: ServerSettings, isServer: Bool, now: @escaping Clock = systemClock) async throws {
        guard SystemTimeZones.shared.isAvailable else {
            throw StorageError.unusable(
                "This machine has no time zone data. Install it (Debian, Ubuntu: apt-get install tzdata).")
        }
        // What this process makes, database, log, socket and key, is its owner's alone from the first moment on.
        _ = umask(0o077)
        guard settings.socketFile.utf8.count < 108 else {
            throw StorageError.unusable("The path \(settings.socketFile) is too long for a socket: 107 bytes at most.")
        }
        try Self.makeFolder(of: settings.database)
        // A command asks through the local socket, where no token is looked at.
        let userTokens = try await UserTokens(isServer ? settings.tokens : TokenSettings())
        lock = try DatabaseLock(path: settings.lockFile)
        let store = try SQLiteStore(path: settings.database)
        let key =
            if let text = settings.secretKey {
                try SealingKey(text: text, source: "KALENDS_SECRET_KEY")
            } else {
                try SealingKey(file: settings.keyFile)
            }
        if isServer {
            try await Self.noteProgram(settings, store, now: now())
            let problem = try ImportFailure.interrupted.text()
            try await store.record { try $0.failInterruptedImports(problem: problem) }
        }
        let isSealingKeyRight = try await Self.check(key, store)
        let counter = try await Self.counter(settings, store)
        let metrics = Metrics()
        services = Services(
            store: store, ledger: FeedLedger(store: store, key: key), sealingKey: key, counter: counter,
            feeds: FeedCache(), renderer: FeedRenderer(metrics: metrics),
            importReader: ImportReader(settings), importDesk: ImportDesk(settings), fetcher: GuardedFetcher(settings),
            userTokens: userTokens,
            passwords: Passwords(cost: settings.passwordCost), metrics: metrics, settings: settings,
            isSealingKeyRight: isSealingKeyRight, isServer: isServer, now: now)
    }

    /// As the initialiser, but waits a moment for a command that holds the database for its short time.
    static func opened(_ settings: ServerSettings, now: @escaping Clock = systemClock) async throws -> Installation {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(3)
        while true {
            do {
                return try await Installation(settings, isServer: true, now: now)
            } catch StorageError.locked(let path) {
                guard clock.now < deadline else { throw StorageError.locked(path) }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    func close() async throws {
        await services.importDesk.close()
        await services.counter.close()
        try services.store.close()
    }

    private static func counter(_ settings: ServerSettings, _ store: SQLiteStore) async throws -> AccessCounter {
        do {
            return try await AccessCounter(
                store: store, path: settings.accessesFile, bytes: settings.accessJournalBytes)
        } catch let failure as JournalFailure {
            throw StorageError.unusable(failure.description)
        }
    }

    /// Tells readers when the program or its configuration shows the same items differently than at the last start.
    private static func noteProgram(_ settings: ServerSettings, _ store: SQLiteStore, now: Int) async throws {
        let renderer = String(FeedRenderer.version)
        let shown = ["titlePrefix": settings.titlePrefix, "linkTemplate": settings.linkTemplate ?? ""]
        try await store.write { transaction in
            let isFirstStart = try transaction.setting("renderer") == nil
            let changed = try shown.filter { try transaction.setting($0.key) != $0.value }
            if !isFirstStart, !changed.isEmpty {
                try transaction.touchAllCircles(changesItems: true, now: now)
            } else if !isFirstStart, try transaction.setting("renderer") != renderer {
                try transaction.touchAllCircles(changesItems: false, now: now)
            }
            for (name, value) in changed { try transaction.set(name, to: value) }
            try transaction.set("renderer", to: renderer)
        }
    }

    /// Whether the key opens what the database was first sealed with; a new database takes it as its own.
    private static func check(_ key: SealingKey, _ store: SQLiteStore) async throws -> Bool {
        let purpose = "settings/keyCheck"
        if let sealed = try await store.read({ try $0.setting("keyCheck") }) {
            return (try? key.open(sealed, for: purpose)) != nil
        }
        let sealed = try key.seal("kalends", for: purpose)
        try await store.write { try $0.set("keyCheck", to: sealed) }
        return true
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
