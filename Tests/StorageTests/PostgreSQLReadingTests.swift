// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StoreConformance
import Synchronization
import Testing

@testable import StoragePostgreSQL

@Suite(
    "Reads from PostgreSQL",
    .enabled(if: PostgreSQLServer.address != nil, "There is no PostgreSQL: run by Scripts/postgresql.sh"))
struct PostgreSQLReadingTests {
    private struct Unwanted: Error {}

    private static func run(_ body: (any Store & StoreMaintenance) async throws -> Void) async throws {
        try await TemporaryStore.withDirectory { directory in
            let store = try TestedPostgreSQL.open(directory.appending(path: "k").path, isOnly: false)
            defer { try? store.close() }
            try await body(store)
        }
    }

    private static func session(_ transaction: any ReadTransaction) throws -> StoragePostgreSQL.Session {
        try #require(transaction as? PostgreSQLTransaction).session
    }

    /// How often a read waits, in the session that it gets, and the server's process for that.
    private static func waits(
        _ store: any Store, _ body: @escaping @Sendable (any ReadTransaction) throws -> Void
    ) async throws -> (count: Int, process: Int) {
        try await store.read { transaction in
            let session = try session(transaction)
            let before = session.waits
            try body(transaction)
            return (session.waits - before, session.process)
        }
    }

    /// A query that gives its number, or fails when there is no such quotient.
    private static func quotient(_ transaction: any ReadTransaction, _ number: Int, by other: Int = 1) throws -> Int? {
        try transaction.rows(
            "SELECT CAST($1 AS BIGINT) / CAST($2 AS BIGINT) AS value", [.integer(number), .integer(other)]
        ).first?.integer("value")
    }

    @Test("A read waits once for a query, once for all that were announced, and for none that it does not ask")
    func waits() async throws {
        try await Self.run { store in
            try await store.write { try $0.makeHome() }
            // The first time they have to be prepared, too.
            for _ in 0..<3 {
                #expect(try await Self.waits(store) { _ in }.count == 0)
                #expect(try await Self.waits(store) { _ = try $0.setting("a") }.count == 1)
                let both = try await Self.waits(store) { transaction in
                    #expect(try transaction.circle("home")?.name == "Home")
                    try transaction.expect { next in
                        _ = try next.membersEverKnown(in: "home")
                        _ = try next.patientsEverKnown(in: "home")
                    }
                    #expect(try transaction.membersEverKnown(in: "home").map(\.userID) == ["ann", "bob"])
                    #expect(try transaction.patientsEverKnown(in: "home").map(\.id) == ["pia", "quin"])
                }
                #expect(both.count == 2)
            }
        }
    }

