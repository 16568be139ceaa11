// SPDX-License-Identifier: Apache-2.0

import Base
import FoundationEssentials
import Storage
import StorageSQLite
import StoreConformance
import Testing

@Suite("Reads of polls")
struct PollReadTests {
    @Test(
        "A poll is read while lists and exports keep all other connections, and a list while one caller reads much",
        .timeLimit(.minutes(1)), arguments: [true, false])
    func passes(isPoll: Bool) async throws {
        try await TemporaryStore.withDirectory { directory in
            let store = try SQLiteStore(path: directory.appending(path: "k.sqlite").path)
            defer { try? store.close() }
            try await Self.passes(isPoll, store, places: 4)
        }
    }

    @Test(
        "So it is with PostgreSQL", .timeLimit(.minutes(1)),
        .enabled(if: PostgreSQLServer.address != nil, "There is no PostgreSQL: run by Scripts/postgresql.sh"),
        arguments: [true, false])
    func passesPostgreSQL(isPoll: Bool) async throws {
        try await TemporaryStore.withDirectory { directory in
            let store = try TestedPostgreSQL.open(directory.appending(path: "k").path, isOnly: false)
            defer { try? store.close() }
            try await Self.passes(isPoll, store, places: 5)
        }
    }

    /// - Parameter places: those of reads that are not short.
    private static func passes(_ isPoll: Bool, _ store: any Store, places: Int) async throws {
        let (begun, goesOn) = (Semaphore(), Semaphore())
        func long(_ caller: String) -> Task<Void, any Error> {
            Task {
                try await DatabaseCaller.$current.withValue(DatabaseCaller(ByteString(caller))) {
                    try await store.read { _ in
                        begun.signal()
                        goesOn.wait()
                    }
                }
            }
        }
        let lists = (0..<12).map { long(isPoll ? "caller \($0)" : "ann") }
        await withCheckedContinuation { (begin: CheckedContinuation<Void, Never>) in
            let waiter = SystemThread()
            try? waiter.start {
                for _ in 0..<(isPoll ? places : 2) { begun.wait() }
                begin.resume()
            }
        }
        let found = try await ReadPurpose.$isShort.withValue(isPoll) {
            try await DatabaseCaller.$current.withValue(DatabaseCaller("ben")) {
                try await store.read { try $0.latestChange() }
            }
        }
        #expect(found == 0)
        for _ in lists { goesOn.signal() }
        // Those that never had a turn may have been refused by now.
        for list in lists { _ = await list.result }
    }
}
