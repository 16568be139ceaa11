// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage
import Synchronization

/// A plan that is made in several transactions, one after the other.
///
/// It is changed in place between the transactions: a copy for each would take longer and longer as the plan grows.
final class SharedPlan: Sendable {
    let circle: Circle
    let index: ImportIndex
    let sources: [EventSource: EventSourceState]
    /// The circle's zone, which applies to times that name none.
    let zone: any TimeZoneRules
    let extras: Set<EventExtra>
    let choice: ImportChoice
    /// The plan; nil while a block is being decided.
    private let plan: Mutex<ImportPlan?>

    init(_ plan: ImportPlan) {
        (circle, index, sources, zone) = (plan.owner.circle, plan.index, plan.owner.sources, plan.zone)
        extras = plan.extras
        choice = ImportChoice(extras: plan.extras, todos: plan.owner.todos)
        self.plan = Mutex(plan)
    }

    var counts: ImportCounts { plan.withLock { $0?.counts ?? ImportCounts() } }

    /// An item that should be left out but is not in the file, if any.
    var unmetExclusion: String? { plan.withLock { $0?.unmetExclusions.min()?.string } }

    func isMatched(_ key: ImportedEventRecord.Key) -> Bool { plan.withLock { $0?.isMatched(key) == true } }

    /// Decides what to do with the next events of a group, with reads that nobody has to wait for; returns nil at its end.
    ///
    /// Groups are decided one after the other.
    func decide(
        _ group: inout ImportDrafts.Group, _ store: any Store
    ) async throws -> (first: Int, items: [ImportPlan.Item])? {
        guard !group.rest.isEmpty else { return nil }
        // The plan is taken out, so that it is neither copied nor locked during the reads.
        guard var own = plan.withLock({ $0.take() }) else {
            throw StorageError.unexpectedResult("Two groups of blocks are decided at the same time.")
        }
        defer { plan.withLock { $0 = own } }
        let keys = group.rest.map { ($0.event.uid, $0.recurrenceID) }
        let part = group.take(try await own.owner.together(keys, of: own.owner.known, store))
        return (part.first, try await own.decide(part.events, first: part.first, store))
    }
}
