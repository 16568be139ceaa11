// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StorageSQLite
import Testing

@Suite("Reading and writing")
struct SQLiteStoreTransactionTests {
    private struct Refused: Error {}

    let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    @Test("A write that throws leaves nothing behind")
    func rollsBack() async throws {
        await #expect(throws: Refused.self) {
            try await home.write { transaction in
                try transaction.makeHome()
                try transaction.set("name", to: "value")
                throw Refused()
            }
        }
        let (circle, setting) = try await home.read { (try $0.circle("home"), try $0.setting("name")) }
        #expect(circle == nil)
        #expect(setting == nil)
    }

    @Test("A statement that fails takes the whole write with it")
    func rollsBackFailedStatement() async throws {
        await #expect(throws: (any Error).self) {
            try await home.write { transaction in
                try transaction.set("name", to: "value")
                try transaction.execute("INSERT INTO settings (name, value) VALUES ('x', NULL)", [])
            }
        }
        #expect(try await home.read { try $0.setting("name") } == nil)
    }

    @Test("A hundred writes at once happen one after another")
    func writesSerially() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await home.write { transaction in
                        let count = Int(try transaction.setting("count") ?? "0") ?? 0
                        try transaction.set("count", to: "\(count + 1)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await home.read { try $0.setting("count") } == "100")
    }

    @Test("A read sees one moment, whatever is committed while it runs")
    func readsSnapshot() async throws {
        try await home.write { try $0.set("name", to: "before") }
        let (started, starting) = AsyncStream.makeStream(of: Void.self)
        let committed = DispatchSemaphore(value: 0)
        async let reading = home.read { transaction in
            defer { starting.finish() }
            let first = try transaction.setting("name")
            starting.finish()
            committed.wait()
            return [first, try transaction.setting("name")]
        }
        for await _ in started {}
        do {
            defer { committed.signal() }
            try await home.write { try $0.set("name", to: "after") }
            #expect(try await home.read { try $0.setting("name") } == "after")
        }
        #expect(try await reading == ["before", "before"])
    }

    @Test("A read cannot change anything")
    func readsOnly() async throws {
        await #expect(throws: (any Error).self) {
            try await home.read {
                try $0.rows("INSERT INTO settings (name, value) VALUES ('a', 'b') RETURNING name", [])
            }
        }
        #expect(try await home.read { try $0.setting("a") } == nil)
    }

    @Test(
        "Text comes back as it was put",
        arguments: ["", "O'Neil; DROP TABLE circles", "Zoë 👩‍👩‍👧 \u{FEFF}", "a\r\n\tb", "$1 %_"])
    func keepsText(text: String) async throws {
        try await home.write { try $0.set("text", to: text) }
        let read = try #require(try await home.read { try $0.setting("text") })
        #expect(read.utf8.elementsEqual(text.utf8))
    }

    @Test("Text with a NUL is refused, never cut at it")
    func refusesNUL() async throws {
        try await home.write { try $0.set("alice", to: "hers") }
        await #expect(throws: StorageError.self) { try await home.read { try $0.setting("alice\u{0}x") } }
        await #expect(throws: StorageError.self) { try await home.write { try $0.set("alice", to: "a\u{0}b") } }
        #expect(try await home.read { try $0.setting("alice") } == "hers")
    }

    @Test("A parameter may occur twice and in any order; integers keep all 64 bits and null is null")
    func bindsParameters() async throws {
        let row = try await home.read { transaction in
            try transaction.rows(
                "SELECT $2 AS second, $1 AS first, $2 AS again, $3 AS missing, $4 AS least",
                [.integer(.max), "two", nil, .integer(.min)]
            ).first
        }
        #expect(row?.integer("first") == .max)
        #expect(row?.integer("least") == .min)
        #expect(row?.text("second") == "two")
        #expect(row?.text("again") == "two")
        #expect(row?.text("missing") == nil && row?.integer("missing") == nil)
        #expect(throws: StorageError.self) { try row?.text(required: "missing") }
        #expect(throws: StorageError.self) { try row?.integer(required: "second") }
        #expect(throws: StorageError.self) { try row?.text(required: "unknown") }
    }

    @Test("An error reports the statement's fault without its values")
    func hidesValues() async throws {
        let secret = "4f1c9e77-do-not-log"
        let error = await #expect(throws: (any Error).self) {
            try await home.write { transaction in
                for _ in 1...2 {
                    try transaction.insertServiceKey(id: secret, name: secret, hash: hash("k"), hint: secret, now: 1)
                }
            }
        }
        let shown = try #require(error)
        for text in ["\(shown)", String(reflecting: shown), shown.localizedDescription] {
            #expect(!text.contains(secret))
        }
        #expect("\(shown)".lowercased().contains("unique"))
    }
}
