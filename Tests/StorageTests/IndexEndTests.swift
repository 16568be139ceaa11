// SPDX-License-Identifier: Apache-2.0

import Base
import Storage
import Testing

@Suite("The first and the last number of a table")
struct IndexEndTests {
    @Test("SQLite takes them from the ends of an index, and does not walk through it", arguments: Ends.allCases)
    func ends(_ ends: Ends) async throws {
        let temporary = try TemporaryStore()
        // PostgreSQL shows no program of steps.
        guard !temporary.store.isShared else { return }
        let steps = try await temporary.read { transaction in
            try QueryList.of { try ends.ask($0) }.flatMap { query in
                try transaction.rows("EXPLAIN \(query.sql)", query.arguments).map { try $0.text(required: "opcode") }
            }
        }
        #expect(steps.contains { $0.isSameText(as: "ResultRow") })
        #expect(!steps.contains { $0.isSameText(as: "Next") || $0.isSameText(as: "Prev") }, "\(steps)")
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
