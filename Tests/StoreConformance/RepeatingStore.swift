// SPDX-License-Identifier: Apache-2.0

public import Storage

/// A store that runs each body once and discards the result, as an engine does when two transactions collide.
///
/// Bodies that pass their tests with this store have no effect other than their value and what they write.
public final class RepeatingStore: Store, StoreMaintenance {
    private struct RolledBack: Error {}

    private let base: any Store & StoreMaintenance

    public init(_ base: any Store & StoreMaintenance) { self.base = base }

    public var clock: WriteClock { base.clock }

    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any ReadTransaction) throws -> Value
    ) async throws -> Value {
        _ = try await base.read(body)
        return try await base.read(body)
    }

    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        await rehearse(body)
        return try await base.write(body)
    }

    public func record<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        await rehearse(body)
        return try await base.record(body)
    }

    public func stage<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        await rehearse(body)
        return try await base.stage(body)
    }

    /// Runs a body for the first time and ignores its errors; the second run decides.
    private func rehearse<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async {
        try? await base.record { transaction in
            _ = try body(transaction)
            throw RolledBack()
        }
    }

    public func close() throws { try base.close() }
    public var isShared: Bool { base.isShared }
    public var isInPlace: Bool { base.isInPlace }
    public var writes: WriteGauge { base.writes }
    public func engineVersion() async throws -> String { try await base.engineVersion() }
    public func size() async throws -> Int { try await base.size() }
    public func backup(to path: String) async throws { try await base.backup(to: path) }
    public func integrityCheck() async throws -> String { try await base.integrityCheck() }
    public func checkSchema() async throws { try await base.checkSchema() }
    public func valueFaults() async throws -> [StoredFault] { try await base.valueFaults() }
    public func overwriteRemoved() async throws -> Bool { try await base.overwriteRemoved() }
    public func forgetStatistics() async throws { try await base.forgetStatistics() }
    public func lookForForeignChange() async throws { try await base.lookForForeignChange() }
}
