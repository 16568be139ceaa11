// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
package import Storage

/// What happened in a circle: who changed what and how, with the state before and after; and how it is undone.
package struct Activity: Sendable {
    let acts: Acts
    let turns: CircleLock
    let quotas: Quotas
    let kinds: ItemKinds
    /// For how many days what was there before a change is kept, so that the change can be undone.
    let keptDays: Int

    /// One change with what it changed.
    package struct Entry: Sendable {
        package var change: CircleChange
        /// Nil if the item or the occurrence did not exist before, and for what is not kept or has no contents.
        package var before: PastContent?
        /// Nil if the item or the occurrence did not exist any more, and for what is not kept or has no contents.
        package var after: PastContent?
        /// The change of the series that this is a part of, and with which it is undone.
        package var partOf: Int?
        /// The change that undid this one.
        package var undoneBy: Int?
        /// Until when it can be undone if nobody changes the same since, in milliseconds since 1970; nil if it cannot.
        package var undoableUntil: Int?
        /// The item that the change is about, as it is or last was; nil for a change of something else, and for an item that
        /// was deleted long ago.
        package var item: (any ItemContent)?
        /// Whether that item is there now.
        package var isThere = false

        /// The fields that the change changed, as they were before and after; all of them for what came or went.
        package func fields(
            _ zone: TimeZoneReference
        ) -> (before: [ByteString: JSONValue]?, after: [ByteString: JSONValue]?) {
            let (old, new) = (before?.members(zone), after?.members(zone))
            guard let old, let new else { return (old, new) }
            return (old.filter { $0.value != new[$0.key] }, new.filter { $0.value != old[$0.key] })
        }
    }

    /// Lists what happened in a circle in order, piece by piece, since contents may be large.
    ///
    /// Throws 410 if changes after the number are no longer known.
    ///
    /// - Parameters:
    ///   - number: the change after which the list begins; nil for the first that is known.
    ///   - from: when the first change of the list happened, or later.
    ///   - gather: gets a function that fetches up to a given number of entries after the last one, nil for the first ones; it
    ///     may run more than once.
    package func list<Value: Sendable>(
        in circle: String, after number: Int?, from: ItemSearch.Moment?, for caller: Caller,
        _ gather:
            @escaping @Sendable (
                _ zone: TimeZoneReference, (_ last: Entry?, _ count: Int) throws -> [Entry]
            ) throws -> Value
    ) async throws -> Value {
        let (now, kinds, keptDays) = (acts.now(), kinds, keptDays)
        return try await acts.readPage(for: caller) { transaction in
            let own = try Rights.authorized(circle, for: caller.identity, in: transaction)
            let zone = try own.circle.zone
            var start = 0
            if let number {
                try CircleChanges.check(number, try transaction.changeNumbers(in: circle))
                start = number
            }
            if let time = from?.instant(in: zone).milliseconds {
                guard let first = try transaction.firstChange(in: circle, from: time) else {
                    return try gather(zone) { _, _ in [] }
                }
                start = max(start, first - 1)
            }
            let history = try ActivityHistory(own, kinds, keptDays: keptDays, now: now)
            return try gather(zone) { last, count in
                try history.entries(
                    transaction.changes(
                        in: circle, after: last?.change.number ?? start, seenBy: own.user,
                        leavesOutOwn: own.caller.bound != nil, limit: count))
            }
        }
    }
}

extension AuthorizedCircle {
    /// Returns what happened last in the circle, the latest first.
    ///
    /// - Parameters:
    ///   - number: the change before which the list begins.
    ///   - item: the item of whose changes alone the list is; nil for all.
    ///   - now: milliseconds since 1970.
    package func latestActivity(
        before number: Int = .max, of item: (collection: ScheduleItem.Collection, id: String)? = nil, limit: Int,
        _ settings: ServerSettings, now: Int
    ) throws -> [Activity.Entry] {
        try ActivityHistory(self, settings.kinds, keptDays: settings.retention.activity, now: now).entries(
            try transaction.latestChanges(in: id, before: number, seenBy: user, of: item, limit: limit))
    }
}
