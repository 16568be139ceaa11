// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
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
        try FileManager.default.createDirectory(
            atPath: URL(filePath: settings.database).deletingLastPathComponent().path, withIntermediateDirectories: true
        )
        // Held until the new file is in place: a server cannot start meanwhile.
        let lock = try DatabaseLock(path: settings.lockFile)
        let staged = settings.database + ".restoring"
        try? FileManager.default.removeItem(atPath: staged)
        do {
            try FileManager.default.copyItem(atPath: file, toPath: staged)
        } catch {
            throw InputFailure(description: "\(file) cannot be copied to \(staged).")
        }
        let store = try SQLiteStore(path: staged)
        let verdict = try await store.integrityCheck()
        try store.close()
        guard verdict == "ok" else {
            try? FileManager.default.removeItem(atPath: staged)
            throw InputFailure(description: "\(file) is damaged: \(verdict)")
        }
        let manager = FileManager.default
        if manager.fileExists(atPath: settings.database) {
            let kept = settings.database + ".before-restore"
            try? manager.removeItem(atPath: kept)
            // Opening and closing folds the log into the file, so that what is kept is whole.
            try SQLiteStore(path: settings.database).close()
            try manager.moveItem(atPath: settings.database, toPath: kept)
            Console.line("The database of before is kept as \(kept).")
        }
        for suffix in ["-wal", "-shm"] { try? manager.removeItem(atPath: settings.database + suffix) }
        try manager.moveItem(atPath: staged, toPath: settings.database)
        for suffix in ["-wal", "-shm"] { try? manager.removeItem(atPath: staged + suffix) }
        withExtendedLifetime(lock) {}
        Console.line("Restored \(settings.database) from \(file).")
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
        if FileManager.default.fileExists(atPath: settings.database) {
            let health = try await LocalClient.with(settings) { try await $0.json("GET", "/local/health") }
            tell(health["integrity"]?.string == "ok", "integrity: \(health["integrity"]?.string ?? "unknown")")
            Console.line("     SQLite \(health["sqlite"]?.string ?? "unknown")")
        }
        if settings.secretKey == nil {
            let attributes = try? FileManager.default.attributesOfItem(atPath: settings.keyFile)
            let mode = attributes?[.posixPermissions] as? Int
            tell(mode.map { $0 & 0o077 == 0 } ?? false, "sealing key: \(settings.keyFile), readable by its owner alone")
        }
        if !isWell { throw ExitCode(3) }
    }
}
