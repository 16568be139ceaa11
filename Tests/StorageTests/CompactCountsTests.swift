// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StorageSQLite
import Testing

@testable import Storage

@Suite("Moving counts into compact tables")
struct CompactCountsTests {
    @Test("An earlier database keeps its counts, clients and lists, and goes on counting")
    func migrates() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite").path
            try makeFormer(path)
            let store = try SQLiteStore(path: path)
            try await store.record { transaction in
                let (f, g) = (try #require(try transaction.feed("f")), try #require(try transaction.feed("g")))
                #expect(f.accessCount == 5 && g.accessCount == 2)
                #expect(f.lastAccessedAt == 86_400_005 && g.lastAccessedAt == 9)
                #expect(f.number == 1 && g.number == 2)
                #expect(try transaction.clients(of: "f").map(\.client).elementsEqual([3, 0]))
                #expect(try transaction.clients(of: "f").map(\.accessCount).elementsEqual([4, 1]))
                #expect(try transaction.accesses(of: "f", limit: 9).map(\.number).elementsEqual([5, 4, 3]))
                #expect(try transaction.accesses(of: "f", limit: 9).map(\.network).first == "192.0.2.0/24")
                #expect(try transaction.clientDays(of: "f").map(\.day).elementsEqual([1, 0, 0]))
                try transaction.count([.sample("f", at: 86_400_009, client: 3), .sample("g", at: 10)])
                #expect(try transaction.accesses(of: "f", limit: 9).map(\.number).elementsEqual([6, 5, 4, 3]))
                #expect(try transaction.accesses(of: "g", limit: 9).map(\.number).elementsEqual([3, 2, 1]))
                #expect(try transaction.feed("f")?.lastAccessedAt == 86_400_009)
                #expect(try transaction.insertFeed(.sample("h", label: "h"), tokenHash: hash("h")) == 3)
            }
            try store.close()
        }
    }

    /// Creates a database as the second version of the schema had it.
    private func makeFormer(_ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            let statements =
                ["CREATE TABLE schema_migrations (version BIGINT NOT NULL PRIMARY KEY)"] + Schema.first
                + Schema.changeVersions + ["INSERT INTO schema_migrations (version) VALUES (1), (2)"]
            for statement in statements { try db.execute(sql: statement) }
            try db.execute(
                sql: """
                    INSERT INTO circles VALUES ('home', 'Home', 'UTC', 1, 1, 1, 1);
                    INSERT INTO members (circle_id, user_id, display_name, role, created_at, updated_at)
                        VALUES ('home', 'ann', 'Ann', 'member', 1, 1);
                    INSERT INTO feeds (id, circle_id, user_id, label, config, shown_changed_at, config_changed_at,
                        token_hint, sealed_token, created_at, updated_at, access_count, last_accessed_at)
                    VALUES ('f', 'home', 'ann', NULL, '{}', 0, 1, '', '', 1, 1, 5, 86400005),
                        ('g', 'home', 'ann', 'g', '{}', 0, 1, '', '', 2, 2, 2, 9);
                    INSERT INTO feed_clients VALUES ('f', 'Google Calendar', 4, 86400005), ('f', 'Other', 1, 3),
                        ('g', 'Browser', 2, 9);
                    INSERT INTO feed_accesses VALUES ('f', 3, 3, 'Other', 200, 'local'),
                        ('f', 4, 4, 'Google Calendar', 304, '192.0.2.0/24'),
                        ('f', 5, 86400005, 'Google Calendar', 304, '192.0.2.0/24'),
                        ('g', 1, 8, 'Browser', 200, 'local'), ('g', 2, 9, 'Browser', 200, 'local');
                    """)
        }
        try queue.close()
    }
}
