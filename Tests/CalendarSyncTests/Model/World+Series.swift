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

    /// After each run: an event that counts as agreed on, and that nobody has touched since, is what was meant, with its
    /// occurrences, unless a conflict or the run names its item.
    func checkWritten() throws {
        for link in store.links.values where link.state == .linked && link.unwritten == nil {
            guard let ours = meant(link.item), !undone.contains(link.item), let agreed = link.agreed,
                let event = link.externalID.flatMap({ calendar.events[$0] }), event.isLive, !event.isUnreadable,
                link.etag?.isSameText(as: "\(event.etag)") == true,
                agreed.ours == calendar.expressible(ours.entry).entry.canonical,
                !store.conflicts.values.contains(where: { $0.item == link.item && $0.isToldOrLeft })
            else { continue }
            let wanted = calendar.rewritten(agreed.ours)
            let there = event.entry.canonical.withDeleted(as: wanted)
            guard there == wanted else {
                throw Violation(
                    description:
                        "10: \(link.item.name) was to be \(World.text(wanted)) and is \(World.text(there)) there")
            }
        }
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

extension ConflictRecord {
    /// Whether a person has yet to decide, or has said that the sides stay as they are.
    var isToldOrLeft: Bool { state == .open || outcome == .dismissed }
}

extension ItemKey {
    /// The id, with the occurrence if it is one.
    var name: String { occurrence.map { "\(id)@\($0.seconds)" } ?? id }
}

extension Entry {
    /// The entry with the occurrences of another one in place of those that a person deleted here, which stay away.
    func withDeleted(as other: Entry) -> Entry {
        var entry = self
        for (start, occurrence) in occurrences where occurrence == .cancelled {
            if other.occurrences[start] != .cancelled { entry.occurrences[start] = other.occurrences[start] }
        }
        return entry
    }
}
