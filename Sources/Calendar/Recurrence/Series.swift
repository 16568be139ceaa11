// SPDX-License-Identifier: Apache-2.0

/// An event with everything that belongs to it: its rules, its exceptions and the components that replace occurrences.
///
/// ```swift
/// for series in Series.group(calendar.events) {
///     let week = series.occurrences(from: monday, to: nextMonday, floatingIn: zone)
/// }
/// ```
public struct Series: Hashable, Sendable {
    /// The component without a RECURRENCE-ID; nil when only overrides are known.
    public let master: Event?
    /// The components with a RECURRENCE-ID, one for each occurrence: the newest version of each.
    public let overrides: [Event]

    /// Makes a series from components with the same UID.
    ///
    /// Of several overrides of one occurrence, the one with the highest SEQUENCE counts, then the one changed last,
    /// then the last one given (RFC 5545 section 3.8.7.4). An override without a RECURRENCE-ID is left out.
    public init(master: Event?, overrides: [Event]) {
        self.master = master
        var newest: [Event] = []
        var positions: [EventTime: Int] = [:]
        for event in overrides {
            guard let recurrenceID = event.recurrenceID else { continue }
            if let index = positions[recurrenceID] {
                if !newest[index].isNewer(than: event) { newest[index] = event }
            } else {
                positions[recurrenceID] = newest.count
                newest.append(event)
            }
        }
        self.overrides = newest
    }

    /// Groups components into series by UID, in order of first appearance.
    ///
    /// Overrides whose series is missing become a series without a master, or separate series if they repeat by
    /// themselves (`settled`). Of several masters with one UID, which the RFC forbids, only those with the highest
    /// SEQUENCE count: each that differs is a series, and the first of them gets the overrides. Each component without
    /// a UID is a series of its own.
    public static func group(_ events: [Event]) -> [Series] {
        struct Key: Hashable {
            var kind: Event.Kind
            var uid: String
        }
        struct Parts {
            var masters: [Event] = []
            var overrides: [Event] = []
        }
        var groups: [Parts] = []
        var positions: [Key: Int] = [:]
        for event in events {
            let key = Key(kind: event.kind, uid: event.uid)
            let index = event.uid.isEmpty ? groups.count : positions[key] ?? groups.count
            if index == groups.count {
                groups.append(Parts())
                if !event.uid.isEmpty { positions[key] = index }
            }
            if event.recurrenceID == nil {
                groups[index].masters.append(event)
            } else {
                groups[index].overrides.append(event)
            }
        }
        return groups.flatMap { group -> [Series] in
            guard let highest = group.masters.map(\.sequence).max() else {
                return settled(group.overrides).map { events in
                    let master = events.first { $0.recurrenceID == nil }
                    return Series(master: master, overrides: events.filter { $0.recurrenceID != nil })
                }
            }
            var seen: Set<Event> = []
            let masters = group.masters.filter { $0.sequence == highest && seen.insert($0).inserted }
            return masters.enumerated().map { Series(master: $1, overrides: $0 == 0 ? group.overrides : []) }
        }
    }
}

extension Event {
    /// Whether this version of a component replaces another of the same occurrence.
    fileprivate func isNewer(than other: Event) -> Bool {
        if sequence != other.sequence { return sequence > other.sequence }
        let own = (lastModified ?? timestamp)?.seconds ?? Int.min
        return own > (other.lastModified ?? other.timestamp)?.seconds ?? Int.min
    }
}
