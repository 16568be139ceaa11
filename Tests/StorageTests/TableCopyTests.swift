// SPDX-License-Identifier: Apache-2.0

import Foundation
import StorageSQLite
import StoreConformance
import Testing

@testable import Storage

@Suite("Copies between databases")
struct TableCopyTests {
    @Test("The list of tables is that of the schema, with every column and each key")
    func listIsComplete() async throws {
        try await TemporaryStore.withDirectory { directory in
            let store = try SQLiteStore(path: directory.appending(path: "a").path)
            defer { try? store.close() }
            let (names, columns) = try await store.read { reader in
                let names = try reader.rows(
                    """
                    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
                        AND name <> 'schema_migrations'
                    """, []
                ).map { try $0.text(required: "name") }
                let columns = try Dictionary(
                    uniqueKeysWithValues: names.map { name in
                        let found = try reader.rows("SELECT name, pk FROM pragma_table_info($1)", [.text(name)])
                        let key = found.filter { $0.integer("pk") != 0 }
                            .sorted { ($0.integer("pk") ?? 0) < ($1.integer("pk") ?? 0) }
                        return (name, (found.compactMap { $0.text("name") }, key.compactMap { $0.text("name") }))
                    })
                return (names, columns)
            }
            #expect(Schema.tables.map(\.name).sorted() == names.sorted())
            for table in Schema.tables {
                #expect(table.columns.sorted() == columns[table.name]?.0.sorted(), "\(table.name)")
                #expect(table.key == columns[table.name]?.1, "\(table.name)")
            }
        }
    }

    @Test("Everything arrives, and what was in the other database is gone")
    func copies() async throws {
        try await TemporaryStore.withDirectory { directory in
            let source = try SQLiteStore(path: directory.appending(path: "a").path)
            let target = try SQLiteStore(path: directory.appending(path: "b").path)
            try await fill(source)
            try await target.write { try $0.set("of-before", to: "x") }
            let tables = try await TableCopy.copy(from: source, to: target)
            #expect(tables.reduce(0) { $0 + $1.rows } > 2000)
            #expect(try await TableCopy.contents(of: source) == tables)
            #expect(try await TableCopy.contents(of: target) == tables)
            #expect(try await target.read { try $0.setting("of-before") } == nil)
            try source.close()
            try target.close()
        }
    }

    @Test("A copy that is broken off keeps nothing of it")
    func keepsNothing() async throws {
        try await TemporaryStore.withDirectory { directory in
            let source = try SQLiteStore(path: directory.appending(path: "a").path)
            let target = try SQLiteStore(path: directory.appending(path: "b").path)
            try await fill(source)
            try await target.write { transaction in
                try transaction.set("of-before", to: "x")
                try transaction.execute("ALTER TABLE settings RENAME COLUMN value TO other", [])
            }
            await #expect(throws: StorageError.self) { try await TableCopy.copy(from: source, to: target) }
            let left = try await target.read { reader in
                try reader.rows("SELECT other FROM settings WHERE name = 'of-before'", []).first?.text("other")
            }
            #expect(left == "x")
            try source.close()
            try target.close()
        }
    }

    @Test("A copy in steps is continued wherever it was interrupted, and nothing uses the database before its end")
    func continues() async throws {
        try await TemporaryStore.withDirectory { directory in
            let source = try SQLiteStore(path: directory.appending(path: "a").path)
            try await fill(source)
            try await fillTasks(source, 400)
            let contents = try await TableCopy.contents(of: source)
            var (interruptions, last) = (0, 0)
            while true {
                let path = directory.appending(path: "b").path
                let target = try SQLiteStore(path: path, continuesCopy: true)
                // The first time, only the mark is stored.
                let cut = CutStore(RepeatingStore(target), after: interruptions == 0 ? 1 : 2)
                do {
                    let (beginning, copied) = try await TableCopy.copyInSteps(from: source, to: cut, stepRows: 30) {
                        try $0.set("end", to: "x")
                    }
                    #expect(beginning == .continued(rows: last))
                    #expect(copied == contents)
                    #expect(try await target.read { try $0.setting("end") } == "x")
                    try target.close()
                    break
                } catch is CutStore.Cut {
                    interruptions += 1
                    last = try await TableCopy.contents(of: target).reduce(0) { $0 + $1.rows }
                    #expect(try await target.read { try $0.setting("long") } == nil)
                    try target.close()
                    #expect(throws: StorageError.unfinishedCopy) { try SQLiteStore(path: path) }
                    #expect(throws: StorageError.unfinishedCopy) { try SchemaCheck.check(path: path) }
                }
            }
            #expect(interruptions > 5)
            let target = try SQLiteStore(path: directory.appending(path: "b").path)
            _ = try await target.write { try $0.execute("DELETE FROM settings WHERE name = 'end'", []) }
            #expect(try await TableCopy.contents(of: target) == contents)
            try target.close()
            try source.close()
        }
    }

