// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import Synchronization
import Testing

@testable import Storage
@testable import StoragePostgreSQL

@Suite(
    "Commits that PostgreSQL did not answer",
    .enabled(if: PostgreSQLServer.address != nil, "There is no PostgreSQL: run by Scripts/postgresql.sh"))
struct PostgreSQLOutcomeTests {
    private struct Unwanted: Error {}

    @Test("What a server says of one counts only once it has confirmed since that it was not replaced")
    func asksLeader() async throws {
        try await TemporaryStore.withDirectory { directory in
            let store = try #require(
                try TestedPostgreSQL.share(directory.appending(path: "k").path) as? PostgreSQLStore)
            defer { try? store.close() }
            _ = try await store.confirm()
            let start = try store.maker.session().serverStart
            for isKept in [false, true] {
                let given = Mutex<Int?>(nil)
                try? await store.write { transaction in
                    given.withLock { $0 = transaction.sharedNumber }
                    if !isKept { throw Unwanted() }
                }
                let number = String(try #require(given.withLock { $0 }))
                let mayAsk = DispatchSemaphore(value: 0)
                store.confirmations.worker.begin { _ in mayAsk.wait() }
                let unconfirmed = await Self.outcome(store, number, start, .milliseconds(400))
                mayAsk.signal()
                #expect(unconfirmed == nil)
                #expect(await Self.outcome(store, number, start, .seconds(20)) == isKept)
                // A server that was started at another time may have given the number to another transaction.
                #expect(await Self.outcome(store, number, "1", .seconds(20)) == (isKept ? nil : false))
            }
        }
    }

    /// Asks on a thread that may wait.
    private static func outcome(
        _ store: PostgreSQLStore, _ number: String, _ start: String?, _ patience: Duration
    ) async -> Bool? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: store.outcome(of: number, serverStart: start, isWarned: false, for: patience))
            }
        }
    }
}
