// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Many changes of a circle's items in one call; each change is made or refused by itself.
package struct ScheduleBatch: Sendable {
    /// One change.
    package struct Order: Sendable {
        package var id: String
        package var kind: any ItemContent.Type
        /// Nil to delete the item.
        package var draft: ItemDraft?

        package init(id: String, kind: any ItemContent.Type, draft: ItemDraft? = nil) {
            self.id = id
            self.kind = kind
            self.draft = draft
        }
    }

    /// The result of an order.
    package enum Outcome: Sendable {
        case applied, unchanged
        case refused(FaultList)
    }

    let acts: Acts
    let quotas: Quotas
    let circle: String
    let caller: Caller
    /// The remaining work for following rules, for all orders of the call.
    private var budget = RecurrenceBudget(steps: SeriesWork.ofFile)
    /// The circle's zone when the call began.
    private var zone: TimeZoneReference?

    /// How long one transaction continues to add orders, so that other writers wait only briefly.
    package var stepTime = Duration.milliseconds(80)
    /// How many items are looked up together.
    private static let together = 100

    init(acts: Acts, quotas: Quotas, circle: String, caller: Caller) {
        (self.acts, self.quotas, self.circle, self.caller) = (acts, quotas, circle, caller)
    }

    /// Throws `Refusal` unless the caller may change the circle's schedule.
    package mutating func check() async throws {
        zone = try await acts.store.read { [circle, caller] in
            try Rights.circle(circle, for: caller.identity, .write, in: $0).zone
        }
    }

    /// Returns an order with everything that can be prepared outside of a transaction, for which others would have to wait.
    package func prepared(_ order: consuming Order) -> Order {
        let id = order.id
        if let zone { order.draft?.makeRow(id, in: circle, zone: zone) }
        return order
    }

    /// Makes the changes in their order, in as many transactions as are needed to keep all of them short.
    ///
    /// - Returns: the result of each order, in the same order.
    package mutating func apply(_ orders: consuming [Order]) async throws -> [Outcome] {
        var orders = orders
        try await follow(&orders)
        let (all, caller, stepTime) = (orders, caller, stepTime)
        var outcomes: [Outcome] = []
        while outcomes.count < all.count {
            let first = outcomes.count
            outcomes += try await acts.schedule(in: circle, for: caller, quotas) { writer in
                let start = ContinuousClock.now
                var outcomes: [Outcome] = []
                for (index, order) in zip(first..., all[first...]) {
                    if (index - first).isMultiple(of: Self.together) {
                        try writer.lookUp(all[index...].prefix(Self.together).map { ($0.id, $0.kind.collection) })
                    }
                    outcomes.append(try Self.apply(order, &writer))
                    if ContinuousClock.now - start >= stepTime { break }
                }
                return outcomes
            }
        }
        return outcomes
    }

    private static func apply(_ order: Order, _ writer: inout ScheduleWriter) throws -> Outcome {
        do {
            guard let draft = order.draft else {
                return try writer.delete(order.id, order.kind.collection) ? .applied : .unchanged
            }
            return try writer.putLater(order.id, draft) == .unchanged ? .unchanged : .applied
        } catch let refusal as Refusal {
            return .refused(refusal.faults)
        }
    }

    /// Follows the rules of repeating appointments before any transaction begins, all within one budget.
    private mutating func follow(_ orders: inout [Order]) async throws {
        let positions = orders.indices.filter { orders[$0].draft?.repeats == true }
        guard !positions.isEmpty else { return }
        let (ids, circle, caller) = (positions.map { orders[$0].id }, circle, caller)
        let (zone, changed) = try await acts.store.read { transaction in
            let own = try Rights.circle(circle, for: caller.identity, .write, in: transaction)
            return (try own.zone, try ids.map { try transaction.occurrenceStarts(of: $0, in: circle) })
        }
        for (index, starts) in zip(positions, changed) {
            orders[index].draft?.follow(in: zone, changed: starts, budget: &budget)
            // Other tasks get a turn between any two rules.
            await Task.yield()
        }
    }
}
