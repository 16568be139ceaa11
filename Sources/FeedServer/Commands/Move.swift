// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FeedTokens
import FoundationEssentials
import Glibc
import KalendsCore
import Server
import Storage

struct Move: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy everything from one database to another, of any engine; no server may be running on either.",
        discussion: """
            Each is an SQLite file or the address of a PostgreSQL database. The target must be empty. Everything is \
            copied, read again, and compared table by table; the first database stays as it is. After an interruption, \
            the same command continues the copy, and nothing else uses the target before. Copy the key file too: kalends-data/kalends.sqlite.key to kalends-data/kalends.key, or where --files says.
            """)

    @Option(help: "The database to copy.") var from: String
    @Option(help: "The empty target database.") var to: String
    @Option(help: Setting.files.help) var files: String?

    func run() async throws {
        _ = umask(0o077)
        let (one, other) = (try settings(from), try settings(to))
        // Checked before the locks are taken, because they leave files next to both.
        guard one.server != nil || FileIdentity(path: one.database)?.size ?? 0 > 0 else {
            throw InputFailure(description: "There is no database \(one.shownDatabase).")
        }
        let locks = [try DatabaseLock(one, creates: false), try DatabaseLock(other, creates: true)]
        defer { withExtendedLifetime(locks) {} }
        let source = try Engine.open(one.place, true)
        defer { try? source.close() }
        // The other engine may refuse data that our program did not write.
        let faults = try await source.valueFaults()
        guard faults.isEmpty else {
            throw InputFailure(
                description: "The database holds something that Kalends does not write:\n"
                    + faults.map { "  \(printable($0.description))" }.joined(separator: "\n"))
        }
        try await fold(one, source)
        let others = try await source.read { try $0.servers() }.filter { $0.stoppedAt == nil || $0.missing > 0 }
        let target = try Engine.openTarget(other.place)
        defer { try? target.close() }
        guard try await target.read({ try $0.setting("installation") }) == nil else {
            throw InputFailure(description: "\(other.shownDatabase) is already in use: give an empty database.")
        }
        let (beginning, tables) = try await TableCopy.copyInSteps(from: source, to: target) { writer in
            // Accesses are counted in another journal from now on.
            try writer.forgetAccessJournal()
        }
        switch beginning {
        case .new: break
        case .continued(let rows): Console.line("A copy that was interrupted was continued: \(rows) rows were there.")
        case .again:
            Console.line("A copy that was interrupted was of other data, so everything was copied again.")
        }
        for server in others {
            Console.line(
                "Server \(printable(server.name)) did not stop properly: reads that are only in its journal are not "
                    + "counted in the new database. Start it on the first database and move again to count them.")
        }
        let rows = tables.reduce(0) { $0 + $1.rows }
        Console.line("Copied \(rows) rows in \(tables.count) tables; each table is the same in both databases.")
        Console.line("The first database stays as it is: \(one.shownDatabase).")
        if one.keyFile != other.keyFile { Console.line("Copy its key too: \(one.keyFile) to \(other.keyFile).") }
    }

    private func settings(_ index: String) throws -> ServerSettings {
        var given = [Setting.database.name: index]
        if DatabasePlace.isServer(index), let files { given[Setting.files.name] = files }
        var values = SettingValues(flags: given, configFile: nil, environment: [:])
        return try ServerSettings(&values)
    }

    /// Adds the latest accesses to the counts, since their journal is not moved.
    private func fold(_ settings: ServerSettings, _ store: any Store) async throws {
        guard FileManager.default.fileExists(atPath: settings.accessesFile) else { return }
        let counter = try await AccessCounter(
            store: store, path: settings.accessesFile, bytes: settings.accessJournalBytes)
        try await counter.fold()
        await counter.close()
    }
}
