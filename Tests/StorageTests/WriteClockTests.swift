// SPDX-License-Identifier: Apache-2.0

import Storage
import StorageSQLite
import StoreConformance
import Testing

@Suite("The store's clock of writes")
struct WriteClockTests {
    private struct Refused: Error {}

    let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    @Test("It has risen when a write returns")
    func risesWithWrite() async throws {
        for _ in 1...3 {
            let before = home.store.clock.now
            try await home.write { try $0.set("name", to: "value") }
            #expect(home.store.clock.now > before)
        }
    }

    @Test("It rises too when a write throws, as an error may come after the commit")
    func risesWithFailure() async throws {
        let before = home.store.clock.now
        await #expect(throws: Refused.self) { try await home.write { _ in throw Refused() } }
        #expect(home.store.clock.now > before)
    }

    @Test("It stays when a write fails before its body runs, as then nothing can be stored")
    func staysWithoutBody() async throws {
        let before = home.store.clock.now
        try home.store.close()
        await #expect(throws: (any Error).self) { try await home.write { _ in } }
        #expect(home.store.clock.now == before)
    }

    @Test("It stays when only something is recorded or read")
    func staysWithRecord() async throws {
        try await home.write { try $0.makeHome() }
        let before = home.store.clock.now
        try await home.store.record { try $0.set("name", to: "value") }
        #expect(try await home.read { try $0.setting("name") } == "value")
        #expect(home.store.clock.now == before)
    }

    @Test(
        "It rises at the next record after another connection changed the database, and once only",
        .enabled(if: !TestedStore.isPostgreSQL, "The other connection opens the file"))
    func risesWithForeignChange() async throws {
        let before = home.store.clock.now
        let other = try SQLiteStore(path: home.path)
        try await other.write { try $0.set("name", to: "foreign") }
        try other.close()
        try await home.store.record { try $0.set("count", to: "1") }
        let after = home.store.clock.now
        #expect(after > before)
        try await home.store.record { try $0.set("count", to: "2") }
        #expect(home.store.clock.now == after)
    }

    @Test(
        "A change by another connection is found by a look, too, where nothing is written here",
        .enabled(if: !TestedStore.isPostgreSQL, "The other connection opens the file"))
    func findsForeignChange() async throws {
        let before = home.store.clock.now
        let other = try SQLiteStore(path: home.path)
        try await other.write { try $0.set("name", to: "foreign") }
        try other.close()
        try await home.store.lookForForeignChange()
        #expect(!home.store.clock.isUnchanged(WriteClock.Slot(circle: "any"), since: before))
    }

    @Test("A write that names its circle makes nothing stale of others; one that names none, of all")
    func concernsCircles() async throws {
        let (one, other) = (WriteClock.Slot(circle: "one"), WriteClock.Slot(circle: "other"))
        try #require(one != other, "the two share a mark by chance")
        var before = home.store.clock.now
        try await home.write { transaction in
            transaction.concerns(circle: "one")
            try transaction.set("name", to: "value")
        }
        #expect(!home.store.clock.isUnchanged(one, since: before))
        #expect(home.store.clock.isUnchanged(other, since: before))
        #expect(home.store.clock.isUnchanged(one, since: home.store.clock.now))
        before = home.store.clock.now
        await #expect(throws: Refused.self) {
            try await home.write { transaction in
                transaction.concerns(circle: "one")
                throw Refused()
            }
        }
        #expect(!home.store.clock.isUnchanged(one, since: before), "a failure may come after the commit")
        before = home.store.clock.now
        try await home.write { try $0.set("name", to: "another") }
        for mark in [one, other] { #expect(!home.store.clock.isUnchanged(mark, since: before)) }
    }
}
