// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization
import Testing

extension StoreConformance {
    struct Refused: Error {}

    static let transactions: [StoreCheck] = [
        StoreCheck("A write that throws leaves nothing behind, and its error is the caller's") { home async throws in
            await #expect(throws: Refused.self) {
                try await home.store.write { transaction in
                    _ = try transaction.putCircle(Circle(id: "home", name: "Home", timeZone: "UTC"), now: 1)
                    try transaction.set("name", to: "value")
                    throw Refused()
                }
            }
            let (circle, setting) = try await home.store.read { (try $0.circle("home"), try $0.setting("name")) }
            #expect(circle == nil && setting == nil)
        },
        StoreCheck("A statement that fails takes the whole write with it") { home async throws in
            await #expect(throws: StorageError.self) {
                try await home.store.write { transaction in
                    try transaction.set("name", to: "value")
                    try transaction.execute("INSERT INTO settings (name, value) VALUES ('x', NULL)", [])
                }
            }
            #expect(try await home.store.read { try $0.setting("name") } == nil)
        },
        StoreCheck("A write reads what it wrote itself") { home async throws in
            let values = try await home.store.write { transaction in
                let before = try transaction.setting("name")
                try transaction.set("name", to: "value")
                return [before, try transaction.setting("name")]
            }
            #expect(values == [nil, "value"])
        },
        StoreCheck("A read cannot change anything") { home async throws in
            await #expect(throws: (any Error).self) {
                try await home.store.read {
                    try $0.rows("INSERT INTO settings (name, value) VALUES ('a', 'b') RETURNING name", [])
                }
            }
            #expect(try await home.store.read { try $0.setting("a") } == nil)
        },
        StoreCheck("Queries that were announced have their own rows, whichever of them are asked and in which order") {
            home async throws in
            try await home.store.write { transaction in
                for name in ["a", "b", "c", "d"] { try transaction.set(name, to: name + "1") }
            }
            for asked in ["abcd", "a", "d", "bd", "dcba", "aab", "xbx", "", "abcdabcd"] {
                let values = try await home.store.read { transaction in
                    try transaction.expect { next in
                        for name in ["a", "b", "c", "d"] { _ = try next.setting(name) }
                    }
                    return try asked.map { try transaction.setting(String($0)) }
                }
                #expect(values == asked.map { $0 == "x" ? nil : "\($0)1" })
            }
            // In a write an announced query sees what was written before it is asked.
            let written = try await home.store.write { transaction in
                try transaction.expect { _ = try $0.setting("a") }
                try transaction.set("a", to: "a2")
                return try transaction.setting("a")
            }
            #expect(written == "a2")
        },
        StoreCheck("A statement reports how many rows it changed, and RETURNING gives them") { home async throws in
            let (changed, none, rows) = try await home.store.write { transaction in
                try transaction.set("a", to: "1")
                try transaction.set("b", to: "2")
                let sql = "UPDATE settings SET value = 'x' WHERE name IN ($1, $2)"
                return (
                    try transaction.execute(sql, ["a", "b"]), try transaction.execute(sql, ["c", "d"]),
                    try transaction.rows("UPDATE settings SET value = 'y' WHERE name = $1 RETURNING name", ["a"])
                )
            }
            #expect(changed == 2 && none == 0)
            #expect(rows.compactMap { $0.text("name") } == ["a"])
        },
        StoreCheck(
            "What breaks a rule of the schema is a contradiction, in words without a value and without a type of the engine"
        ) {
            home async throws in
            let secret = "4f1c9e77-do-not-log"
            try await home.store.write { try $0.set(secret, to: "1") }
            let statements: [(String, [SQLValue])] = [
                ("INSERT INTO settings (name, value) VALUES ($1, '2')", [.text(secret)]),
                ("INSERT INTO settings (name, value) VALUES ($1, NULL)", [.text(secret + "2")]),
                (
                    "INSERT INTO patients (circle_id, id, display_name, created_at, updated_at) VALUES ($1, 'p', 'P', 1, 1)",
                    [.text(secret)]
                ),
                (
                    """
                    INSERT INTO circles (id, name, time_zone, version, changed_at, created_at, updated_at)
                    VALUES ('', $1, 'UTC', 1, 1, 1, 1)
                    """, [.text(secret)]
                ),
            ]
            for (sql, arguments) in statements {
                let error = await #expect(throws: StorageError.self) {
                    try await home.store.write { _ = try $0.execute(sql, arguments) }
                }
                guard case .contradiction? = error else {
                    Issue.record("\(sql) throws \(String(describing: error))")
                    continue
                }
                let texts = [error.map { "\($0)" } ?? "", String(reflecting: error)]
                for text in texts { #expect(!text.contains(secret), "\(sql)") }
            }
        },
        StoreCheck("A statement that makes no sense is the engine's failure, in our words") { home async throws in
            await #expect(throws: StorageError.self) {
                try await home.store.read { try $0.rows("SELECT * FROM nowhere", []) }
            }
            await #expect(throws: StorageError.self) {
                try await home.store.write { _ = try $0.execute("SELEKT 1", []) }
            }
        },
        StoreCheck("A caller that is cancelled leaves a whole write or none, and those behind it are served") {
            home async throws in
            let count = 20
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    group.addTask {
                        let own = Task {
                            try? await home.store.write { transaction in
                                try transaction.set("a\(number)", to: "1")
                                try transaction.set("b\(number)", to: "1")
                            }
                        }
                        if number % 2 == 0 { own.cancel() }
                        _ = await own.value
                    }
                }
            }
            try await home.store.read { transaction in
                for number in 0..<count {
                    let pair = [try transaction.setting("a\(number)"), try transaction.setting("b\(number)")]
                    #expect(pair[0] == pair[1])
                    if number % 2 == 1 { #expect(pair == ["1", "1"]) }
                }
            }
        },
    ]
}