    @Test("A copy in steps begins again when what was copied has changed since", arguments: ["changed", "removed"])
    func beginsAgain(what: String) async throws {
        try await TemporaryStore.withDirectory { directory in
            let source = try SQLiteStore(path: directory.appending(path: "a").path)
            let target = try SQLiteStore(path: directory.appending(path: "b").path, continuesCopy: true)
            try await fill(source)
            try await fillTasks(source, 100)
            await #expect(throws: CutStore.Cut.self) {
                try await TableCopy.copyInSteps(from: source, to: CutStore(target, after: 4), stepRows: 30)
            }
            try await source.write { transaction in
                if what == "changed" { try transaction.execute("UPDATE circles SET name = 'other'", []) }
                if what == "removed" { try TableCopy.empty(transaction) }
            }
            let (beginning, copied) = try await TableCopy.copyInSteps(from: source, to: target, stepRows: 30)
            #expect(beginning == .again)
            #expect(try await TableCopy.contents(of: source) == copied)
            #expect(try await TableCopy.contents(of: target) == copied)
            try source.close()
            try target.close()
        }
    }

    @Test(
        "From SQLite to PostgreSQL and back, every table is the same",
        .enabled(if: TestedPostgreSQL.address != nil, "There is no PostgreSQL: run by Scripts/postgresql.sh"))
    func goesBothWays() async throws {
        try await TemporaryStore.withDirectory { directory in
            let source = try SQLiteStore(path: directory.appending(path: "a").path)
            let server = try TestedPostgreSQL.open(directory.appending(path: "s").path, isOnly: true)
            let back = try SQLiteStore(path: directory.appending(path: "b").path)
            try await fill(source)
            try await fillTasks(source, 100)
            await #expect(throws: CutStore.Cut.self) {
                try await TableCopy.copyInSteps(from: source, to: CutStore(server, after: 3), stepRows: 30)
            }
            let (beginning, there) = try await TableCopy.copyInSteps(from: source, to: server, stepRows: 30)
            #expect(beginning != .new && beginning != .again)
            #expect(try await server.integrityCheck() == "ok")
            #expect(try await server.valueFaults().isEmpty)
            #expect(try await TableCopy.copy(from: server, to: back) == there)
            #expect(try await TableCopy.contents(of: source) == there)
            for store in [source, server, back] as [any Store] { try store.close() }
        }
    }

    private func fillTasks(_ store: any Store, _ count: Int) async throws {
        try await store.write { transaction in
            for number in 0..<count {
                try transaction.put(.sample("t\(number)", .appointments, patient: "pia", owner: "ann"))
            }
        }
    }

    /// Stores more rows than are passed on together, with texts of every kind.
    private func fill(_ store: any Store) async throws {
        try await store.write { transaction in
            try transaction.makeHome()
            try transaction.put(.sample("a", .appointments, patient: "pia", owner: "ann"))
            try transaction.putOccurrences(
                [
                    ChangedOccurrence(
                        circleID: "home", itemID: "a", originalStart: "20260121", startsAt: 1, endsAt: 2, content: "{}")
                ],
                now: 1)
            try transaction.insert(.sample("f"))
            for number in 0..<2000 { try transaction.set("n\(number)", to: "\(number)") }
            for (index, text) in ["", "ä", "a\u{308}", "\u{10FFFF}", "O'Neil \\ $1 %", "a\r\n\tb"].enumerated() {
                try transaction.set("text\(index)", to: text)
            }
            try transaction.set("long", to: String(repeating: "ß", count: 3_000_000))
        }
    }
}
