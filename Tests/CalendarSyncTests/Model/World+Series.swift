// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge

@testable import CalendarSync

/// Series that a server cannot express.
extension World {
    /// Whether the occurrences of an item have to be single events.
    func isSplit(_ item: ItemKey) -> Bool {
        guard let ours = store.ours(item.whole) else { return false }
        return calendar.expressible(ours.entry).limitations.contains(where: \.isOfSeries)
    }

    /// What the calendar should show of an item or of one occurrence; nil where it should show nothing.
    func meant(_ item: ItemKey) -> Ours? {
        guard let ours = store.ours(item.whole) else { return nil }
        guard isSplit(item) else { return item.occurrence == nil ? ours : nil }
        guard let start = item.occurrence, Expander.starts(ours.entry.withoutChanges).contains(start.seconds),
            let single = ours.entry.canonical.single(at: start)
        else { return nil }
        return Ours(item: item, entry: single, changedAt: ours.changedAt, revision: ours.revision)
    }

    /// All items and occurrences that have, had or should have an event.
    var forms: [ItemKey] {
        let parts = store.items.flatMap { whole, item in
            isSplit(whole)
                ? Expander.starts(item.entry.withoutChanges).map {
                    ItemKey(whole.collection, whole.id, at: Instant(seconds: $0))
                } : []
        }
        return Set(store.items.keys).union(store.links.keys).union(parts).sorted()
    }

    /// Whether an event goes only because its item is shown otherwise.
    func isShownOtherwise(_ item: ItemKey) -> Bool {
        isSplit(item) || item.occurrence != nil && store.ours(item.whole) != nil
    }
}

extension Entry {
    var withoutChanges: Entry {
        var plain = self
        plain.occurrences = [:]
        return plain
    }

    /// The days from one occurrence of a daily series to the next.
    var dailyInterval: Int { repetition?.rrule?.contains("INTERVAL=2") == true ? 2 : 1 }
}

extension ItemKey {
    /// The id, with the occurrence if it is one.
    var name: String { occurrence.map { "\(id)@\($0.seconds)" } ?? id }
}
