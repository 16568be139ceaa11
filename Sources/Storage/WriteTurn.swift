// SPDX-License-Identifier: Apache-2.0

/// The data that no other write changes while one goes on, where several write to one database (docs/nodes.md).
///
/// An engine with one writer gives every write everything.
public enum WriteTurn: Sendable {
    /// The write may change everything: no other write goes on at the same time.
    case alone
    /// The write changes rows that have this circle's id; only writes that go alone change what else it reads.
    case circle(String)
    /// The order of the changes of all circles, of the audit trail or of accesses with their counts, the servers' reports, or
    /// the list of what was written, and nothing else.
    case order
    /// The write extends leases that its server has, which are renewed under this name one after the other. No number of
    /// other writes keeps it waiting for a session.
    case keeping(String)
}

/// Thrown where a write needs more than its turn covers; an engine runs it again while no other write goes on.
package struct TurnIsNarrow: Error {
    package init() {}
}

extension WriteTransaction {
    public var sharedNumber: Int? { nil }
    public var isAlone: Bool { true }

    /// Throws `TurnIsNarrow` while other writes may go on.
    func demandAlone() throws {
        guard isAlone else { throw TurnIsNarrow() }
    }
}

extension Store {
    public func write<Value: Sendable>(
        _ turn: WriteTurn, _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await write(body)
    }

    /// Gives every change that has none yet its place among the changes of all circles.
    ///
    /// Servers that share a database call this before they read that order; elsewhere there is nothing to do.
    public func orderChanges() async throws {
        guard try await read({ try $0.hasChangesWithoutPlace() }) else { return }
        let most = 5_000
        var count = most
        // Those that arrive in the meantime may wait for the next call.
        while count == most {
            count = try await write(.order) { transaction in
                transaction.concernsNamedCirclesOnly()
                return try transaction.orderChanges(limit: most)
            }
        }
    }
}
