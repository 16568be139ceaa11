// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StorageSQLite
import StoreConformance
import Testing

@Suite("Opening a database", .enabled(if: !TestedStore.isPostgreSQL, "It is about SQLite's file"))
struct SQLiteStoreOpeningTests {
    @Test("A new file gets the whole schema and its version")
    func makesSchema() async throws {
        let home = try TemporaryStore()
        let (tables, version) = try await home.read { transaction in
            (
                try transaction.tables(),
                try transaction.numbers("SELECT MAX(version) AS value FROM schema_migrations").first
            )
        }
        #expect(
            Set(tables).isSuperset(of: [
                "settings", "circles", "members", "patients", "schedule_items", "occurrences", "feeds", "feed_tokens",
                "feed_clients", "feed_accesses", "service_keys",
            ]))
        #expect(try #require(version) >= 1)
    }

    @Test("A second opening migrates nothing and keeps what is stored")
    func opensAgain() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite").path
            var seen: [[String]] = []
            for opening in 1...2 {
                let store = try SQLiteStore(path: path)
                if opening == 1 { try await store.write { try $0.set("name", to: "kept") } }
                seen.append(
                    try await store.read { transaction in
                        try transaction.numbers("SELECT version AS value FROM schema_migrations").map(String.init)
                            + transaction.texts("SELECT sql AS value FROM sqlite_master WHERE sql IS NOT NULL")
                            + [transaction.setting("name") ?? "lost"]
                    })
                try store.close()
            }
            #expect(seen[0] == seen[1])
            #expect(seen[1].last == "kept")
        }
    }

    @Test("What was removed is in no unused byte of the file and its log once they were rewritten")
    func writesAnew() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite").path
            let store = try SQLiteStore(path: path)
            defer { try? store.close() }
            func holdsCanary() throws -> Bool {
                try ["", "-wal"].contains { ending in
                    try Data(contentsOf: URL(filePath: path + ending)).range(of: Data("canary".utf8)) != nil
                }
            }
            // In an order that splits pages, which copies rows from one to another.
            for part in 0..<20 {
                try await store.write { transaction in
                    for number in part * 250..<(part + 1) * 250 {
                        let network = number % 20 == 0 ? "canary-\(number)" : "plain-\(number)"
                        try transaction.execute(
                            "INSERT INTO sign_in_homes (user_id, network, used_at) VALUES ($1, $2, $3)",
                            [.text("u\(number * 7919 % 5000)"), .text(network), .integer(number)])
                    }
                }
            }
            #expect(try holdsCanary())
            try await store.write { transaction in
                _ = try transaction.execute("DELETE FROM sign_in_homes WHERE network LIKE 'canary%'", [])
            }
            #expect(try await store.overwriteRemoved())
            #expect(try !holdsCanary())
            let left = try await store.read { try $0.numbers("SELECT COUNT(*) AS value FROM sign_in_homes") }
            #expect(left == [4750])
        }
    }

    @Test("Whoever writes does not wait for a reader until the log can be emptied")
    func writesBesideReader() async throws {
        try await TemporaryStore.withDirectory { directory in
            let store = try SQLiteStore(path: directory.appending(path: "kalends.sqlite").path)
            defer { try? store.close() }
            let write: @Sendable () async throws -> Void = {
                _ = try await store.write { transaction in
                    try transaction.execute(
                        "INSERT INTO sign_in_homes (user_id, network, used_at) VALUES ($1, 'n', 1)",
                        [.text("\(Int.random(in: 0..<Int.max))")])
                }
            }
            try await write()
            let (isReading, begun) = AsyncStream.makeStream(of: Void.self)
            let reading = Task {
                try await store.read { transaction in
                    _ = try transaction.rows("SELECT user_id FROM sign_in_homes", [])
                    begun.finish()
                    Thread.sleep(forTimeInterval: 3)
                }
            }
            for await _ in isReading {}
            try await write()
            let emptying = Task { try await store.overwriteRemoved() }
            try await Task.sleep(for: .milliseconds(300))
            let time = try await ContinuousClock().measure { try await write() }
            #expect(time < .seconds(1))
            #expect(try await emptying.value)
            try await reading.value
        }
    }

    @Test("The writer keeps synchronous=FULL and WAL, and refuses dangling references")
    func keepsSettings() async throws {
        let home = try TemporaryStore()
        let (synchronous, journal, foreignKeys) = try await home.write { transaction in
            (
                try transaction.rows("PRAGMA synchronous", []).first?.integer("synchronous"),
                try transaction.rows("PRAGMA journal_mode", []).first?.text("journal_mode"),
                try transaction.rows("PRAGMA foreign_keys", []).first?.integer("foreign_keys")
            )
        }
        #expect(synchronous == 2)
        #expect(journal == "wal")
        #expect(foreignKeys == 1)
    }

    @Test("Only what is staged does not wait for the disk, and whatever is written after it does")
    func staged() async throws {
        let home = try TemporaryStore()
        let wait: @Sendable (any WriteTransaction) throws -> Int? = {
            try $0.rows("PRAGMA synchronous", []).first?.integer("synchronous")
        }
        for _ in 0..<3 {
            #expect(try await home.store.stage(wait) == 1)
            #expect(try await home.store.stage(wait) == 1)
            #expect(try await home.store.record(wait) == 2)
            #expect(try await home.store.stage(wait) == 1)
            #expect(try await home.store.write(wait) == 2)
        }
        // A staged transaction that fails leaves the others as they are.
        await #expect(throws: StorageError.unstorable) {
            try await home.store.stage { _ in throw StorageError.unstorable }
        }
        #expect(try await home.store.write(wait) == 2)
    }

    @Test("A database of a newer version is refused and left as it is")
    func refusesNewerSchema() async throws {
        let home = try TemporaryStore()
        let known = try await home.write { transaction in
            let known = try transaction.numbers("SELECT MAX(version) AS value FROM schema_migrations").first ?? 0
            try transaction.execute("INSERT INTO schema_migrations (version) VALUES ($1)", [.integer(known + 1)])
            try transaction.execute("DROP TABLE settings", [])
            return known
        }
        let tables = try await home.read { try $0.tables() }
        let error = try #require(throws: StorageError.self) { try SQLiteStore(path: home.path) }
        #expect(error == .newerSchema(found: known + 1, known: known))
        #expect("\(error)".contains("schema version \(known + 1)"))
        #expect("\(error)".contains("use the newer program"))
        #expect(try await home.read { try $0.tables() } == tables)
    }

    @Test("A file that is not a database is refused in a sentence that names it", arguments: [200, 4_096, 100_000])
    func refusesOtherFiles(size: Int) async throws {
        try await TemporaryStore.withDirectory { directory in
            let file = directory.appending(path: "photo.jpg")
            let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) })
            try content.write(to: file)
            let error = try #require(throws: StorageError.self) { try SQLiteStore(path: file.path) }
            guard case .unusable(let sentence) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(sentence.hasPrefix("\(file.path) cannot be opened as a database: "))
            #expect(sentence.hasSuffix("."))
            #expect(try Data(contentsOf: file) == content)
        }
    }

    @Test("A directory and a path without one are refused in a sentence")
    func refusesUnopenablePaths() async throws {
        try await TemporaryStore.withDirectory { directory in
            for path in [directory.path, directory.appending(path: "missing/kalends.sqlite").path] {
                let error = try #require(throws: StorageError.self) { try SQLiteStore(path: path) }
                #expect("\(error)".hasPrefix("\(path) cannot be opened as a database: "))
            }
        }
    }

    @Test("An empty file is a new database")
    func takesEmptyFile() async throws {
        try await TemporaryStore.withDirectory { directory in
            let file = directory.appending(path: "kalends.sqlite")
            try Data().write(to: file)
            let store = try SQLiteStore(path: file.path)
            #expect(try await store.read { try $0.tables() }.contains("circles"))
            try store.close()
        }
    }

    @Test("A backup is a whole database and never overwrites a file")
    func backsUp() async throws {
        let home = try TemporaryStore()
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.put(.sample("t"))
        }
        let copy = home.directory.appending(path: "copy.sqlite")
        try await home.store.backup(to: copy.path)
        await #expect(throws: (any Error).self) { try await home.store.backup(to: copy.path) }
        let restored = try SQLiteStore(path: copy.path)
        #expect(try await restored.integrityCheck() == "ok")
        let item = try await restored.read { try $0.item("t", .tasks, in: "home") }
        let original = try await home.read { try $0.item("t", .tasks, in: "home") }
        #expect(item != nil && item == original)
        try restored.close()
    }

    @Test("The store reports its SQLite version and that the file is sound")
    func tellsState() async throws {
        let home = try TemporaryStore()
        #expect(try await home.store.engineVersion().hasPrefix("3."))
        #expect(try await home.store.integrityCheck() == "ok")
    }
}
