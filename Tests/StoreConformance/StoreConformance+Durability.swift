// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import Storage
import Testing

extension StoreConformance {
    static let durability: [StoreCheck] = [
        StoreCheck("What is committed is there when the database is opened again") { home async throws in
            // A database of its own: the one of the check is closed when the check has ended.
            let folder = home.folder.appending(path: "reopened")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let first = try home.engine.open(folder)
            try await first.write { try $0.set("written", to: "1") }
            try await first.record { try $0.set("recorded", to: "1") }
            try first.close()
            let again = try home.engine.open(folder)
            let found = try await again.read { [try $0.setting("written"), try $0.setting("recorded")] }
            #expect(found == ["1", "1"])
            try await again.checkSchema()
            try again.close()
        },
        StoreCheck("What is committed is seen at once by another server, and what is not is not") { home async throws in
            let other = try home.opened()
            defer { try? other.close() }
            try await home.store.write { try $0.set("name", to: "1") }
            #expect(try await other.read { try $0.setting("name") } == "1")
            await #expect(throws: Refused.self) {
                try await home.store.write { transaction in
                    try transaction.set("name", to: "2")
                    throw Refused()
                }
            }
            #expect(try await other.read { try $0.setting("name") } == "1")
        },
        StoreCheck("A commit that fails keeps nothing, is reported in our words, and the next write is not harmed") {
            home async throws in
            try await home.store.write { transaction in
                try transaction.execute("CREATE TABLE parents (id TEXT NOT NULL PRIMARY KEY)", [])
                try transaction.execute(
                    """
                    CREATE TABLE children (id TEXT NOT NULL PRIMARY KEY,
                        parent TEXT NOT NULL REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)
                    """, [])
            }
            let mark = WriteClock.Slot(circle: "c")
            let before = home.store.clock.now
            let error = await #expect(throws: StorageError.self) {
                try await home.store.write { transaction in
                    transaction.concerns(circle: "c")
                    try transaction.set("name", to: "value")
                    // Looked at when the transaction ends, and not before.
                    try transaction.execute("INSERT INTO children VALUES ('x', 'nobody')", [])
                }
            }
            guard case .contradiction? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            // An error at the commit may come after it: what is remembered is looked up again.
            #expect(!home.store.clock.isUnchanged(mark, since: before))
            try await home.store.read { transaction throws in
                #expect(try transaction.setting("name") == nil)
                #expect(try transaction.rows("SELECT id FROM children", []).isEmpty)
            }
            try await home.store.write { transaction in
                try transaction.execute("INSERT INTO children VALUES ('x', 'somebody')", [])
                try transaction.execute("INSERT INTO parents VALUES ('somebody')", [])
                try transaction.set("name", to: "value")
            }
            #expect(try await home.store.read { try $0.setting("name") } == "value")
        },
    ]

    static let clock: [StoreCheck] = [
        StoreCheck("The clock of writes has risen when a write returns or throws, and stays with a record and a read") {
            home async throws in
            for _ in 1...3 {
                let before = home.store.clock.now
                try await home.store.write { try $0.set("name", to: "value") }
                #expect(home.store.clock.now > before)
            }
            var before = home.store.clock.now
            await #expect(throws: Refused.self) { try await home.store.write { _ in throw Refused() } }
            #expect(home.store.clock.now > before)
            before = home.store.clock.now
            try await home.store.record { try $0.set("name", to: "other") }
            #expect(try await home.store.read { try $0.setting("name") } == "other")
            #expect(home.store.clock.now == before)
        },
        StoreCheck("A write that names its circle makes nothing stale of others; one that names none, of all") {
            home async throws in
            let (one, other) = (WriteClock.Slot(circle: "one"), WriteClock.Slot(circle: "other"))
            // Marks are shared by chance; two of the same say nothing here.
            guard one != other else { return }
            var before = home.store.clock.now
            try await home.store.write { transaction in
                transaction.concerns(circle: "one")
                try transaction.set("name", to: "value")
            }
            #expect(!home.store.clock.isUnchanged(one, since: before))
            #expect(home.store.clock.isUnchanged(other, since: before))
            before = home.store.clock.now
            try await home.store.write { transaction in
                transaction.concernsNamedCirclesOnly()
                try transaction.set("name", to: "again")
            }
            for mark in [one, other] { #expect(home.store.clock.isUnchanged(mark, since: before)) }
            try await home.store.write { try $0.set("name", to: "another") }
            for mark in [one, other] { #expect(!home.store.clock.isUnchanged(mark, since: before)) }
        },
        StoreCheck("A change by another server makes stale what is remembered, once it is looked for") {
            home async throws in
            let other = try home.opened()
            try await other.write { try $0.set("name", to: "foreign") }
            try other.close()
            let before = home.store.clock.now
            try await home.store.lookForForeignChange()
            #expect(!home.store.clock.isUnchanged(WriteClock.Slot(circle: "any"), since: before))
            let after = home.store.clock.now
            try await home.store.lookForForeignChange()
            #expect(home.store.clock.now == after)
        },
    ]

    static let maintenance: [StoreCheck] = [
        StoreCheck("A new database is whole, has our schema, holds no strange value, and says what engine keeps it") {
            home async throws in
            #expect(try await home.store.integrityCheck() == "ok")
            try await home.store.checkSchema()
            #expect(try await home.store.valueFaults().isEmpty)
            #expect(try await !home.store.engineVersion().isEmpty)
            #expect(home.store.isInPlace)
            #expect(try await home.store.size() > 0)
            try await home.store.forgetStatistics()
            try await home.store.checkSchema()
        },
        StoreCheck("The size grows with what is stored, and the gauge counts writes") { home async throws in
            let (before, count) = (try await home.store.size(), home.store.writes.count)
            // An engine may keep a text that repeats itself in less room.
            let long = (0..<80_000).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
            try await home.store.write { try $0.set("long", to: long) }
            #expect(try await home.store.size() > before + 500_000)
            #expect(home.store.writes.count > count)
        },
        StoreCheck("A table that is not ours is found") { home async throws in
            try await home.store.write { _ = try $0.execute("CREATE TABLE foreign_table (id TEXT)", []) }
            await #expect(throws: StorageError.self) { try await home.store.checkSchema() }
        },
        StoreCheck("A number beyond what its column may hold is found, with its row") { home async throws in
            try await home.store.write { transaction in
                _ = try transaction.putCircle(Circle(id: "far", name: "Far", timeZone: "UTC"), now: 1)
                try transaction.execute("UPDATE circles SET created_at = $1", [.integer(.max)])
            }
            let faults = try await home.store.valueFaults()
            #expect(faults.map(\.table) == ["circles"])
            #expect(faults.first?.row.contains("far") == true)
        },
        StoreCheck("A backup that is made while others write is one moment of the database, and opens by itself") {
            home async throws in
            let path = home.folder.appending(path: "copy").path
            try await home.store.write { transaction in
                try transaction.set("left", to: "0")
                try transaction.set("right", to: "0")
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 1...40 {
                        try await home.store.write { transaction in
                            try transaction.set("left", to: "\(number)")
                            try transaction.set("right", to: "\(number)")
                        }
                    }
                }
                group.addTask { try await home.store.backup(to: path) }
                try await group.waitForAll()
            }
            let copy = try home.engine.openCopy(path)
            let pair = try await copy.read { [try $0.setting("left"), try $0.setting("right")] }
            #expect(pair[0] == pair[1] && pair[0] != nil)
            #expect(try await copy.integrityCheck() == "ok")
            try await copy.checkSchema()
            try copy.close()
        },
        StoreCheck("Work in steps is done in its order and to its end, and ends with the first failure") {
            home async throws in
            try await home.store.recordInSteps(
                (0..<100).map { number in
                    { transaction in
                        let text = try transaction.setting("order") ?? ""
                        try transaction.set("order", to: "\(text) \(number)")
                    }
                })
            let order = (0..<100).map { " \($0)" }.joined()
            #expect(try await home.store.read { try $0.setting("order") } == order)
            await #expect(throws: Refused.self) {
                try await home.store.recordInSteps([
                    { try $0.set("first", to: "1") }, { _ in throw Refused() }, { try $0.set("third", to: "1") },
                ])
            }
            #expect(try await home.store.read { try $0.setting("third") } == nil)
        },
    ]
}

extension Webhook {
    static func sample(_ id: String) -> Webhook {
        Webhook(
            id: id, sealedURL: "sealed", circles: nil, subjects: nil, sealedSecret: "sealed", secretHint: "hint",
            position: 0, now: 1)
    }
}
