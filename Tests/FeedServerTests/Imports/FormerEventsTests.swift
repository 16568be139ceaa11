// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import HTTPTypes
import Synchronization
import Testing

@testable import FeedServer
@testable import KalendsCore
@testable import Storage

@Suite("Databases from before events had owners")
struct FormerEventsTests {
    /// Copies a database into the form of the version before, with all of a circle's events in one table.
    private func writeFormer(of path: String, to former: String) throws {
        let number = try #require(Schema.migrations.firstIndex { $0 == Schema.eventVersions })
        let queue = try DatabaseQueue(path: former)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.execute(sql: "CREATE TABLE schema_migrations (version BIGINT NOT NULL PRIMARY KEY)")
            for (index, statements) in Schema.migrations[..<number].enumerated() {
                for statement in statements {
                    try db.execute(sql: statement.replacing("/* clustered */", with: "WITHOUT ROWID"))
                }
                try db.execute(sql: "INSERT INTO schema_migrations (version) VALUES (?)", arguments: [index + 1])
            }
            try db.execute(sql: "DELETE FROM settings")
            try db.execute(sql: "ATTACH DATABASE ? AS present", arguments: [path])
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
            for table in tables where table != "schema_migrations" && table != "imported_events" {
                let columns = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info('\(table)', 'main')")
                    .joined(separator: ", ")
                try db.execute(sql: "INSERT INTO main.\(table) (\(columns)) SELECT \(columns) FROM present.\(table)")
            }
            // What is gone is there with a mark.
            try db.execute(
                sql: """
                    INSERT INTO main.imported_events (circle_id, uid, recurrence_id, sequence, starts_at, ends_at,
                        fingerprint, content, file_sequence, file_modified_at, imported_by, created_at, updated_at,
                        deleted_at, subscription_id)
                    SELECT circle_id, uid, recurrence_id, sequence, starts_at,
                        CASE WHEN ends_at = \(EventEpoch.open) THEN NULL ELSE ends_at END, fingerprint, content,
                        file_sequence, file_modified_at, imported_by, created_at, updated_at,
                        CASE WHEN until_epoch = \(EventEpoch.open) THEN NULL ELSE updated_at END,
                        CASE WHEN source LIKE 's:%' THEN substr(source, 3) ELSE NULL END
                    FROM present.event_versions
                    """)
            try db.execute(
                sql: """
                    UPDATE main.import_changes SET content_after = (
                        SELECT content FROM present.event_versions AS e
                        WHERE e.uid = import_changes.uid AND e.recurrence_id = import_changes.recurrence_id)
                    """)
            // Items said nothing of who may see them.
            try db.execute(
                sql: "UPDATE main.import_items SET items = REPLACE(items, ',\"shared\":true', '')")
            try db.execute(sql: "DETACH DATABASE present")
        }
        try queue.close()
    }

    @Test("Such a database shows every feed as before, keeps what is private, and undoes what was imported")
    func migrates() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "former-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = ServerSettings()
        settings.database = folder.appending(path: "k.sqlite").path
        let known = Mutex((bytes: [String: [UInt8]](), id: ""))
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let series = OneCalendar.event("s@x", "Choir", "RRULE:FREQ=WEEKLY")
            let changed = [
                "UID:s@x", "RECURRENCE-ID:20260317T090000Z", "DTSTART:20260317T100000Z", "SUMMARY:Concert",
                "CLASS:CONFIDENTIAL",
            ]
            let file = [
                OneCalendar.event("open@x", "Bins"), OneCalendar.event("secret@x", "Doctor", "CLASS:PRIVATE"),
                OneCalendar.event("word@x", "PRIVATE only in its title"), series, changed,
            ]
            let made = try await server.bring(file, as: "ann").expect(201)
            let gone = try await server.bring([OneCalendar.event("gone@x", "Gone", "SEQUENCE:41")], as: "ann").expect(
                201)
            let other = try #require(gone.json["id"]?.string)
            try await server.call(.post, "/v1/imports/\(other)/undo", as: "ann").expect(200)
            // An event that a calendar brought.
            try await server.services.store.write { transaction in
                transaction.concerns(circle: "c")
                let circle = try #require(try transaction.circle("c"))
                var event = try #require(try transaction.importedEvents(uids: ["open@x"], in: circle).first)
                (event.uid, event.source, event.importedBy) = ("followed@x", .subscription("sub"), "ben")
                try transaction.beginStaging(in: circle)
                try transaction.stage([event], in: circle)
                try transaction.publishEvents(in: circle, [event.source: 1], now: server.clock.now)
            }
            let paths = [try await server.makeFeed().path, try await server.makeFeed(user: "ben").path]
            for path in paths {
                let answer = try await server.raw(.get, path).expect(200)
                #expect(answer.values("SUMMARY").count == (path == paths[0] ? 6 : 3))
                known.withLock { $0.bytes[path] = answer.body }
            }
            known.withLock { $0.id = made.json["id"]?.string ?? "" }
            await server.services.turns.settle()
        }
        let former = folder.appending(path: "former.sqlite").path
        try writeFormer(of: settings.database, to: former)
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: settings.database + end) }
        try FileManager.default.moveItem(atPath: former, toPath: settings.database)
        let (bytes, id) = known.withLock { $0 }
        try await TestServer.run(settings: settings) { server in
            for (path, body) in bytes { #expect(try await server.raw(.get, path).expect(200).body == body) }
            // What was private is nobody else's to change, and new events begin above those that were gone.
            let ann = try #require(bytes.first { $0.value.count == bytes.values.map(\.count).max() }?.key)
            try await server.bring([OneCalendar.event("secret@x", "Mine")], as: "ben").expect(201)
            #expect(try await server.titles(ann).contains("Doctor"))
            try await server.bring([OneCalendar.event("gone@x", "Back")], as: "ann").expect(201)
            #expect(try await server.shown(ann).first { $0.title == "Back" }.map { $0.sequence > 41 } == true)
            #expect(try await server.call(.get, "/v1/imports/\(id)", as: "ben").expect(200).json["items"] == [])
            // An undo takes what that version imported, and keeps what was brought since.
            let undone = try await server.call(.post, "/v1/imports/\(id)/undo", as: "ann").expect(200).json
            #expect(undone["kept"] == [])
            #expect(try await server.titles(ann) == ["Back", "Bins", "Mine"])
        }
    }
}
