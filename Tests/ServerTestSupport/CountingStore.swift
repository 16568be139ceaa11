// SPDX-License-Identifier: Apache-2.0

package import Storage
import Synchronization

/// A store that counts how often it is asked to read.
package final class CountingStore: Store, StoreMaintenance {
    private let base: any Store & StoreMaintenance
    private let count: Count

    /// How often all stores that share it were read.
    package final class Count: Sendable {
        private let value = Atomic(0)

        package var reads: Int { value.load(ordering: .relaxed) }
        fileprivate func add() { value.add(1, ordering: .relaxed) }
    }

    package init(_ base: any Store & StoreMaintenance, _ count: Count) { (self.base, self.count) = (base, count) }

    package var clock: WriteClock { base.clock }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any ReadTransaction) throws -> Value
    ) async throws -> Value {
        count.add()
        return try await base.read(body)
    }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await base.write(body)
    }

    package func record<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await base.record(body)
    }

    package func stage<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await base.stage(body)
    }

    package func close() throws { try base.close() }
    package var isInPlace: Bool { base.isInPlace }
    package var writes: WriteGauge { base.writes }
    package func engineVersion() async throws -> String { try await base.engineVersion() }
    package func size() async throws -> Int { try await base.size() }
    package func backup(to path: String) async throws { try await base.backup(to: path) }
    package func integrityCheck() async throws -> String { try await base.integrityCheck() }
    package func checkSchema() async throws { try await base.checkSchema() }
    package func valueFaults() async throws -> [StoredFault] { try await base.valueFaults() }
    package func forgetStatistics() async throws { try await base.forgetStatistics() }
    package func lookForForeignChange() async throws { try await base.lookForForeignChange() }
}
