// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StorageSQLite
import Testing

@testable import Storage

@Suite("Entries of the audit trail")
struct AuditEntryTests {
    private static func entry(_ number: Int, circle: String? = nil) -> AuditEntry {
        AuditEntry(
            number: number, at: number, actor: "operator", action: "a", subject: "s", circleID: circle, detail: "{}",
            previousHash: "p", hash: "\(number)")
    }

    @Test("They come back as they were, the latest first, of one circle or of all; a number is given once")
    func stored() async throws {
        let home = try TemporaryStore()
        try await home.write { transaction throws in
            for number in 1...5 {
                try transaction.insert(Self.entry(number, circle: number % 2 == 0 ? "c" : nil))
            }
        }
        try await home.read { transaction throws in
            #expect(try transaction.lastAuditEntry() == Self.entry(5))
            #expect(try transaction.auditEntry(2) == Self.entry(2, circle: "c"))
            #expect(try transaction.auditEntries(before: .max, in: nil, limit: 2).map(\.number) == [5, 4])
            #expect(try transaction.auditEntries(before: 4, in: "c", limit: 2).map(\.number) == [2])
            #expect(try transaction.auditEntries(from: 2, limit: 2).map { $0?.number } == [2, 3])
        }
        await #expect(throws: (any Error).self) { try await home.write { try $0.insert(Self.entry(5)) } }
    }

    @Test("An earlier database keeps what it has and gets an empty trail, which outlives a circle")
    func migrates() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite").path
            let former = Schema.migrations.prefix { $0 != Schema.auditTrail }
            #expect(former.count < Schema.migrations.count)
            let queue = try DatabaseQueue(path: path)
            try await queue.write { db throws in
                try db.execute(sql: "CREATE TABLE schema_migrations (version BIGINT NOT NULL PRIMARY KEY)")
                for (index, statements) in former.enumerated() {
                    for statement in statements { try db.execute(sql: statement) }
                    try db.execute(sql: "INSERT INTO schema_migrations VALUES (?)", arguments: [index + 1])
                }
                try db.execute(
                    sql: """
                        INSERT INTO circles (id, name, time_zone, version, changed_at, created_at, updated_at)
                        VALUES ('home', 'Home', 'UTC', 1, 1, 1, 1)
                        """)
            }
            try queue.close()
            let store = try SQLiteStore(path: path)
            try await store.write { transaction throws in
                #expect(try transaction.circle("home")?.name == "Home")
                #expect(try transaction.lastAuditEntry() == nil)
                try transaction.insert(Self.entry(1, circle: "home"))
                #expect(try transaction.deleteCircle("home", now: 2))
                #expect(try transaction.lastAuditEntry() == Self.entry(1, circle: "home"))
            }
            try store.close()
        }
    }
}
