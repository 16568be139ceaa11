// SPDX-License-Identifier: Apache-2.0

import Base
import Storage
import Testing

@Suite("The first and the last number of a table")
struct IndexEndTests {
    @Test("SQLite takes them from the ends of an index, and does not walk through it", arguments: Ends.allCases)
    func ends(_ ends: Ends) async throws {
        let temporary = try TemporaryStore()
        // PostgreSQL says it in other words.
        guard !temporary.store.isShared else { return }
        let (query, plan) = try await temporary.read { transaction in
            let query = try #require(try QueryList.of { try ends.ask($0) }.first)
            let rows = try transaction.rows("EXPLAIN QUERY PLAN \(query.sql)", query.arguments)
            return (query.sql, try rows.map { try $0.text(required: "detail") })
        }
        // Two ends in one query are found by a walk through all entries, which the plan calls a search, too.
        let count = query.ranges(of: "MIN(").count + query.ranges(of: "MAX(").count
        #expect(count > 0 && plan.count { $0.hasPrefix("SEARCH") } == count, "\(plan)")
        #expect(!plan.contains { $0.hasPrefix("SCAN changes") || $0.hasPrefix("SCAN audit") }, "\(plan)")
    }

    enum Ends: CaseIterable {
        case changesOfCircle, latestChange, allChanges, auditTrail

        func ask(_ transaction: any ReadTransaction) throws {
            switch self {
            case .changesOfCircle: _ = try transaction.changeNumbers(in: "c")
            case .latestChange: _ = try transaction.latestChange()
            case .allChanges: _ = try transaction.changeSpan()
            case .auditTrail: _ = try transaction.auditSpan()
            }
        }
    }
}
