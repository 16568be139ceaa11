// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage

extension SyncContext {
    /// Returns the items of a connection that a phone carries which wait for a person's decision; none for others.
    func undecidedItems(of own: Connection) async throws -> Set<ItemKey> {
        guard own.provider == .apple else { return [] }
        return try await store.read { try $0.undecidedItems(of: own.id) }
    }
}

extension ReadTransaction {
    /// Returns the items of a connection that wait for a person's decision.
    func undecidedItems(of connection: String) throws -> Set<ItemKey> {
        Set(
            try itemsInOpenConflicts(of: connection).compactMap { collection, item in
                ItemKey.Collection(text: collection).map { ItemKey($0, item) }
            })
    }
}

extension WriteTransaction {
    /// Marks, for the phone, which of its items wait for a person's decision and which no longer do.
    func noteConflicts(_ undecided: Set<ItemKey>, of own: Connection, now: Int) throws {
        var writer = try PhoneEventWriter(of: own.userID, source: own.id, transaction: self, now: now)
        let marked = try phoneItemsInConflict(of: own.id)
        for var event in marked where !(event.item.map(undecided.contains) ?? false) {
            event.mapping.state = event.mapping.externalID == nil ? .pending : .linked
            try writer.touch(&event)
        }
        // Those that are marked already need no look.
        for item in undecided.subtracting(marked.filter { $0.mapping.instanceKey.isEmpty }.compactMap(\.item)) {
            for var event in try phoneSeries(of: own.id, of: own.userID, item.collection.rawValue, item.id)
            where event.deletedAt == nil {
                event.mapping.state = .conflict
                try writer.touch(&event)
            }
        }
        try writer.finish()
    }
}
