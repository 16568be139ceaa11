// SPDX-License-Identifier: Apache-2.0

import Base
import Storage
import Synchronization

/// A plan that is made up in several transactions, one after the other.
///
/// It is changed where it lies, between the transactions: a copy for each would take longer the more is decided.
final class SharedPlan: Sendable {
    let circle: Circle
    let index: ImportIndex
    let sources: [EventSource: EventSourceState]
    /// Nil while a block is decided.
    private let plan: Mutex<ImportPlan?>

    init(_ plan: ImportPlan) {
        (circle, index, sources) = (plan.owner.circle, plan.index, plan.owner.sources)
        self.plan = Mutex(plan)
    }

    var tally: ImportTally { plan.withLock { $0?.tally ?? ImportTally() } }

    /// An item that was to be left out and that the file does not have.
    var unmetExclusion: String? { plan.withLock { $0?.unmetExclusions.min()?.string } }

    func isMatched(_ key: ImportedEventRecord.Key) -> Bool { plan.withLock { $0?.isMatched(key) == true } }

    /// Decides about the events of a block of the file, by looks at what is stored that nobody has to wait for; one block
    /// after the other.
    func decide(_ packed: [UInt8], _ block: Int, _ store: any Store) async throws -> [ImportPlan.Item] {
        let events = try ImportBlock.events(packed)
        // Taken out, so that it is neither copied nor locked during the looks.
        guard var own = plan.withLock({ $0.take() }) else {
            throw StorageError.unexpectedResult("Two blocks of a file are decided at the same time.")
        }
        defer { plan.withLock { $0 = own } }
        return try await own.decide(events[...], first: block * ImportBlock.size, store)
    }
}
