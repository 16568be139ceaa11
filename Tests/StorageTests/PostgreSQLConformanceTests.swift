// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import Testing

@Suite(
    "PostgreSQL as an engine",
    .enabled(if: PostgreSQLServer.address != nil, "There is no PostgreSQL: run by Scripts/postgresql.sh"))
struct PostgreSQLConformanceTests {
    @Test("What is claimed of every engine holds", arguments: StoreConformance.checks)
    func conforms(_ check: StoreCheck) async throws { try await check.run(on: PostgreSQLServer.engine) }

    @Test("It holds too where every body is run twice", arguments: StoreConformance.checks)
    func conformsRepeating(_ check: StoreCheck) async throws {
        try await check.run(on: PostgreSQLServer.engine.repeating)
    }
}