    @Test("Of announced queries those before one that fails have their rows, and the session goes on", arguments: 0..<4)
    func fails(place: Int) async throws {
        try await Self.run { store in
            let process = try await Self.waits(store) { _ = try Self.quotient($0, 1) }.process
            let answers = Mutex<[Int?]>([])
            let ask: @Sendable (any ReadTransaction) throws -> Void = { transaction in
                answers.withLock { $0 = [] }
                for number in 0..<4 {
                    let answer = try Self.quotient(transaction, number, by: number == place ? 0 : 1)
                    answers.withLock { $0.append(answer) }
                }
            }
            await #expect(throws: StorageError.refused(state: "22012")) {
                try await store.read { transaction in
                    try transaction.expect(ask)
                    try ask(transaction)
                }
            }
            #expect(answers.withLock { $0 } == (0..<place).map(Optional.some))
            // Nor is one used that was announced in vain, or asked by a body that goes on.
            await #expect(throws: StorageError.refused(state: "22012")) {
                try await store.read { transaction in try transaction.expect(ask) }
            }
            await #expect(throws: StorageError.refused(state: "22012")) {
                try await store.read { transaction in
                    try transaction.expect(ask)
                    _ = try? ask(transaction)
                    _ = try? Self.quotient(transaction, 7)
                }
            }
            let after = try await Self.waits(store) { next throws in #expect(try Self.quotient(next, 9, by: 3) == 3) }
            #expect(after.process == process && after.count == 1)
        }
    }

    @Test("A statement that cannot be prepared is refused like any other, and not kept")
    func cannotPrepare() async throws {
        try await Self.run { store async throws in
            for _ in 0..<3 {
                await #expect(throws: StorageError.refused(state: "42P01")) {
                    try await store.read { transaction in
                        try transaction.expect { next in
                            _ = try next.setting("a")
                            _ = try next.rows("SELECT * FROM nowhere", [])
                            _ = try next.rows("SELECT 1 AS value", [])
                        }
                        #expect(try transaction.setting("a") == nil)
                        _ = try transaction.rows("SELECT * FROM nowhere", [])
                    }
                }
                #expect(try await store.read { try $0.numbers("SELECT 1 AS value") } == [1])
            }
        }
    }

    @Test("Rows that nobody takes, or that a body refuses, are none of the next read's")
    func leavesRows() async throws {
        try await Self.run { store in
            let many = "SELECT n AS value, repeat('x', 1000) AS text FROM generate_series(1, 30000) AS n"
            let process = try await Self.waits(store) { _ = try Self.quotient($0, 1) }.process
            for round in 0..<3 {
                await #expect(throws: Unwanted.self) {
                    try await store.read { transaction in
                        try transaction.expect { next in
                            _ = try next.rows(many, [])
                            _ = try next.rows(many + " WHERE n > 2", [])
                        }
                        if round == 0 { throw Unwanted() }
                        try transaction.eachRow(round == 1 ? many : many + " WHERE n > 2", []) { row in
                            if try row.integer(required: "value") > 5 { throw Unwanted() }
                        }
                    }
                }
                let after = try await Self.waits(store) { next in
                    let answer = try Self.quotient(next, 8, by: 2)
                    #expect(answer == 4)
                }
                #expect(after.process == process && after.count == 1)
            }
        }
    }

    private static let end = "SELECT pg_terminate_backend(CAST($1 AS INT)) AS value"

    @Test("A session that the server ends before a read, or at any of its queries, is replaced", arguments: -1..<3)
    func isLost(place: Int) async throws {
        try await Self.run { store in
            let process = try await Self.waits(store) { _ = try Self.quotient($0, 1) }.process
            if place < 0 {
                try await store.write { transaction in
                    _ = try transaction.rows(Self.end, [.integer(process)])
                }
            }
            let runs = Mutex(0)
            let ask: @Sendable (any ReadTransaction) throws -> [Int?] = { transaction in
                let isFirst = runs.withLock { $0 } == 1
                return try (0..<3).map { number in
                    // The process of the first session, so that no other one ends.
                    if isFirst, number == place {
                        _ = try transaction.rows(Self.end, [.integer(process)])
                    }
                    return try Self.quotient(transaction, number)
                }
            }
            let (answers, after) = try await store.read { transaction in
                runs.withLock { $0 += 1 }
                try transaction.expect { _ = try ask($0) }
                return (try ask(transaction), try Self.session(transaction).process)
            }
            #expect(answers == [0, 1, 2] && after != process)
            #expect(runs.withLock { $0 } == 2)
        }
    }

    @Test("A query that takes longer than the server lets it is given up, and no transaction remains")
    func takesTooLong() async throws {
        try await Self.run { store in
            let limit = "SELECT set_config('statement_timeout', '100ms', true) AS value"
            let slow = "SELECT CAST(pg_sleep(9) AS TEXT) AS value"
            for isAnnounced in [true, false] {
                await #expect(throws: StorageError.unreachable("it did not answer in time")) {
                    try await store.read { transaction in
                        if isAnnounced {
                            try transaction.expect { next in
                                _ = try next.rows(limit, [])
                                _ = try next.rows(slow, [])
                            }
                        }
                        _ = try transaction.rows(limit, [])
                        _ = try transaction.rows(slow, [])
                    }
                }
            }
            // The limit was that transaction's.
            let shown = try await store.read { try $0.texts("SELECT current_setting('statement_timeout') AS value") }
            #expect(shown == ["1min"])
        }
    }

    @Test("All groups of queries of a read see one snapshot, and the server keeps none after it")
    func keepsSnapshot() async throws {
        try await Self.run { store in
            try await store.write { try $0.set("a", to: "1") }
            let (isReading, begun) = AsyncStream.makeStream(of: Void.self)
            let isWritten = DispatchSemaphore(value: 0)
            async let seen = store.read { transaction in
                let first = try transaction.setting("a")
                begun.finish()
                isWritten.wait()
                try transaction.expect { _ = try $0.setting("a") }
                return [first, try transaction.setting("a")]
            }
            for await _ in isReading {}
            try await store.write { try $0.set("a", to: "2") }
            isWritten.signal()
            #expect(try await seen == ["1", "1"])
            #expect(try await store.read { try $0.setting("a") } == "2")
            // The answer to its end is not waited for, so the server may be about to do it.
            let open = """
                SELECT COUNT(*) AS value FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
                """
            let deadline = ContinuousClock.now + .seconds(10)
            while try await store.write({ try $0.numbers(open) }) != [0] {
                try #require(ContinuousClock.now < deadline)
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    @Test("A session keeps no more statements than it may, however many are asked")
    func forgetsStatements() async throws {
        try await Self.run { store in
            for round in 0..<3 {
                for first in stride(from: 0, to: 600, by: 30) {
                    let values = try await store.read { transaction in
                        let ask: (any ReadTransaction) throws -> [Int] = { next in
                            try (first..<first + 30).flatMap { try next.numbers("SELECT \($0) AS value") }
                        }
                        if round != 1 { try transaction.expect { _ = try ask($0) } }
                        return try ask(transaction)
                    }
                    #expect(values == Array(first..<first + 30))
                }
                let count = "SELECT COUNT(*) AS value FROM pg_prepared_statements"
                let kept = try await store.read { try $0.numbers(count) }
                #expect(kept[0] < 440)
            }
        }
    }

    @Test("A text with a NUL is announced as little as it is asked")
    func refusesNUL() async throws {
        try await Self.run { store async throws in
            await #expect(throws: StorageError.unstorable) {
                try await store.read { transaction in try transaction.expect { _ = try $0.setting("a\0b") } }
            }
            #expect(try await store.read { try $0.setting("a") } == nil)
        }
    }

    @Test("However many polls ask what ended before a question is sent, it is one question and one wait")
    func asksTogether() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let store = try #require(try TestedPostgreSQL.share(path) as? PostgreSQLStore)
            defer { try? store.close() }
            _ = try await store.confirm()
            let worker = store.confirmations.worker
            let before = try worker.runNow { $0?.waits ?? 0 }
            let mayAsk = DispatchSemaphore(value: 0)
            worker.begin { _ in mayAsk.wait() }
            let (answers, answered) = AsyncStream.makeStream(of: Bool.self)
            for _ in 0..<500 { store.confirm { answered.yield((try? $0.get()) != nil) } }
            mayAsk.signal()
            var count = 0
            for await isConfirmed in answers.prefix(500) where isConfirmed { count += 1 }
            #expect(count == 500)
            #expect(try worker.runNow { $0?.waits ?? 0 } == before + 1)
        }
    }
}
