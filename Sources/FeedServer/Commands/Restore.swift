// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FeedTokens
import FoundationEssentials
import Glibc
import ICalBridge
import KalendsCore
import Server
import Storage

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replace the database with a backup; no server may be running on it.",
        discussion: """
            Every row of the backup is read first, as the server would read it; a backup with anything in it that \
            Kalends did not make is refused. The previous database is kept under another name.
            """)

    @OptionGroup var options: SettingsOptions
    @Argument(help: "The backup.") var file: String
    @Flag(help: "Restore even without a sealing key; the next start makes a new one.") var withoutKey = false

    func run() async throws {
        let settings = try await options.settings()
        _ = umask(0o077)
        let source = URL(filePath: file).path
        try checkSource(source, settings)
        try checkKey(settings)
        try checkPlace(settings.database)
        // Held until the new file is in place, so that no server can start before.
        let lock = try DatabaseLock(settings, creates: false)
        defer { withExtendedLifetime(lock) {} }
        let copy = try StagedFile(replacing: settings.database, staged: settings.database + ".restoring")
        do {
            // The bytes are copied: a link would make a server write into the backup.
            let bytes = try InputFile(source, limit: .max)
            try copy.write { try bytes.next() }
            try await check(copy.staged)
        } catch {
            copy.discard()
            throw InputFailure(description: "\(printable(file)) cannot be restored: \(publicText(error))")
        }
        guard settings.server == nil else { return try await restoreIntoServer(copy, settings) }
        do {
            if FileKind(path: settings.database, followsLinks: false) != nil {
                let kept = try await keepPresent(settings)
                Console.line("The previous database is kept as \(kept).")
            }
            // The previous database's companion files are part of the kept copy, and would be mistaken for the new
            // database's.
            for suffix in Self.companions { _ = unsafe unlink(settings.database + suffix) }
            try copy.replace()
        } catch {
            copy.discard()
            throw error
        }
        // The journal belongs to the previous database; the restored one would not accept it as its own.
        _ = unsafe unlink(settings.accessesFile)
        Console.line("Restored \(settings.database) from \(printable(file)).")
    }

    /// Copies a checked file into a server's database, in one transaction.
    private func restoreIntoServer(_ copy: StagedFile, _ settings: ServerSettings) async throws {
        defer { copy.discard() }
        let target = try Engine.open(settings.place, false)
        defer { try? target.close() }
        if try await target.read({ try $0.setting("installation") }) != nil {
            let stamp = Instant(milliseconds: systemClock()).basic
            let kept = "\(settings.database).before-restore-\(stamp)"
            try await target.backup(to: kept)
            Console.line("The previous database is kept as \(kept).")
        }
        let source = try Engine.open(copy.staged, true)
        defer {
            try? source.close()
            for suffix in Self.companions { _ = unsafe unlink(copy.staged + suffix) }
        }
        try await TableCopy.copy(from: source, to: target)
        _ = unsafe unlink(settings.accessesFile)
        Console.line("Restored \(settings.shownDatabase) from \(printable(file)).")
    }

    /// Throws when the sealing key is missing: the next command or server would make another one, which opens nothing in the
    /// backup.
    private func checkKey(_ settings: ServerSettings) throws {
        guard settings.secretKey == nil, FileKind(path: settings.keyFile, followsLinks: true) == nil else { return }
        let lost = """
            Without it, feeds keep working, but their addresses cannot be shown again, and connections, webhooks, followed \
            calendars and second factors have to be set up again.
            """
        guard withoutKey else {
            throw InputFailure(
                description: """
                    A backup has no sealing key, and there is none at \(settings.keyFile): put the one that belongs to it \
                    there first. \(lost) If it is lost: --without-key
                    """)
        }
        Console.error("There is no sealing key at \(settings.keyFile). \(lost)")
    }

    /// Throws, before anything is copied, when the source is not an SQLite file.
    private func checkSource(_ source: String, _ settings: ServerSettings) throws {
        let name = printable(file)
        guard let kind = FileKind(path: source, followsLinks: true) else {
            throw InputFailure(description: "There is no file \(name).")
        }
        guard kind == .file else { throw InputFailure(description: "\(name) is \(kind.rawValue), not a backup.") }
        if let same = FileIdentity(path: source), same == FileIdentity(path: settings.database) {
            throw InputFailure(description: "\(name) is the database itself, not a backup of it.")
        }
        let begin = try InputFile(source, limit: .max).next() ?? []
        guard begin.starts(with: "SQLite format 3\0".utf8) else {
            throw InputFailure(description: "\(name) cannot be restored: it is not a database of Kalends.")
        }
        // Changes that are in the log but not yet in the file, or the reverse, would be lost.
        if ["-wal", "-journal"].contains(where: { FileIdentity(path: source + $0)?.size ?? 0 > 0 }) {
            throw InputFailure(description: "\(name) is a database in use, not a backup; make one with kalends backup.")
        }
    }

    /// Creates the folder of the database when it does not exist.
    private func checkPlace(_ database: String) throws {
        if FileKind(path: database, followsLinks: false) == .link {
            throw InputFailure(description: "\(database) is a symbolic link that leads nowhere.")
        }
        let folder = URL(filePath: database).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw InputFailure(description: "The folder \(folder) cannot be created: \(publicText(error))")
        }
    }

    /// The files that SQLite stores beside a database.
    private static let companions = ["-wal", "-shm", "-journal"]

    /// Throws unless a file is a complete database of ours, with nothing in it that the server could not have written.
    private func check(_ path: String) async throws {
        // This comes before any write, since triggers in the schema would run on writes.
        try Engine.check(path: path, isWhole: true)
        let store = try Engine.open(path, true)
        do {
            let verdict = try await store.integrityCheck()
            guard verdict == "ok" else {
                throw StorageError.unusable("it is damaged: \(printable(String(verdict.prefix(300))))")
            }
            let faults = try await StoredRows.faults(in: store, store, .all)
            guard faults.isEmpty else {
                throw StorageError.unusable(
                    "it holds something that Kalends does not write.\n"
                        + faults.map { "  \(printable($0.description))" }.joined(separator: "\n"))
            }
            try await store.forgetStatistics()
            // A copy made by other means may refer to a journal with later accesses.
            try await store.record { transaction in
                try transaction.forgetAccessJournal()
                // The tokens of calendar apps belong to the state that is being replaced.
                try transaction.forgetDatabaseID()
            }
        } catch {
            try? store.close()
            throw error
        }
        try store.close()
    }

    /// Keeps a complete copy of the current database under another name.
    private func keepPresent(_ settings: ServerSettings) async throws -> String {
        let database = settings.database
        let stamp = Instant(milliseconds: systemClock()).basic
        var kept = "\(database).before-restore-\(stamp)"
        while FileManager.default.fileExists(atPath: kept) { kept += "-again" }
        do {
            let store = try Engine.open(database, true)
            do {
                let counter = try await AccessCounter(
                    store: store, path: settings.accessesFile, bytes: settings.accessJournalBytes,
                    durability: settings.accessDurability)
                try await counter.fold()
                await counter.close()
            } catch {
                // The restore may be what repairs this.
                Console.line("The latest accesses are not counted in the restored database: \(publicText(error))")
            }
            try await store.backup(to: kept)
            try store.close()
        } catch {
            // The current database is unreadable, which may be why it is being replaced: its files are kept as they
            // are.
            Console.line("The previous database cannot be read: \(publicText(error))")
            // A second name is linked first, so that a database always exists: otherwise a server would create an empty
            // one.
            guard unsafe link(database, kept) == 0 || rename(database, kept) == 0 else {
                throw StorageError.notWritten(path: kept, reason: systemReason(errno))
            }
            for suffix in Self.companions where FileKind(path: database + suffix, followsLinks: false) != nil {
                guard unsafe rename(database + suffix, kept + suffix) == 0 else {
                    throw StorageError.notWritten(path: kept + suffix, reason: systemReason(errno))
                }
            }
        }
        return kept
    }
}
