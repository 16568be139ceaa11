// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FeedTokens
import FoundationEssentials
import Glibc
import ICalBridge
import Storage

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put a backup in the place of the database; no server may run on it.",
        discussion: """
            Every row of the backup is read first, as the server would read it; one with anything in it that Kalends did \
            not make is refused. The database of before is kept under another name.
            """)

    @OptionGroup var options: SettingsOptions
    @Argument(help: "The backup.") var file: String

    func run() async throws {
        let settings = try await options.settings()
        _ = umask(0o077)
        let manager = FileManager.default
        let source = URL(filePath: file).path
        try checkSource(source, settings)
        try manager.createDirectory(
            atPath: URL(filePath: settings.database).deletingLastPathComponent().path, withIntermediateDirectories: true
        )
        // Held until the new file is in place: a server cannot start meanwhile.
        let lock = try DatabaseLock(database: settings.database, creates: false)
        defer { withExtendedLifetime(lock) {} }
        let staged = settings.database + ".restoring"
        try remove(staged)
        do {
            try manager.copyItem(atPath: source, toPath: staged)
            try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: staged)
            try await check(staged)
        } catch {
            try remove(staged)
            throw InputFailure(description: "\(printable(file)) cannot be restored: \(publicText(error))")
        }
        if manager.fileExists(atPath: settings.database) {
            let kept = try await keepPresent(settings)
            Console.line("The database of before is kept as \(kept).")
        }
        try remove(settings.database)
        try manager.moveItem(atPath: staged, toPath: settings.database)
        // Of the database of before; the restored one knows none, and would not take it for its own.
        try? manager.removeItem(atPath: settings.accessesFile)
        Console.line("Restored \(settings.database) from \(printable(file)).")
    }

    /// Throws when what is to be restored is no file of SQLite's, before it is copied.
    private func checkSource(_ source: String, _ settings: ServerSettings) throws {
        let name = printable(file)
        guard let kind = FileKind(path: source, followsLinks: true) else {
            throw InputFailure(description: "There is no file \(name).")
        }
        guard kind == .file else { throw InputFailure(description: "\(name) is \(kind.rawValue) and no backup.") }
        if let same = FileIdentity(path: source), same == FileIdentity(path: settings.database) {
            throw InputFailure(description: "\(name) is the database itself and no backup of it.")
        }
        let begin = try InputFile(source, limit: .max).next() ?? []
        guard begin.starts(with: "SQLite format 3\0".utf8) else {
            throw InputFailure(description: "\(name) cannot be restored: it is not a database of Kalends.")
        }
        // What is in the log and not yet in the file would be left behind.
        if FileIdentity(path: source + "-wal")?.size ?? 0 > 0 {
            throw InputFailure(description: "\(name) is a database in use and no backup; make one with kalends backup.")
        }
    }

    /// Throws unless a file is a whole database of ours, with nothing in it that the server could not have written.
    private func check(_ path: String) async throws {
        // Before anything is written: what is in the schema acts on writes.
        try Engine.check(path: path)
        let store = try Engine.open(path, true)
        do {
            let verdict = try await store.integrityCheck()
            guard verdict == "ok" else {
                throw StorageError.unusable("it is damaged: \(printable(String(verdict.prefix(300))))")
            }
            let faults = try await StoredRows.faults(in: store, store)
            guard faults.isEmpty else {
                throw StorageError.unusable(
                    "it holds what Kalends does not write.\n"
                        + faults.map { "  \(printable($0.description))" }.joined(separator: "\n"))
            }
            try await store.forgetStatistics()
            // A copy made by other means may know a journal whose accesses came after it.
            try await store.record { try $0.forgetAccessJournal() }
        } catch {
            try? store.close()
            throw error
        }
        try store.close()
    }

    /// Keeps a whole copy of the database under a name of its own.
    private func keepPresent(_ settings: ServerSettings) async throws -> String {
        let database = settings.database
        let stamp = Instant(milliseconds: systemClock()).basic
        var kept = "\(database).before-restore-\(stamp)"
        while FileManager.default.fileExists(atPath: kept) { kept += "-again" }
        do {
            let store = try Engine.open(database, true)
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
        } catch {
            // It cannot be read any more, which may be why there is a restore: its files are kept as they are.
            Console.line("The database of before cannot be read: \(publicText(error))")
            for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: database + suffix) {
                try? FileManager.default.removeItem(atPath: kept + suffix)
                try FileManager.default.moveItem(atPath: database + suffix, toPath: kept + suffix)
            }
        }
        return kept
    }

    private func remove(_ path: String) throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }
}
