// SPDX-License-Identifier: Apache-2.0

import Storage
import StorageSQLite
import Testing

@Suite("Service keys and settings")
struct ServiceKeyTests {
    let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    @Test("A key is found by its hash until it is revoked, and listed ever after")
    func revokes() async throws {
        try await home.write { transaction in
            for id in ["b", "a"] {
                try transaction.insertServiceKey(id: id, name: "App", hash: hash(id), hint: "kal_sk_ab…", now: 3)
            }
            let key = try #require(try transaction.serviceKey(hash: hash("a")))
            #expect(key.id == "a" && key.name == "App" && key.hint == "kal_sk_ab…" && key.createdAt == 3)
            #expect(key.revokedAt == nil && key.lastUsedAt == nil)
            try transaction.noteUse(ofServiceKey: "a", now: 5)
            #expect(try transaction.serviceKey("a")?.lastUsedAt == 5)

            #expect(try transaction.revokeServiceKey("a", now: 9))
            #expect(try !transaction.revokeServiceKey("a", now: 10))
            #expect(try !transaction.revokeServiceKey("unknown", now: 10))
            #expect(try transaction.serviceKey(hash: hash("a")) == nil)
            #expect(try transaction.serviceKey("a")?.revokedAt == 9)
            #expect(try transaction.serviceKey(hash: hash("b"))?.id == "b")
            #expect(try transaction.serviceKeys(after: "", limit: 9).map(\.id) == ["a", "b"])
            #expect(try transaction.serviceKeys(after: "a", limit: 1).map(\.id) == ["b"])
        }
    }

    @Test("Two keys never share a hash")
    func keepsHashesApart() async throws {
        await #expect(throws: (any Error).self) {
            try await home.write { transaction in
                for id in ["a", "b"] {
                    try transaction.insertServiceKey(id: id, name: id, hash: hash("same"), hint: "", now: 1)
                }
            }
        }
    }

    @Test("A setting is what was set last, and nil before")
    func remembersSettings() async throws {
        try await home.write { transaction in
            #expect(try transaction.setting("titlePrefix") == nil)
            try transaction.set("titlePrefix", to: "CK")
            try transaction.set("titlePrefix", to: "")
            #expect(try transaction.setting("titlePrefix") == "")
        }
    }
}
