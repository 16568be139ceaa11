// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FeedTokens
import FoundationEssentials
import Glibc
import ICalBridge
import Storage

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a whole copy of the database to a new file, also while a server runs.",
        discussion:
            "The sealing key is left out on purpose: keep it elsewhere, or feed addresses cannot be shown again.")

    @OptionGroup var options: SettingsOptions
    @Argument(help: "The new file.") var file: String

    func run() async throws {
        let settings = try await options.settings()
        let path = URL(filePath: file).path
        guard !FileManager.default.fileExists(atPath: path) else {
            throw InputFailure(description: "\(path) is there already; a backup goes to a new file.")
        }
        let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        _ = try await LocalClient.with(settings) {
            try await $0.json("POST", "/local/backup", ["path": .string(absolute)])
        }
        Console.line("Wrote \(path).")
        Console.line(
            "The sealing key \(settings.keyFile) is not in it. Without it feeds go on, but their addresses cannot be shown again."
        )
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put a backup in the place of the database; no server may run on it.")

    @OptionGroup var options: SettingsOptions
    @Argument(help: "The backup.") var file: String

    func run() async throws {
        let settings = try await options.settings()
        _ = umask(0o077)
        let manager = FileManager.default
        let source = URL(filePath: file).path
        guard manager.fileExists(atPath: source) else { throw InputFailure(description: "There is no file \(file).") }
        // What is in the log and not yet in the file would be left behind.
        if let log = try? manager.attributesOfItem(atPath: source + "-wal"), (log[.size] as? UInt64 ?? 0) > 0 {
            throw InputFailure(description: "\(file) is a database in use and no backup; make one with kalends backup.")
        }
        try manager.createDirectory(
            atPath: URL(filePath: settings.database).deletingLastPathComponent().path, withIntermediateDirectories: true
        )
        // Held until the new file is in place: a server cannot start meanwhile.
        let lock = try DatabaseLock(path: settings.lockFile)
        defer { withExtendedLifetime(lock) {} }
        let staged = settings.database + ".restoring"
        try remove(staged)
        do {
            try manager.copyItem(atPath: source, toPath: staged)
            try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: staged)
            try await check(staged)
        } catch {
            try remove(staged)
            throw InputFailure(description: "\(file) cannot be restored: \(publicText(error))")
        }
        if manager.fileExists(atPath: settings.database) {
            let kept = try await keepPresent(settings)
            Console.line("The database of before is kept as \(kept).")
        }
        try remove(settings.database)
        try manager.moveItem(atPath: staged, toPath: settings.database)
        // Of the database of before; the restored one knows none, and would not take it for its own.
        try? manager.removeItem(atPath: settings.accessesFile)
        Console.line("Restored \(settings.database) from \(file).")
    }

    /// Throws unless a file is a whole database of ours.
    private func check(_ path: String) async throws {
        let store = try SQLiteStore(path: path, mustBeKalends: true)
        let verdict = try await store.integrityCheck()
        // A copy made by other means may know a journal whose accesses came after it.
        try await store.record { try $0.forgetAccessJournal() }
        try store.close()
        guard verdict == "ok" else { throw StorageError.unusable("it is damaged: \(verdict)") }
    }

    /// Keeps a whole copy of the database under a name of its own.
    private func keepPresent(_ settings: ServerSettings) async throws -> String {
        let database = settings.database
        let stamp = Instant(milliseconds: systemClock()).basic
        var kept = "\(database).before-restore-\(stamp)"
        while FileManager.default.fileExists(atPath: kept) { kept += "-again" }
        let store = try SQLiteStore(path: database)
        do {
            let counter = try await AccessCounter(
                store: store, path: settings.accessesFile, bytes: settings.accessJournalBytes)
            try await counter.fold()
            await counter.close()
        } catch {
            // The restore may be what puts this right.
            Console.line("The latest accesses are not counted in it: \(publicText(error))")
        }
        try await store.backup(to: kept)
        try store.close()
        return kept
    }

    private func remove(_ path: String) throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }
}

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Look whether this installation is well.")

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        let settings = try await options.settings()
        var isWell = true
        func tell(_ fine: Bool, _ text: String) {
            Console.line("\(fine ? "ok  " : "BAD ") \(text)")
            isWell = isWell && fine
        }
        tell(
            SystemTimeZones.shared.isAvailable,
            "time zones: \(SystemTimeZones.shared.identifiers.count) names in tzdata")
        tell(FileManager.default.fileExists(atPath: settings.database), "database: \(settings.database)")
        guard FileManager.default.fileExists(atPath: settings.database) else { throw ExitCode(3) }
        let health = try await LocalClient.with(settings) { try await $0.json("GET", "/local/health") }
        tell(health["integrity"]?.string == "ok", "integrity: \(health["integrity"]?.string ?? "unknown")")
        Console.line("     SQLite \(health["sqlite"]?.string ?? "unknown")")
        let audit = try await LocalClient.with(settings) { try await $0.json("GET", "/local/audit/verify") }
        tell(audit["fault"] == .null, "audit trail: \(AuditCommand.sentence(audit))")
        let accesses = health["accesses"] ?? .null
        let trouble = accesses["failure"]?.string ?? accesses["folding"]?.string
        tell(
            trouble == nil,
            "accesses: \(trouble ?? "recorded and counted"), \(accesses["pending"]?.integer ?? 0) waiting, room for "
                + "\(accesses["capacity"]?.integer ?? 0)")
        tell(
            health["sealingKey"]?.bool == true,
            "sealing key: the one that feed addresses were sealed with (without it they cannot be shown again)")
        if settings.secretKey == nil {
            let attributes = try? FileManager.default.attributesOfItem(atPath: settings.keyFile)
            let mode = attributes?[.posixPermissions] as? Int
            tell(mode.map { $0 & 0o077 == 0 } ?? false, "key file: \(settings.keyFile), readable by its owner alone")
        }
        let confinement = try await ImportReader.confinement(settings)
        tell(
            confinement.isEmpty,
            "strangers' files: read by a process without files, network and children"
                + (confinement.isEmpty ? "" : ", but this machine leaves it \(confinement.joined(separator: ", "))"))
        if !isWell { throw ExitCode(3) }
    }
}
