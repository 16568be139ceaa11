// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// The items of a circle, each of one kind.
package struct Schedule: Sendable {
    let acts: Acts
    let quotas: Quotas

    /// Lists the items of a collection in order of id, piece by piece, since they may be large.
    ///
    /// - Parameter gather: gets a function that fetches up to a given number of items after the last one, nil for the
    ///   first ones; it may run more than once.
    package func list<Value: Sendable>(
        _ kind: any ItemContent.Type, in circle: String, _ search: ItemSearch, after key: String,
        for caller: Caller,
        _ gather: @escaping @Sendable ((_ last: ShownItem?, _ count: Int) throws -> [ShownItem]) throws -> Value
    ) async throws -> Value {
        try await acts.readPage(for: caller) { transaction in
            let zone = try Rights.circle(circle, for: caller.identity, .read, in: transaction).zone
            if !search.faults.isEmpty { throw Refusal.invalid(search.faults) }
            var query = search.query(in: zone)
            return try gather { last, count in
                (query.after, query.limit) = (last?.item.id ?? key, count)
                return try transaction.items(kind.collection, in: circle, query).map {
                    try ShownItem($0, kind, zone, in: transaction)
                }
            }
        }
    }

    package func get(
        _ id: String, _ kind: any ItemContent.Type, in circle: String, for caller: Caller
    ) async throws -> ShownItem {
        try await acts.read(in: circle, for: caller) { try $0.item(id, kind) }
    }

    /// Creates or changes an item; throws `Refusal` with all faults of the draft.
    package func put(
        _ id: String, in circle: String, _ draft: ItemDraft,
        if condition: Precondition<StoredItem>, for caller: Caller
    ) async throws -> (ShownItem, isNew: Bool) {
        let draft = draft.repeats ? try await followed(draft, id, in: circle, for: caller) : draft
        return try await acts.schedule(in: circle, for: caller, quotas) { writer in
            let zone = writer.zone
            let (item, outcome) = try writer.put(id, draft) { old in
                try condition.check(old.map { StoredItem(item: $0, zone: zone, kind: draft.kind) })
            }
            return (try ShownItem(item, draft.kind, zone, in: writer.transaction), outcome == .created)
        }
    }

    /// Returns the draft of a repeating appointment after following its rule, so that no transaction waits for that.
    private func followed(
        _ draft: ItemDraft, _ id: String, in circle: String, for caller: Caller
    ) async throws -> ItemDraft {
        let (zone, changed) = try await acts.store.read { transaction in
            let own = try Rights.circle(circle, for: caller.identity, .write, in: transaction)
            return (try own.zone, try transaction.occurrenceStarts(of: id, in: circle))
        }
        var (draft, budget) = (draft, RecurrenceBudget(steps: SeriesWork.ofFile))
        draft.follow(in: zone, changed: changed, budget: &budget)
        return draft
    }

    package func delete(
        _ id: String, _ kind: any ItemContent.Type, in circle: String,
        if condition: Precondition<StoredItem>, for caller: Caller
    ) async throws {
        try await acts.schedule(in: circle, for: caller, quotas) { writer in
            guard let item = try writer.transaction.item(id, kind.collection, in: circle) else {
                throw Refusal.missing(kind.resource)
            }
            try condition.check(StoredItem(item: item, zone: writer.zone, kind: kind))
            _ = try writer.delete(id, kind.collection)
        }
    }
}

extension AuthorizedCircle {
    package func item(_ id: String, _ kind: any ItemContent.Type) throws -> ShownItem {
        guard let item = try transaction.item(id, kind.collection, in: self.id) else {
            throw Refusal.missing(kind.resource)
        }
        return try ShownItem(item, kind, try circle.zone, in: transaction)
    }

    /// The names of the circle's members and patients, including those who left.
    package var names: CircleNames { get throws { try CircleNames(id, in: transaction) } }
}
