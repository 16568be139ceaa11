// SPDX-License-Identifier: Apache-2.0

import Storage

/// What changed in an own calendar after a number.
///
/// What is there has the number of its latest change, and so has what was removed, for a while; there is no list of all
/// changes that would grow.
struct OwnChanges {
    let calendar: OwnCalendar
    /// What was changed before this time is too old to go on from, in milliseconds since 1970.
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

    /// Where a list goes on.
    ///
    /// A first list, from 0 on, begins with what may have been there for years. A part of it is followed by the rest,
    /// and by what was removed since the list began: then its number holds both places, as a negative number.
    private struct Place {
        /// Everything up to here was there, or is listed behind `after`.
        var start: Int
        var after: Int

        private static let bits = 31

        init(start: Int, after: Int) { (self.start, self.after) = (start, after) }

        init?(_ number: Int, latest: Int) {
            switch number {
            case 0: self.init(start: latest, after: 0)
            case 1...: self.init(start: number, after: number)
            default:
                guard number > -(1 << 2 * Self.bits) else { return nil }
                self.init(start: -number >> Self.bits, after: -number & (1 << Self.bits) - 1)
                guard after < start else { return nil }
            }
        }

        var number: Int { -(start << Self.bits | after) }
    }

    /// - Throws: `CollectionFault.invalidSyncToken` if the number is too old or of the future.
    func after(_ number: Int, limit: Int) throws -> CollectionChanges {
        guard let place = Place(number, latest: calendar.number), try holds(place.start) else {
            throw CollectionFault.invalidSyncToken
        }
        // What was removed before a first list began was never in it.
        var entries = try entries(after: place.after, removedAfter: max(place.start, place.after), limit: limit + 1)
        let isTruncated = entries.count > limit
        if isTruncated { entries.removeLast(entries.count - limit) }
        var changes = CollectionChanges(changed: [], removed: [], number: calendar.number, isTruncated: isTruncated)
        for entry in entries {
            switch entry {
            case .changed(let member): changes.changed.append(CalendarMember(member))
            case .removed(let removal): changes.removed.append(removal.name)
            }
        }
        if isTruncated, let last = entries.last?.number {
            changes.number =
                try last >= place.start || holds(last) ? last : Place(start: place.start, after: last).number
        }
        return changes
    }

    /// Whether everything that changed after a number is known, and none of it is too old.
    private func holds(_ number: Int) throws -> Bool {
        guard number <= calendar.number, number >= calendar.firstNumber,
            number >= calendar.number - OwnCalendars.keptCount
        else { return false }
        return try entries(after: number, removedAfter: number, limit: 1).allSatisfy { $0.at >= cutoff }
    }

    private func entries(after number: Int, removedAfter removal: Int, limit: Int) throws -> [Entry] {
        let changed = try transaction.ownMembers(of: calendar.id, changedAfter: number, limit: limit)
        let removed = try transaction.ownRemovals(of: calendar.id, after: removal, limit: limit)
        let all = changed.map(Entry.changed) + removed.map(Entry.removed)
        return Array(all.sorted { $0.number < $1.number }.prefix(limit))
    }
}
