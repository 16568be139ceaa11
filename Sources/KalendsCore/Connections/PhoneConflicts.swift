// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage

extension WriteTransaction {
    /// Marks, for the phone, which of its items wait for a person's decision and which no longer do.
    func noteConflicts(of own: Connection, now: Int) throws {
        let undecided = Set(
            try openSyncConflicts(of: own.id).map { row in
                let record: ConflictRecord = try storedRecord(row.content)
                return record.item
            })
        var desk = try PhoneDesk(of: own.userID, source: own.id, transaction: self, now: now)
        for var event in try phoneItemsInConflict(of: own.id) where !(event.item.map(undecided.contains) ?? false) {
            event.mapping.state = event.mapping.externalID == nil ? .pending : .linked
            try desk.touch(&event)
        }
        for item in undecided {
            for var event in try phoneItems(of: own.id, of: own.userID, item.collection.rawValue, item.id)
            where event.mapping.instanceKey.isEmpty && event.deletedAt == nil && event.mapping.state != .conflict {
                event.mapping.state = .conflict
                try desk.touch(&event)
            }
        }
        try desk.finish()
    }
}
