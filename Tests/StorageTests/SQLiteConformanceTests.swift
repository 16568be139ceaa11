// SPDX-License-Identifier: Apache-2.0

import Foundation
import StorageSQLite
import StoreConformance
import Testing

@Suite("SQLite as an engine")
struct SQLiteConformanceTests {
    private static let engine = StoreEngine(
        "SQLite", open: { try SQLiteStore(path: $0.appending(path: "kalends.sqlite").path) },
        openCopy: { try SQLiteStore(path: $0, mustBeKalends: true) })

    @Test("What is claimed of every engine holds", arguments: StoreConformance.checks)
    func conforms(_ check: StoreCheck) async throws { try await check.run(on: Self.engine) }

    @Test("It holds too where every body is run twice", arguments: StoreConformance.checks)
    func conformsRepeating(_ check: StoreCheck) async throws { try await check.run(on: Self.engine.repeating) }
}
