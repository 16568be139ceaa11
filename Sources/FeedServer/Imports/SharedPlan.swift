// SPDX-License-Identifier: Apache-2.0

import Base
import Storage
import Synchronization

/// A plan that is made up in several transactions, one after the other.
///
/// It is changed where it lies: a copy for each transaction would take longer the more is decided.
final class SharedPlan: Sendable {
    let circle: Circle
    let index: ImportIndex
    let sources: [EventSource: EventSourceState]
    private let plan: Mutex<ImportPlan>

    init(_ plan: ImportPlan) {
        (circle, index, sources) = (plan.owner.circle, plan.index, plan.owner.sources)
        self.plan = Mutex(plan)
    }

    var tally: ImportTally { plan.withLock { $0.tally } }

    /// An item that was to be left out and that the file does not have.
    var unmetExclusion: String? { plan.withLock { $0.unmetExclusions.min()?.string } }

    func isMatched(_ key: ImportedEventRecord.Key) -> Bool { plan.withLock { $0.isMatched(key) } }

    /// Decides about the events of a block of the file, in a look at what is stored that nobody has to wait for.
    func decide(_ packed: [UInt8], _ block: Int, _ store: any Store) async throws -> [ImportPlan.Item] {
        let events = try ImportBlock.events(packed)
        return try await store.read { transaction in
            try self.plan.withLock {
                try $0.decide(events[...], first: block * ImportBlock.size, in: transaction)
            }
        }
    }
}
