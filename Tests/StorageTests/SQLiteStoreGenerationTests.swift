// SPDX-License-Identifier: Apache-2.0

import Storage
import Testing

@Suite("The store's generation")
struct SQLiteStoreGenerationTests {
    private struct Refused: Error {}

    let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    @Test("It has risen when a write returns")
    func risesWithWrite() async throws {
        for _ in 1...3 {
            let before = home.store.generation
            try await home.write { try $0.set("name", to: "value") }
            #expect(home.store.generation > before)
        }
    }

    @Test("It rises too when a write throws, as an error may come after the commit")
    func risesWithFailure() async throws {
        let before = home.store.generation
        await #expect(throws: Refused.self) { try await home.write { _ in throw Refused() } }
        #expect(home.store.generation > before)
    }

    @Test("It stays when only something is recorded or read")
    func staysWithRecord() async throws {
        try await home.write { try $0.makeHome() }
        let before = home.store.generation
        try await home.store.record { try $0.set("name", to: "value") }
        #expect(try await home.read { try $0.setting("name") } == "value")
        #expect(home.store.generation == before)
    }

    @Test("It rises at the next record after another connection changed the database, and once only")
    func risesWithForeignChange() async throws {
        let before = home.store.generation
        let other = try SQLiteStore(path: home.path)
        try await other.write { try $0.set("name", to: "foreign") }
        try other.close()
        try await home.store.record { try $0.set("count", to: "1") }
        let after = home.store.generation
        #expect(after > before)
        try await home.store.record { try $0.set("count", to: "2") }
        #expect(home.store.generation == after)
    }
}
