// SPDX-License-Identifier: Apache-2.0

import Storage

/// What changed in an own calendar after a number.
///
/// Existing resources have the number of their latest change, and removed ones keep theirs for a while; there is no
/// list of all changes that would grow.
struct OwnChanges {
    let calendar: OwnCalendar
    /// Numbers from before this time are too old to continue from, in milliseconds since 1970.
    let cutoff: Int
    let transaction: any ReadTransaction

    init(of calendar: OwnCalendar, cutoff: Int, in transaction: any ReadTransaction) {
        (self.calendar, self.cutoff, self.transaction) = (calendar, cutoff, transaction)
    }

    private enum Entry {
        case changed(OwnMember)
        case removed(OwnRemoval)

        var number: Int {
            switch self {
            case .changed(let member): member.number
            case .removed(let removal): removal.number
            }
        }

        var at: Int {
            switch self {
            case .changed(let member): member.changedAt
            case .removed(let removal): removal.removedAt
            }
        }
    }

    /// - Throws: `CollectionFault.invalidSyncToken` if the number is too old or of the future.
    func after(_ number: Int, limit: Int) throws -> CollectionChanges {
        guard number <= calendar.number, number >= calendar.firstNumber,
            number >= calendar.number - OwnCalendars.keptCount
        else { throw CollectionFault.invalidSyncToken }
        var entries = try entries(after: number, limit: limit + 1)
        // Those that follow are later.
        if let first = entries.first, first.at < cutoff { throw CollectionFault.invalidSyncToken }
        let isTruncated = entries.count > limit
        if isTruncated { entries.removeLast() }
        var changes = CollectionChanges(
            changed: [], removed: [], number: isTruncated ? entries.last?.number ?? number : calendar.number,
            isTruncated: isTruncated)
        for entry in entries {
            switch entry {
            case .changed(let member): changes.changed.append(CalendarMember(member))
            case .removed(let removal): changes.removed.append(removal.name)
            }
        }
        return changes
    }

    private func entries(after number: Int, limit: Int) throws -> [Entry] {
        let changed = try transaction.ownMembers(of: calendar.id, changedAfter: number, limit: limit)
        let removed = try transaction.ownRemovals(of: calendar.id, after: number, limit: limit)
        let all = changed.map(Entry.changed) + removed.map(Entry.removed)
        return Array(all.sorted { $0.number < $1.number }.prefix(limit))
    }
}
